"""A Gaussian background model of each pixel's colour in the empty scene: what it does not explain is the person.

The model is that of the HumanEva release: mean and diagonal variance of each pixel over each background recording. The
likelihood of a colour is the mean of the recordings' normal densities. Added here are log densities (the products
themselves underflow), one brightness gain a frame, tolerance of shadows, and an edge decided by how colours mix.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Self

import cv2
import numpy as np
import numpy.typing as npt

from pose.silhouette.cleanup import CleanUp, enlarged, square_element, tidy
from pose.silhouette.compiled_background import CompiledModel, classify, refine_edge
from pose.silhouette.masks import Silhouette
from pose.types import Float32Array, Image, Mask

GAIN_GRID = 40
"""Rows of the grid of pixels from which a frame's gain is found. The median of thousands is good to 0.1 %."""
GAIN_DARK = 16.0
"""Grey level up to which a background pixel is too dark to count for the gain."""


@dataclass
class GaussianBackground:
    """Per-pixel Gaussian background model; frames in, silhouettes out.

    Parameters
    ----------
    risk
        How sure to be before calling a pixel foreground. A pixel is foreground when the density of its colour under the
        background, on the scale of 0..255 grey levels, is below ``1 / (256**channels * risk)``. At ``risk=1`` that is
        the density of a colour drawn evenly from all colours: the pixel is foreground where "any colour" explains it
        better than the background. Larger values need stronger evidence. The release's own code has the same formula
        for images scaled to 0..1, which makes its threshold stricter by 256**channels: ``risk=256**channels`` is its
        default rule.
    min_sigma
        Least standard deviation of a pixel and channel, in grey levels. Compressed recordings of a still room repeat
        many pixels exactly, and two recordings differ by more than either shows.
    shadow
        (low, high): a pixel is a shadow, and so background, where the background's colour times one factor in this
        range explains it by the same threshold. None for no tolerance. Never applied to grey images: without colour,
        everything darker would be a shadow.
    clean
        The clean-up, see :class:`CleanUp`.

    Attributes
    ----------
    means, variances
        (r, h, w, c) float32, in grey levels and squared grey levels, one entry for each recording; variances without
        the floor of `min_sigma`. Together with the parameters they are the whole model.

    Notes
    -----
    The colour order (RGB or BGR) does not matter but must be the same for recordings and frames. Each frame is divided
    by its gain before it is compared, against flicker of the light and automatic exposure. The gain is the median ratio
    to the mean background on a coarse grid, and holds while the person covers less than half of the picture.
    """

    risk: float = 1.0
    min_sigma: float = 3.0
    shadow: tuple[float, float] | None = (0.8, 1.0)
    clean: CleanUp = field(default_factory=CleanUp)

    def __post_init__(self) -> None:
        """Check the parameters."""
        if not self.risk > 0:
            raise ValueError(f"risk must be positive, got {self.risk}")
        if not self.min_sigma > 0:
            raise ValueError(f"min_sigma must be positive (grey levels), got {self.min_sigma}")
        if self.shadow is not None and not 0 < self.shadow[0] <= self.shadow[1]:
            raise ValueError(f"shadow must be (low, high) with 0 < low <= high, or None, got {self.shadow}")

    def fit(self, recordings: Sequence[Iterable[Image]]) -> Self:
        """Learn means and variances, one frame in memory at a time.

        Parameters
        ----------
        recordings
            One iterable of frames for each recording (HumanEva has three for each camera); frames are (h, w), (h, w, 1)
            or (h, w, 3) uint8, all of one shape.

        Raises
        ------
        ValueError
            For no recordings, a recording without frames, or a frame of another type or shape; the message says which.
        """
        means, variances = [], []
        shape: tuple[int, ...] | None = None
        for number, recording in enumerate(recordings, start=1):
            count = 0
            total = squares = np.zeros(0)
            for image in recording:
                where = f"background recording {number}, frame {count + 1}"
                frame = _check_frame(image, shape, where).astype(np.float64)
                if count == 0:
                    shape = frame.shape
                    total, squares = np.zeros(shape), np.zeros(shape)
                # Sums of integers up to 255 are exact in float64, so sum of squares minus square of sum loses nothing.
                total += frame
                squares += np.multiply(frame, frame, out=frame)
                count += 1
            if count == 0:
                raise ValueError(f"background recording {number} has no frames: check the video file")
            mean = total / count
            means.append(mean.astype(np.float32))
            variances.append(np.maximum(squares / count - mean * mean, 0.0).astype(np.float32))
        if not means:
            raise ValueError("no background recordings: give at least one video of the empty room")
        self._set_state(np.stack(means), np.stack(variances))
        return self

    @classmethod
    def from_state(
        cls,
        means: npt.ArrayLike,
        variances: npt.ArrayLike,
        risk: float = 1.0,
        min_sigma: float = 3.0,
        shadow: tuple[float, float] | None = (0.8, 1.0),
        clean: CleanUp | None = None,
    ) -> Self:
        """Rebuild a fitted model from its `means` and `variances`, (r, h, w, c) each, and parameters."""
        model = cls(risk=risk, min_sigma=min_sigma, shadow=shadow, clean=clean or CleanUp())
        model._set_state(np.asarray(means, dtype=np.float32), np.asarray(variances, dtype=np.float32))
        return model

    def _set_state(self, means: Float32Array, variances: Float32Array) -> None:
        """Keep the arrays and derive what the compiled loops read."""
        if means.ndim != 4 or means.shape != variances.shape:
            raise ValueError(
                "means and variances must both have shape (recordings, h, w, channels), "
                f"got {means.shape} and {variances.shape}"
            )
        self.means = np.ascontiguousarray(means)
        self.variances = np.ascontiguousarray(variances)
        floored = np.maximum(self.variances, self.min_sigma**2)
        precisions = (1.0 / floored).astype(np.float32)
        norms = (-0.5 * np.log(2.0 * np.pi * floored).sum(axis=-1) - np.log(len(means))).astype(np.float32)
        self._background = self.means.mean(axis=0)
        self._set_grid()
        # A box of colours inside the first recording's ellipsoid of acceptance. Comparing bytes with this box finds
        # most background pixels. It is half a grey level narrower, since bytes divided by the gain are rounded.
        reach = np.maximum(2.0 * (norms[0] - self.threshold), 0.0) / means.shape[3]
        half = np.sqrt(reach)[..., None] * np.sqrt(floored[0]) - 0.5
        self._lowest = np.clip(np.ceil(self.means[0] - half), 0, 255).astype(np.uint8)
        self._highest = np.clip(np.floor(self.means[0] + half), 0, 254).astype(np.uint8)
        self._compiled = CompiledModel(
            self._outer_box(norms, floored),
            _interleave(self.means, precisions, norms),
            (0,) * self._shape[2],
            len(self.means),
            self.threshold,
            *self._shadow_range(),
        )

    def _outer_box(self, norms: Float32Array, floored: Float32Array) -> Image:
        """Least and largest values that the background may explain, (h, w, 2 c): most of a person lies outside.

        A channel may differ from the mean, in light or in shadow, by as much as the density over all channels allows if
        no other channel differs. The summed density is at most r times its largest term. A grey level is added, since
        bytes divided by the gain are rounded.
        """
        low, high = self._shadow_range()
        reach = np.maximum(2.0 * (norms - self.threshold + np.log(len(norms))), 0.0)
        half = np.sqrt(reach)[..., None] * np.sqrt(floored) + 1.0
        least = (min(low, 1.0) * self.means - half).min(axis=0)
        largest = (max(high, 1.0) * self.means + half).max(axis=0)
        # Values divided by the gain are cut off at 255, which may therefore stand for any larger value.
        largest = np.where(np.ceil(largest) >= 255, 255, largest)
        bounds = np.stack([np.floor(least), np.ceil(largest)], axis=-1)
        table: Image = np.clip(bounds, 0, 255).astype(np.uint8).reshape(*self._shape[:2], -1)
        return table

    def _shadow_range(self) -> tuple[float, float]:
        """Least and largest brightness factor that is taken for shadow; an empty range where there are none."""
        if self.shadow is None or self._shape[2] == 1:
            return 1.0, 0.0
        return float(self.shadow[0]), float(self.shadow[1])

    @property
    def threshold(self) -> float:
        """Log density, on the scale of grey levels, below which a pixel is foreground."""
        return float(-self._shape[2] * np.log(256.0) - np.log(self.risk))

    @property
    def _shape(self) -> tuple[int, ...]:
        if not hasattr(self, "means"):
            raise ValueError(
                "this background model is not fitted: call fit(recordings) or from_state(means, variances)"
            )
        return self.means.shape[1:]

    def gain(self, frame: Image) -> float:
        """Brightness of a frame relative to the mean background: the median ratio on a coarse grid."""
        return self._gain(_check_frame(frame, self._shape, "frame"))

    def _set_grid(self) -> None:
        """Choose the values that the gain is found from: their indices in the flat frame, and the background there."""
        shape = self._shape
        step = max(1, min(shape[:2]) // GAIN_GRID)
        grid = slice(step // 2, None, step)
        behind = self._background[grid, grid]
        usable = behind > GAIN_DARK
        self._grid = np.arange(np.prod(shape)).reshape(shape)[grid, grid][usable]
        self._behind = behind[usable]

    def _gain(self, image: Image) -> float:
        if len(self._grid) == 0:
            return 1.0
        ratio = float(np.median(image.reshape(-1)[self._grid] / self._behind))
        return ratio if ratio > 0.0 else 1.0

    def foreground(self, frame: Image) -> Mask:
        """Raw foreground of a frame, before clean-up: (h, w) uint8, 0 or 255. Takes what :meth:`silhouette` takes."""
        image = _check_frame(frame, self._shape, "frame")
        return self._classify(image, self._gain(image))

    def _classify(self, image: Image, gain: float) -> Mask:
        scaled = np.asarray(cv2.convertScaleAbs(image, alpha=1.0 / gain), dtype=np.uint8).reshape(image.shape)
        likely = np.asarray(cv2.inRange(scaled, self._lowest, self._highest), dtype=np.uint8)
        mask: Mask = classify(image, scaled, likely, gain, self._compiled)
        return mask

    def silhouette(self, frame: Image) -> Mask:
        """Silhouette of the person in a frame.

        Parameters
        ----------
        frame
            (h, w, c) uint8 of the model's size and channels; (h, w) for a grey model.

        Returns
        -------
        (h, w) uint8, 255 on the person, else 0; all 0 when nothing as large as ``clean.min_area`` is in the frame.

        Raises
        ------
        ValueError
            If the model is not fitted or the frame has another type or shape.
        """
        return self.examine(frame).mask

    def examine(self, frame: Image) -> Silhouette:
        """Silhouette and the size of the largest other one; parameters and errors as of :meth:`silhouette`."""
        image = _check_frame(frame, self._shape, "frame")
        gain = self._gain(image)
        mask, box, other = tidy(self._classify(image, gain), self.clean)
        if self.clean.edge == 0 or box is None:
            return Silhouette(mask, other)
        part = enlarged(box, self.clean.edge + self.clean.edge_window, mask.shape)
        _decide_edge(image[part], self._background[part], gain, mask[part], self.clean)
        again = replace(self.clean, closing=0, opening=0)
        mask[part] = tidy(mask[part], again).mask
        return Silhouette(mask, other)


def _interleave(means: Float32Array, precisions: Float32Array, norms: Float32Array) -> Float32Array:
    """The terms of each pixel side by side, (h, w, r * (2 c + 1)): see `CompiledModel`."""
    pairs = np.stack([means, precisions], axis=-1).reshape(*norms.shape, -1)
    terms = np.concatenate([pairs, norms[..., None]], axis=-1)
    return np.ascontiguousarray(np.moveaxis(terms, 0, 2).reshape(*norms.shape[1:], -1))


def _decide_edge(image: Image, background: Float32Array, gain: float, mask: Mask, clean: CleanUp) -> None:
    """Decide the pixels within ``clean.edge`` of the mask's edge again, in place, by the colours mixed in them."""
    core = np.asarray(cv2.erode(mask, square_element(1)), dtype=np.uint8)
    window = (2 * clean.edge_window + 1, 2 * clean.edge_window + 1)
    # Colours and, as one more channel, the core itself (255 a pixel), summed over the window around each pixel.
    channels = [image[..., k] & core for k in range(image.shape[2])]
    stacked = cv2.merge([*channels, core])
    sums = cv2.boxFilter(stacked, cv2.CV_32F, window, normalize=False, borderType=cv2.BORDER_CONSTANT)
    person = np.asarray(sums, dtype=np.float32)
    band = np.asarray(cv2.morphologyEx(mask, cv2.MORPH_GRADIENT, square_element(clean.edge)), dtype=np.uint8)
    refine_edge(image, background, gain, person[..., :-1], person[..., -1] / np.float32(255), band, mask)


def _check_frame(image: Image, shape: tuple[int, ...] | None, where: str) -> Image:
    """Return the frame as (h, w, c), c = 1 or 3, after comparing it with the expected `shape` (h, w, c), if known."""
    frame = np.asarray(image)
    if frame.dtype != np.uint8:
        raise ValueError(f"{where}: expected uint8 grey levels 0..255, got {frame.dtype}; convert it first")
    if frame.ndim == 2:
        frame = frame[:, :, None]
    if frame.ndim != 3 or frame.shape[2] not in (1, 3) or 0 in frame.shape:
        raise ValueError(f"{where}: expected an image (h, w) or (h, w, 3), got shape {np.shape(image)}")
    if shape is not None and frame.shape != shape:
        wanted, given = (f"{s[1]}x{s[0]} with {s[2]} channel(s)" for s in (shape, frame.shape))
        raise ValueError(
            f"{where}: the background model is {wanted}, this frame is {given}; use the same camera and size"
        )
    return np.ascontiguousarray(frame)
