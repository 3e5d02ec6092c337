"""Standing on two feet that step after the body, and arms that reach for places: for boxing, gestures and ball play."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.ndimage import gaussian_filter1d

from pose.synth.body import Body
from pose.synth.kinematics import ARM_REACH, rotation, smootherstep, smoothstep, turn, two_bone, unit
from pose.synth.motion.limbs import Trunk
from pose.synth.motion.motion import RATE, SIDE_SIGN
from pose.types import FloatArray

#: Standard deviation of a foot's place, mm, along and across.
_FOOT_SCATTER = 18.0
#: Direction from the shoulder to a hand before the body: ahead, outward, up.
_AHEAD = (0.75, 0.60, -0.20)
#: Distance from the shoulder within which a hand is moved ahead, and the move at the shoulder itself, as shares of the
#: arm's length.
_CLEARANCE = (0.6, 0.5)


@dataclass(frozen=True)
class Stance:
    """A way of standing.

    Parameters
    ----------
    feet : ((float, float), (float, float))
        Left and right ankle ahead of and to the left of the middle, in half hip widths.
    toes : (float, float)
        Where the feet point, degrees to the left.
    heel_up : (float, float)
        Angles of the feet to the floor, degrees.
    step_seconds, step_lift : float
        A step's duration and height, mm.
    pause : (float, float)
        Seconds between two steps, at least and at most.
    """

    feet: tuple[tuple[float, float], tuple[float, float]]
    toes: tuple[float, float]
    heel_up: tuple[float, float] = (0.0, 0.0)
    step_seconds: float = 0.36
    step_lift: float = 45.0
    pause: tuple[float, float] = (0.10, 0.60)


def step_along(
    body: Body, stance: Stance, rng: np.random.Generator, times: FloatArray, facing: FloatArray, centre: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Ankles (T, 2, 3) and feet (T, 2, 3, 3): the feet take turns to follow the stance's centre.

    Parameters
    ----------
    body, stance
        Who stands, and how.
    rng : Generator
        Source of pauses and places.
    times, facing : ndarray of shape (T,)
        Seconds; the direction of the stance, radians.
    centre : ndarray of shape (T, 3)
        Place of the stance, mm.
    """
    local = np.zeros((2, 3))
    local[:, :2] = np.array(stance.feet) * body.hip_half_width
    toes = np.radians(stance.toes)
    ankles, yaws = np.empty((len(times), 2, 3)), np.empty((len(times), 2))
    for side in range(2):
        ankles[:, side] = centre[0] + rotation(facing[0]) @ local[side]
        yaws[:, side] = facing[0] + toes[side]
    length = round(stance.step_seconds * RATE)
    start, side = 0, 0
    while start + length < len(times):
        stop = start + length
        scatter = np.append(rng.normal(0.0, _FOOT_SCATTER, 2), 0.0)
        target = centre[stop] + rotation(facing[stop]) @ local[side] + scatter
        blend = smoothstep(np.arange(length) / length)
        ankles[start:stop, side] += blend[:, None] * (target - ankles[start, side])
        yaw = facing[stop] + toes[side]
        yaws[start:stop, side] += blend * (yaw - yaws[start, side])
        ankles[stop:, side], yaws[stop:, side] = target, yaw
        ankles[start:stop, side, 2] += stance.step_lift * np.sin(np.pi * blend) ** 2
        start, side = stop + round(rng.uniform(*stance.pause) * RATE), 1 - side
    # Where a heel is up, the toes stay on the floor.
    heel_up = np.radians(stance.heel_up)
    ankles[..., 2] += body.ankle_height * np.cos(heel_up) + body.foot[1] * np.sin(heel_up)
    return ankles, rotation(yaws, heel_up)


def over_the_feet(ankles: FloatArray) -> FloatArray:
    """The smoothed middle between the feet, (T, 3), mm, over which a body stays, without lag or lead."""
    return np.asarray(gaussian_filter1d(ankles.mean(axis=1), 0.10 * RATE, axis=0), dtype=float)


def reach_for(
    trunk: Trunk, heading: FloatArray, places: FloatArray, flare: FloatArray | float
) -> tuple[FloatArray, FloatArray]:
    """Elbows and wrists (T, 2, 3) of arms that reach for places.

    An elbow points down where the hand is held ahead. For other places, the smallest rotation of the arm from there
    takes the elbow along: it points backward where the arm hangs, forward where the hand is overhead, and down where
    the arm is spread. It would jump only where the hand is behind the shoulder and inward, which nobody reaches.

    Parameters
    ----------
    trunk : Trunk
        What the arms hang on.
    heading : ndarray of shape (T, 3, 3)
        The frame that places are given in, about the middle of the shoulders.
    places : ndarray of shape (T, 2, 3)
        Wanted wrists, mm: ahead, to the left, up.
    flare : array_like, (T, 2) or less
        Angle by which elbows stand out from straight below, radians.
    """
    shoulders = trunk.shoulders
    target = shoulders.mean(axis=1, keepdims=True) + turn(heading[:, None], places)
    chest = trunk.thorax[:, None]
    ahead = unit(np.stack([0.0 * SIDE_SIGN + _AHEAD[0], _AHEAD[1] * SIDE_SIGN, 0.0 * SIDE_SIGN + _AHEAD[2]], axis=-1))
    # A hand that would pass through its shoulder is led round in front of it.
    near = np.linalg.norm(target - shoulders, axis=-1, keepdims=True) / (trunk.body.upper_arm + trunk.body.forearm)
    clear = _CLEARANCE[1] * smootherstep(1 - near / _CLEARANCE[0]) * (trunk.body.upper_arm + trunk.body.forearm)
    target = target + clear * turn(chest, ahead)
    along = unit(turn(np.swapaxes(chest, -1, -2), target - shoulders))
    below = unit(-np.array([0.0, 0.0, 1.0]) + ahead[:, 2:] * ahead)
    outward = SIDE_SIGN[:, None] * np.cross(below, ahead)
    angle = np.broadcast_to(flare, shoulders.shape[:2])[..., None]
    elbow = np.cos(angle) * below + np.sin(angle) * outward
    share = np.sum(elbow * along, axis=-1, keepdims=True) / (1 + np.sum(ahead * along, axis=-1, keepdims=True))
    pole = turn(chest, elbow - share * (ahead + along))
    return two_bone(shoulders, target, trunk.body.upper_arm, trunk.body.forearm, pole, ARM_REACH)
