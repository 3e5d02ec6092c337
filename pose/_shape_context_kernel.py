"""The numba kernel of the shape context: all ordered pairs of one point set, binned exactly.

Kept apart from :mod:`pose.shape_context` because compiled code obeys other rules: no ``fastmath`` (a bin count must not
depend on the processor), integer accumulation (so the order of the points cannot matter), no Python objects
(``nogil``: callers run one frame per thread).
"""

from __future__ import annotations

import numba
import numpy as np
import numpy.typing as npt

Float = npt.NDArray[np.float64]
Int = npt.NDArray[np.int32]

EDGE_TOLERANCE = 1e-9
"""Radians for angular edges, relative for radial ones: below it a pair counts as lying on the edge."""


@numba.njit(cache=True, nogil=True)
def mean_distance(x: Float, y: Float) -> float:
    """Mean Euclidean distance over the n(n-1)/2 unordered pairs; 0 for fewer than two points."""
    n = x.shape[0]
    if n < 2:
        return 0.0
    row = np.empty(n)
    total = 0.0
    for i in range(n - 1):
        for j in range(i + 1, n):
            row[j] = np.sqrt((x[j] - x[i]) ** 2 + (y[j] - y[i]) ** 2)
        subtotal = 0.0
        for j in range(i + 1, n):
            subtotal += row[j]
        total += subtotal
    return float(total / (0.5 * n * (n - 1)))


@numba.njit(cache=True, nogil=True)
def count_pairs(x: Float, y: Float, radii: Float, n_angular: int) -> Int:
    """Count the pairs of each point by direction and distance, in halves.

    Parameters
    ----------
    x, y
        (n,) coordinates, y down.
    radii
        (n_radial,) increasing upper edges in the unit of the coordinates, tolerance already included.
    n_angular
        Number of sectors of the full turn.

    Returns
    -------
    (n, n_angular * n_radial + 1) int32, twice the counts; the last column collects what is not counted.

    Notes
    -----
    The direction is located among *half* sectors of 180/n_angular degrees: the pair seen from its other end is turned
    by 180 degrees, which is a whole number of half sectors, so both ends share one computation. Within a quadrant only
    ``abs(dx)`` and ``abs(dy)`` are used, so a mirrored pair takes the very same decisions.
    """
    n = x.shape[0]
    n_radial = radii.shape[0]
    n_half = 2 * n_angular
    outside = n_angular * n_radial
    counts = np.zeros((n, outside + 1), np.int32)

    n_edges = n_angular // 2 + 1  # the half-sector edges from 0 to 90 degrees
    cosine = np.empty(n_edges)
    sine = np.empty(n_edges)
    for k in range(n_edges):
        cosine[k] = np.cos(k * np.pi / n_angular)
        sine[k] = np.sin(k * np.pi / n_angular)
    squared = radii * radii

    reverse = np.empty(n_half, np.int64)
    for h in range(n_half):
        reverse[h] = (h + n_angular) % n_half // 2 * n_radial

    across = np.empty(n)
    along = np.empty(n)
    square = np.empty(n)
    slack = np.empty(n)
    # Counters of the same width as the distances, so that LLVM vectorises the comparisons.
    ring = np.empty(n)
    below = np.empty(n)
    above = np.empty(n)
    for i in range(n - 1):
        for j in range(i + 1, n):
            across[j] = abs(x[j] - x[i])
            along[j] = abs(y[j] - y[i])
            square[j] = across[j] * across[j] + along[j] * along[j]
            slack[j] = EDGE_TOLERANCE * np.sqrt(square[j])
            ring[j] = 0.0
            below[j] = -1.0
            above[j] = -1.0
        for k in range(n_radial):
            edge = squared[k]
            for j in range(i + 1, n):
                ring[j] += 1.0 if square[j] > edge else 0.0
        for k in range(n_edges):
            c = cosine[k]
            s = sine[k]
            for j in range(i + 1, n):
                beyond = across[j] * c - along[j] * s  # distance times the sine of the angle past edge k
                below[j] += 1.0 if beyond > slack[j] else 0.0
                above[j] += 1.0 if beyond >= -slack[j] else 0.0
        for j in range(i + 1, n):
            r = int(ring[j])
            if square[j] == 0.0 or r == n_radial:
                counts[i, outside] += 2
                counts[j, outside] += 2
                continue
            low = int(below[j])
            high = int(above[j])
            if y[j] > y[i]:  # point j is below: the angle is 180 degrees minus that to the vertical
                low, high = n_angular - 1 - high, n_angular - 1 - low
            if x[j] < x[i]:  # on the left: the angle runs backwards from 360 degrees
                low, high = n_half - 1 - high, n_half - 1 - low
            if low == high:
                counts[i, low // 2 * n_radial + r] += 2
                counts[j, reverse[low] + r] += 2
            else:
                low = (low + n_half) % n_half
                high = high % n_half
                counts[i, low // 2 * n_radial + r] += 1
                counts[i, high // 2 * n_radial + r] += 1
                counts[j, reverse[low] + r] += 1
                counts[j, reverse[high] + r] += 1
    return counts
