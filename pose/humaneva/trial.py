"""One trial: its clock, motion capture, joints and pictures."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from pose.body.skeleton import HUMANEVA_15, HUMANEVA_20, Skeleton, joints_15_from_20
from pose.errors import DataError, MissingFile
from pose.humaneva.clock import MOCAP_ONLY, CommonClock, common_clock, doubtful_offsets
from pose.humaneva.files.marker_tracks import MarkerTracks
from pose.humaneva.files.ofs import StreamOffset, read_ofs
from pose.humaneva.folders import RECORDING, entries
from pose.humaneva.joints import points_at, valid_instants
from pose.humaneva.labels import LabelledFrames, Labels
from pose.humaneva.partitions import FIRST_USABLE_FRAME, Ranges
from pose.humaneva.screening import HEAD_SPAN, LENGTH_TOLERANCE, median_lengths, plausible_bones
from pose.humaneva.subject import Subject
from pose.types import BoolArray, FloatArray, IntArray
from pose.video.frame import VideoFrame
from pose.video.reader import VideoInfo, probe, read_frames

#: Smallest and largest plausible distance from pelvis to head, mm; an adult's is about 800.
PELVIS_TO_HEAD = (300.0, 1500.0)
#: Smallest and largest plausible length of a leg from hip to ankle, mm.
_LEG = (200.0, 1500.0)
#: Plausible lengths along chains of joints, mm, which tell whether positions are in mm. Pelvis and head alone would
#: pass positions in cm, because the toolkit's head has a constant length.
_BODY_PATHS = {
    ("pelvis", "head"): PELVIS_TO_HEAD,
    ("left_hip", "left_knee", "left_ankle"): _LEG,
    ("right_hip", "right_knee", "right_ankle"): _LEG,
}
#: Frame rate of the release's videos, pictures/s.
VIDEO_RATE = 60.0
#: Largest relative difference of two mocap rates that count as equal.
_RATE_TOLERANCE = 0.05
#: Numbers of the trial whose motion capture is withheld, and of the trial that is motion capture alone.
TEST_TRIAL, MOCAP_TRIAL = 2, 3
#: Decodes the frames of a video from one index up to another.
Decoder = Callable[[Path, int, int | None], Iterator[VideoFrame]]


@dataclass(frozen=True, eq=False)
class Trial:
    """One trial of a subject's action, seen by all its cameras.

    Parameters
    ----------
    subject : Subject
    action, number : str, int
    videos : dict of str to Path
        The recording of each camera; empty for a trial that is motion capture alone.
    partitions : mapping
        Toolkit frames by partition.
    video_frame_shift : int
        Added to every video frame, for a decoder that numbers frames unlike the toolkit's.
    video_rate : float
        Pictures/s; the files' headers do not always state it.
    """

    subject: Subject
    action: str
    number: int
    videos: dict[str, Path]
    partitions: Ranges
    video_frame_shift: int = 0
    video_rate: float = VIDEO_RATE

    @property
    def name(self) -> str:
        """E.g. ``"S1 Walking 1"``."""
        return f"{self.subject.name} {self.action} {self.number}"

    @property
    def stem(self) -> str:
        """E.g. ``"Walking_1"``, as files are called."""
        return f"{self.action}_{self.number}"

    @cached_property
    def offset_files(self) -> dict[str, Path]:
        """The ``.ofs`` file of each camera that has one."""
        found = {}
        for entry, path in entries(self.subject.part("Sync_Data")).items():
            match = RECORDING.match(entry)
            if (
                match
                and (match["suffix"] or "").lower() == ".ofs"
                and match["action"].lower() == self.action.lower()
                and int(match["trial"]) == self.number
            ):
                found[match["camera"].upper()] = path
        return found

    @cached_property
    def offsets(self) -> dict[str, StreamOffset]:
        """The stream offset of each camera that has a ``.ofs`` file."""
        return {camera: read_ofs(path) for camera, path in self.offset_files.items()}

    @cached_property
    def clock(self) -> CommonClock:
        """The common time base of the cameras that have a ``.ofs`` file; the others are left out.

        Raises
        ------
        MissingFile
            If no camera has one, unless the trial is motion capture alone.
        """
        if self.is_mocap_only:
            return MOCAP_ONLY
        if not self.offsets:
            folder = self.subject.part("Sync_Data")
            raise MissingFile(f"{folder}: no {self.stem}_(camera).ofs, so frames cannot be matched")
        for camera, fault in doubtful_offsets(self.offsets).items():
            warnings.warn(f"{self.offset_files[camera]}: {camera} {fault}", stacklevel=2)
        return common_clock(self.offsets)

    @property
    def is_mocap_only(self) -> bool:
        """Whether toolkit frames are the motion capture's own: a third trial has neither video nor offsets."""
        return self.number >= MOCAP_TRIAL and not self.videos and not self.offset_files

    @property
    def has_mocap(self) -> bool:
        """Whether a motion capture file is there."""
        return self.subject.mocap_file(self.stem).is_file()

    @cached_property
    def markers(self) -> MarkerTracks:
        """The trial's motion capture."""
        return self.subject.markers(self.stem)

    def cameras(self, wanted: tuple[str, ...]) -> list[str]:
        """The wanted cameras that have a video and an offset; a warning names the others."""
        usable = [name for name in wanted if name in self.videos and name in self.clock.first_video_frame]
        for name in wanted:
            if name not in self.videos:
                warnings.warn(f"{self.name}: camera {name} is left out: it has no video", stacklevel=2)
            elif name not in usable:
                warnings.warn(f"{self.name}: camera {name} is left out: it has no .ofs file", stacklevel=2)
        return usable

    def numbers(self, partition: str | None = None) -> IntArray:
        """Toolkit frames of a partition, or of all; if the table has none, all frames that the motion capture covers.

        Raises
        ------
        DataError
            If the trial has no such partition.
        """
        if partition is not None and partition not in self.partitions:
            raise DataError(
                f"{self.name}: has no partition {partition} (it has {', '.join(self.partitions) or 'none'})"
            )
        first_usable = 1 if self.is_mocap_only else FIRST_USABLE_FRAME
        if partition is None and not self.partitions:
            if not self.has_mocap:
                raise MissingFile(f"{self.name}: no table says its frames, and there is no motion capture to count")
            return np.arange(first_usable, self.last_mocap_number + 1)
        spans = self.partitions.values() if partition is None else [self.partitions[partition]]
        ranges = [np.arange(max(first, first_usable), last + 1) for first, last in spans]
        return np.sort(np.concatenate(ranges))

    @property
    def last_mocap_number(self) -> int:
        """The last toolkit frame that the motion capture reaches."""
        reach = (len(self.markers) - self.clock.mocap_start) / self.clock.mocap_per_frame
        return int(np.floor(reach + 1e-6)) + 1

    def labels(
        self,
        numbers: IntArray,
        skeleton: Skeleton = HUMANEVA_15,
        *,
        screen: float | bool = False,
        reference: FloatArray | None = None,
    ) -> Labels:
        """Joints and validity of toolkit frames; none is valid in a trial whose motion capture is withheld.

        Parameters
        ----------
        numbers : ndarray of int, shape (n,)
        skeleton : Skeleton
            `HUMANEVA_15` or `HUMANEVA_20`.
        screen : bool or float
            Largest deviation of a bone, and of the distance from pelvis to head, from its median, as a share of the
            median; other frames are not valid. True takes 25 %. See `pose.humaneva.screening.plausible_bones`.
        reference : ndarray of shape (15,), optional
            Lengths to screen by, mm, as `HumanEva.reference_lengths` gives them; by default the trial's own medians.

        Warns
        -----
        UserWarning
            If the motion capture ends before the frames do, or bone markers are damaged.

        Raises
        ------
        MissingFile
            If a file is missing, other than the motion capture of a test trial.
        DataError
            If a file is faulty.
        """
        if skeleton not in (HUMANEVA_15, HUMANEVA_20):
            raise ValueError("skeleton must be HUMANEVA_15 or HUMANEVA_20")
        numbers = np.asarray(numbers, dtype=np.int64)
        positions = self.clock.mocap_position(numbers)
        if self.number == TEST_TRIAL and not self.has_mocap:
            nothing = np.zeros(len(numbers), dtype=bool)
            joints = np.full((len(numbers), len(skeleton), 3), np.nan)
            return Labels(numbers, positions, joints, nothing, nothing.copy(), skeleton)
        self._check_rate()
        if len(numbers) and numbers.max() > self.last_mocap_number:
            warnings.warn(
                f"{self.markers.path}: ends at toolkit frame {self.last_mocap_number}, and frames to {numbers.max()} "
                "were asked for; those beyond it have no joints",
                stacklevel=2,
            )
        mocap_valid = valid_instants(self.markers, positions)
        points = np.full((len(numbers), len(HUMANEVA_20), 3), np.nan)
        points[mocap_valid] = points_at(self.markers, positions[mocap_valid], self.subject.shape)
        joints15 = joints_15_from_20(points)
        self._check_size(joints15[mocap_valid])
        self._warn_of_damage(numbers, mocap_valid & ~np.isfinite(joints15).all(axis=(1, 2)))
        if screen:
            tolerance = LENGTH_TOLERANCE if screen is True else float(screen)
            reference = self.bone_lengths if reference is None else reference
            plausible = plausible_bones(joints15, tolerance=tolerance, reference=reference, spans=HEAD_SPAN).all(axis=1)
            mocap_valid &= plausible
            points[~plausible], joints15[~plausible] = np.nan, np.nan
        valid = mocap_valid & (self.is_mocap_only | (numbers >= FIRST_USABLE_FRAME))
        return Labels(numbers, positions, joints15 if skeleton == HUMANEVA_15 else points, mocap_valid, valid, skeleton)

    @cached_property
    def bone_lengths(self) -> FloatArray:
        """Medians over the trial's frames, (15,), mm: the 14 bones, then the distance from pelvis to head."""
        return median_lengths(self.labels(self.numbers()).joints, spans=HEAD_SPAN)

    def _warn_of_damage(self, numbers: IntArray, damaged: BoolArray) -> None:
        if damaged.any():
            warnings.warn(
                f"{self.markers.path}: {np.sum(damaged)} frames, first {numbers[damaged][0]}, have damaged bone "
                "markers and are left out",
                stacklevel=3,
            )

    def labelled(self, partition: str, *, screen: float | bool = False) -> LabelledFrames:
        """The frames of a partition whose motion capture is whole, with their joints."""
        labels = self.labels(self.numbers(partition), screen=screen)
        return LabelledFrames(labels.numbers[labels.usable], labels.joints[labels.usable])

    def _check_size(self, joints: FloatArray) -> None:
        """Refuse poses (n, 15, 3) that are too small or too large for a body: the unit, or the markers, are wrong."""
        for (first, *others), (least, most) in _BODY_PATHS.items():
            path = [HUMANEVA_15.names.index(name) for name in (first, *others)]
            lengths = np.linalg.norm(np.diff(joints[:, path], axis=1), axis=2).sum(axis=1)
            lengths = lengths[np.isfinite(lengths)]
            if len(lengths) and not least < (length := float(np.median(lengths))) < most:
                raise DataError(
                    f"{self.markers.path}: the {others[-1].replace('_', ' ')} is {length:.4g} mm from the "
                    f"{first.replace('_', ' ')}, so the unit is not mm, or markers are mislabelled"
                )

    def _check_rate(self) -> None:
        """Warn if the rates in the ``.ofs`` files and the motion capture's own rate disagree."""
        rate = self.markers.rate / self.video_rate
        wrong = {
            camera: offset.mocap_per_image
            for camera, offset in self.offsets.items()
            if rate and abs(rate / offset.mocap_per_image - 1) > _RATE_TOLERANCE
        }
        if wrong:
            cameras = ", ".join(f"{self.offset_files[camera].name} {value:.4g}" for camera, value in wrong.items())
            warnings.warn(
                f"{self.name}: its .ofs files say other mocap frames an image ({cameras}) than "
                f"{self.markers.path.name}, {self.markers.rate:g} Hz: {rate:.4g} at {self.video_rate:g} images/s",
                stacklevel=3,
            )

    def video_info(self, camera: str) -> VideoInfo:
        """Size of a camera's video, and the rate and length that its header states."""
        return probe(self.videos[camera])

    def read(self, camera: str, numbers: IntArray, decode: Decoder = read_frames) -> Iterator[tuple[int, VideoFrame]]:
        """Decode the given toolkit frames of a camera, ascending; frames beyond the video's end are left out.

        `decode` is `pose.video.mask_reader.read_masks` where the videos are silhouettes.
        """
        offset = self.clock.video_index(camera, 0) + self.video_frame_shift
        wanted = {int(number) + offset for number in numbers if number + offset >= 0}
        if not wanted:
            return
        for frame in decode(self.videos[camera], min(wanted), max(wanted) + 1):
            if frame.index in wanted:
                yield frame.index - offset, frame
