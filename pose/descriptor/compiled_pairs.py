"""The compiled loops of shape contexts: pairs of points into bins of direction and distance.

Counts must not depend on the processor, so there is no ``fastmath``. They must not depend on the order of the points,
so pairs are added up as integers. The loops are single-threaded and release the interpreter's lock (``nogil``): callers
run one frame a thread, so the number of threads does not matter either.
"""

from __future__ import annotations

import numba
import numpy as np

from pose.types import FloatArray, Int32Array, IntArray

EDGE_TOLERANCE = 1e-9
"""Distance within which a pair lies on the edge of a bin: radians for angular edges, relative for radial ones."""
SHARES = 1024
"""Parts into which soft binning divides a pair, by angle and by radius; parts are whole, so that sums are exact."""


@numba.njit(cache=True, nogil=True)
def mean_distance(x: FloatArray, y: FloatArray) -> float:
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
def _locate(
    dx: FloatArray, dy: FloatArray, squared_radii: FloatArray, cosine: FloatArray, sine: FloatArray, work: FloatArray
) -> None:
    """Locate the offsets dx, dy (m,) among the bins and fill `work` (5, m), a column for each offset.

    Rows of `work`: squared distance (0); ring (1); half sector, counted from the vertical within the quadrant, if an
    edge belongs to the sector before it (2) or after it (3); distance within which a pair lies on an edge (4).
    Counters are floats as wide as the distances and the loops have no branches, so that LLVM vectorises them.
    """
    m = dx.shape[0]
    square, ring, below, above, slack = work[0], work[1], work[2], work[3], work[4]
    for j in range(m):
        square[j] = dx[j] * dx[j] + dy[j] * dy[j]
        slack[j] = EDGE_TOLERANCE * np.sqrt(square[j])
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
            below[j] += 1.0 if beyond > slack[j] else 0.0
            above[j] += 1.0 if beyond >= -slack[j] else 0.0


@numba.njit(cache=True, nogil=True)
def count_pairs(x: FloatArray, y: FloatArray, radii: FloatArray, n_angular: int) -> Int32Array:
    """Count the pairs of each point by direction and distance, in half pairs.

    Parameters
    ----------
    x, y
        (n,) coordinates, y down.
    radii
        (n_radial,) increasing upper edges in the unit of the coordinates, tolerance included.
    n_angular
        Number of sectors of the full turn.

    Returns
    -------
    (n, n_angular * n_radial + 1) int32, twice the counts; the last column collects pairs outside all bins.

    Notes
    -----
    The direction is located among *half* sectors of 180/n_angular degrees. Seen from its other end the pair is turned
    by 180 degrees, a whole number of half sectors, so both ends share one computation. Within a quadrant only
    ``abs(dx)`` and ``abs(dy)`` are used, so a mirrored pair falls into the mirrored bins exactly.
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
    # First column of the sector that holds each half sector. Half sectors are numbered from -1 (before the upward
    # vertical) to n_half; those seen from the other end have n_angular more.
    column = (np.arange(-1, n_half + n_angular + 1) + n_half) % n_half // 2 * n_radial
    work = np.empty((5, n))
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


@numba.njit(cache=True, nogil=True)
def _offsets(x: FloatArray, y: FloatArray, tangents: FloatArray, i: int, dx: FloatArray, dy: FloatArray) -> None:
    """Write the offsets of all points from point i, along its tangent and at right angles to it.

    A mirrored set has the tangents (tx, -ty) in place of (tx, ty), and gets exactly -dx and dy.
    """
    tx, ty = tangents[i, 0], tangents[i, 1]
    for j in range(x.shape[0]):
        ex = x[j] - x[i]
        ey = y[j] - y[i]
        dx[j] = ex * tx + ey * ty
        dy[j] = ey * tx - ex * ty


@numba.njit(cache=True, nogil=True)
def count_turned_pairs(
    x: FloatArray, y: FloatArray, tangents: FloatArray, radii: FloatArray, n_angular: int
) -> Int32Array:
    """Count as :func:`count_pairs` does, each point's axes turned so that x runs along its tangent (n, 2).

    The two ends of a pair have different axes, so each is located by itself.
    """
    n = x.shape[0]
    n_radial = radii.shape[0]
    n_half = 2 * n_angular
    outside = n_angular * n_radial
    counts = np.zeros((n, outside + 1), np.int32)
    edges = np.arange(n_angular // 2 + 1) * (np.pi / n_angular)
    cosine = np.cos(edges)
    sine = np.sin(edges)
    squared_radii = radii * radii
    column = (np.arange(-1, n_half + 1) + n_half) % n_half // 2 * n_radial
    work = np.empty((5, n))
    dx = np.empty(n)
    dy = np.empty(n)
    for i in range(n):
        _offsets(x, y, tangents, i, dx, dy)
        _locate(dx, dy, squared_radii, cosine, sine, work)
        for j in range(n):
            r = int(work[1, j])
            if work[0, j] == 0.0 or r == n_radial:  # the point itself among them
                counts[i, outside] += 2
                continue
            low = int(work[2, j])
            high = int(work[3, j])
            if dy[j] > 0.0:
                low, high = n_angular - 1 - high, n_angular - 1 - low
            if dx[j] < 0.0:
                low, high = n_half - 1 - high, n_half - 1 - low
            if low == high:  # the usual case: one addition is faster than two
                counts[i, column[low + 1] + r] += 2
            else:
                counts[i, column[low + 1] + r] += 1
                counts[i, column[high + 1] + r] += 1
    return counts


@numba.njit(cache=True, nogil=True)
def share_pairs(x: FloatArray, y: FloatArray, tangents: FloatArray, radii: FloatArray, n_angular: int) -> IntArray:
    """Share each pair among the bins whose centres are next to it, in proportion to nearness.

    Parameters
    ----------
    x, y, radii, n_angular
        As for :func:`count_pairs`; the logarithms of `radii` are evenly spaced.
    tangents
        (n, 2) unit vectors, the x axis of each point; (1, 0) for all where axes are not turned.

    Returns
    -------
    (n, n_angular * n_radial) int64, in units of 1 / SHARES**2 pairs.
    """
    n = x.shape[0]
    n_radial = radii.shape[0]
    counts = np.zeros((n, n_angular * n_radial), np.int64)
    furthest = radii[-1] * radii[-1]
    if radii[0] == 0.0:  # the mean distance is 0: all points coincide
        return counts
    # Rings per unit of the logarithm of the squared distance.
    rate = 0.5 / np.log(radii[1] / radii[0]) if n_radial > 1 else 0.0
    innermost = np.log(radii[0]) * 2.0
    dx = np.empty(n)
    dy = np.empty(n)
    for i in range(n):
        _offsets(x, y, tangents, i, dx, dy)
        for j in range(n):
            square = dx[j] * dx[j] + dy[j] * dy[j]
            if square == 0.0 or square > furthest:
                continue
            # The innermost ring's centre is half a ring inside its edge. Beyond the outer centres there is no ring to
            # share with.
            place = min(max((np.log(square) - innermost) * rate + 0.5, 0.0), n_radial - 1.0)
            ring = int(place)
            outer = int(np.rint((place - ring) * SHARES))
            # Angle in sectors, from the centre of sector 0, of the pair mirrored to the right.
            turn = np.arctan2(abs(dx[j]), -dy[j]) * (n_angular / (2.0 * np.pi)) - 0.5
            sector = int(np.floor(turn))
            second = int(np.rint((turn - sector) * SHARES))
            following = sector + 1
            if dx[j] < 0.0:
                sector, following = n_angular - 1 - sector, n_angular - 1 - following
            first_column = sector % n_angular * n_radial
            second_column = following % n_angular * n_radial
            for column, share in ((first_column, SHARES - second), (second_column, second)):
                counts[i, column + ring] += share * (SHARES - outer)
                if outer > 0:
                    counts[i, column + ring + 1] += share * outer
    return counts
