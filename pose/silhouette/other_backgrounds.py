"""Other background models than `GaussianBackground`: the HumanEva toolkit's own rule, and OpenCV's MOG2 and KNN.

All take recordings of the empty scene and give silhouettes; `BackgroundModel` is what they share.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol, Self

import cv2
import numpy as np
import numpy.typing as npt

from pose.silhouette.cleanup import EIGHT, FOUR, CleanUp, Silhouette, tidy
from pose.silhouette.connected_components import find_components
from pose.silhouette.gaussian_background import GaussianBackground
from pose.types import Image, Mask

GREY_LEVELS = 255.0
ZERO_VARIANCE = 1e-3
"""What stands for a variance of exactly 0, of images scaled to 0..1."""
_KNN_RATE = 1e-8
"""As good as none: OpenCV's KNN takes a rate of 0 for infinite and learns every frame at once; the next lower powers of
ten overflow its counters."""
_KNN_PENDING = 0.25  # of the frames learnt: within so many more, KNN still replaces samples it has drawn to replace
_ROUNDING = 1e-9  # grey levels squared: what is left of a variance of 0 after rounding


class BackgroundModel(Protocol):
    """Frames in, silhouettes out."""

    def silhouette(self, frame: Image) -> Mask:
        """The person in a frame, (h, w), 0 or 255; ValueError for a frame of another type or shape."""

    def examine(self, frame: Image) -> Silhouette:
        """The same, and how large the largest other silhouette is."""


@dataclass
class ToolkitBackground:
    """The background rule of the HumanEva-I toolkit, to the letter but in log densities.

    Images are scaled to 0..1. Each recording gives a mean and a variance a pixel and channel; a variance of exactly 0
    becomes 1e-3. The likelihood of a colour is the mean over the recordings of the product over the channels of the
    normal densities, and a pixel is foreground where it is below ``1 / (256**3 * risk)``: a threshold that belongs to
    grey levels of 0..255, so that it takes about 4.4 standard deviations in every channel to be foreground.

    Parameters
    ----------
    risk
        As above. The toolkit's author suggests 1e60 for S1 in BW1 to BW3, and 1e100 in BW4.
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
    `GaussianBackground` is the better default: shadows, flicker and edges are nothing to this rule.
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
            If they differ in shape, or are no moments of such images.
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
        """Silhouette of the person, and how large the largest other component is. Errors as of `silhouette`."""
        mask = self.foreground(frame)
        areas = np.sort(find_components(mask).area) if self.largest else np.zeros(0)
        other = float(areas[-2] / areas[-1]) if len(areas) > 1 else 0.0
        if self.largest and mask.any():
            mask = _components(mask, EIGHT, largest=True)
        return Silhouette(_components(mask, FOUR, min_area=self.min_area) if self.min_area > 1 else mask, other)

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


def _components(mask: Mask, connectivity: int, *, largest: bool = False, min_area: int = 0) -> Mask:
    """The largest component, or those of at least `min_area` pixels."""
    _, labels, stats, _ = cv2.connectedComponentsWithStats(mask, connectivity=connectivity)
    areas = np.array(stats[:, cv2.CC_STAT_AREA])
    areas[0] = 0
    keep = np.arange(len(areas)) == areas.argmax() if largest else areas >= max(min_area, 1)
    return np.asarray((keep.astype(np.uint8) * np.uint8(255))[labels])


@dataclass
class SubtractorBackground:
    """OpenCV's MOG2 or KNN background subtractor, taught the empty scene and then left as it is.

    Parameters
    ----------
    kind
        ``"mog2"`` (Zivkovic, ICPR 2004: a mixture of normals a pixel) or ``"knn"`` (Zivkovic & van der Heijden, Pattern
        Recognition Letters 27, 2006: nearest past colours). KNN keeps samples that it draws at random.
    threshold
        Squared distance from the background at which a pixel is foreground: of MOG2 in variances, of KNN in grey
        levels. None for OpenCV's own, 16 and 400.
    clean
        The clean-up, as of `GaussianBackground`.

    Notes
    -----
    A frame is compared and not learnt, so that a person who stands still does not fade. Shadows that OpenCV finds are
    background.
    """

    kind: Literal["mog2", "knn"] = "mog2"
    threshold: float | None = None
    clean: CleanUp = field(default_factory=CleanUp)

    def __post_init__(self) -> None:
        """Check the parameters."""
        if self.kind not in ("mog2", "knn"):
            raise ValueError(f"kind must be 'mog2' or 'knn', got {self.kind!r}")
        if self.threshold is not None and not self.threshold > 0:
            raise ValueError(f"threshold must be positive, got {self.threshold}")
        self._lock = threading.Lock()  # a subtractor has one buffer for its mask

    def fit(self, recordings: Sequence[Iterable[Image]]) -> Self:
        """Show the subtractor every frame of the empty scene, each weighing the same.

        Raises
        ------
        ValueError
            For no recordings, one without frames, or a frame of another type or shape; the message says which.
        """
        subtractor = _subtractor(self.kind, self.threshold)
        shape: tuple[int, ...] | None = None
        last = np.zeros(0, np.uint8)
        n_seen = 0
        for number, recording in enumerate(recordings, start=1):
            before = n_seen
            for frame in recording:
                where = f"background recording {number}, frame {n_seen - before + 1}"
                if frame.dtype != np.uint8 or frame.ndim not in (2, 3) or (shape and frame.shape != shape):
                    expected = f" as the first, {shape}" if shape else " (h, w) or (h, w, 3)"
                    raise ValueError(f"{where}: expected uint8 of shape{expected}, got {frame.dtype} of {frame.shape}")
                shape, last = frame.shape, frame
                n_seen += 1
                subtractor.apply(frame, learningRate=1.0 / n_seen)
            if n_seen == before:
                raise ValueError(f"background recording {number} has no frames: check the video file")
        if shape is None:
            raise ValueError("no background recordings: give at least one video of the empty room")
        self._subtractor, self._shape, self._rate = subtractor, shape, 0.0
        if self.kind == "knn":
            self._rate = _KNN_RATE
            for _ in range(int(_KNN_PENDING * n_seen) + 2):
                subtractor.apply(last, learningRate=_KNN_RATE)
        return self

    def silhouette(self, frame: Image) -> Mask:
        """Silhouette of the person, (h, w), 0 or 255.

        Raises
        ------
        ValueError
            If the model is not fitted, or the frame has another type or shape.
        """
        return self.examine(frame).mask

    def examine(self, frame: Image) -> Silhouette:
        """Silhouette of the person, and how large the largest other component is. Errors as of `silhouette`."""
        if not hasattr(self, "_subtractor"):
            raise ValueError("this background model is not fitted: call fit(recordings)")
        if frame.dtype != np.uint8 or frame.shape != self._shape:
            raise ValueError(
                f"frame: the background model is uint8 of shape {self._shape}, this frame is {frame.dtype} of shape "
                f"{frame.shape}; use the same camera and size"
            )
        with self._lock:
            found = np.array(self._subtractor.apply(frame, learningRate=self._rate))
        return _tidied(found, self.clean)


@dataclass
class RunningBackground:
    """OpenCV's MOG2 or KNN, learning the scene from the frames themselves, which it must see in order.

    Parameters
    ----------
    kind, threshold, clean
        As of `SubtractorBackground`.
    history
        Frames that the background is learnt from: what stays longer than some of these becomes background.

    Notes
    -----
    It needs no recording of the empty scene, and pays for it: whoever stands in the first frames leaves a ghost when he
    moves on, and whoever stands still fades. The same frames give the same silhouettes.
    """

    kind: Literal["mog2", "knn"] = "knn"
    threshold: float | None = None
    clean: CleanUp = field(default_factory=CleanUp)
    history: int = 500

    def __post_init__(self) -> None:
        """Check the parameters."""
        if self.history < 1:
            raise ValueError(f"history must be at least one frame, got {self.history}")
        SubtractorBackground(self.kind, self.threshold)
        cv2.setRNGSeed(0)  # KNN draws the samples that it keeps
        self._subtractor = _subtractor(self.kind, self.threshold, self.history)
        self._shape: tuple[int, ...] | None = None

    def silhouette(self, frame: Image) -> Mask:
        """Silhouette of the person, (h, w), 0 or 255; the frame is learnt. ValueError if it is unlike the first."""
        return self.examine(frame).mask

    def examine(self, frame: Image) -> Silhouette:
        """Silhouette of the person, and how large the largest other component is; the frame is learnt."""
        fits = frame.dtype == np.uint8 and frame.ndim in (2, 3) and (self._shape is None or frame.shape == self._shape)
        if not fits:
            expected = f"as the first, {self._shape}" if self._shape else "(h, w) or (h, w, 3)"
            raise ValueError(f"frame: expected uint8 of shape {expected}, got {frame.dtype} of {frame.shape}")
        self._shape = frame.shape
        return _tidied(np.asarray(self._subtractor.apply(frame)), self.clean)


def _subtractor(kind: str, threshold: float | None, history: int = 500) -> cv2.BackgroundSubtractor:
    if kind == "mog2":
        return cv2.createBackgroundSubtractorMOG2(history, varThreshold=threshold or 16.0, detectShadows=True)
    return cv2.createBackgroundSubtractorKNN(history, dist2Threshold=threshold or 400.0, detectShadows=True)


def _tidied(found: npt.NDArray[np.generic], clean: CleanUp) -> Silhouette:
    """The silhouette among what a subtractor marks: 255 foreground, 127 shadow."""
    mask, _, other = tidy(np.asarray((found == 255).astype(np.uint8) * np.uint8(255)), clean)
    return Silhouette(mask, other)
