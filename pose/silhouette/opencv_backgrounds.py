"""OpenCV's background subtractors MOG2 and KNN: taught the empty scene, or learning it from the frames themselves."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal, Self

import cv2
import numpy as np
import numpy.typing as npt

from pose.silhouette.cleanup import CleanUp, tidy
from pose.silhouette.masks import Silhouette
from pose.types import Image, Mask

_KNN_RATE = 1e-8
"""Learning rate of KNN where it should learn nothing. At a rate of 0 OpenCV learns every frame at once; rates of 1e-9
and less overflow its counters."""
_KNN_PENDING = 0.25
"""Further frames in which KNN goes on replacing samples that it has drawn, as a share of the frames learnt."""
_MOG2_THRESHOLD = 16.0
"""Default threshold of OpenCV's MOG2, in variances."""
_KNN_THRESHOLD = 400.0
"""Default threshold of OpenCV's KNN, in squared grey levels."""
_FOREGROUND = 255
"""Value of a foreground pixel in a subtractor's result; shadows are 127."""


@dataclass
class SubtractorBackground:
    """OpenCV's MOG2 or KNN background subtractor, taught the empty scene and then left as it is.

    Parameters
    ----------
    kind
        ``"mog2"`` (Zivkovic, ICPR 2004: a mixture of normals a pixel) or ``"knn"`` (Zivkovic & van der Heijden, Pattern
        Recognition Letters 27, 2006: nearest past colours). KNN keeps samples that it draws at random.
    threshold
        Squared distance from the background above which a pixel is foreground: in variances for MOG2, in squared grey
        levels for KNN. None for OpenCV's defaults, 16 and 400.
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
        """Show the subtractor every frame of the empty scene, all with equal weight.

        Raises
        ------
        ValueError
            For no recordings, a recording without frames, or a frame of another type or shape; the message says which.
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
        Number of past frames that the background is learnt from. What stands still for part of them becomes background.

    Notes
    -----
    It needs no recording of the empty scene. The price: a person in the first frames leaves a ghost behind, and a
    person who stands still fades. The same sequence of frames gives the same silhouettes.
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
        return cv2.createBackgroundSubtractorMOG2(
            history, varThreshold=threshold or _MOG2_THRESHOLD, detectShadows=True
        )
    return cv2.createBackgroundSubtractorKNN(history, dist2Threshold=threshold or _KNN_THRESHOLD, detectShadows=True)


def _tidied(found: npt.NDArray[np.generic], clean: CleanUp) -> Silhouette:
    """The silhouette in a subtractor's result."""
    mask, _, other = tidy(np.asarray((found == _FOREGROUND).astype(np.uint8) * np.uint8(255)), clean)
    return Silhouette(mask, other)
