"""Gestures: somebody stands and waves, points, beckons, signals and folds his arms, one thing after another.

Every gesture is a place for one hand or both, reached smoothly, held for a while, and perhaps shaken there. Between
gestures the arms hang, or rest on the hips or before the chest.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pose.synth.body import Body
from pose.synth.kinematics import drift, rotation, smootherstep
from pose.synth.motion.limbs import Trunk, assemble
from pose.synth.motion.motion import RATE, SIDE_SIGN, Motion
from pose.synth.motion.stance import Stance, over_the_feet, reach_for, step_along
from pose.types import FloatArray

#: Seconds that are made before and after the motion, then cut off, so that it starts and ends in full swing.
_PAD_SECONDS = 1.0
#: Distance of the feet, half hip widths: ahead, standard deviation; aside, at least and at most.
_FEET_AHEAD, _FEET_ASIDE = 0.5, (0.9, 1.7)
#: Height of the hips as a share of their standing height.
_KNEE_BEND = 0.982
#: Standard deviations of joint angles and of the direction that is faced, radians.
_ANGLE_SIGMA = np.radians(4.0)
_FACING_SIGMA = np.radians(35.0)
#: The head's lean forward, radians: at least, at most.
_NOD = (np.radians(2.0), np.radians(20.0))
#: Angle by which elbows stand out from straight below, radians: mean, standard deviation.
_FLARE, _FLARE_SIGMA = np.radians(25.0), np.radians(18.0)
#: Seconds that a hand takes to reach a place, and that it stays there: at least, at most.
_MOVE_SECONDS, _HOLD_SECONDS = (0.5, 1.1), (0.15, 1.6)
#: Seconds over which one hand joins the movement of the other, or goes home.
_PAIRING_SECONDS = 0.9
#: Share of the spans in which both hands make the same gesture.
_BOTH_HANDS = 0.45
#: Share of the other spans in which one hand goes home; otherwise each hand makes its own gestures.
_GOES_HOME = 0.5


@dataclass(frozen=True)
class Gesture:
    """A place for a hand, in arm's lengths from the middle of the shoulders: ahead, outward, up.

    Parameters
    ----------
    place, spread : tuple of three floats
        Mean and standard deviation.
    shake : tuple of three floats
        How far the hand swings about the place while it is held.
    odds : float
        Relative frequency.
    """

    place: tuple[float, float, float]
    spread: tuple[float, float, float]
    shake: tuple[float, float, float] = (0.0, 0.0, 0.0)
    odds: float = 1.0


HANGING = Gesture((0.06, 0.40, -0.94), (0.05, 0.05, 0.02))
GESTURES = (
    HANGING,
    Gesture((0.22, 0.50, 0.42), (0.12, 0.15, 0.15), shake=(0.0, 0.16, 0.03)),  # waving
    Gesture((0.10, 0.32, 0.98), (0.12, 0.15, 0.05), shake=(0.0, 0.12, 0.0)),  # signalling overhead
    Gesture((0.90, 0.25, 0.05), (0.10, 0.20, 0.22)),  # pointing ahead
    Gesture((0.12, 1.15, 0.02), (0.20, 0.08, 0.20)),  # pointing aside
    Gesture((0.52, 0.16, -0.05), (0.10, 0.12, 0.20), shake=(0.10, 0.0, 0.10)),  # beckoning
    Gesture((0.34, -0.06, -0.22), (0.06, 0.12, 0.12)),  # before the chest: folded, or hands together
    Gesture((0.06, 0.48, -0.56), (0.04, 0.05, 0.04), odds=0.6),  # hands on the hips
    Gesture((0.22, 0.16, 0.34), (0.08, 0.08, 0.10), odds=0.6),  # to the face, to the head
    Gesture((0.50, 0.55, -0.35), (0.18, 0.20, 0.25), shake=(0.0, 0.0, 0.12)),  # low and open: slow down, explaining
    Gesture((0.55, -0.25, 0.02), (0.12, 0.15, 0.18), shake=(0.0, 0.18, 0.0)),  # across the body
    Gesture((0.55, 0.55, 0.15), (0.20, 0.20, 0.25), shake=(0.05, 0.05, 0.05)),  # anywhere before the body
)
_ODDS = np.array([gesture.odds for gesture in GESTURES]) / sum(gesture.odds for gesture in GESTURES)


def gesticulate(body: Body, n_frames: int, rng: np.random.Generator) -> Motion:
    """A body that stands and makes gestures, facing x more or less, `n_frames` at 120 Hz.

    Parameters
    ----------
    body : Body
        Who stands.
    n_frames : int
        Length.
    rng : Generator
        Source of all variation.
    """
    pad = round(_PAD_SECONDS * RATE)
    times = np.arange(n_frames + 2 * pad) / RATE
    facing = drift(rng, times, _FACING_SIGMA, 6.0)
    centre = np.zeros((len(times), 3))
    centre[:, :2] = np.stack([drift(rng, times, 220.0, 5.0) for _ in range(2)], axis=-1)
    ahead, aside = float(np.clip(_FEET_AHEAD * rng.standard_normal(), -1.2, 1.2)), rng.uniform(*_FEET_ASIDE)
    stance = Stance(((ahead, aside), (-ahead, -aside)), (9.0, -9.0), step_lift=35.0, pause=(0.3, 1.2))
    ankles, feet = step_along(body, stance, rng, times, facing, centre)
    hands = np.stack([_hand(rng, len(times), side) for side in range(2)], axis=1)
    _pair_up(rng, hands)
    arm = body.upper_arm + body.forearm
    hands = arm * (hands + np.stack([[drift(rng, times, 0.02) for _ in range(3)] for _ in range(2)]).transpose(2, 0, 1))
    trunk = _trunk(body, rng, times, facing, ankles, hands / arm)
    look = drift(rng, times, np.radians(14.0))
    head = rotation(
        facing + look, rng.uniform(*_NOD) + drift(rng, times, 2 * _ANGLE_SIGMA), drift(rng, times, _ANGLE_SIGMA)
    )
    flare = _FLARE + np.stack([drift(rng, times, _FLARE_SIGMA) for _ in range(2)], axis=-1)
    chest = rotation(np.arctan2(trunk.thorax[:, 1, 0], trunk.thorax[:, 0, 0]))
    motion = assemble(trunk, head, reach_for(trunk, chest, hands, flare), ankles, feet)
    return motion.crop(pad, pad + n_frames)


def _hand(rng: np.random.Generator, n_frames: int, side: int) -> FloatArray:
    """Places of one hand (T, 3), in arm's lengths: ahead, to the left, up."""
    outward = np.array([1.0, SIDE_SIGN[side], 1.0])
    path = np.tile(outward * HANGING.place, (n_frames, 1))
    start = round(rng.uniform(0.0, 0.8) * RATE)
    while start < n_frames:
        gesture = GESTURES[rng.choice(len(GESTURES), p=_ODDS)]
        target = outward * (np.array(gesture.place) + rng.normal(0.0, 1.0, 3) * gesture.spread)
        move = round(rng.uniform(*_MOVE_SECONDS) * RATE)
        hold = round(rng.uniform(*_HOLD_SECONDS) * RATE)
        blend = smootherstep(np.arange(n_frames - start) / move)[:, None]
        path[start:] += blend * (target - path[start])
        seconds = np.arange(min(move + hold, n_frames - start)) / RATE
        swell = smootherstep(seconds * RATE / move) * smootherstep((seconds[-1] - seconds) * RATE / move)
        beat = np.sin(2 * np.pi * rng.uniform(0.8, 2.0) * seconds)
        strength = rng.uniform(0.0, 1.3) * rng.integers(0, 2)
        path[start : start + len(seconds)] += strength * (swell * beat)[:, None] * outward * gesture.shake
        start += move + hold
    return path


def _pair_up(rng: np.random.Generator, hands: FloatArray) -> None:
    """Now and then let both hands (T, 2, 3) do the same, or one of them rest; blended in and out, in place."""
    n_frames, flip = len(hands), np.array([1.0, -1.0, 1.0])
    home = np.array(HANGING.place)
    start = 0
    while start < n_frames:
        length = round(rng.uniform(2.0, 5.0) * RATE)
        span = slice(start, min(start + length, n_frames))
        frames = np.arange(span.stop - span.start)
        blend = (
            smootherstep(frames / (_PAIRING_SECONDS * RATE))
            * smootherstep((length - frames) / (_PAIRING_SECONDS * RATE))
        )[:, None]
        leader = int(rng.integers(2))
        draw = rng.random()
        if draw < _BOTH_HANDS:
            hands[span, 1 - leader] += blend * (hands[span, leader] * flip - hands[span, 1 - leader])
        elif draw < _BOTH_HANDS + _GOES_HOME * (1 - _BOTH_HANDS):
            rest = home * [1.0, SIDE_SIGN[1 - leader], 1.0]
            hands[span, 1 - leader] += blend * (rest - hands[span, 1 - leader])
        start += length


def _trunk(
    body: Body, rng: np.random.Generator, times: FloatArray, facing: FloatArray, ankles: FloatArray, hands: FloatArray
) -> Trunk:
    """The trunk over the feet; it turns and leans after the hands."""
    ahead = rotation(facing)
    position = over_the_feet(ankles)
    position += drift(rng, times, 25.0)[:, None] * ahead[..., 1] + drift(rng, times, 15.0)[:, None] * ahead[..., 0]
    position[:, 2] = _KNEE_BEND * body.hip_height - 12.0 * smootherstep(drift(rng, times, 1.0)) + drift(rng, times, 4.0)
    sway = drift(rng, times, _ANGLE_SIGMA)
    # A hand far ahead or across takes its shoulder along.
    twist = np.radians(14.0) * (hands[:, 1, 0] - hands[:, 0, 0])
    lean = np.radians(3.0) + np.radians(4.0) * drift(rng, times, 1.0, 2.5)
    pelvis = rotation(facing + 0.4 * twist, 0.4 * lean, 0.4 * sway)
    thorax = rotation(
        facing + twist + drift(rng, times, 1.5 * _ANGLE_SIGMA), lean, sway + drift(rng, times, _ANGLE_SIGMA)
    )
    return Trunk(body, position, pelvis, thorax)
