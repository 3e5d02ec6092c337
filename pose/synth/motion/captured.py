"""Captured motion on a modelled body: the directions of bones are kept, their lengths are the body's.

A clip becomes a motion of any length: it is looped where its poses repeat best, and put on the floor. A clip that
travels is laid along a path that shows all sides of the body; a clip that stays is turned to and fro.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter1d, minimum_filter1d

from pose.body.skeleton import HUMANEVA_15
from pose.humaneva.joints import HEAD_LENGTH
from pose.synth.body import Body
from pose.synth.kinematics import drift, rotation, smootherstep, turn, unit
from pose.synth.motion.gait import path_round
from pose.synth.motion.limbs import Trunk
from pose.synth.motion.motion import JOINT_INDEX, RATE, SIDES, Motion
from pose.synth.motion_files.landmarks import Landmarks
from pose.types import FloatArray

#: Window in which some foot touches the floor, s; standard deviation of the filter that smooths the floor's height, s.
_FLOOR_WINDOW, _FLOOR_SMOOTHING = 0.9, 0.12
#: Number of frames over which a clip's end is blended into its repetition, and of the shortest loop.
_SEAM, _SHORTEST_LOOP = round(0.16 * RATE), round(0.5 * RATE)
#: Standard deviation of the filter that smooths paths and directions, frames.
_STEADY = 0.25 * RATE
#: Median speed above which a clip counts as travelling, mm/s; a slower one stays where it is.
_TRAVELS = 450.0
#: Largest distance from the middle of a body that stays, mm.
_AREA = 650.0
#: Standard deviation of the turns to and fro of a body that stays, radians.
_FACING_SIGMA = np.radians(20.0)
#: Standard deviation of the speed, as a share of the captured one.
_WARP_SIGMA = 0.06


def on_body(landmarks: Landmarks, body: Body, scale: float | None = None) -> Motion:
    """A person's captured motion, performed by `body`, at the clip's rate.

    Parameters
    ----------
    landmarks : Landmarks
        T frames; resample them first where another rate is needed.
    body : Body
        Whose lengths to take.
    scale : float, optional
        Factor of horizontal distances; by default they grow in proportion to the legs.
    """
    points = landmarks.points

    def direction(part: str, towards: str, side: str) -> FloatArray:
        return unit(points[towards, side] - points[part, side])

    root = (points["hip", "left"] + points["hip", "right"]) / 2
    leg = np.median(
        [
            np.linalg.norm(points[first, side] - points[second, side], axis=-1)
            for side in SIDES
            for first, second in (("hip", "knee"), ("knee", "ankle"))
        ]
    )
    ratio = float((body.thigh + body.shin) / (2 * leg))
    position = root * [scale or ratio, scale or ratio, ratio]
    trunk = Trunk(body, position, landmarks.pelvis, landmarks.chest)
    joints = np.empty((len(landmarks), len(HUMANEVA_15), 3))
    joints[:, JOINT_INDEX["pelvis"]], joints[:, JOINT_INDEX["thorax"]] = position, trunk.chest
    joints[:, JOINT_INDEX["head"]] = trunk.top + HEAD_LENGTH * landmarks.head[..., 2]
    for side, name in enumerate(SIDES):
        chain = (
            ("shoulder", trunk.shoulders[:, side]),
            ("elbow", body.upper_arm * direction("shoulder", "elbow", name)),
            ("wrist", body.forearm * direction("elbow", "wrist", name)),
        )
        legs = (
            ("hip", trunk.hips[:, side]),
            ("knee", body.thigh * direction("hip", "knee", name)),
            ("ankle", body.shin * direction("knee", "ankle", name)),
        )
        for limb in (chain, legs):
            place = np.zeros_like(position)
            for part, step in limb:
                place = place + step
                joints[:, JOINT_INDEX[f"{name}_{part}"]] = place
    return on_floor(
        Motion(body, joints, trunk.top, landmarks.pelvis, landmarks.chest, landmarks.head, landmarks.feet),
        landmarks.rate,
    )


def lowest_soles(motion: Motion) -> FloatArray:
    """Height of the lowest point of both soles, (T,), mm."""
    body = motion.body
    heights = []
    for side, name in enumerate(SIDES):
        foot = motion.feet[:, side]
        sole = motion.joint(f"{name}_ankle") - body.ankle_height * foot[..., 2]
        heights += [(sole + ahead * foot[..., 0])[:, 2] for ahead in (-body.foot[0], body.foot[1])]
    lowest: FloatArray = np.min(heights, axis=0)
    return lowest


def on_floor(motion: Motion, rate: float) -> Motion:
    """The motion lifted or lowered so that within any second a foot touches the floor, and none sinks below it."""
    window = max(round(_FLOOR_WINDOW * rate), 1)
    lowest = lowest_soles(motion)
    floor = gaussian_filter1d(minimum_filter1d(lowest, window, mode="nearest"), _FLOOR_SMOOTHING * rate, mode="nearest")
    return motion.moved(np.stack([0 * floor, 0 * floor, -floor], axis=-1))


@dataclass(frozen=True, eq=False)
class _Course:
    """A clip taken apart: the body about its own upright axis, and how that axis moves, T frames.

    Parameters
    ----------
    body : Landmarks
        Facing x, the pelvis over the origin.
    steps : ndarray of shape (T, 2)
        Step of the smoothed path in each frame, mm: ahead of the body and to its left.
    sway : ndarray of shape (T, 2)
        Pelvis against the smoothed path, mm: ahead of the body and to its left.
    turns : ndarray of shape (T,)
        Turn of the body in each frame, radians.
    """

    body: Landmarks
    steps: FloatArray
    sway: FloatArray
    turns: FloatArray

    @property
    def travels(self) -> bool:
        """Whether the clip travels; otherwise it stays where it is."""
        return bool(np.median(np.linalg.norm(self.steps, axis=-1)) * RATE > _TRAVELS)


def travels(landmarks: Landmarks) -> bool:
    """Whether a motion travels; `perform` then lays it along the path."""
    return _take_apart(landmarks.resampled(RATE)).travels


def perform(landmarks: Landmarks, body: Body, n_frames: int, rng: np.random.Generator) -> Motion:
    """A captured motion on `body`, `n_frames` at 120 Hz, in the capture area.

    It starts anywhere in the clip and is looped as often as necessary; its speed wanders a little. A clip that travels
    follows the path of the generated gaits; a clip that stays faces x on average.
    """
    course = _take_apart(_warped(landmarks.resampled(RATE), rng))
    course = _looped(course, n_frames, rng)
    facing = np.cumsum(course.turns)
    if course.travels:
        place, facing = _along_the_path(course, rng)
    else:
        place, facing = _on_the_spot(course, facing, rng)
    place = place + turn(rotation(facing), np.pad(course.sway, ((0, 0), (0, 1))))
    return on_body(_placed(course.body, facing, place), body, scale=1.0)


def _warped(landmarks: Landmarks, rng: np.random.Generator) -> Landmarks:
    """The motion at a speed that wanders about the captured one."""
    times = np.arange(len(landmarks)) / RATE
    pace = 1 + drift(rng, times, _WARP_SIGMA) + np.clip(_WARP_SIGMA * rng.standard_normal(), -0.1, 0.1)
    passed = np.concatenate([[0.0], np.cumsum(pace[:-1])])
    return landmarks.at(passed * (len(landmarks) - 1) / passed[-1])


def _take_apart(landmarks: Landmarks) -> _Course:
    root = (landmarks.points["hip", "left"] + landmarks.points["hip", "right"]) / 2
    ahead = landmarks.pelvis[..., 0]
    facing = gaussian_filter1d(np.unwrap(np.arctan2(ahead[:, 1], ahead[:, 0])), _STEADY, mode="nearest")
    way = gaussian_filter1d(root, _STEADY, axis=0, mode="nearest") * [1.0, 1.0, 0.0]
    level = root * [1.0, 1.0, 0.0]
    back = rotation(-facing)
    steps = turn(back, np.gradient(way, axis=0))[:, :2]
    sway = turn(back, level - way)[:, :2]
    return _Course(_placed(landmarks.moved(-level), -facing, 0.0 * root), steps, sway, np.gradient(facing))


def _placed(landmarks: Landmarks, facing: FloatArray, place: FloatArray) -> Landmarks:
    return landmarks.turned(rotation(facing)).moved(place)


def _looped(course: _Course, n_frames: int, rng: np.random.Generator) -> _Course:
    """The course for `n_frames` from a random start, looped with blended seams."""
    length = len(course.body)
    if length >= n_frames:
        start = int(rng.integers(length - n_frames + 1))
        rows = np.arange(start, start + n_frames)
        return _mixed(course, rows, rows, np.zeros(n_frames))
    first, last = _best_loop(course)
    taken: list[int] = []
    other: list[int] = []
    weight: list[float] = []
    frame = int(rng.integers(first, last))
    while len(taken) < n_frames:
        taken.append(frame)
        ahead = frame - (last - _SEAM)
        # The last frames before the jump back are blended into the frames before the loop's first.
        other.append(max(first - _SEAM + ahead, 0) if ahead > 0 else frame)
        weight.append(float(smootherstep(ahead / _SEAM)) if ahead > 0 else 0.0)
        frame = frame + 1 if frame + 1 < last else first
    return _mixed(course, np.array(taken), np.array(other), np.array(weight))


def _best_loop(course: _Course) -> tuple[int, int]:
    """The best loop of a clip: its first frame, and the frame after its last."""
    length = len(course.body)
    if length < _SHORTEST_LOOP + 2 * _SEAM:
        return min(_SEAM, length - 1), length
    pose = np.stack(list(course.body.points.values()), axis=1)
    feature = np.concatenate([pose, 0.1 * RATE * np.gradient(pose, axis=0)], axis=1).reshape(length, -1)
    apart = (
        np.linalg.norm(feature[:, None, ::1] - feature[None], axis=-1) if length <= 600 else _sparse_distances(feature)
    )
    first, last = np.indices(apart.shape) * (length / len(apart))
    allowed = (last - first >= _SHORTEST_LOOP) & (first >= _SEAM)
    # A longer loop repeats less: it may close a little worse.
    cost = np.where(allowed, apart / np.sqrt(np.maximum(last - first, 1.0)), np.inf)
    row, column = np.unravel_index(int(np.argmin(cost)), cost.shape)
    return round(float(first[row, column])), round(float(last[row, column]))


def _sparse_distances(feature: FloatArray) -> FloatArray:
    chosen = feature[np.linspace(0, len(feature) - 1, 600).astype(int)]
    distances: FloatArray = np.sqrt(
        np.maximum((chosen**2).sum(1)[:, None] + (chosen**2).sum(1) - 2 * chosen @ chosen.T, 0.0)
    )
    return distances


def _mixed(course: _Course, rows: NDArray[np.intp], other: NDArray[np.intp], weight: FloatArray) -> _Course:
    part = weight[:, None]
    return _Course(
        course.body.blended(rows, other, weight),
        course.steps[rows] + part * (course.steps[other] - course.steps[rows]),
        course.sway[rows] + part * (course.sway[other] - course.sway[rows]),
        course.turns[rows] + weight * (course.turns[other] - course.turns[rows]),
    )


def _along_the_path(course: _Course, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
    """Places (T, 3) and facings (T,) on the path that shows all sides, as far along it as the clip travels."""
    travelled = np.cumsum(np.linalg.norm(course.steps, axis=-1))
    track, heading = path_round(rng, travelled)
    # The angle between the body's direction and its path is kept: a sidestep stays a sidestep.
    astray = np.arctan2(course.steps[:, 1], course.steps[:, 0])
    return track, heading - gaussian_filter1d(np.unwrap(astray), _STEADY, mode="nearest")


def _on_the_spot(course: _Course, facing: FloatArray, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
    """Places (T, 3) near the middle, and facings (T,) as in the clip, but x on average."""
    times = np.arange(len(facing)) / RATE
    facing = facing - np.arctan2(np.sin(facing).mean(), np.cos(facing).mean()) + drift(rng, times, _FACING_SIGMA, 4.0)
    steps = turn(rotation(facing), np.pad(course.steps, ((0, 0), (0, 1))))
    way = np.cumsum(steps, axis=0)
    way = way - way.mean(axis=0)
    far = np.linalg.norm(way, axis=-1, keepdims=True)
    inside = way * np.tanh(far / _AREA) * _AREA / np.maximum(far, 1e-9)
    return inside + [rng.normal(0.0, 150.0), rng.normal(0.0, 150.0), 0.0], facing
