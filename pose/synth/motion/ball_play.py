"""Throwing and catching: somebody moves about with a ball, bounces it, throws it to a partner and catches it.

The ball itself is not drawn. The hands' places follow from what is done with the ball: it is carried before the body,
bounced beside a leg, raised and thrown over the shoulder, from the chest or from below, awaited and caught.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.ndimage import gaussian_filter1d

from pose.synth.body import Body
from pose.synth.kinematics import drift, rotation, smootherstep
from pose.synth.motion.gait import WALKING, go, vary
from pose.synth.motion.limbs import Trunk, assemble
from pose.synth.motion.motion import RATE, SIDE_SIGN, Motion
from pose.synth.motion.stance import Stance, over_the_feet, reach_for, step_along
from pose.types import FloatArray

#: Seconds that are made before and after the motion, then cut off, so that it starts and ends in full swing.
_PAD_SECONDS = 1.0
_STANCE = Stance(
    feet=((0.35, 1.35), (-0.35, -1.35)), toes=(10.0, -10.0), heel_up=(3.0, 6.0), step_seconds=0.34, step_lift=60.0,
    pause=(0.05, 0.30),
)  # fmt: skip
#: Standard deviation of joint angles, radians.
_ANGLE_SIGMA = np.radians(4.0)
#: Angle by which elbows stand out from straight below, radians.
_FLARE = np.radians(25.0)
#: Standard deviation of the filter that smooths the hands' paths, frames.
_SMOOTHING = 0.04 * RATE
#: Places of the hands in arm's lengths from the middle of the shoulders: ahead, outward, up.
_CARRY = ((0.42, 0.14, -0.42), (0.42, 0.14, -0.42))
_WAIT = ((0.50, 0.22, -0.22), (0.50, 0.22, -0.22))
_FREE = (0.12, 0.54, -0.80)  # of the idle hand, while the other is busy
#: Nearest and farthest place of a hand that bounces a ball, as above.
_BOUNCE = ((0.12, 0.32, -0.68), (0.50, 0.68, -0.45))


@dataclass(frozen=True)
class Throw:
    """A throw: its start and end, by one hand or both, and the trunk's movement.

    Parameters
    ----------
    back, forth : tuple of three floats
        The hand at the end of the wind-up and at the release.
    both : bool
        Whether both hands throw.
    turn, lean : float
        Turn away and lean back of the trunk at the wind-up, degrees. At the release both are reversed.
    """

    back: tuple[float, float, float]
    forth: tuple[float, float, float]
    both: bool
    turn: float
    lean: float


THROWS = (
    Throw(back=(-0.20, 0.58, 0.42), forth=(0.88, 0.12, 0.22), both=False, turn=38.0, lean=8.0),  # over the shoulder
    Throw(back=(-0.42, 0.42, -0.78), forth=(0.85, 0.20, -0.10), both=False, turn=24.0, lean=-6.0),  # from below
    Throw(back=(0.30, 0.14, -0.16), forth=(0.92, 0.16, 0.02), both=True, turn=0.0, lean=6.0),  # from the chest
    Throw(back=(0.05, 0.20, 0.72), forth=(0.75, 0.20, 0.50), both=True, turn=0.0, lean=12.0),  # over the head
)
#: Share of the motions in which the player walks round the area with the ball.
_WALKS = 0.5
#: Probabilities that the ball is bounced, thrown, caught and carried: usually, and while walking round.
_ODDS = (0.42, 0.24, 0.22, 0.12)
_WALKING_ODDS = (0.70, 0.08, 0.10, 0.12)


@dataclass
class _Plan:
    """What the body will do, T frames: hands in arm's lengths, turn and lean in radians, crouch and pace as shares."""

    hands: FloatArray
    turned: FloatArray
    lean: FloatArray
    crouch: FloatArray
    pace: FloatArray


def play_ball(body: Body, n_frames: int, rng: np.random.Generator) -> Motion:
    """A body that plays with a ball, `n_frames` at 120 Hz.

    Parameters
    ----------
    body : Body
        Who plays.
    n_frames : int
        Length.
    rng : Generator
        Source of all variation.
    """
    if rng.random() < _WALKS:
        return _walk_with_ball(body, n_frames, rng)
    pad = round(_PAD_SECONDS * RATE)
    times = np.arange(n_frames + 2 * pad) / RATE
    plan = _plan(rng, len(times))
    # The player walks while bouncing, and stands while throwing or catching. The path winds inside the capture area.
    pace = gaussian_filter1d(plan.pace, 0.3 * RATE)
    sense = rng.choice([-1.0, 1.0])
    angle = rng.uniform(-np.pi, np.pi) + sense * np.cumsum(pace * (0.9 + drift(rng, times, 0.25, 3.0))) / RATE
    radius = 620.0 + drift(rng, times, 160.0, 3.0)
    centre = np.stack([1.2 * radius * np.cos(angle), radius * np.sin(angle), 0 * angle], axis=-1)
    ahead = angle + sense * np.pi / 2
    facing = ahead + drift(rng, times, np.radians(50.0), 2.5)
    ankles, feet = step_along(body, _STANCE, rng, times, facing, centre)
    arm = body.upper_arm + body.forearm
    wander = np.stack([[drift(rng, times, 0.025) for _ in range(3)] for _ in range(2)]).transpose(2, 0, 1)
    hands = arm * (gaussian_filter1d(plan.hands, _SMOOTHING, axis=0) + wander)
    trunk = _trunk(body, rng, times, facing, ankles, plan)
    head = rotation(
        facing + drift(rng, times, np.radians(10.0)),
        np.radians(14.0)
        + np.radians(16.0) * gaussian_filter1d(plan.crouch, 0.2 * RATE)
        + drift(rng, times, _ANGLE_SIGMA),
    )
    heading = rotation(np.arctan2(trunk.thorax[:, 1, 0], trunk.thorax[:, 0, 0]))
    motion = assemble(trunk, head, reach_for(trunk, heading, hands, _FLARE), ankles, feet)
    return motion.crop(pad, pad + n_frames)


def _walk_with_ball(body: Body, n_frames: int, rng: np.random.Generator) -> Motion:
    """Walking round the area, the hands at the ball."""

    def arms(trunk: Trunk, times: FloatArray) -> tuple[FloatArray, FloatArray]:
        hands = (body.upper_arm + body.forearm) * gaussian_filter1d(
            _plan(rng, len(times), _WALKING_ODDS).hands, _SMOOTHING, axis=0
        )
        heading = rotation(np.arctan2(trunk.thorax[:, 1, 0], trunk.thorax[:, 0, 0]))
        return reach_for(trunk, heading, hands, _FLARE)

    gait = vary(replace(WALKING, speed=1000.0, cadence=0.82, lean=9.0, nod=24.0, crouch=30.0), rng)
    motion = go(body, gait, n_frames, rng, arms)
    # Half of the players go round the other way.
    return motion.mirrored() if rng.random() < 0.5 else motion


def _plan(rng: np.random.Generator, n_frames: int, odds: tuple[float, ...] = _ODDS) -> _Plan:
    plan = _Plan(
        np.zeros((n_frames, 2, 3)),
        np.zeros(n_frames),
        np.zeros(n_frames),
        np.full(n_frames, 0.3),
        np.full(n_frames, 0.3),
    )
    plan.hands[:] = _sided(_CARRY)
    acts = (_bounce, _throw, _catch, _carry)
    start = 0
    while start < n_frames:
        start += acts[rng.choice(len(acts), p=odds)](rng, plan, start)
    return plan


def _sided(places: tuple[tuple[float, float, float], tuple[float, float, float]]) -> FloatArray:
    """Both hands (2, 3), left first; their second coordinate is turned from outward to leftward."""
    sided: FloatArray = np.array(places) * [1.0, 1.0, 1.0]
    sided[:, 1] *= SIDE_SIGN
    return sided


def _go(plan: _Plan, start: int, length: int, targets: FloatArray) -> slice:
    """Let the hands go to `targets` (2, 3) in `length` frames and stay there; returns these frames."""
    blend = smootherstep(np.arange(len(plan.hands) - start) / max(length, 1))[:, None, None]
    plan.hands[start:] += blend * (targets - plan.hands[start])
    return slice(start, min(start + length, len(plan.hands)))


def _bounce(rng: np.random.Generator, plan: _Plan, start: int) -> int:
    """Bounce the ball beside a leg while walking; returns the number of frames."""
    hand = int(rng.random() < 0.65)  # the right one mostly
    low = _sided((_FREE, _FREE))
    low[hand] = rng.uniform(*_BOUNCE) * [1.0, SIDE_SIGN[hand], 1.0]
    _go(plan, start, round(0.45 * RATE), low)
    length = round(rng.uniform(1.5, 4.5) * RATE)
    span = slice(start, min(start + length, len(plan.hands)))
    frames = np.arange(span.stop - span.start)
    swell = smootherstep(frames / (0.4 * RATE)) * smootherstep((length - frames) / (0.4 * RATE))
    beat = np.sin(2 * np.pi * rng.uniform(1.2, 1.9) * frames / RATE)
    plan.hands[span, hand, 2] += rng.uniform(0.12, 0.32) * swell * beat
    plan.crouch[span] += rng.uniform(0.1, 0.7) * swell
    plan.lean[span] += np.radians(rng.uniform(4.0, 26.0)) * swell
    plan.pace[span] += rng.uniform(0.0, 1.0) * swell
    return length


def _throw(rng: np.random.Generator, plan: _Plan, start: int) -> int:
    throw = THROWS[rng.integers(len(THROWS))]
    hand = int(rng.random() < 0.75)
    back, forth = (_sided((place, place)) + rng.normal(0.0, 0.05, (2, 3)) for place in (throw.back, throw.forth))
    if not throw.both:
        back[1 - hand] = forth[1 - hand] = _sided((_FREE, _FREE))[1 - hand] + rng.normal(0.0, 0.06, 3)
        back[1 - hand] += [0.35, 0.0, 0.25]  # the free arm goes ahead in the wind-up
    wind_up, release, follow = (round(rng.uniform(*span) * RATE) for span in ((0.45, 0.75), (0.36, 0.5), (0.35, 0.6)))
    _go(plan, start, wind_up, back)
    if start + wind_up < len(plan.hands):
        _go(plan, start + wind_up, release, forth)
    length = wind_up + release + follow
    span = slice(start, min(start + length, len(plan.hands)))
    frames = np.arange(span.stop - span.start)
    gone = smootherstep((frames - wind_up) / release)
    swell = smootherstep(frames / wind_up) * smootherstep((length - frames) / follow)
    side = -SIDE_SIGN[hand]
    plan.turned[span] += side * np.radians(throw.turn) * swell * (2 * gone - 1) * -1.0
    plan.lean[span] += np.radians(throw.lean) * swell * (2 * gone - 1)
    return length


def _catch(rng: np.random.Generator, plan: _Plan, start: int) -> int:
    """Await the ball, take it somewhere before the body, bring it home; returns the number of frames."""
    await_, reach, home = (round(rng.uniform(*span) * RATE) for span in ((0.3, 1.0), (0.25, 0.4), (0.3, 0.5)))
    _go(plan, start, await_, _sided(_WAIT) + rng.normal(0.0, 0.05, (2, 3)))
    place = np.array([0.72, 0.0, -0.05]) + rng.normal(0.0, 1.0, 3) * [0.10, 0.28, 0.35]
    both = np.stack([place, place])
    both[:, 1] += 0.13 * SIDE_SIGN
    if start + await_ < len(plan.hands):
        _go(plan, start + await_, reach, both)
    if start + await_ + reach < len(plan.hands):
        _go(plan, start + await_ + reach, home, _sided(_CARRY) + rng.normal(0.0, 0.05, (2, 3)))
    length = await_ + reach + home
    span = slice(start, min(start + length, len(plan.hands)))
    frames = np.arange(span.stop - span.start)
    swell = smootherstep(frames / await_) * smootherstep((length - frames) / home)
    plan.crouch[span] += rng.uniform(0.0, 0.5) * swell
    return length


def _carry(rng: np.random.Generator, plan: _Plan, start: int) -> int:
    length = round(rng.uniform(0.8, 2.2) * RATE)
    _go(plan, start, round(0.5 * RATE), _sided(_CARRY) + rng.normal(0.0, 0.08, (2, 3)))
    plan.pace[start : start + length] += rng.uniform(0.0, 0.6)
    return length


def _trunk(
    body: Body, rng: np.random.Generator, times: FloatArray, facing: FloatArray, ankles: FloatArray, plan: _Plan
) -> Trunk:
    turned = gaussian_filter1d(plan.turned, 0.04 * RATE)
    lean = np.radians(4.0) + gaussian_filter1d(plan.lean, 0.08 * RATE) + drift(rng, times, _ANGLE_SIGMA)
    crouch = gaussian_filter1d(plan.crouch, 0.15 * RATE)
    ahead = rotation(facing)
    position = over_the_feet(ankles)
    position += drift(rng, times, 25.0)[:, None] * ahead[..., 1] - (120.0 * np.sin(lean))[:, None] * ahead[..., 0]
    position[:, 2] = body.hip_height * (0.975 - 0.085 * np.clip(crouch, 0.0, 1.0)) + drift(rng, times, 6.0)
    pelvis = rotation(facing + 0.4 * turned, 0.5 * lean, drift(rng, times, _ANGLE_SIGMA / 2))
    thorax = rotation(facing + turned + drift(rng, times, 1.5 * _ANGLE_SIGMA), lean, drift(rng, times, _ANGLE_SIGMA))
    return Trunk(body, position, pelvis, thorax)
