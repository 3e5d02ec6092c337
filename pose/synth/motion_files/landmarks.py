"""A clip as a person: joints in mm with z up, and how pelvis, chest, head and feet are turned.

ASF and C3D files state their unit. For a BVH file, which does not, the unit is guessed by the length of the legs: mm,
cm, inches, metres or CMU's (25.4 / 0.45 mm). The up axis is the one along which the body stands.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import CubicSpline

from pose.errors import DataError
from pose.synth.kinematics import axes, turn, unit
from pose.synth.motion_files.clip import Clip
from pose.synth.motion_files.segments import frames_of_bones, frames_of_markers, joints_inside
from pose.synth.motion_files.skeletons import SIDES, Fit, match_skeleton
from pose.types import FloatArray

#: mm per unit of length, for the units that a file may have.
UNITS = {"mm": 1.0, "cm": 10.0, "inch": 25.4, "cmu": 25.4 / 0.45, "m": 1000.0}
#: Smallest and largest frame rate of a motion file, frames/s.
FRAME_RATES = (1.0, 1000.0)
#: Frame rate of a file that states none, frames/s.
_RATE = 120.0
UP_AXES = ("x", "y", "z")
#: Smallest and largest plausible length of thigh and shin together, mm.
_LEG_RANGE = (480.0, 1150.0)
#: Length of an adult's thigh and shin together, mm: the unit that comes nearest to it is guessed.
_LEG = 830.0
#: Smallest number of consecutive frames without a gap, in a file with gaps.
_MIN_FRAMES = 30
#: Largest plausible distance of a joint from the origin, mm.
_MAX_COORDINATE = 1e7
#: Smallest cosine between body and up axis, the median over a clip.
_MIN_UPRIGHT = 0.8
#: Rotations that bring an up axis to z.
_TO_Z_UP = {
    "x": np.array([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]]),
    "y": np.array([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]),
    "z": np.eye(3),
}
#: Smallest jump of a joint from a rest pose to the next frame: mm, and as a multiple of every later step.
_REST_JUMP, _REST_JUMP_RATIO = 60.0, 4.0


@dataclass(frozen=True, eq=False)
class Landmarks:
    """A person's joints over time, T frames.

    Parameters
    ----------
    points : dict of (str, str) to ndarray of shape (T, 3)
        mm, z up, by part and side: those of `SIDED` with ``left`` and ``right``, those of `MIDDLE` with ``""``.
    pelvis, chest, head : ndarray of shape (T, 3, 3)
        Columns x forward, y left, z up along the part; the chest's z leans as the whole trunk does.
    feet : ndarray of shape (T, 2, 3, 3)
        Left and right, x along the sole.
    rate : float
        Frames/s.
    title : str
        The kind of skeleton.
    """

    points: dict[tuple[str, str], FloatArray]
    pelvis: FloatArray
    chest: FloatArray
    head: FloatArray
    feet: FloatArray
    rate: float
    title: str = ""

    def __len__(self) -> int:
        return len(self.pelvis)

    def resampled(self, rate: float) -> Landmarks:
        """The motion at another frame rate, by cubic splines through points and axes."""
        if abs(rate / self.rate - 1) < 1e-4 or len(self) < 2:
            return self
        wanted = np.arange(0.0, len(self) - 1 + 1e-9, self.rate / rate)
        return replace(self.at(wanted), rate=rate)

    def at(self, frames: FloatArray) -> Landmarks:
        """The motion at fractional frames (T',), by cubic splines through points and axes."""

        def spline(values: FloatArray) -> FloatArray:
            return np.asarray(CubicSpline(np.arange(len(self)), values)(frames), dtype=float)

        return self._changed(spline, lambda turned: axes(spline(turned[..., 2]), spline(turned[..., 0])))

    def blended(self, rows: NDArray[np.intp], other: NDArray[np.intp], weight: FloatArray) -> Landmarks:
        """The frames `rows`, moved by `weight` (T',), 0 to 1, towards the frames `other`."""

        def mix(values: FloatArray) -> FloatArray:
            part = weight.reshape(-1, *[1] * (values.ndim - 1))
            mixed: FloatArray = values[rows] + part * (values[other] - values[rows])
            return mixed

        return self._changed(mix, lambda turned: axes(mix(turned[..., 2]), mix(turned[..., 0])))

    def moved(self, shift: FloatArray) -> Landmarks:
        """Shifted by (T, 3), mm."""
        return self._changed(lambda values: values + shift, lambda turned: turned)

    def turned(self, by: FloatArray) -> Landmarks:
        """Turned about the origin by (T, 3, 3)."""
        return self._changed(
            lambda values: turn(by, values), lambda frames: (by if frames.ndim == 3 else by[:, None]) @ frames
        )

    def _changed(
        self, points: Callable[[FloatArray], FloatArray], frames: Callable[[FloatArray], FloatArray]
    ) -> Landmarks:
        return replace(
            self,
            points={part: points(value) for part, value in self.points.items()},
            pelvis=frames(self.pelvis),
            chest=frames(self.chest),
            head=frames(self.head),
            feet=frames(self.feet),
        )


def find_landmarks(
    clip: Clip, *, unit_mm: float | None = None, up: str | None = None, rate: float | None = None
) -> Landmarks:
    """The person in a clip.

    Parameters
    ----------
    clip : Clip
        As a reader returns it. A first frame that is a rest pose, followed by a jump, is skipped.
    unit_mm : float, optional
        mm in one unit of the file; by default as the file states, or as the length of the legs suggests.
    up : str, optional
        ``"x"``, ``"y"`` or ``"z"``; by default the axis along which the body stands.
    rate : float, optional
        Frames/s; by default as the file states, or 120.

    Raises
    ------
    DataError
        If the skeleton is unknown, no unit gives plausible legs, nobody stands upright, the rate is not within
        `FRAME_RATES`, or the clip is shorter than 1/120 s.
    """
    fit = match_skeleton(clip)
    points = _mean_points(clip, fit)
    first, last = _longest_seen(clip, points)
    if (first, last) != (0, len(clip)):
        return find_landmarks(clip.between(first, last), unit_mm=unit_mm, up=up, rate=rate)
    scale = unit_mm or clip.unit or _guess_unit(clip, points)
    points = {part: scale * value for part, value in points.items()}
    _check_size(clip, points, scale)
    _check_places(clip, points)
    if len(clip) > 2 and clip.rotations and _starts_at_rest(points):
        return find_landmarks(clip.between(1, len(clip)), unit_mm=scale, up=up, rate=rate)
    axis = up or _guess_up(clip, points)
    to_z_up = _TO_Z_UP[axis]
    points = {part: value @ to_z_up.T for part, value in points.items()}
    frames = (clip.rate if rate is None else rate) or _RATE
    _check_duration(clip, frames)
    with np.errstate(invalid="ignore", divide="ignore"):  # a body without a front is refused below
        if clip.rotations:
            pelvis, chest, head, feet = frames_of_bones(clip, fit, points, to_z_up)
        else:
            if fit.title.startswith("Plug-in-Gait"):
                points = joints_inside(clip, points, to_z_up * scale)
            pelvis, chest, head, feet = frames_of_markers(clip, points, to_z_up * scale)
    if not all(np.isfinite(turned).all() for turned in (pelvis, chest, head, feet)):
        raise DataError(
            f"{clip.path}: with {axis} up it cannot be told which way the body faces; is the up axis right "
            "(--motion-up)?"
        )
    return Landmarks(points, pelvis, chest, head, feet, frames, fit.title)


def _check_places(clip: Clip, points: dict[tuple[str, str], FloatArray]) -> None:
    far = np.any([~(np.abs(value) <= _MAX_COORDINATE).all(axis=-1) for value in points.values()], axis=0)
    if far.any():
        frame = int(np.argmax(far))
        line = f", line {clip.frame_lines[frame]}" if clip.frame_lines else ""
        raise DataError(
            f"{clip.path}{line}: in {int(far.sum())} of {len(clip)} frames, first frame {frame + 1}, a joint is more "
            f"than {_MAX_COORDINATE / 1e6:.0f} km from the origin"
        )


def _check_duration(clip: Clip, rate: float) -> None:
    if not FRAME_RATES[0] <= rate <= FRAME_RATES[1]:
        raise DataError(
            f"{clip.path}: has {rate:.4g} frames a second, {FRAME_RATES[0]:g} to {FRAME_RATES[1]:g} can be; "
            "state the rate (--motion-rate)"
        )
    if (len(clip) - 1) / rate < 1 / _RATE - 1e-9:
        raise DataError(
            f"{clip.path}: {len(clip)} frame{'s' * (len(clip) > 1)} at {rate:.4g} a second are no motion; "
            f"1/{_RATE:.0f} s is needed at least"
        )


def _mean_points(clip: Clip, fit: Fit) -> dict[tuple[str, str], FloatArray]:
    return {part: np.mean([clip.points[name] for name in names], axis=0) for part, names in fit.points.items()}


def _longest_seen(clip: Clip, points: dict[tuple[str, str], FloatArray]) -> tuple[int, int]:
    """The longest run of frames, (first, after the last), in which every part is seen."""
    seen = np.all([np.isfinite(value).all(axis=-1) for value in points.values()], axis=0)
    edges = np.flatnonzero(np.diff(np.concatenate([[False], seen, [False]])))
    runs = [(int(first), int(last)) for first, last in edges.reshape(-1, 2)]
    first, last = max(runs, key=lambda run: run[1] - run[0], default=(0, 0))
    if last - first < min(len(clip), _MIN_FRAMES):
        lost = [f"{side} {part}".strip() for (part, side), value in points.items() if not np.isfinite(value).all()]
        raise DataError(f"{clip.path}: nowhere are all parts seen for {_MIN_FRAMES} frames; lost are {', '.join(lost)}")
    return first, last


def _leg(points: dict[tuple[str, str], FloatArray]) -> float:
    lengths = [
        np.median(np.linalg.norm(points[upper, side] - points[lower, side], axis=-1))
        for side in SIDES
        for upper, lower in (("hip", "knee"), ("knee", "ankle"))
    ]
    return float(np.sum(lengths) / 2)


def _guess_unit(clip: Clip, points: dict[tuple[str, str], FloatArray]) -> float:
    leg = _leg(points)
    if not leg > 0:
        raise DataError(f"{clip.path}: its legs have no length")
    return min(UNITS.values(), key=lambda size: abs(np.log(leg * size / _LEG)))


def _check_size(clip: Clip, points: dict[tuple[str, str], FloatArray], scale: float) -> None:
    leg = _leg(points)
    if not _LEG_RANGE[0] <= leg <= _LEG_RANGE[1]:
        raise DataError(
            f"{clip.path}: with {scale:.4g} mm a unit the legs are {leg:.4g} mm long, a person's are "
            f"{_LEG_RANGE[0]:.0f} to {_LEG_RANGE[1]:.0f}; state the unit (--motion-unit)"
        )


def _starts_at_rest(points: dict[tuple[str, str], FloatArray]) -> bool:
    """Whether the first frame is a rest pose: the jump to the second is far larger than any later step."""
    root = (points["hip", "left"] + points["hip", "right"]) / 2
    steps = np.max([np.linalg.norm(np.diff(value - root, axis=0), axis=-1) for value in points.values()], axis=0)
    return bool(steps[0] > max(_REST_JUMP, _REST_JUMP_RATIO * steps[1:].max()))


def _guess_up(clip: Clip, points: dict[tuple[str, str], FloatArray]) -> str:
    body = points["crown", ""] - (points["ankle", "left"] + points["ankle", "right"]) / 2
    upright = np.median(unit(body), axis=0)
    axis = int(np.argmax(upright))
    if upright[axis] < _MIN_UPRIGHT:
        raise DataError(f"{clip.path}: nobody stands upright along x, y or z; state the up axis (--motion-up)")
    return UP_AXES[axis]
