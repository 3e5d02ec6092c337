"""A motion put together: head, arms and legs on a trunk."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pose.body.skeleton import HUMANEVA_15
from pose.humaneva.joints import HEAD_LENGTH
from pose.synth.body import Body
from pose.synth.kinematics import rotation, turn, two_bone
from pose.synth.motion.motion import JOINT_INDEX, SIDE_SIGN, SIDES, Motion
from pose.types import FloatArray

#: Distance from hip to ankle in standing, as a share of the leg's length: a straight knee has no direction to bend to.
_STANDING_REACH = 0.99


@dataclass(frozen=True, eq=False)
class Trunk:
    """Pelvis and thorax of a motion, on which limbs are hung.

    Parameters
    ----------
    body : Body
        Gives the lengths.
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
        Wanted places of the ankles, mm; they are reached as far as the legs allow.
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
    joints[:, JOINT_INDEX["pelvis"]] = trunk.position
    joints[:, JOINT_INDEX["thorax"]] = trunk.chest
    joints[:, JOINT_INDEX["head"]] = trunk.top + HEAD_LENGTH * head[..., 2]
    limbs = {"shoulder": shoulders, "elbow": arms[0], "wrist": arms[1], "hip": hips, "knee": knees, "ankle": ankles}
    for part, positions in limbs.items():
        for side, name in enumerate(SIDES):
            joints[:, JOINT_INDEX[f"{name}_{part}"]] = positions[:, side]
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
        Radians, per side: upper arm forward, upper arm away from the body, upper arm turned inward about itself, elbow
        bent.

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
