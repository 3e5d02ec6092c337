"""Points on the edge of a silhouette: outer and inner contours, evenly spaced along their length."""

from __future__ import annotations

from typing import Literal, NamedTuple

import cv2
import numpy as np
import numpy.typing as npt

from pose.arguments import check_count
from pose.descriptor.compiled_contours import smooth_closed, walk
from pose.silhouette.masks import as_mask
from pose.types import BoolArray, FloatArray, Image, Int32Array, Mask

ComponentChoice = Literal["largest", "all"]
"""Which components of a mask give points."""

MIN_COMPONENT = 0.01
"""Least enclosed area of a component that is no speck, as a share of the largest one's (``components="all"``)."""
MIN_HOLE = 0.002
"""Least area of a hole that is no speck, as a share of the area that its component encloses."""
SMOOTHING_PASSES = 2
"""Passes of the binomial filter (1, 2, 1)/4 along each contour; together they reach two pixels to either side."""
MIN_SMOOTHED = 8
"""Least length of a contour that is smoothed, pixels: the filter would shrink a shorter one to a dot."""
MIN_IMAGE_EDGE = 0.025
"""Least length of an image edge that is no speck, as a share of the longest contour's."""
IMAGE_EDGE_MARGIN = 5
"""Least distance of an image edge from the contour, pixels: a nearer one is taken for the contour itself."""
CANNY_BLUR, CANNY_LOW, CANNY_HIGH = 1.4, 50.0, 150.0
"""Canny's detector: standard deviation of the blur, pixels; thresholds of the gradient of 8-bit grey levels."""


class EmptySilhouetteError(ValueError):
    """The mask has no foreground: nobody is in the picture."""


class EdgePoints(NamedTuple):
    """Points on edges, and the directions of the edges there.

    Parameters
    ----------
    points
        (n, 2) float64: x to the right, y down, pixels.
    tangents
        (n, 2) float64 unit vectors: the direction in which the edge runs with the foreground on its left, as seen in
        the image.
    """

    points: FloatArray
    tangents: FloatArray


def sample_edges(
    mask: npt.ArrayLike,
    n_points: int = 400,
    components: ComponentChoice = "largest",
    edges: Literal["silhouette", "silhouette+image"] = "silhouette",
    image: npt.ArrayLike | None = None,
) -> FloatArray:
    """Sample points on the outer and inner contours of a silhouette, evenly along their total length.

    Parameters
    ----------
    mask
        A silhouette, read by :func:`pose.as_mask`: (h, w) or (h, w, 1..4), boolean, integer or float.
    n_points
        How many points, at least 1.
    components
        ``"largest"``: the 8-connected component whose outer contour encloses the largest area, with its holes.
        ``"all"``: every component except specks, so several people together; :func:`split_components` tells them apart.
    edges
        ``"silhouette"``: contours only. ``"silhouette+image"``: also the edges of `image` inside the silhouette.
    image
        (h, w) grey or (h, w, 3) BGR, uint8, as large as the mask; needed, and only allowed, with image edges.

    Returns
    -------
    (n_points, 2) float64: x to the right, y down, in pixels; (0, 0) is the centre of the upper left pixel. The points
    are grouped by contour and run along it; image edges come last.

    Raises
    ------
    EmptySilhouetteError
        If the mask has no foreground pixel.
    ValueError
        If `mask` is no mask, or an argument is out of range or does not fit.

    Notes
    -----
    A contour is the closed chain of the foreground pixels along an edge, through their centres. Around a hole, too, the
    chain lies on the foreground. Contours of at least 8 pixels are smoothed by a binomial filter that reaches 2 pixels
    to either side: the pixels' staircase would lengthen slanted edges by up to 8 %. All contours are laid end to end,
    and the points lie at equal steps along them, so each contour gets points by its length. A contour may get more
    points than it has pixels.

    Specks left out: holes that enclose less than 0.2 % of the area enclosed by their component; with ``"all"``
    components that enclose less than 1 % of the area of the largest; image edges shorter than 2.5 % of the longest
    contour.

    Image edges are Canny's (blur 1.4 pixels, thresholds 50 and 150), at least 5 pixels inside the contours. Each is
    walked there and back at twice the step, so that it too gets points by its length.

    What each kind of mask gives; the result depends on the values only:

    ================================= ==================================================================================
    mask                              answer
    ================================= ==================================================================================
    no foreground (also: at or below  ``EmptySilhouetteError``
    its threshold everywhere)
    full                              the frame of the image
    cut by the border of the image    closed along the border
    one pixel                         that pixel, `n_points` times
    line one pixel wide               walked there and back, its ends drawn in by a pixel at most
    fewer edge pixels than points     points between the pixels, evenly spaced
    many holes                        those that are no specks, each with its share of the points
    several components                the largest, or all
    boolean                           foreground where True
    not binary, integer or float      foreground above 0.5 if nothing exceeds 1; else from 128 on if nothing exceeds
                                      255; else from 32768 on
    (h, w, 1), grey and alpha, RGB,   the alpha channel if it varies, else the brightest colour channel
    RGBA
    NaN, complex, text, no pixels,    ``ValueError``
    (w,), (n, h, w, c), 5 channels
    8,000 x 8,000                     as any other, up to 32,767 pixels a side
    ================================= ==================================================================================
    """
    return trace_edges(mask, n_points, components, edges, image).points


def trace_edges(
    mask: npt.ArrayLike,
    n_points: int = 400,
    components: ComponentChoice = "largest",
    edges: Literal["silhouette", "silhouette+image"] = "silhouette",
    image: npt.ArrayLike | None = None,
) -> EdgePoints:
    """Sample points as :func:`sample_edges` does, with their tangents.

    Parameters and errors are those of :func:`sample_edges`.

    Returns
    -------
    EdgePoints
        ``(points, tangents)``, which :class:`pose.HistoSC` takes as it is. A tangent is the chord of the smoothed
        contour over about seven pixels; a single pixel has (1, 0). Image edges, which have no inside, are walked both
        ways, so the tangents of their points point in either direction.
    """
    check_count("n_points", n_points)
    if edges not in ("silhouette", "silhouette+image"):
        raise ValueError(f'edges must be "silhouette" or "silhouette+image", got {edges!r}')
    if (image is not None) != (edges == "silhouette+image"):
        raise ValueError('image and edges="silhouette+image" go together: give both or neither')
    foreground = as_mask(mask).view(np.uint8)
    found, figures = _figures(foreground, components)
    chains = [found[k] for k in sorted(k for outer, holes in figures.items() for k in (outer, *holes))]
    lines = [smooth_closed(chain, SMOOTHING_PASSES if len(chain) >= MIN_SMOOTHED else 0) for chain in chains]
    weights = [1.0] * len(lines)
    if image is not None:
        inner = _image_edges(_as_grey(image, foreground.shape), chains)
        lines += [smooth_closed(chain, SMOOTHING_PASSES) for chain in inner]
        weights += [0.5] * len(inner)
    starts = np.cumsum([0, *(len(line) for line in lines)])
    return EdgePoints(*walk(np.concatenate(lines), starts, np.array(weights), n_points))


def split_components(mask: npt.ArrayLike) -> list[BoolArray]:
    """One mask for each component that is no speck, largest first: several people in one picture, one by one.

    Parameters
    ----------
    mask
        As for :func:`sample_edges`.

    Returns
    -------
    list of (h, w) bool, in order of the area that the outer contour encloses. A person cut in two gives two masks.

    Raises
    ------
    EmptySilhouetteError, ValueError
        As :func:`sample_edges`.
    """
    foreground = as_mask(mask).view(np.uint8)
    found, figures = _figures(foreground, "all")
    _, labels = cv2.connectedComponents(foreground, connectivity=8)
    outer = sorted((found[k] for k in figures), key=cv2.contourArea, reverse=True)
    return [labels == labels[chain[0, 1], chain[0, 0]] for chain in outer]


def points_of_shape(
    shape: object, n_points: int = 400, components: ComponentChoice = "largest"
) -> tuple[npt.ArrayLike, FloatArray | None]:
    """Points of a shape, sampled if the shape is a mask, and their tangents, if any.

    Parameters
    ----------
    shape
        A mask, as :func:`sample_edges` takes it; a point set (k, 2), used as it is; or a pair (points, tangents), both
        (k, 2), such as :class:`EdgePoints`. A two-dimensional array with two columns is a point set, unless it is bool
        or uint8.
    n_points, components
        For masks.

    Returns
    -------
    The points, and their tangents or None. Points that were given are not checked here.
    """
    if isinstance(shape, tuple) and len(shape) == 2:
        return shape
    array = np.asarray(shape)
    if array.ndim == 2 and array.shape[1] == 2 and array.dtype not in (np.bool_, np.uint8):
        return array, None
    return trace_edges(array, n_points, components)


def _figures(foreground: Mask, components: str) -> tuple[list[Int32Array], dict[int, list[int]]]:
    """All contours, and the indices of the chosen ones: each outer contour with its holes, without specks."""
    if components not in ("largest", "all"):
        raise ValueError(f'components must be "largest" or "all", got {components!r}')
    found, hierarchy = cv2.findContours(foreground, cv2.RETR_CCOMP, cv2.CHAIN_APPROX_NONE)
    if hierarchy is None:
        raise EmptySilhouetteError("the mask is empty: no person (no foreground pixel) in it")
    chains = [np.asarray(chain, dtype=np.int32).reshape(-1, 2) for chain in found]
    parents = np.asarray(hierarchy, dtype=np.int32)[0, :, 3]
    areas = np.array([cv2.contourArea(chain) for chain in chains])
    outer = [k for k in range(len(chains)) if parents[k] < 0]
    largest = max(outer, key=lambda k: (areas[k], len(chains[k]), -k))
    kept = [largest] if components == "largest" else [k for k in outer if areas[k] >= MIN_COMPONENT * areas[largest]]
    figures: dict[int, list[int]] = {k: [] for k in kept}
    for hole in range(len(chains)):
        parent = int(parents[hole])
        if parent in figures and areas[hole] >= MIN_HOLE * areas[parent]:
            figures[parent].append(hole)
    return chains, figures


def _as_grey(image: npt.ArrayLike, size: tuple[int, ...]) -> Image:
    """Check the picture that belongs to a mask and return its grey levels."""
    array = np.asarray(image)
    if array.dtype != np.uint8 or array.ndim not in (2, 3) or (array.ndim == 3 and array.shape[2] != 3):
        raise ValueError(f"image must be uint8, (h, w) or (h, w, 3), got {array.dtype} of shape {array.shape}")
    if array.shape[:2] != size:
        raise ValueError(f"image and mask must be equally large, got {array.shape[:2]} and {size}")
    if array.ndim == 2:
        return np.ascontiguousarray(array)
    return np.asarray(cv2.cvtColor(array, cv2.COLOR_BGR2GRAY), dtype=np.uint8)


def _image_edges(grey: Image, contours: list[Int32Array]) -> list[Int32Array]:
    """Canny edges inside closed contours, as chains walked there and back, without specks."""
    inside = np.zeros_like(grey)
    cv2.drawContours(inside, contours, -1, 255, cv2.FILLED)
    cv2.drawContours(inside, contours, -1, 0, 2 * IMAGE_EDGE_MARGIN - 1)
    edges = cv2.Canny(cv2.GaussianBlur(grey, (0, 0), CANNY_BLUR), CANNY_LOW, CANNY_HIGH, L2gradient=True)
    found, _ = cv2.findContours(np.bitwise_and(edges, inside), cv2.RETR_LIST, cv2.CHAIN_APPROX_NONE)
    chains = [np.asarray(chain, dtype=np.int32).reshape(-1, 2) for chain in found]
    shortest = max(2 * MIN_IMAGE_EDGE * max(map(len, contours)), MIN_SMOOTHED)
    return [chain for chain in chains if len(chain) >= shortest]
