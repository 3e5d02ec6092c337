"""The 15-joint skeleton: names, bones, sides, and root-relative poses in mm."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

FloatArray = NDArray[np.float64]


@dataclass(frozen=True)
class Skeleton:
    """A tree of joints.

    Parameters
    ----------
    names : tuple of str
        One a joint, in the order of every pose array.
    parents : tuple of int
        The parent's index of each joint, -1 for the root.
    """

    names: tuple[str, ...]
    parents: tuple[int, ...]

    def __len__(self) -> int:
        return len(self.names)

    @property
    def root(self) -> int:
        """Index of the joint that poses are relative to."""
        return self.parents.index(-1)

    @property
    def bones(self) -> tuple[tuple[int, int], ...]:
        """(parent, child) index pairs."""
        return tuple((parent, child) for child, parent in enumerate(self.parents) if parent >= 0)

    def side(self, joint: int) -> str:
        """``"left"``, ``"right"`` or ``"middle"``, by the joint's name."""
        prefix = self.names[joint].split("_")[0]
        return prefix if prefix in ("left", "right") else "middle"


#: The order in which public HumanEva-I conversions list the joints; the root comes first.
HUMANEVA_15 = Skeleton(
    names=(
        "pelvis",
        "thorax",
        "left_shoulder",
        "left_elbow",
        "left_wrist",
        "right_shoulder",
        "right_elbow",
        "right_wrist",
        "left_hip",
        "left_knee",
        "left_ankle",
        "right_hip",
        "right_knee",
        "right_ankle",
        "head",
    ),
    parents=(-1, 0, 1, 2, 3, 1, 5, 6, 0, 8, 9, 0, 11, 12, 1),
)


def root_relative(joints: ArrayLike, root: int = HUMANEVA_15.root) -> FloatArray:
    """Joints (..., J, 3) minus their root joint; the root becomes exactly zero."""
    joints = np.asarray(joints, dtype=float)
    relative: FloatArray = joints - joints[..., root : root + 1, :]
    return relative
