"""The background rule of the HumanEva toolkit, for results that are to be compared with its own."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Self

import cv2
import numpy as np
import numpy.typing as npt

from pose.silhouette.gaussian_background import GaussianBackground
from pose.silhouette.masks import Silhouette
from pose.types import BoolArray, Image, Int32Array, Mask

GREY_LEVELS = 255.0
"""Largest grey level; images divided by it lie in 0 to 1."""
ZERO_VARIANCE = 1e-3
"""Variance that replaces a variance of exactly 0, in images scaled to 0..1."""
_ROUNDING = 1e-9
"""Least variance that is no rounding error of 0, squared grey levels."""


@dataclass
class ToolkitBackground:
    """The background rule of the HumanEva-I toolkit, unchanged but for log densities.

    Images are scaled to 0..1. Each recording gives a mean and a variance a pixel and channel; a variance of exactly 0
    becomes 1e-3. For each recording the normal densities of the channels are multiplied; their mean over the recordings
    is the likelihood of a colour. A pixel is foreground where its likelihood is below ``1 / (256**3 * risk)``. This
    threshold belongs to grey levels of 0..255, so that a pixel is foreground only from about 4.4 standard deviations in
    every channel on.

    Parameters
    ----------
    risk
        Factor in the threshold above. The toolkit's author suggests 1e60 for S1 in BW1 to BW3, and 1e100 in BW4.
    largest
        Keep only the largest 8-connected component.
    min_area
        Then drop 4-connected components of fewer pixels.

    Attributes
    ----------
    means, variances
        (r, h, w, c) float64, of images scaled to 0..1, one entry a recording; channels in the frames' order.

    Notes
    -----
    `GaussianBackground` is the better default: this rule knows no shadows, flicker or edges.
    """

    risk: float = 1.0
    largest: bool = True
    min_area: int = 10

    def __post_init__(self) -> None:
        """Check the parameters."""
        if not self.risk > 0:
            raise ValueError(f"risk must be positive, got {self.risk}")
        if self.min_area < 0:
            raise ValueError(f"min_area must not be negative, got {self.min_area}")

    def fit(self, recordings: Sequence[Iterable[Image]]) -> Self:
        """Learn means and variances; parameters and errors are those of `GaussianBackground.fit`."""
        moments = GaussianBackground().fit(recordings)
        variances = moments.variances.astype(np.float64)
        variances[variances < _ROUNDING] = 0.0
        return self.set_state(moments.means.astype(np.float64) / GREY_LEVELS, variances / GREY_LEVELS**2)

    def set_state(self, means: npt.ArrayLike, variances: npt.ArrayLike) -> Self:
        """Take `means` and `variances`, (r, h, w, c) each, of images scaled to 0..1.

        Raises
        ------
        ValueError
            If the arrays differ in shape, or cannot be moments of such images.
        """
        self.means, self.variances = (np.asarray(array, dtype=np.float64) for array in (means, variances))
        if self.means.ndim != 4 or self.means.shape != self.variances.shape or self.means.shape[3] not in (1, 3):
            raise ValueError(
                "means and variances must both have shape (recordings, h, w, 1 or 3), "
                f"got {self.means.shape} and {self.variances.shape}"
            )
        inside = (self.means >= 0).all() and (self.means <= 1).all() and (self.variances >= 0).all()
        if not (inside and (self.variances <= 1).all()):
            raise ValueError("means and variances must be of images scaled to 0..1, finite and not negative")
        floored = np.where(self.variances == 0, ZERO_VARIANCE, self.variances)
        self._mean_levels = (self.means * GREY_LEVELS).astype(np.float32)
        self._half_precisions = (0.5 / (floored * GREY_LEVELS**2)).astype(np.float32)
        norms = -0.5 * np.log(2 * np.pi * floored).sum(axis=-1) - np.log(len(floored))
        self._log_norms = norms.astype(np.float32)
        return self

    @property
    def threshold(self) -> float:
        """Log density, of images scaled to 0..1, below which a pixel is foreground."""
        return float(-3 * np.log(256.0) - np.log(self.risk))

    def foreground(self, frame: Image) -> Mask:
        """Raw foreground of a frame, (h, w), 0 or 255, before components are chosen."""
        image = self._checked(frame).astype(np.float32)
        likelihood = np.full(image.shape[:2], -np.inf, dtype=np.float32)
        for mean, precision, norm in zip(self._mean_levels, self._half_precisions, self._log_norms, strict=True):
            distance = np.square(image - mean)
            distance *= precision
            np.logaddexp(likelihood, norm - distance.sum(axis=2), out=likelihood)
        return np.asarray((likelihood < self.threshold).astype(np.uint8) * np.uint8(255))

    def silhouette(self, frame: Image) -> Mask:
        """Silhouette of the person, (h, w), 0 or 255.

        Raises
        ------
        ValueError
            If the model is not fitted, or the frame has another type or shape.
        """
        return self.examine(frame).mask

    def examine(self, frame: Image) -> Silhouette:
        """Silhouette of the person, and how large the largest other component is; errors as of `silhouette`."""
        mask, other = self.foreground(frame), 0.0
        if self.largest and mask.any():
            labels, areas = _label(mask, connectivity=8)
            second, first = np.sort(areas)[-2:]
            other = float(second / first)
            mask = _kept(labels, np.arange(len(areas)) == areas.argmax())
        if self.min_area > 1:
            labels, areas = _label(mask, connectivity=4)
            mask = _kept(labels, areas >= self.min_area)
        return Silhouette(mask, other)

    def _checked(self, frame: Image) -> Image:
        if not hasattr(self, "means"):
            raise ValueError("this background model is not fitted: call fit(recordings) or set_state(means, variances)")
        image = frame[:, :, None] if frame.ndim == 2 else frame
        if image.dtype != np.uint8 or image.shape != self.means.shape[1:]:
            height, width, channels = self.means.shape[1:]
            raise ValueError(
                f"frame: the background model is {width}x{height} with {channels} channel(s) of uint8, this frame is "
                f"{image.dtype} of shape {np.shape(frame)}; use the same camera and size"
            )
        return image


def _label(mask: Mask, connectivity: int) -> tuple[Int32Array, Int32Array]:
    """The label of each pixel, 0 for the background, and the pixels that each label has, 0 for the background."""
    _, labels, stats, _ = cv2.connectedComponentsWithStats(mask, connectivity=connectivity)
    areas = np.array(stats[:, cv2.CC_STAT_AREA], dtype=np.int32)
    areas[0] = 0
    return np.asarray(labels, dtype=np.int32), areas


def _kept(labels: Int32Array, keep: BoolArray) -> Mask:
    """A mask of the components whose flags are set."""
    return np.asarray((keep.astype(np.uint8) * np.uint8(255))[labels])
