"""The compiled loops of the descriptor: points along contours, pairs into bins, bins to words, costs of matches.

Kept in one place because compiled code obeys other rules: no ``fastmath`` (a bin count must not depend on the
processor), integer accumulation of pairs (so the order of the points cannot matter), sums in one fixed order, no Python
objects (``nogil``: callers run one frame per thread, so the number of threads cannot matter either).
"""

from __future__ import annotations

import numba
import numpy as np

from pose.types import Float32Array, FloatArray, Int32Array, IntArray

EDGE_TOLERANCE = 1e-9
"""Radians for angular edges, relative for radial ones: below it a pair counts as lying on the edge."""
SHARES = 1024
"""Soft binning deals a pair out in whole parts of 1/1024 of it in either direction, so that sums are exact."""
TANGENT_REACH = 3
"""Pixels of the contour before and after a point's own segment that its tangent spans: beyond the staircase's."""


@numba.njit(cache=True, nogil=True)
def smooth_closed(chain: Int32Array, passes: int) -> FloatArray:
    """Filter a closed chain of pixels (m, 2) with (1, 2, 1)/4, `passes` times."""
    m = chain.shape[0]
    line = chain.astype(np.float64)
    for _ in range(passes):
        previous = line.copy()
        for k in range(m):
            for d in range(2):
                line[k, d] = 0.25 * (previous[k - 1, d] + 2.0 * previous[k, d] + previous[(k + 1) % m, d])
    return line


@numba.njit(cache=True, nogil=True)
def _tangent(contour: FloatArray, k: int, tangent: FloatArray) -> None:
    """Write the unit direction of a closed polyline (m, 2) about its segment k; (1, 0) where it has none."""
    m = contour.shape[0]
    # A quarter of a short contour to either side: the ends of the chord must not meet behind it.
    for reach in (min(TANGENT_REACH, (m - 2) // 4), 0):
        before = (k - max(reach, 0)) % m
        after = (k + 1 + max(reach, 0)) % m
        dx = contour[after, 0] - contour[before, 0]
        dy = contour[after, 1] - contour[before, 1]
        length = np.sqrt(dx * dx + dy * dy)
        if length > 0.0:
            tangent[0] = dx / length
            tangent[1] = dy / length
            return
    tangent[0] = 1.0
    tangent[1] = 0.0


@numba.njit(cache=True, nogil=True)
def walk(line: FloatArray, starts: IntArray, weights: FloatArray, n_points: int) -> tuple[FloatArray, FloatArray]:
    """Put points at equal steps along the closed polylines ``line[starts[c]:starts[c + 1]]``, laid end to end.

    Parameters
    ----------
    line
        (m, 2), the polylines one after the other.
    starts
        (n_contours + 1,) where each begins, and m.
    weights
        (n_contours,) what the length of each counts.
    n_points
        Number of points.

    Returns
    -------
    Points and unit tangents, (n_points, 2) each.
    """
    lengths = np.empty(line.shape[0])
    total = 0.0
    for c in range(starts.shape[0] - 1):
        for k in range(starts[c], starts[c + 1]):
            after = k + 1 if k + 1 < starts[c + 1] else starts[c]
            lengths[k] = weights[c] * np.hypot(line[after, 0] - line[k, 0], line[after, 1] - line[k, 1])
            total += lengths[k]
    points = np.empty((n_points, 2))
    tangents = np.zeros((n_points, 2))
    if total == 0.0:  # single pixels only
        tangents[:, 0] = 1.0
        for i in range(n_points):
            points[i] = line[i * line.shape[0] // n_points]
        return points, tangents
    step = total / n_points
    i = 0
    walked = 0.0
    for c in range(starts.shape[0] - 1):
        for k in range(starts[c], starts[c + 1]):
            after = k + 1 if k + 1 < starts[c + 1] else starts[c]
            while i < n_points and (i + 0.5) * step <= walked + lengths[k]:
                part = ((i + 0.5) * step - walked) / lengths[k] if lengths[k] > 0.0 else 0.0
                points[i, 0] = line[k, 0] + part * (line[after, 0] - line[k, 0])
                points[i, 1] = line[k, 1] + part * (line[after, 1] - line[k, 1])
                _tangent(line[starts[c] : starts[c + 1]], k - starts[c], tangents[i])
                i += 1
            walked += lengths[k]
    return points, tangents


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
    """Fill the columns of `work` (5, m) for the offsets dx, dy (m,).

    Rows: squared distance; ring; index of the half sector, counted from the vertical within the quadrant, when edges
    belong to the sector before them (2) and after them (3); how near an edge counts as on it (4). Counters are floats,
    of the same width as the distances, the loops are free of branches and start at 0: LLVM vectorises them.
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

    A mirrored set has its tangents (tx, ty) replaced by (tx, -ty), and then gets -dx and dy to the last bit.
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

    The two ends of a pair have unlike axes, so each is located for itself.
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
            if low == high:  # mostly; two additions to one place would wait for each other
                counts[i, column[low + 1] + r] += 2
            else:
                counts[i, column[low + 1] + r] += 1
                counts[i, column[high + 1] + r] += 1
    return counts


@numba.njit(cache=True, nogil=True)
def share_pairs(x: FloatArray, y: FloatArray, tangents: FloatArray, radii: FloatArray, n_angular: int) -> IntArray:
    """Deal each pair out to the bins whose centres are next to it, in proportion to nearness.

    Parameters
    ----------
    x, y, radii, n_angular
        As for :func:`count_pairs`; `radii` evenly spaced in their logarithm.
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
    # Rings for each unit of the logarithm of the squared distance.
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
            # The innermost ring's centre is half a ring inside its edge; beyond the outermost centres there is no other
            # ring to share with.
            place = min(max((np.log(square) - innermost) * rate + 0.5, 0.0), n_radial - 1.0)
            ring = int(place)
            outer = int(np.rint((place - ring) * SHARES))
            turn = np.arctan2(abs(dx[j]), -dy[j]) * (n_angular / (2.0 * np.pi)) - 0.5  # from -1/2, on the right
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


@numba.njit(cache=True, nogil=True)
def _scores(descriptor: Float32Array, transposed: Float32Array, half_norms: Float32Array, scores: Float32Array) -> None:
    """Write ``x . c - |c|^2 / 2`` for every centre c: the larger, the nearer.

    Not a BLAS product: shape contexts are mostly zeros, which are skipped, and every sum has one fixed order, so that
    near ties fall the same way for any number of threads.
    """
    for w in range(scores.shape[0]):
        scores[w] = -half_norms[w]
    for c in range(descriptor.shape[0]):
        value = descriptor[c]
        if value != 0.0:
            for w in range(scores.shape[0]):
                scores[w] += value * transposed[c, w]


@numba.njit(cache=True, nogil=True)
def nearest_words(descriptors: Float32Array, transposed: Float32Array, half_norms: Float32Array) -> Int32Array:
    """Pick the nearest centre of each descriptor (n, d), the lower word if equal; `transposed` is (d, n_words)."""
    n = descriptors.shape[0]
    words = np.empty(n, np.int32)
    scores = np.empty(transposed.shape[1], np.float32)
    for i in range(n):
        _scores(descriptors[i], transposed, half_norms, scores)
        nearest = 0
        for w in range(1, scores.shape[0]):
            if scores[w] > scores[nearest]:
                nearest = w
        words[i] = nearest
    return words


@numba.njit(cache=True, nogil=True)
def word_exponents(
    descriptors: Float32Array, transposed: Float32Array, half_norms: Float32Array, bandwidth: float
) -> Float32Array:
    """Logarithms, up to a constant of each row, of Gaussians of the distances to the centres: (n, n_words), 0 at most.

    Their exponentials are left to numpy, which takes several at once.
    """
    n = descriptors.shape[0]
    exponents = np.empty((n, transposed.shape[1]), np.float32)
    rate = np.float32(1.0 / (bandwidth * bandwidth))
    for i in range(n):
        _scores(descriptors[i], transposed, half_norms, exponents[i])
        best = exponents[i].max()
        for w in range(exponents.shape[1]):
            exponents[i, w] = (exponents[i, w] - best) * rate
    return exponents


@numba.njit(cache=True, nogil=True)
def mean_shares(weights: Float32Array) -> FloatArray:
    """Mean of the rows (n, n_words), each divided by its sum: (n_words,)."""
    n = weights.shape[0]
    mean = np.zeros(weights.shape[1])
    for i in range(n):
        total = 0.0
        for w in range(weights.shape[1]):
            total += weights[i, w]
        share = 1.0 / (n * total)
        for w in range(weights.shape[1]):
            mean[w] += weights[i, w] * share
    return mean


@numba.njit(cache=True, nogil=True)
def chi_square(first: FloatArray, transposed: FloatArray) -> FloatArray:
    """Costs (n, m) of the rows of `first` (n, d) against the columns of `transposed` (d, m), none negative.

    Half the sum of (a - b)^2 / (a + b) is half of what both sum to less 2 a b / (a + b), which only needs the bins that
    hold something.
    """
    n, d = first.shape
    m = transposed.shape[1]
    costs = np.empty((n, m))
    totals = np.zeros(m)
    for c in range(d):
        for j in range(m):
            totals[j] += transposed[c, j]
    common = np.empty(m)
    for i in range(n):
        total = 0.0
        common[:] = 0.0
        for c in range(d):
            a = first[i, c]
            total += a
            if a > 0.0:
                for j in range(m):
                    common[j] += a * transposed[c, j] / (a + transposed[c, j])
        for j in range(m):
            costs[i, j] = max(0.5 * (total + totals[j]) - 2.0 * common[j], 0.0)
    return costs
