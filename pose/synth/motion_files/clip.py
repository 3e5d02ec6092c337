"""The content of any motion file: named points and bone rotations over time."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from pose.types import FloatArray

_AXES = "xyz"


@dataclass(frozen=True, eq=False)
class Clip:
    """A motion in the unit and the axes of its file.

    Parameters
    ----------
    path : Path
        The file.
    points : dict of str to ndarray of shape (T, 3)
        Joints or markers by the file's names.
    rotations : dict of str to ndarray of shape (T, 3, 3)
        Orientations of bones against the rest pose, in the world; empty for markers.
    rest : dict of str to ndarray of shape (3,)
        The points in the rest pose, the root at the origin; empty for markers.
    rate : float or None
        Frames/s, where the file states them.
    unit : float or None
        mm in a unit of length, where the file states it.
    frame_lines : tuple of int
        The file's line of every frame; empty where there are no lines.
    """

    path: Path
    points: dict[str, FloatArray]
    rotations: dict[str, FloatArray] = field(default_factory=dict)
    rest: dict[str, FloatArray] = field(default_factory=dict)
    rate: float | None = None
    unit: float | None = None
    frame_lines: tuple[int, ...] = ()

    def __len__(self) -> int:
        return len(next(iter(self.points.values())))

    def between(self, first: int, last: int) -> Clip:
        """The frames from `first` up to, not including, `last`, counted from 0."""
        return Clip(
            self.path,
            {name: value[first:last] for name, value in self.points.items()},
            {name: value[first:last] for name, value in self.rotations.items()},
            self.rest,
            self.rate,
            self.unit,
            self.frame_lines[first:last],
        )


def axis_rotation(axis: str, angles: FloatArray) -> FloatArray:
    """Rotations (..., 3, 3) about the axis x, y or z by `angles` (...), radians."""
    index = _AXES.index(axis.lower())
    after, last = (index + 1) % 3, (index + 2) % 3
    turned = np.zeros((*np.shape(angles), 3, 3))
    turned[..., index, index] = 1.0
    turned[..., after, after] = turned[..., last, last] = np.cos(angles)
    turned[..., last, after] = np.sin(angles)
    turned[..., after, last] = -turned[..., last, after]
    return turned
