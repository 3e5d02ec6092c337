"""What a body does: a figure's joints and segment orientations over time, and how they are put together."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from pose.body.skeleton import HUMANEVA_15
from pose.synth.body import HEAD_LENGTH, Body
from pose.synth.kinematics import FloatArray, rotation, turn, two_bone

#: Frames per second of every motion, the rate of the motion capture.
RATE = 120.0

#: Nobody stands on legs of full length: their knees would have no direction to bend to.
_STANDING_REACH = 0.99
_INDEX = {name: index for index, name in enumerate(HUMANEVA_15.names)}
#: The order of everything that has two sides.
SIDES = ("left", "right")
_PATHS, _FRAMES = ("joints", "trunk_top"), ("pelvis", "thorax", "head", "feet")
_SWAP = {"left": "right", "right": "left"}
_MIRRORED = [_INDEX["_".join(_SWAP.get(word, word) for word in name.split("_"))] for name in HUMANEVA_15.names]
#: y of the left and of the right side in body axes.
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
        return self.joints[:, _INDEX[name]]

    def crop(self, start: int, stop: int) -> Motion:
        """The frames from `start` up to, not including, `stop`."""
        part = slice(start, stop)
        return replace(self, **{name: getattr(self, name)[part] for name in _PATHS + _FRAMES})

    def take(self, rows: NDArray[np.int64]) -> Motion:
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
        # A mirrored frame would be left-handed: its y axis points to the other side, as names do.
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


@dataclass(frozen=True, eq=False)
class Trunk:
    """Pelvis and thorax of a motion; limbs are hung on it.

    Parameters
    ----------
    body : Body
        Its lengths.
    position : ndarray of shape (T, 3)
        The pelvis joint, mm.
    pelvis, thorax : ndarray of shape (T, 3, 3)
        Orientations; the trunk points along the thorax's z axis.
    """

    body: Body
    position: FloatArray
    pelvis: FloatArray
    thorax: FloatArray

    @property
    def hips(self) -> FloatArray:
        """Left and right hip joint, (T, 2, 3), mm."""
        return self.position[:, None] + hip_offsets(self.body, self.pelvis)

    @property
    def chest(self) -> FloatArray:
        """The thorax joint, (T, 3), mm."""
        return self.position + self.body.thorax * self.thorax[..., 2]

    @property
    def top(self) -> FloatArray:
        """TRXO, (T, 3), mm."""
        return self.position + self.body.trunk * self.thorax[..., 2]

    @property
    def shoulders(self) -> FloatArray:
        """Left and right shoulder joint, (T, 2, 3), mm."""
        local = np.zeros((2, 3))
        local[:, 1] = SIDE_SIGN * self.body.shoulder_half_width
        local[:, 2] = -self.body.shoulder_drop
        return self.chest[:, None] + turn(self.thorax[:, None], local)


def hip_offsets(body: Body, pelvis: FloatArray) -> FloatArray:
    """Left and right hip joint against the pelvis joint, (T, 2, 3), mm, for pelvis orientations (T, 3, 3)."""
    return SIDE_SIGN[:, None] * body.hip_half_width * pelvis[:, None, :, 1]


def assemble(
    trunk: Trunk,
    head: FloatArray,
    arms: tuple[FloatArray, FloatArray],
    ankles: FloatArray,
    feet: FloatArray,
    *,
    hands: str = "flat",
) -> Motion:
    """Hang head, arms and legs on a trunk.

    Parameters
    ----------
    trunk : Trunk
        Pelvis and thorax.
    head : ndarray of shape (T, 3, 3)
        The head's orientation.
    arms : tuple of two ndarrays of shape (T, 2, 3)
        Elbows and wrists, left and right, mm.
    ankles : ndarray of shape (T, 2, 3)
        Where the ankles should be, mm; they are reached as far as the legs allow.
    feet : ndarray of shape (T, 2, 3, 3)
        The feet's orientations; knees point where pelvis and feet do.
    hands : str
        See `Motion`.
    """
    body = trunk.body
    hips, shoulders = trunk.hips, trunk.shoulders
    forward = trunk.pelvis[:, None, :, 0] + _level(feet[..., 0])
    knees, ankles = two_bone(hips, ankles, body.thigh, body.shin, forward)
    joints = np.empty((len(head), len(HUMANEVA_15), 3))
    joints[:, _INDEX["pelvis"]] = trunk.position
    joints[:, _INDEX["thorax"]] = trunk.chest
    joints[:, _INDEX["head"]] = trunk.top + HEAD_LENGTH * head[..., 2]
    limbs = {"shoulder": shoulders, "elbow": arms[0], "wrist": arms[1], "hip": hips, "knee": knees, "ankle": ankles}
    for part, positions in limbs.items():
        for side, name in enumerate(SIDES):
            joints[:, _INDEX[f"{name}_{part}"]] = positions[:, side]
    return Motion(body, joints, trunk.top, trunk.pelvis, trunk.thorax, head, feet, hands)


def _level(directions: FloatArray) -> FloatArray:
    """Directions with their vertical part taken away: a foot on its toes still points its knee forward."""
    level: FloatArray = directions * np.array([1.0, 1.0, 0.0])
    return level


def hang_arms(
    trunk: Trunk, swing: FloatArray, spread: FloatArray, twist: FloatArray, flexion: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Elbows and wrists of arms given by joint angles.

    Parameters
    ----------
    trunk : Trunk
        What the arms hang on.
    swing, spread, twist, flexion : ndarray of shape (T, 2)
        Per side: upper arm forward, upper arm away from the body, upper arm turned inward about itself, elbow bent.

    Returns
    -------
    elbows, wrists : ndarray of shape (T, 2, 3)
        mm.
    """
    upper = trunk.thorax[:, None] @ _spread(SIDE_SIGN * spread) @ rotation(0.0, -swing) @ rotation(-SIDE_SIGN * twist)
    lower = upper @ rotation(0.0, -flexion)
    elbows = trunk.shoulders - trunk.body.upper_arm * upper[..., 2]
    return elbows, elbows - trunk.body.forearm * lower[..., 2]


def _spread(angle: FloatArray) -> FloatArray:
    return rotation(0.0, 0.0, angle)


def standing(body: Body, n_frames: int, *, arm_spread: float = np.pi / 4) -> Motion:
    """Standing still at the origin, facing x, the arms held `arm_spread` away from the body (pi / 2 is a T)."""
    upright = np.broadcast_to(np.eye(3), (n_frames, 3, 3))
    position = np.tile([0.0, 0.0, body.ankle_height + _STANDING_REACH * (body.thigh + body.shin)], (n_frames, 1))
    trunk = Trunk(body, position, upright, upright)
    still = np.zeros((n_frames, 2))
    arms = hang_arms(trunk, still, still + arm_spread, still, still + np.radians(3.0))
    ankles = trunk.hips * [1.0, 1.0, 0.0] + [0.0, 0.0, body.ankle_height]
    feet = np.broadcast_to(np.eye(3), (n_frames, 2, 3, 3))
    return assemble(trunk, upright, arms, ankles, feet)
