"""Poses over the frames of one video, with their standard deviations and what may be wrong with each frame."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import IntFlag

import numpy as np

from pose.body.skeleton import Skeleton
from pose.types import BoolArray, FloatArray, IntArray


class Quality(IntFlag):
    """What may be wrong with a frame; files hold these numbers."""

    GOOD = 0
    NO_PERSON = 1  #: no silhouette, hence no pose
    SEVERAL_PEOPLE = 2  #: further large silhouettes; the pose is of the largest
    TOUCHES_BORDER = 4  #: the person is cut off by the picture's edge
    UNLIKE_TRAINING = 8  #: the predictive variance is larger than on nearly all held-out images


def quality_words(flags: int) -> tuple[str, ...]:
    """The flags of a frame in words, ``("touches_border", "unlike_training")``; ``("good",)`` where there is none.

    Raises
    ------
    ValueError
        If there is no such flag.
    """
    unknown = int(flags) & ~sum(Quality)
    if unknown or flags < 0:
        raise ValueError(f"there are no quality flags {flags}")
    return tuple(str(flag.name).lower() for flag in Quality(int(flags))) or ("good",)


def quality_of_words(words: Iterable[str]) -> Quality:
    """The flags that words name: the inverse of `quality_words`.

    Raises
    ------
    ValueError
        If a word is no flag.
    """
    flags = Quality.GOOD
    for word in words:
        if word.upper() not in Quality.__members__:
            known = ", ".join(name.lower() for name in Quality.__members__)
            raise ValueError(f"there is no quality flag {word!r}: {known}")
        flags |= Quality[word.upper()]
    return flags


@dataclass(frozen=True, eq=False)
class PoseSeries:
    """Joints over the frames of one video.

    Parameters
    ----------
    frame : ndarray of int, shape (n,)
        0-based video frames.
    time : ndarray of shape (n,)
        Seconds.
    joints : ndarray of shape (n, J, 3)
        mm, relative to the root; NaN where no person was found.
    skeleton : Skeleton
    axes : str
        ``"camera"`` (x right, y down, z forward) or ``"world"`` (z up); ``"camera-y-up"`` and ``"world-y-up"`` are
        these axes turned about x until y points up, see `pose.export.axes`.
    provenance : dict of str to str
        Where the numbers come from: model, video, version.
    std : ndarray of shape (n, J, 3), optional
        Standard deviation of each coordinate, mm; NaN where no person was found.
    quality : ndarray of int, shape (n,), optional
        `Quality` flags of each frame.
    """

    frame: IntArray
    time: FloatArray
    joints: FloatArray
    skeleton: Skeleton
    axes: str
    provenance: dict[str, str] = field(default_factory=dict)
    std: FloatArray | None = None
    quality: IntArray | None = None

    def __post_init__(self) -> None:
        n_frames = len(self.frame)
        positions = (n_frames, len(self.skeleton), 3)
        expected = {"frame": (n_frames,), "time": (n_frames,), "joints": positions}
        expected |= {"std": positions} if self.std is not None else {}
        expected |= {"quality": (n_frames,)} if self.quality is not None else {}
        shapes = {name: getattr(self, name).shape for name in expected}
        if shapes != expected:
            faults = [
                f"{name} has the shape {shapes[name]}, expected {shape}"
                for name, shape in expected.items()
                if shapes[name] != shape
            ]
            raise ValueError("; ".join(faults))

    @property
    def found(self) -> BoolArray:
        """Whether a person was found in each frame, (n,)."""
        return np.isfinite(self.joints[:, 0, 0])  # a frame has all its joints or none
