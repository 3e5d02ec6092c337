"""A body in motion: its joints and the orientations of its segments over time."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from pose.body.skeleton import HUMANEVA_15
from pose.synth.body import Body
from pose.synth.kinematics import rotation, turn
from pose.types import FloatArray, IntArray

#: Frames per second of every motion, the rate of the motion capture.
RATE = 120.0

#: Index of each joint in the order of `HUMANEVA_15`.
JOINT_INDEX = {name: index for index, name in enumerate(HUMANEVA_15.names)}
#: The order of everything that has two sides.
SIDES = ("left", "right")
_PATHS, _FRAMES = ("joints", "trunk_top"), ("pelvis", "thorax", "head", "feet")
_SWAP = {"left": "right", "right": "left"}
_MIRRORED = [JOINT_INDEX["_".join(_SWAP.get(word, word) for word in name.split("_"))] for name in HUMANEVA_15.names]
#: Sign of y on the left and on the right side, in body axes.
SIDE_SIGN = np.array([1.0, -1.0])


@dataclass(frozen=True, eq=False)
class Motion:
    """A body in motion, T frames at 120 Hz; everything that markers and pictures are made from.

    Parameters
    ----------
    body : Body
        Whose motion it is.
    joints : ndarray of shape (T, 15, 3)
        In the order of `HUMANEVA_15`, world mm, the floor at z = 0.
    trunk_top : ndarray of shape (T, 3)
        Where head and trunk meet (TRXO), mm.
    pelvis, thorax, head : ndarray of shape (T, 3, 3)
        Orientations, columns x forward, y left, z up.
    feet : ndarray of shape (T, 2, 3, 3)
        Left and right foot, x towards the toes.
    hands : str
        ``"flat"``, ``"open"`` (fingers spread) or ``"fist"``.
    palms : (float, float)
        The left and the right hand's turn about its forearm, radians, inward positive; at 0 a hanging hand's thumb
        points ahead.
    """

    body: Body
    joints: FloatArray
    trunk_top: FloatArray
    pelvis: FloatArray
    thorax: FloatArray
    head: FloatArray
    feet: FloatArray
    hands: str = "flat"
    palms: tuple[float, float] = (0.0, 0.0)

    def __len__(self) -> int:
        return len(self.joints)

    def joint(self, name: str) -> FloatArray:
        """One joint's path, (T, 3), mm."""
        return self.joints[:, JOINT_INDEX[name]]

    def crop(self, start: int, stop: int) -> Motion:
        """The frames from `start` up to, not including, `stop`."""
        part = slice(start, stop)
        return replace(self, **{name: getattr(self, name)[part] for name in _PATHS + _FRAMES})

    def take(self, rows: IntArray) -> Motion:
        """The frames `rows`, in that order."""
        return replace(self, **{name: getattr(self, name)[rows] for name in _PATHS + _FRAMES})

    def moved(self, shift: FloatArray) -> Motion:
        """The motion shifted by (T, 3), mm."""
        return replace(self, joints=self.joints + shift[:, None], trunk_top=self.trunk_top + shift)

    def turned(self, angle: FloatArray) -> Motion:
        """The motion turned left about the world's upright axis by (T,) radians."""
        by = rotation(angle)
        return replace(
            self,
            joints=turn(by[:, None], self.joints),
            trunk_top=turn(by, self.trunk_top),
            pelvis=by @ self.pelvis,
            thorax=by @ self.thorax,
            head=by @ self.head,
            feet=by[:, None] @ self.feet,
        )

    def mirrored(self) -> Motion:
        """The motion in a mirror that stands along x: left and right are exchanged."""
        flip = np.array([1.0, -1.0, 1.0])
        # A mirrored frame is left-handed. Turning its y axis round makes it right-handed, with y to the left again.
        frame = flip[:, None] * flip
        return replace(
            self,
            joints=self.joints[:, _MIRRORED] * flip,
            trunk_top=self.trunk_top * flip,
            pelvis=self.pelvis * frame,
            thorax=self.thorax * frame,
            head=self.head * frame,
            feet=self.feet[:, ::-1] * frame,
        )
