"""Walking and jogging round an ellipse: planted feet, and a pelvis carried over them.

The feet come first. Each contact plants a foot beside the path; between contacts it swings to the next one. The
pelvis follows the path no higher than both legs reach, which alone gives a walk its rise and fall; knees come from
the legs' lengths. The arms hang from shoulders that turn against the pelvis. Pace, stride, lean and every joint's
amplitude drift slowly, so that no two cycles are alike.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from scipy.interpolate import CubicSpline
from scipy.ndimage import gaussian_filter1d

from pose.synth.body import Body
from pose.synth.kinematics import drift, rotation, smootherstep, smoothstep, turn
from pose.synth.motion.limbs import Trunk, assemble, hang_arms, hip_offsets
from pose.synth.motion.motion import RATE, SIDE_SIGN, Motion
from pose.types import FloatArray

#: Makes elbows and wrists from a trunk and its times.
Arms = Callable[[Trunk, FloatArray], tuple[FloatArray, FloatArray]]
#: Seconds that are made before and after the motion, then cut off: the first and last frames need contacts beyond them.
_PAD_SECONDS = 2.5
#: Share of the legs' length within which the ankles must lie.
_LEG_REACH = 0.985
#: Distance over which the pelvis eases from one leg's limit to the other's, mm.
_SOFT_MINIMUM = 8.0
#: Standard deviations of the filters that smooth the pelvis's height and the heading, frames.
_PELVIS_SMOOTHING = 0.04 * RATE
_HEADING_SMOOTHING = 0.10 * RATE
#: Share of the stance at which the pelvis passes over the planted foot. It is early, because rolling over the ball of
#: the foot lengthens the leg behind, and nothing lengthens the leg ahead. At a later moment a walk would bob twice as
#: much as people do.
_PASSING = 0.39
#: Angle by which the feet point outward, radians.
_TOE_OUT = np.radians(6.0)
_TURN = 2 * np.pi
#: Share of the cycle at which the left and the right foot touch the floor.
_FOOT_PHASE = (0.0, 0.5)


@dataclass(frozen=True)
class Gait:
    """A manner of going on two feet; angles in degrees, lengths in mm, phases as shares of a cycle of two steps.

    Parameters
    ----------
    speed : float
        mm a second for a body of 1,750 mm.
    cadence : float
        Cycles a second.
    duty : float
        Share of the cycle that a foot is on the floor; below one half there is a flight.
    track : float
        Sideways distance of a foot from the path, as a share of the hip's.
    lift, lift_phase : float
        How high the ankle swings, and when in the swing it is highest.
    heel_strike, toe_off : float
        The foot's angle to the floor at contact (toes up) and at the end of the stance (heel up).
    crouch, bob : float
        How far the pelvis is below the legs' full length, and how far it rises (in flight) and falls (at mid-stance).
    sway, list_angle, pelvis_turn, thorax_turn : float
        The pelvis's sideways travel, tilt and turn, and the shoulders' turn against it.
    lean, bank : float
        Lean of the trunk forward, and inward on the curve.
    arm_swing, arm_centre, arm_spread, arm_twist, elbow, elbow_swing : float
        Joint angles of the arms and their amplitudes, see `hang_arms`.
    nod : float
        Lean of the head forward.
    """

    speed: float
    cadence: float
    duty: float
    track: float
    lift: float
    lift_phase: float
    heel_strike: float
    toe_off: float
    crouch: float
    bob: float
    sway: float
    list_angle: float
    pelvis_turn: float
    thorax_turn: float
    lean: float
    bank: float
    arm_swing: float
    arm_centre: float
    arm_spread: float
    arm_twist: float
    elbow: float
    elbow_swing: float
    nod: float


WALKING = Gait(
    speed=1260, cadence=0.93, duty=0.61, track=0.75, lift=65, lift_phase=0.40, heel_strike=20, toe_off=48,
    crouch=12, bob=0, sway=16, list_angle=4, pelvis_turn=6, thorax_turn=7, lean=3, bank=2,
    arm_swing=21, arm_centre=4, arm_spread=9, arm_twist=6, elbow=29, elbow_swing=12, nod=10,
)  # fmt: skip
JOGGING = Gait(
    speed=2050, cadence=1.33, duty=0.36, track=0.45, lift=240, lift_phase=0.40, heel_strike=8, toe_off=50,
    crouch=62, bob=24, sway=7, list_angle=4, pelvis_turn=8, thorax_turn=9, lean=11, bank=6,
    arm_swing=26, arm_centre=-14, arm_spread=12, arm_twist=16, elbow=104, elbow_swing=12, nod=10,
)  # fmt: skip

#: Differences between people: standard deviation of a parameter's logarithm.
_FACTORS = {
    "speed": 0.10, "cadence": 0.05, "track": 0.15, "lift": 0.15, "sway": 0.3, "list_angle": 0.3, "pelvis_turn": 0.3,
    "thorax_turn": 0.35, "arm_swing": 0.3, "elbow_swing": 0.4, "toe_off": 0.1, "heel_strike": 0.2, "bob": 0.2,
}  # fmt: skip
#: Differences between people: standard deviation of an angle, degrees.
_ANGLES = {"lean": 3.0, "arm_centre": 6.0, "arm_spread": 3.0, "arm_twist": 8.0, "elbow": 8.0, "nod": 6.0}
#: Half axes of the path, an ellipse on which every camera sees every side of the body, mm.
_PATH_AXES = (1150.0, 800.0)
#: Standard deviation of the half axes, as a share.
_PATH_SIGMA = 0.05
#: Standard deviations of pace, stride and amplitudes, as shares.
_PACE_SIGMA, _STRIDE_SIGMA, _AMPLITUDE_SIGMA = 0.05, 0.04, 0.08
#: Standard deviation of joint angles, radians.
_ANGLE_SIGMA = np.radians(3.5)


def vary(gait: Gait, rng: np.random.Generator) -> Gait:
    """One person's variant of a gait."""
    drawn = np.clip(rng.standard_normal(len(_FACTORS) + len(_ANGLES)), -2.0, 2.0)
    changed = {}
    for value, (name, sigma) in zip(drawn, (_FACTORS | _ANGLES).items(), strict=True):
        mean = getattr(gait, name)
        changed[name] = mean * float(np.exp(sigma * value)) if name in _FACTORS else mean + sigma * float(value)
    return replace(gait, **changed)


def go(body: Body, gait: Gait, n_frames: int, rng: np.random.Generator, arms: Arms | None = None) -> Motion:
    """A body that walks or jogs round the capture area, counter-clockwise.

    Parameters
    ----------
    body : Body
        Who goes.
    gait : Gait
        How.
    n_frames : int
        Length at 120 Hz.
    rng : Generator
        Source of all variation.
    arms : callable, optional
        Makes elbows and wrists (T, 2, 3) from trunk and times; by default the arms swing.
    """
    pad = round(_PAD_SECONDS * RATE)
    times = np.arange(n_frames + 2 * pad) / RATE
    pace = 1 + drift(rng, times, _PACE_SIGMA)
    phase = rng.random() + np.cumsum(gait.cadence * pace) / RATE
    # Long legs go faster at the same cadence, so that the stride keeps its share of the leg.
    speed = gait.speed * (body.hip_height / 925.0) * pace * (1 + drift(rng, times, _STRIDE_SIGMA))
    track, heading = path_round(rng, np.cumsum(speed) / RATE)
    walk = _Walk(body, gait, times, phase, track, heading)
    ankles, feet = _feet(walk, rng)
    trunk = _trunk(walk, rng, ankles)
    head = rotation(
        heading + drift(rng, times, np.radians(6.0)), np.radians(gait.nod) + drift(rng, times, _ANGLE_SIGMA), 0.0
    )
    limbs = _arms(trunk, walk, rng) if arms is None else arms(trunk, times)
    motion = assemble(trunk, head, limbs, ankles, feet)
    return motion.crop(pad, pad + n_frames)


@dataclass(frozen=True, eq=False)
class _Walk:
    """One person's gait along a path, T frames.

    Parameters
    ----------
    body : Body
    gait : Gait
    times : ndarray of shape (T,)
        Seconds.
    phase : ndarray of shape (T,)
        Cycles of two steps.
    track : ndarray of shape (T, 3)
        The path on the floor, mm.
    heading : ndarray of shape (T,)
        Direction of the path, radians.
    """

    body: Body
    gait: Gait
    times: FloatArray
    phase: FloatArray
    track: FloatArray
    heading: FloatArray


def path_round(rng: np.random.Generator, travelled: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Points (T, 3) on the floor after travelling some mm along a wandering ellipse, and the heading there (T,)."""
    laps = 1.5 + travelled[-1] / (_TURN * min(_PATH_AXES) * (1 - 3 * _PATH_SIGMA))
    angle = np.linspace(0.0, laps * _TURN, round(720 * laps))
    # The drift belongs to the place on the path, not to the time, so that it leaves the speed alone.
    scale = 1 + np.stack([drift(rng, angle, _PATH_SIGMA, _TURN / 3) for _ in range(2)], axis=-1)
    outline = np.zeros((len(angle), 3))
    outline[:, :2] = scale * np.stack([_PATH_AXES[0] * np.cos(angle), _PATH_AXES[1] * np.sin(angle)], axis=-1)
    arc = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(outline, axis=0), axis=1))])
    start = np.interp(rng.random() * _TURN, angle, arc)
    points = CubicSpline(arc, outline)(start + travelled)
    velocity = np.gradient(points, axis=0)
    heading = np.unwrap(np.arctan2(velocity[:, 1], velocity[:, 0]))
    return points, gaussian_filter1d(heading, _HEADING_SMOOTHING)


def _feet(walk: _Walk, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
    """Ankles (T, 2, 3) and feet (T, 2, 3, 3)."""
    body, gait, phase, track, heading = walk.body, walk.gait, walk.phase, walk.track, walk.heading
    ankles, feet = np.empty((len(phase), 2, 3)), np.empty((len(phase), 2, 3, 3))
    for side, offset in enumerate(_FOOT_PHASE):
        cycles = np.floor(phase - offset).astype(int)
        first = cycles[0]
        # A foot is planted where the pelvis will pass over it.
        middle = np.arange(first, cycles[-1] + 2) + offset + _PASSING * gait.duty
        yaw = np.interp(middle, phase, heading)
        place = np.stack([np.interp(middle, phase, track[:, axis]) for axis in range(3)], axis=-1)
        aside = SIDE_SIGN[side] * gait.track * body.hip_half_width * (1 + 0.15 * rng.standard_normal(len(middle)))
        place += aside[:, None] * rotation(yaw)[..., 1]
        yaw += SIDE_SIGN[side] * _TOE_OUT
        lift = gait.lift * (1 + _AMPLITUDE_SIGMA * rng.standard_normal(len(middle)))

        now = cycles - first
        fraction = phase - offset - cycles
        # A cubic, because the top speed of a quintic would make the foot dart.
        blend = smoothstep((fraction - gait.duty) / (1 - gait.duty))
        here, pitch_here = _stance(body, gait, place[now], yaw[now], fraction)
        there, pitch_there = _stance(body, gait, place[now + 1], yaw[now + 1], fraction - 1)
        ankles[:, side] = here + blend[:, None] * (there - here)
        ankles[:, side, 2] += lift[now] * _bump((fraction - gait.duty) / (1 - gait.duty), gait.lift_phase)
        feet[:, side] = rotation(
            yaw[now] + blend * (yaw[now + 1] - yaw[now]), pitch_here + blend * (pitch_there - pitch_here)
        )
    return ankles, feet


def _stance(
    body: Body, gait: Gait, place: FloatArray, yaw: FloatArray, fraction: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """The ankle (T, 3) of a planted foot, and its pitch (T,), `fraction` of a cycle after its contact.

    The foot rolls over its heel while the toes come down, and over its ball while the heel comes up. Before the contact
    and after the end of the stance it keeps the pitch of that moment; a swing is a blend between these two.
    """
    heel, ball, _ = body.foot
    landing = np.radians(gait.heel_strike) * smootherstep(1 - fraction / (0.22 * gait.duty))
    leaving = np.radians(gait.toe_off) * smootherstep((fraction / gait.duty - 0.5) / 0.62)
    pitch = leaving - landing
    pivot = np.zeros((len(fraction), 3))
    # Heel and ball lie on one line under the ankle, so passing from one pivot to the other at pitch 0 makes no jump.
    pivot[:, 0] = np.where(pitch > 0, ball, -heel)
    pivot[:, 2] = -body.ankle_height
    ankle = turn(rotation(yaw), pivot) - turn(rotation(yaw, pitch), pivot)
    return place + ankle + [0.0, 0.0, body.ankle_height], pitch


def _bump(x: FloatArray, peak: float) -> FloatArray:
    """0 outside (0, 1), 1 at `peak`, smooth everywhere."""
    x = np.clip(x, 0.0, 1.0)
    rise, fall = 2.0, 2.0 * (1 / peak - 1)
    bump: FloatArray = x**rise * (1 - x) ** fall / (peak**rise * (1 - peak) ** fall)
    return bump


def _trunk(walk: _Walk, rng: np.random.Generator, ankles: FloatArray) -> Trunk:
    gait, times, phase, heading = walk.gait, walk.times, walk.phase, walk.heading
    amplitude = 1 + drift(rng, times, _AMPLITUDE_SIGMA)
    stride = amplitude * np.cos(_TURN * phase)  # highest where the left foot touches the floor
    stance = amplitude * np.cos(_TURN * (phase - gait.duty / 2))  # highest where the pelvis is over the left foot
    turned = np.radians([gait.pelvis_turn, gait.thorax_turn])
    bank = -np.radians(gait.bank)  # the curve goes left, so inward is to the left
    tilt = np.radians(gait.list_angle) * stance
    pelvis = rotation(heading - turned[0] * stride, np.radians(gait.lean / 2), tilt + bank / 2)
    thorax = rotation(
        heading + turned[1] * stride + drift(rng, times, _ANGLE_SIGMA),
        np.radians(gait.lean) + drift(rng, times, _ANGLE_SIGMA / 1.5) + np.radians(1.5) * np.cos(2 * _TURN * phase),
        -0.6 * tilt + bank + drift(rng, times, _ANGLE_SIGMA / 1.5),
    )
    position = walk.track + gait.sway * stance[:, None] * rotation(heading)[..., 1]
    position[:, 2] = _pelvis_height(walk, position, pelvis, ankles)
    return Trunk(walk.body, position, pelvis, thorax)


def _pelvis_height(walk: _Walk, position: FloatArray, pelvis: FloatArray, ankles: FloatArray) -> FloatArray:
    """The height that the gait asks for, or less, as far as both legs reach."""
    body, gait, phase = walk.body, walk.gait, walk.phase
    rise = np.cos(2 * _TURN * (phase - gait.duty / 2))  # 1 over each foot, where the pelvis is lowest
    wanted = body.hip_height - gait.crouch - gait.bob * rise
    offsets = hip_offsets(body, pelvis)
    apart = np.linalg.norm((position[:, None] + offsets - ankles)[..., :2], axis=-1)
    reach = _LEG_REACH * (body.thigh + body.shin)
    limits = ankles[..., 2] - offsets[..., 2] + np.sqrt(np.maximum(reach**2 - apart**2, 0.0))
    heights = np.concatenate([limits, wanted[:, None]], axis=1)
    lowest = heights.min(axis=1, keepdims=True)
    eased = lowest[:, 0] - _SOFT_MINIMUM * np.log(np.exp((lowest - heights) / _SOFT_MINIMUM).sum(axis=1))
    return np.asarray(gaussian_filter1d(eased, _PELVIS_SMOOTHING), dtype=float)


def _arms(trunk: Trunk, walk: _Walk, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
    gait, times, phase = walk.gait, walk.times, walk.phase

    def per_side(centre: float, sigma: float) -> FloatArray:
        angles: FloatArray = np.radians(centre) + np.stack([drift(rng, times, sigma) for _ in range(2)], axis=-1)
        return angles

    # An arm goes back as its own side's leg goes forward, a little late.
    late = 0.03
    wave = -SIDE_SIGN * np.cos(_TURN * (phase - late))[:, None]
    wave = wave * (1 + np.stack([drift(rng, times, 1.5 * _AMPLITUDE_SIGMA) for _ in range(2)], axis=-1))
    swing = per_side(gait.arm_centre, _ANGLE_SIGMA) + np.radians(gait.arm_swing) * wave
    spread = np.maximum(per_side(gait.arm_spread, _ANGLE_SIGMA / 2), np.radians(4.0))
    twist = per_side(gait.arm_twist, _ANGLE_SIGMA)
    flexion = per_side(gait.elbow, 1.3 * _ANGLE_SIGMA) + np.radians(gait.elbow_swing) * wave
    return hang_arms(trunk, swing, spread, twist, np.maximum(flexion, np.radians(4.0)))
