"""Points on the edge of a silhouette: outer and inner contours, evenly spaced along their length."""

from __future__ import annotations

from typing import Literal

import cv2
import numba
import numpy as np
import numpy.typing as npt

from pose.silhouette import as_mask

MIN_COMPONENT = 0.01
"""With ``components="all"``, a component enclosing less than this share of the largest one's area is a speck."""
MIN_HOLE = 0.002
"""A hole enclosing less than this share of its component's area is a speck."""
SMOOTHING_PASSES = 2
"""Passes of the binomial filter (1, 2, 1)/4 along each contour; together they reach two pixels to either side."""
MIN_SMOOTHED = 8
"""Contours of fewer pixels are not smoothed: the filter would shrink them to a dot."""


class EmptySilhouetteError(ValueError):
    """The mask has no foreground: nobody is in the picture."""


@numba.njit(cache=True, nogil=True)
def _smooth_closed(chain: npt.NDArray[np.int32], passes: int) -> npt.NDArray[np.float64]:
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
def _walk(line: npt.NDArray[np.float64], starts: npt.NDArray[np.int64], n_points: int) -> npt.NDArray[np.float64]:
    """Put `n_points` points at equal steps along the closed polylines ``line[starts[c]:starts[c + 1]]``, end to end."""
    lengths = np.empty(line.shape[0])
    total = 0.0
    for c in range(starts.shape[0] - 1):
        for k in range(starts[c], starts[c + 1]):
            after = k + 1 if k + 1 < starts[c + 1] else starts[c]
            lengths[k] = np.hypot(line[after, 0] - line[k, 0], line[after, 1] - line[k, 1])
            total += lengths[k]
    points = np.empty((n_points, 2))
    if total == 0.0:  # single pixels only
        for i in range(n_points):
            points[i] = line[i * line.shape[0] // n_points]
        return points
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
                i += 1
            walked += lengths[k]
    return points


def _select(
    chains: list[npt.NDArray[np.int32]], parents: npt.NDArray[np.int32], components: str
) -> list[npt.NDArray[np.int32]]:
    """Keep the outer contours asked for and the holes in them that are not specks, in the order they were found."""
    areas = np.array([cv2.contourArea(chain) for chain in chains])
    outer = [k for k in range(len(chains)) if parents[k] < 0]
    largest = max(outer, key=lambda k: (areas[k], len(chains[k]), -k))
    kept = {largest} if components == "largest" else {k for k in outer if areas[k] >= MIN_COMPONENT * areas[largest]}
    return [
        chains[k]
        for k in range(len(chains))
        if k in kept or (parents[k] in kept and areas[k] >= MIN_HOLE * areas[parents[k]])
    ]


def sample_edges(
    mask: npt.ArrayLike, n_points: int = 400, components: Literal["largest", "all"] = "largest"
) -> npt.NDArray[np.float64]:
    """Sample points on the outer and inner contours of a silhouette, evenly along their total length.

    Parameters
    ----------
    mask
        A silhouette, read by :func:`pose.silhouette.as_mask`: (h, w) or (h, w, 1..4), boolean, integer or float.
    n_points
        How many points, at least 1.
    components
        ``"largest"``: the 8-connected component whose outer contour encloses the largest area, with its holes.
        ``"all"``: every component except specks.

    Returns
    -------
    (n_points, 2) float64: x to the right, y down, in pixels; (0, 0) is the centre of the upper left pixel. The points
    are grouped by contour and run along it.

    Raises
    ------
    EmptySilhouetteError
        If the mask has no foreground pixel.
    ValueError
        If it is no mask (see :func:`pose.silhouette.as_mask`) or an argument is out of range.

    Notes
    -----
    A contour is the closed chain of the foreground pixels along an edge, through their centres (holes likewise: the
    chain lies on the foreground around the hole). Contours of at least 8 pixels are smoothed by a binomial filter
    reaching 2 pixels to either side, which takes out the staircase that would lengthen slanted edges by up to 8 %; the
    points then lie at equal steps along the polylines, all contours laid end to end, so that each gets its share of the
    points by length and no contour needs as many pixels as it gets points.

    Specks left out: holes that enclose less than 0.2 % of the area enclosed by their component, and (with ``"all"``)
    components that enclose less than 1 % of the area of the largest.

    Defined answers: one pixel gives that pixel `n_points` times; a line one pixel wide is walked there and back, its
    ends drawn in by a pixel at most; a full mask gives the frame of the image; a figure cut by the border of the image
    is closed along the border. The result depends on the mask only.
    """
    if n_points < 1:
        raise ValueError(f"n_points must be at least 1, got {n_points}")
    if components not in ("largest", "all"):
        raise ValueError(f'components must be "largest" or "all", got {components!r}')
    foreground = as_mask(mask).view(np.uint8)
    found, hierarchy = cv2.findContours(foreground, cv2.RETR_CCOMP, cv2.CHAIN_APPROX_NONE)
    if hierarchy is None:
        raise EmptySilhouetteError("the mask is empty: no person (no foreground pixel) in it")
    chains = [np.asarray(chain, dtype=np.int32).reshape(-1, 2) for chain in found]
    chosen = _select(chains, np.asarray(hierarchy, dtype=np.int32)[0, :, 3], components)
    lines = [_smooth_closed(chain, SMOOTHING_PASSES if len(chain) >= MIN_SMOOTHED else 0) for chain in chosen]
    starts = np.cumsum([0, *(len(line) for line in lines)])
    points: npt.NDArray[np.float64] = _walk(np.concatenate(lines), starts, n_points)
    return points
