"""The 15-joint and the 20-point skeleton: names, bones, sides, and root-relative poses in mm."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from pose.types import FloatArray

_SIDE = re.compile(r"(left|right)_|(?:upper|lower)([LR])(?:Arm|Leg)")
"""Pattern of the side in a joint's name: ``left_elbow``, ``upperLArmDistal``."""


@dataclass(frozen=True)
class Skeleton:
    """A tree of joints.

    Parameters
    ----------
    names : tuple of str
        Names of the joints, in the order of every pose array.
    parents : tuple of int
        Index of each joint's parent, -1 for the root.
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
        match = _SIDE.match(self.names[joint])
        return "middle" if match is None else (match[1] or {"L": "left", "R": "right"}[match[2]])


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
"""The 15 joints in the order in which public HumanEva-I conversions list them; the root comes first."""

HUMANEVA_20 = Skeleton(
    names=(
        "torsoProximal",
        "torsoDistal",
        "upperLArmProximal",
        "upperLArmDistal",
        "lowerLArmProximal",
        "lowerLArmDistal",
        "upperRArmProximal",
        "upperRArmDistal",
        "lowerRArmProximal",
        "lowerRArmDistal",
        "upperLLegProximal",
        "upperLLegDistal",
        "lowerLLegProximal",
        "lowerLLegDistal",
        "upperRLegProximal",
        "upperRLegDistal",
        "lowerRLegProximal",
        "lowerRLegDistal",
        "headProximal",
        "headDistal",
    ),
    parents=(1, -1, 0, 2, 3, 4, 0, 6, 7, 8, 1, 10, 11, 12, 1, 14, 15, 16, 0, 18),
)
"""The two ends of each of the HumanEva-I toolkit's ten limbs, named and ordered as there; the root comes second."""

POINTS_OF_JOINT: tuple[tuple[int, ...], ...] = (
    (1,),  # pelvis
    (0, 18),  # thorax: the torso's end and the head's beginning
    *((2,), (3, 4), (5,)),  # left arm
    *((6,), (7, 8), (9,)),
    *((10,), (11, 12), (13,)),  # left leg
    *((14,), (15, 16), (17,)),
    (19,),  # head
)
"""For each joint of `HUMANEVA_15`, the indices of the `HUMANEVA_20` points that it is the mean of."""


def joints_15_from_20(points: ArrayLike) -> FloatArray:
    """The 15 joints (..., 15, 3) of the toolkit's 20 points (..., 20, 3).

    Thorax, elbows and knees are the mean of the two limb ends that meet there, as public conversions make them.
    """
    points = np.asarray(points, dtype=float)
    if points.shape[-2:] != (len(HUMANEVA_20), 3):
        raise ValueError(f"expected points of shape (..., 20, 3), found {points.shape}")
    return np.stack([points[..., list(ends), :].mean(axis=-2) for ends in POINTS_OF_JOINT], axis=-2)


def root_relative(joints: ArrayLike, root: int = HUMANEVA_15.root) -> FloatArray:
    """Joints (..., J, 3) minus their root joint; the root becomes exactly zero."""
    joints = np.asarray(joints, dtype=float)
    relative: FloatArray = joints - joints[..., root : root + 1, :]
    return relative
