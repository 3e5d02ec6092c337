"""Frames of a trial with their labels: one by one from the disk, as arrays, or as a table."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pose.body.camera import Camera
from pose.body.skeleton import HUMANEVA_15, Skeleton
from pose.errors import DataError, MissingFile
from pose.humaneva.labels import Labels
from pose.humaneva.trial import Trial
from pose.types import BoolArray, FloatArray, Image, IntArray

#: Largest relative difference between a header's frame rate and the rate in use that needs no warning.
_RATE_TOLERANCE = 0.01
#: Share of a video's frames that may repeat the picture before them without a warning.
_REPEATS_TOLERANCE = 0.01


@dataclass(frozen=True, eq=False)
class Frame:
    """One picture of one camera, with what is known of it.

    Parameters
    ----------
    source : Trial
        The trial that the picture belongs to.
    camera : str
    calibration : Camera or None
        None where the release at hand lacks the camera's ``.cal``.
    number : int
        Toolkit frame, 1-based.
    video_index : int
        0-based frame in the video.
    time : float
        Seconds on the trial's common clock, 0 at toolkit frame 1.
    video_time : float
        Seconds from the video's first frame, as the container says.
    mocap_position : float
        Mocap frame, 1-based and fractional.
    image : ndarray of shape (height, width, 3), uint8
        Blue, green, red.
    joints : ndarray of shape (J, 3)
        mm, world; NaN where not known.
    valid : bool
        See `Labels`.
    """

    source: Trial
    camera: str
    calibration: Camera | None
    number: int
    video_index: int
    time: float
    video_time: float
    mocap_position: float
    image: Image
    joints: FloatArray
    valid: bool

    @property
    def subject(self) -> str:
        """E.g. ``"S1"``."""
        return self.source.subject.name

    @property
    def action(self) -> str:
        """E.g. ``"Walking"``."""
        return self.source.action

    @property
    def trial(self) -> int:
        """1, 2 or 3."""
        return self.source.number

    @property
    def pixels(self) -> FloatArray:
        """The joints in the picture, (J, 2), px; NaN where not known."""
        return _project(self.calibration, self.joints)


@dataclass(frozen=True, eq=False)
class FrameArrays:
    """Many frames: one row per picture of one camera, or per instant of a trial without video.

    Parameters
    ----------
    subject, action, camera : ndarray of str, shape (n,)
        The camera is empty where a trial has no video.
    trial, frame, video_index : ndarray of int, shape (n,)
        Trial; toolkit frame, 1-based; 0-based frame of the video, -1 where there is none.
    time, mocap_position : ndarray of shape (n,)
        See `Frame`.
    joints, pixels : ndarray of shape (n, J, 3), (n, J, 2)
        mm, world; px. NaN where not known.
    valid : ndarray of bool, shape (n,)
    skeleton : Skeleton
    """

    subject: NDArray[np.str_]
    action: NDArray[np.str_]
    trial: IntArray
    camera: NDArray[np.str_]
    frame: IntArray
    video_index: IntArray
    time: FloatArray
    mocap_position: FloatArray
    valid: BoolArray
    joints: FloatArray
    pixels: FloatArray
    skeleton: Skeleton

    def __len__(self) -> int:
        return len(self.frame)

    def table(self) -> NDArray[np.void]:
        """A structured array, one field per column, for ``pandas.DataFrame`` or ``numpy.savetxt``.

        Columns are the scalars above, then ``{joint}_x``, ``_y``, ``_z`` in mm and ``{joint}_u``, ``_v`` in px.
        """
        names = ("subject", "action", "trial", "camera", "frame", "video_index", "time", "mocap_position", "valid")
        columns = {name: getattr(self, name) for name in names}
        for index, joint in enumerate(self.skeleton.names):
            columns |= {f"{joint}_{axis}": self.joints[:, index, k] for k, axis in enumerate("xyz")}
            columns |= {f"{joint}_{axis}": self.pixels[:, index, k] for k, axis in enumerate("uv")}
        table = np.empty(len(self), dtype=[(name, column.dtype) for name, column in columns.items()])
        for name, column in columns.items():
            table[name] = column
        return table


def iterate_frames(
    trial: Trial,
    camera: str,
    numbers: IntArray | None = None,
    *,
    skeleton: Skeleton = HUMANEVA_15,
    valid_only: bool = False,
    labels: Labels | None = None,
) -> Iterator[Frame]:
    """Decode a camera's frames one by one, with their labels; no more than one picture is held.

    Parameters
    ----------
    trial : Trial
    camera : str
    numbers : ndarray of int, optional
        Toolkit frames; by default all that the partitions name.
    skeleton : Skeleton
    valid_only : bool
        Leave out frames that are not valid, or whose joints are not known.
    labels : Labels, optional
        Given where the caller has them already; `numbers` and `skeleton` are then ignored.

    Yields
    ------
    Frame

    Warns
    -----
    UserWarning
        If the video ends early, repeats pictures, has another rate than it should or does not fit the calibration.
    """
    if labels is None:
        labels = labels_or_nothing(trial, trial.numbers() if numbers is None else numbers, skeleton)
    calibration = calibration_or_nothing(trial, camera)
    _check_video(trial, camera, calibration)
    row_of = {int(number): row for row, number in enumerate(labels.numbers)}
    kept = labels.numbers[labels.usable] if valid_only else labels.numbers
    repeats = _RepeatedPictures()
    last = None
    for number, frame in trial.read(camera, kept):
        row = row_of[number]
        repeats.see(number, frame.image)
        last = number
        yield Frame(
            trial,
            camera,
            calibration,
            number,
            frame.index,
            (number - 1) / trial.video_rate,
            frame.time,
            float(labels.mocap_position[row]),
            frame.image,
            labels.joints[row],
            bool(labels.valid[row]),
        )
    repeats.warn(trial, camera)
    if len(kept) and last != kept.max():
        reached = "holds none of the frames" if last is None else f"ends at toolkit frame {last}, before the frames"
        warnings.warn(
            f"{trial.videos[camera]}: {reached} that were asked for, to {kept.max()}; the rest is left out",
            stacklevel=2,
        )


def iterate_instants(
    trial: Trial, cameras: Iterable[str], labels: Labels, *, valid_only: bool = False
) -> Iterator[dict[str, Frame]]:
    """Decode several cameras side by side: the pictures of each toolkit frame, by camera.

    A camera is left out of a frame that its video does not have.
    """
    streams = {camera: iterate_frames(trial, camera, labels=labels, valid_only=valid_only) for camera in cameras}
    heads = {camera: next(stream, None) for camera, stream in streams.items()}
    while numbers := [frame.number for frame in heads.values() if frame is not None]:
        instant = {c: frame for c, frame in heads.items() if frame is not None and frame.number == min(numbers)}
        yield instant
        heads |= {camera: next(streams[camera], None) for camera in instant}


def frame_arrays(
    trial: Trial, cameras: Iterable[str], labels: Labels, *, valid_only: bool = False
) -> list[FrameArrays]:
    """A trial's labels once per camera, without decoding; a trial without video comes once, with an empty camera."""
    rows = np.flatnonzero(labels.usable) if valid_only else np.arange(len(labels.numbers))
    numbers, joints = labels.numbers[rows], labels.joints[rows]
    n = len(rows)
    rate = trial.video_rate if not trial.is_mocap_only else (trial.markers.rate or 2 * trial.video_rate)
    parts = []
    for camera in cameras:
        calibration = calibration_or_nothing(trial, camera) if camera else None
        index = trial.clock.video_index(camera, 0) + trial.video_frame_shift + numbers if camera else -1
        parts.append(
            FrameArrays(
                subject=np.full(n, trial.subject.name),
                action=np.full(n, trial.action),
                trial=np.full(n, trial.number),
                camera=np.full(n, camera),
                frame=numbers,
                video_index=np.broadcast_to(index, n).astype(np.int64),
                time=(numbers - 1) / rate,
                mocap_position=labels.mocap_position[rows],
                valid=labels.valid[rows],
                joints=joints,
                pixels=_project(calibration, joints),
                skeleton=labels.skeleton,
            )
        )
    return parts


def labels_or_nothing(
    trial: Trial, numbers: IntArray, skeleton: Skeleton = HUMANEVA_15, *, screen: float | bool = False
) -> Labels:
    """`Trial.labels`; if a part of the release is missing, a warning names it and every joint is NaN."""
    try:
        return trial.labels(numbers, skeleton, screen=screen)
    except MissingFile as error:
        positions = trial.clock.mocap_position(numbers)  # without offsets this raises an error of its own
        warnings.warn(f"{trial.name}: has no joints: {error}", stacklevel=3)
        nothing = np.zeros(len(numbers), dtype=bool)
        joints = np.full((len(numbers), len(skeleton), 3), np.nan)
        return Labels(np.asarray(numbers), positions, joints, nothing, nothing.copy(), skeleton)


def calibration_or_nothing(trial: Trial, camera: str) -> Camera | None:
    """The camera's calibration; None, with a warning, where it is missing."""
    try:
        return trial.subject.camera(camera)
    except MissingFile as error:
        warnings.warn(f"{error}; {trial.name} has no pixels of joints in {camera}", stacklevel=3)
        return None


def _project(calibration: Camera | None, joints: FloatArray) -> FloatArray:
    return np.full((*joints.shape[:-1], 2), np.nan) if calibration is None else calibration.project(joints)


def _check_video(trial: Trial, camera: str, calibration: Camera | None) -> None:
    """Warn if the video's frame rate or its size cannot be right."""
    path, info = trial.videos[camera], trial.video_info(camera)
    if info.rate and abs(info.rate / trial.video_rate - 1) > _RATE_TOLERANCE:
        warnings.warn(
            f"{path}: its header says {info.rate:g} pictures a second; taking {trial.video_rate:g}", stacklevel=3
        )
    if calibration is None:
        return
    if not calibration.fits(info.width, info.height):
        cx, cy = calibration.matrix[:2, 2]
        warnings.warn(
            f"{path}: the picture is {info.width} x {info.height} pixels, which does not fit the calibration of "
            f"{camera} (principal point {cx:.0f}, {cy:.0f}); joints will not lie on the person",
            stacklevel=3,
        )


class _RepeatedPictures:
    """Counts pictures that equal the one before: a conversion to another frame rate repeats pictures."""

    def __init__(self) -> None:
        self._before: Image | None = None
        self._number = self._first = self._n_repeats = self._n_seen = 0

    def see(self, number: int, image: Image) -> None:
        """Compare a picture with the one before, if their frames are consecutive."""
        before = self._before
        middle = len(image) // 2  # one row is enough to tell most pictures apart
        if (
            before is not None
            and number == self._number + 1
            and np.array_equal(image[middle], before[middle])
            and np.array_equal(image, before)
        ):
            self._first = self._first or number
            self._n_repeats += 1
        self._n_seen += 1
        self._before, self._number = image, number

    def warn(self, trial: Trial, camera: str) -> None:
        """Warn if more pictures repeat than `_REPEATS_TOLERANCE` allows."""
        if self._n_repeats > _REPEATS_TOLERANCE * self._n_seen:
            warnings.warn(
                f"{trial.videos[camera]}: {self._n_repeats} of {self._n_seen} pictures repeat the one before, first "
                f"at toolkit frame {self._first}; the video may have been converted, and frames may not match",
                stacklevel=3,
            )


def join(parts: list[FrameArrays], skeleton: Skeleton) -> FrameArrays:
    """Concatenate arrays of frames.

    Raises
    ------
    DataError
        If there are none.
    """
    if not parts:
        raise DataError("no frames to join")
    names = [name for name in FrameArrays.__dataclass_fields__ if name != "skeleton"]
    return FrameArrays(
        **{name: np.concatenate([getattr(part, name) for part in parts]) for name in names}, skeleton=skeleton
    )
