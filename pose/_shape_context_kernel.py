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
def _locate(dx: Float, dy: Float, squared_radii: Float, cosine: Float, sine: Float, work: Float) -> None:
    """Fill the columns of `work` (4, m) for the offsets dx, dy (m,).

    Rows: squared distance; ring; index of the half sector, counted from the vertical within the quadrant, when edges
    belong to the sector before them (2) and after them (3). Counters are floats, of the same width as the distances,
    the loops are free of branches and start at 0: LLVM vectorises them.
    """
    m = dx.shape[0]
    square, ring, below, above = work[0], work[1], work[2], work[3]
    for j in range(m):
        square[j] = dx[j] * dx[j] + dy[j] * dy[j]
        ring[j] = 0.0
        below[j] = -1.0
        above[j] = -1.0
    for k in range(squared_radii.shape[0]):
        edge = squared_radii[k]
        for j in range(m):
            ring[j] += 1.0 if square[j] > edge else 0.0
    for k in range(cosine.shape[0]):
        c = cosine[k]
        s = sine[k]
        for j in range(m):
            beyond = abs(dx[j]) * c - abs(dy[j]) * s  # distance times the sine of the angle past edge k
            slack = EDGE_TOLERANCE * np.sqrt(square[j])
            below[j] += 1.0 if beyond > slack else 0.0
            above[j] += 1.0 if beyond >= -slack else 0.0


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
    edges = np.arange(n_angular // 2 + 1) * (np.pi / n_angular)  # half-sector edges from 0 to 90 degrees
    cosine = np.cos(edges)
    sine = np.sin(edges)
    squared_radii = radii * radii
    # First column of the sector that holds a half sector; half sectors are numbered -1 (before the upward vertical) to
    # n_half, and seen from the other end up to n_angular more.
    column = (np.arange(-1, n_half + n_angular + 1) + n_half) % n_half // 2 * n_radial
    work = np.empty((4, n))
    for i in range(n - 1):
        dx = x[i + 1 :] - x[i]
        dy = y[i + 1 :] - y[i]
        _locate(dx, dy, squared_radii, cosine, sine, work)
        for m in range(n - i - 1):
            j = i + 1 + m
            r = int(work[1, m])
            if work[0, m] == 0.0 or r == n_radial:
                counts[i, outside] += 2
                counts[j, outside] += 2
                continue
            low = int(work[2, m])
            high = int(work[3, m])
            if dy[m] > 0.0:  # point j is below: the angle is 180 degrees minus that to the vertical
                low, high = n_angular - 1 - high, n_angular - 1 - low
            if dx[m] < 0.0:  # on the left: the angle runs backwards from 360 degrees
                low, high = n_half - 1 - high, n_half - 1 - low
            counts[i, column[low + 1] + r] += 1
            counts[i, column[high + 1] + r] += 1
            counts[j, column[low + 1 + n_angular] + r] += 1
            counts[j, column[high + 1 + n_angular] + r] += 1
    return counts
