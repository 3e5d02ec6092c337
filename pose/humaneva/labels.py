"""What the motion capture says of toolkit frames: joints, and where they can be trusted."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pose.body.skeleton import Skeleton
from pose.types import BoolArray, FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class LabelledFrames:
    """The usable frames of one camera in one partition, with their joints.

    Parameters
    ----------
    numbers : ndarray of shape (n,)
        Toolkit frames, 1-based, ascending.
    joints : ndarray of shape (n, 15, 3)
        mm, world.
    """

    numbers: IntArray
    joints: FloatArray


@dataclass(frozen=True, eq=False)
class Labels:
    """What the motion capture says of some toolkit frames.

    Parameters
    ----------
    numbers : ndarray of int, shape (n,)
        Toolkit frames, 1-based.
    mocap_position : ndarray of shape (n,)
        Mocap frames, 1-based and fractional.
    joints : ndarray of shape (n, J, 3)
        mm, world, in the order of `skeleton`; NaN where `mocap_valid` is false or a bone's markers are damaged.
    mocap_valid : ndarray of bool, shape (n,)
        The toolkit's rule: all 39 physical markers are seen (and, where screening was asked for, bones plausible).
    valid : ndarray of bool, shape (n,)
        `mocap_valid`, and beyond the first five frames, whose pictures repeat one another.
    skeleton : Skeleton
    """

    numbers: IntArray
    mocap_position: FloatArray
    joints: FloatArray
    mocap_valid: BoolArray
    valid: BoolArray
    skeleton: Skeleton

    @property
    def usable(self) -> BoolArray:
        """Valid, with every joint known, (n,)."""
        return self.valid & np.isfinite(self.joints).all(axis=(1, 2))
