"""Silhouettes as masks, and the reading of ready-made masks."""

from __future__ import annotations

from os import PathLike, fspath
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from pose.silhouette.connected_components import find_components
from pose.types import BoolArray, Mask


class Silhouette(NamedTuple):
    """The person in a frame."""

    mask: Mask
    """(h, w), 0 or 255."""
    other: float
    """Area of the largest other component as a share of the person's, before edges were refined; 0 without one."""


def examine_mask(mask: Mask) -> Silhouette:
    """A ready-made silhouette (h, w), 0 or 255; `other` is its second largest component's share of the largest."""
    areas = np.sort(find_components(mask).area)
    return Silhouette(mask, float(areas[-2] / areas[-1]) if len(areas) > 1 else 0.0)


def as_mask(image: npt.ArrayLike) -> BoolArray:
    """Read a ready-made mask.

    Parameters
    ----------
    image
        (h, w) or (h, w, 1..4): boolean, integer or float.

    Returns
    -------
    (h, w) bool, contiguous, True on the foreground.

    Raises
    ------
    ValueError
        For another number of dimensions or channels, an empty array, complex or object type, or NaN.

    Notes
    -----
    Channels: 2 are grey and alpha, 3 are colours, 4 are colours and alpha. An alpha channel that varies is the mask (a
    cut-out); a constant one is ignored, and the brightest colour channel decides.

    Thresholds: in a boolean mask True is foreground. Otherwise the largest value decides: up to 1 (0/1 masks,
    probabilities), foreground is above 0.5; up to 255, from 128 on; larger (16 bit), from 32768 on.
    """
    if isinstance(image, str | PathLike):
        raise ValueError(f"a mask must be an array: read the picture {fspath(image)} first, e.g. with cv2.imread")
    array = np.asarray(image)
    if array.ndim not in (2, 3) or (array.ndim == 3 and not 1 <= array.shape[2] <= 4):
        raise ValueError(f"a mask must have shape (h, w) or (h, w, 1..4), got {array.shape}")
    if array.size == 0:
        raise ValueError(f"the mask has no pixels: shape {array.shape}")
    if array.dtype.kind not in "biuf":
        raise ValueError(f"a mask must be boolean, integer or float, got {array.dtype}")
    if array.ndim == 3:
        array = _one_channel(array)
    if array.dtype == np.bool_:
        return np.ascontiguousarray(array)
    largest = float(array.max())
    if np.isnan(largest):
        raise ValueError("the mask has NaN values: replace them by 0 or 1 first")
    if largest <= 1:
        return np.ascontiguousarray(array > 0.5)
    return np.ascontiguousarray(array >= (128 if largest <= 255 else 32768))


def _one_channel(array: npt.NDArray[np.generic]) -> npt.NDArray[np.generic]:
    """Reduce (h, w, 1..4) to the channel that holds the mask."""
    colours = array
    if array.shape[2] in (2, 4):
        alpha = array[:, :, -1]
        if (alpha != alpha[0, 0]).any():
            return alpha
        colours = array[:, :, :-1]
    brightest: npt.NDArray[np.generic] = colours.max(axis=2)
    return brightest
