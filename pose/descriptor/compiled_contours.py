"""The compiled loops along contours: smoothing them, and putting points at equal steps along them."""

from __future__ import annotations

import numba
import numpy as np

from pose.types import FloatArray, Int32Array, IntArray

TANGENT_REACH = 3
"""Pixels of contour that a tangent spans on either side of its own segment: more than a step of the pixel staircase."""


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
    """Write the unit tangent of a closed polyline (m, 2) at its segment k into `tangent`; (1, 0) for a single point."""
    m = contour.shape[0]
    # A short contour is spanned by at most a quarter on either side, so that the ends of the chord do not meet.
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
        (n_contours + 1,) the index at which each polyline begins, then m.
    weights
        (n_contours,) factor of each polyline's length.
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
