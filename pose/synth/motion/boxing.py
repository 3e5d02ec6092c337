"""Boxing: a guarded stance that steps, bobs and turns, and punches thrown at random."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.ndimage import gaussian_filter1d

from pose.synth.body import Body
from pose.synth.kinematics import drift, rotation, smootherstep
from pose.synth.motion.limbs import Trunk, assemble
from pose.synth.motion.motion import RATE, SIDE_SIGN, Motion
from pose.synth.motion.stance import Stance, over_the_feet, reach_for, step_along
from pose.types import FloatArray

#: Seconds that are made before and after the motion, then cut off, so that it starts and ends in full swing.
_PAD_SECONDS = 1.5
#: Turn of pelvis and shoulders away from the opponent, radians: the left side leads.
_STANCE_ANGLE = np.radians(-32.0)
# Boxers differ: each pair below is the smallest and the largest value.
#: Distance of the feet ahead and aside, half hip widths; height of the hips as a share of their standing height.
_FEET_AHEAD, _FEET_ASIDE, _KNEE_BEND = (0.6, 1.9), (1.0, 3.4), (0.80, 0.96)
#: Factors of the fists' distance ahead and aside in the guard, and their shift up in arm's lengths.
_GUARD_NEAR, _GUARD_WIDE, _GUARD_LOW = (0.62, 1.0), (0.8, 2.4), (-0.24, 0.05)
#: The head's lean forward, radians.
_NOD = (np.radians(8.0), np.radians(36.0))
#: Seconds from one punch to the next.
_PUNCH_PAUSE = (0.05, 0.75)
#: Angle by which elbows stand out from straight below, radians.
_FLARE = np.radians(25.0)
#: Standard deviations of the opponent's direction and of joint angles, radians.
_FACING_SIGMA = np.radians(40.0)
_ANGLE_SIGMA = np.radians(4.0)


@dataclass(frozen=True)
class Punch:
    """One kind of punch; lengths are shares of the arm's.

    Parameters
    ----------
    side : int
        0 for the left hand, 1 for the right.
    reach, inward, height : float
        Where the fist lands: ahead of the chest, past the middle to the other side, over the shoulders.
    arc : float
        How far the fist swings outward on its way.
    turn : float
        The shoulders' turn that carries the punch, degrees, left positive.
    seconds : float
        Duration from guard to guard.
    """

    side: int
    reach: float
    inward: float
    height: float
    arc: float
    turn: float
    seconds: float


PUNCHES = (
    Punch(side=0, reach=1.02, inward=0.05, height=0.12, arc=0.0, turn=-18.0, seconds=0.52),  # jab
    Punch(side=1, reach=1.05, inward=0.08, height=0.10, arc=0.05, turn=46.0, seconds=0.64),  # cross
    Punch(side=0, reach=0.72, inward=0.28, height=0.10, arc=0.42, turn=-48.0, seconds=0.72),  # left hook
    Punch(side=1, reach=0.74, inward=0.30, height=0.08, arc=0.42, turn=62.0, seconds=0.76),  # right hook
    Punch(side=1, reach=0.70, inward=0.10, height=0.22, arc=0.02, turn=44.0, seconds=0.70),  # uppercut
)
#: Probability of each punch; jabs lead most combinations.
_PUNCH_ODDS = (0.38, 0.24, 0.15, 0.12, 0.11)

#: The fists at rest, as shares of the arm's length, in the frame of the opponent: ahead, aside, over the shoulders.
_GUARD = np.array([[0.56, 0.13, 0.12], [0.40, -0.13, 0.14]])


def box(body: Body, n_frames: int, rng: np.random.Generator) -> Motion:
    """A body that boxes against nobody, facing x more or less, `n_frames` at 120 Hz.

    Parameters
    ----------
    body : Body
        Who boxes.
    n_frames : int
        Length.
    rng : Generator
        Source of all variation.
    """
    pad = round(_PAD_SECONDS * RATE)
    times = np.arange(n_frames + 2 * pad) / RATE
    # The opponent stands ahead along x, and circles a part of the way round, and back.
    facing = drift(rng, times, _FACING_SIGMA, 2.5)
    centre = np.zeros((len(times), 3))
    centre[:, :2] = np.stack([drift(rng, times, 260.0, 3.5) for _ in range(2)], axis=-1)
    ahead, aside = rng.uniform(*_FEET_AHEAD), rng.uniform(*_FEET_ASIDE)
    bladed = ahead / np.hypot(ahead, aside)  # a boxer with one foot far ahead turns that side to the opponent
    stance = Stance(((ahead, aside), (-ahead, -aside)), (-12.0 * bladed, -50.0 * bladed), heel_up=(4.0, 22.0))
    ankles, feet = step_along(body, stance, rng, times, facing, centre)
    reach, turned, load = _punches(body, rng, times)
    trunk = _trunk(body, rng, times, facing, ankles, (_STANCE_ANGLE * bladed + turned, load), rng.uniform(*_KNEE_BEND))
    head = rotation(facing + drift(rng, times, _ANGLE_SIGMA), rng.uniform(*_NOD) + drift(rng, times, _ANGLE_SIGMA))
    motion = assemble(trunk, head, reach_for(trunk, rotation(facing), reach, _FLARE), ankles, feet, hands="fist")
    return motion.crop(pad, pad + n_frames)


def _punches(body: Body, rng: np.random.Generator, times: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Fists (T, 2, 3) ahead, to the left and over the shoulders; the shoulders' turn (T,); weight forward (T,)."""
    arm = body.upper_arm + body.forearm
    wander = np.stack([[drift(rng, times, 0.035) for _ in range(3)] for _ in range(2)])
    guard = _GUARD * [rng.uniform(*_GUARD_NEAR), rng.uniform(*_GUARD_WIDE), 1.0] + [0.0, 0.0, rng.uniform(*_GUARD_LOW)]
    fists = guard + np.moveaxis(wander, -1, 0)
    turned, load = np.zeros(len(times)), np.zeros(len(times))
    start = round(rng.uniform(*_PUNCH_PAUSE) * RATE)
    while True:
        punch = PUNCHES[rng.choice(len(PUNCHES), p=_PUNCH_ODDS)]
        length = round(punch.seconds * rng.uniform(0.88, 1.2) * RATE)
        if start + length >= len(times):
            return arm * fists, turned, load
        span = slice(start, start + length)
        progress = np.arange(length) / length
        out = smootherstep(progress / 0.42) * smootherstep((1 - progress) / 0.5)
        sign = SIDE_SIGN[punch.side]
        target = np.array([punch.reach, -sign * punch.inward, punch.height]) + rng.normal(0.0, 0.05, 3)
        # A hook leaves the guard outward and crosses the middle at its end.
        swing = punch.arc * sign * np.sin(np.pi * np.clip(progress / 0.5, 0.0, 1.0)) ** 2
        fists[span, punch.side] += out[:, None] * (target - guard[punch.side])
        fists[span, punch.side, 1] += swing
        turned[span] += np.radians(punch.turn) * rng.uniform(0.8, 1.15) * out
        load[span] += out
        # In a combination the next punch leaves as the other hand comes home.
        start += length + round(rng.uniform(*_PUNCH_PAUSE) * RATE)


def _trunk(
    body: Body,
    rng: np.random.Generator,
    times: FloatArray,
    facing: FloatArray,
    ankles: FloatArray,
    punch: tuple[FloatArray, FloatArray],
    knee_bend: float,
) -> Trunk:
    turned, load = (gaussian_filter1d(path, seconds * RATE) for path, seconds in zip(punch, (0.03, 0.05), strict=True))
    ahead = rotation(facing)
    position = over_the_feet(ankles)
    position += (40.0 * load + drift(rng, times, 25.0, 0.8))[:, None] * ahead[..., 0]
    position += drift(rng, times, 25.0, 0.8)[:, None] * ahead[..., 1]
    bounce = 12.0 * np.sin(2 * np.pi * np.cumsum(1.7 + drift(rng, times, 0.2)) / RATE)
    duck = 110.0 * smootherstep(drift(rng, times, 1.0, 0.9) - 0.6)  # now and then, under a punch
    position[:, 2] = knee_bend * body.hip_height + bounce - duck + drift(rng, times, 8.0)
    pelvis = rotation(facing + 0.45 * turned, np.radians(6.0), drift(rng, times, _ANGLE_SIGMA / 2))
    thorax = rotation(
        facing + turned + drift(rng, times, _ANGLE_SIGMA),
        np.radians(13.0) + np.radians(5.0) * load + duck / 400.0 + drift(rng, times, _ANGLE_SIGMA, 0.9),
        drift(rng, times, 1.5 * _ANGLE_SIGMA, 0.9),
    )
    return Trunk(body, position, pelvis, thorax)
