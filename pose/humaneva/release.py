"""One object for a HumanEva-I tree: its subjects, sequences, cameras, labelled frames and backgrounds."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from pose.camera import Camera
from pose.errors import DataError
from pose.humaneva.calibration import read_cal
from pose.humaneva.joints import SubjectShape, joints_at, torso_radius, valid_instants
from pose.humaneva.measurements import read_measurements
from pose.humaneva.mocap import MarkerTracks, read_markers
from pose.humaneva.partitions import FIRST_USABLE_FRAME, Ranges, read_partitions
from pose.humaneva.sync import CommonClock, common_clock, read_ofs
from pose.skeleton import HUMANEVA_15
from pose.video import VideoFrame, read_frames

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

_SUBJECT = re.compile(r"^S\d+$", re.IGNORECASE)
_RECORDING = re.compile(
    r"^(?P<action>[A-Za-z]+)_(?P<trial>\d+)_\((?P<camera>C[1-4]|BW[1-4])\)(?P<suffix>\.avi|\.ofs)?$", re.IGNORECASE
)
PELVIS_TO_HEAD = (300.0, 1500.0)  # mm, of children and giants; an adult's is about 800
VIDEO_RATE = 60.0  # Hz
RATE_TOLERANCE = 0.05
Decoder = Callable[[Path, int, int | None], Iterator[VideoFrame]]
COLOUR_CAMERAS = ("C1", "C2", "C3")


@dataclass(frozen=True, eq=False)
class LabelledFrames:
    """The usable frames of one camera in one partition, with their joints.

    Parameters
    ----------
    numbers : ndarray of shape (n,)
        Toolkit frames, 1-based, ascending.
    joints : ndarray of shape (n, 15, 3)
        mm, world.
    """

    numbers: IntArray
    joints: FloatArray


def _entries(folder: Path) -> dict[str, Path]:
    """A folder's content by lower-case name: copies of the release differ in case. Nothing where it may not be read."""
    try:
        return {path.name.lower(): path for path in sorted(folder.iterdir())}
    except (NotADirectoryError, FileNotFoundError, PermissionError):
        return {}


@dataclass(frozen=True, eq=False)
class Subject:
    """The folder of one subject: calibrations and body measurements."""

    name: str
    folder: Path

    def part(self, name: str) -> Path:
        """One of the four folders of a subject, whatever its case."""
        return _entries(self.folder).get(name.lower(), self.folder / name)

    def camera(self, name: str) -> Camera:
        """Calibration of one camera; every subject has its own."""
        folder = self.part("Calibration_Data")
        return read_cal(_entries(folder).get(f"{name}.cal".lower(), folder / f"{name}.cal"), name)

    @cached_property
    def shape(self) -> SubjectShape:
        """Shoulder offsets of the ``.mp`` file, and the torso's radius in the standing trial."""
        folder = self.part("Mocap_Data")
        values = read_measurements(_entries(folder).get(f"{self.name}.mp".lower(), folder / f"{self.name}.mp"))
        radius = torso_radius(read_markers(self.mocap_file("Static")))
        return SubjectShape(radius, values["LShoulderOffset"], values["RShoulderOffset"])

    def mocap_file(self, stem: str) -> Path:
        """The ``.c3d`` of a trial, or the toolkit's ``.mat`` where there is no other."""
        folder = self.part("Mocap_Data")
        entries = _entries(folder)
        return entries.get(f"{stem}.c3d".lower()) or entries.get(f"{stem}.mat".lower()) or folder / f"{stem}.c3d"


@dataclass(frozen=True, eq=False)
class Sequence:
    """One trial of one action of one subject, seen by all its cameras.

    Parameters
    ----------
    subject : Subject
    action, trial : str, int
    videos : dict of str to Path
        The recording of each camera.
    partitions : mapping
        Toolkit frames by partition.
    video_frame_shift : int
        Added to every video frame, where a decoder numbers frames unlike the toolkit's.
    """

    subject: Subject
    action: str
    trial: int
    videos: dict[str, Path]
    partitions: Ranges
    video_frame_shift: int = 0

    @property
    def name(self) -> str:
        """E.g. ``"S1 Walking 1"``."""
        return f"{self.subject.name} {self.action} {self.trial}"

    @cached_property
    def clock(self) -> CommonClock:
        """The common time base of the cameras that have a ``.ofs`` file; the others are left out."""
        folder = self.subject.part("Sync_Data")
        offsets = {}
        for entry, path in _entries(folder).items():
            match = _RECORDING.match(entry)
            if (
                match
                and (match["suffix"] or "").lower() == ".ofs"
                and match["action"].lower() == self.action.lower()
                and int(match["trial"]) == self.trial
            ):
                offsets[match["camera"].upper()] = read_ofs(path)
        if not offsets:
            raise DataError(f"{folder}: no {self.action}_{self.trial}_(camera).ofs, so frames cannot be matched")
        return common_clock(offsets)

    @cached_property
    def markers(self) -> MarkerTracks:
        """The trial's motion capture."""
        return read_markers(self.subject.mocap_file(f"{self.action}_{self.trial}"))

    def cameras(self, wanted: tuple[str, ...]) -> list[str]:
        """Those of the wanted cameras that have a video and an offset; a warning names the others."""
        usable = [name for name in wanted if name in self.videos and name in self.clock.first_video_frame]
        for name in wanted:
            if name not in self.videos:
                warnings.warn(f"{self.name}: camera {name} is left out: it has no video", stacklevel=2)
            elif name not in usable:
                warnings.warn(f"{self.name}: camera {name} is left out: it has no .ofs file", stacklevel=2)
        return usable

    def labelled(self, partition: str) -> LabelledFrames:
        """The frames of a partition whose motion capture is whole, with their joints."""
        if partition not in self.partitions:
            raise DataError(
                f"{self.name}: has no partition {partition} (it has {', '.join(self.partitions) or 'none'})"
            )
        first, last = self.partitions[partition]
        self._check_rate(self.clock.mocap_per_frame)
        numbers = np.arange(max(first, FIRST_USABLE_FRAME), last + 1)
        positions = self.clock.mocap_position(numbers)
        usable = valid_instants(self.markers, positions)
        numbers, positions = numbers[usable], positions[usable]
        joints = joints_at(self.markers, positions, self.subject.shape)
        whole = np.isfinite(joints).all(axis=(1, 2))
        if not whole.all():
            warnings.warn(
                f"{self.markers.path}: {np.sum(~whole)} frames, first {numbers[~whole][0]}, have damaged bone markers "
                "and are left out",
                stacklevel=2,
            )
        numbers, joints = numbers[whole], joints[whole]
        self._check_size(joints)
        return LabelledFrames(numbers, joints)

    def _check_size(self, joints: FloatArray) -> None:
        """Refuse a person of an impossible size: the unit, or the markers, cannot be right."""
        if not len(joints):
            return
        height = float(np.median(np.linalg.norm(joints[:, HUMANEVA_15.names.index("head")] - joints[:, 0], axis=1)))
        if not PELVIS_TO_HEAD[0] < height < PELVIS_TO_HEAD[1]:
            raise DataError(
                f"{self.markers.path}: the head is {height:.4g} mm from the pelvis, so the unit is not mm, or markers "
                "are mislabelled"
            )

    def _check_rate(self, mocap_per_frame: float) -> None:
        rate = self.markers.rate / VIDEO_RATE
        if rate and abs(rate / mocap_per_frame - 1) > RATE_TOLERANCE:
            warnings.warn(
                f"{self.name}: its .ofs files say {mocap_per_frame:.4g} mocap frames an image, but "
                f"{self.markers.path.name} says {self.markers.rate:g} Hz: {rate:.4g} at {VIDEO_RATE:g} images/s",
                stacklevel=2,
            )

    def read(self, camera: str, numbers: IntArray, decode: Decoder = read_frames) -> Iterator[tuple[int, VideoFrame]]:
        """Decode the given toolkit frames of a camera, ascending; those beyond the video's end do not come.

        `decode` is `pose.video.read_masks` where the videos are silhouettes.
        """
        offset = self.clock.video_index(camera, 0) + self.video_frame_shift
        wanted = {int(number) + offset for number in numbers if number + offset >= 0}
        if not wanted:
            return
        for frame in decode(self.videos[camera], min(wanted), max(wanted) + 1):
            if frame.index in wanted:
                yield frame.index - offset, frame


class HumanEva:
    """A HumanEva-I tree, whole or in part.

    Parameters
    ----------
    root : path-like
        The folder that holds ``S1`` ..., or its parent.
    video_frame_shift : int
        See `Sequence`.

    Raises
    ------
    DataError
        If no subject's folder is found there.
    """

    def __init__(self, root: str | Path, video_frame_shift: int = 0) -> None:
        self.root = _find_root(Path(root))
        self.video_frame_shift = video_frame_shift
        self.partitions = read_partitions(self.root)
        self.subjects = [
            Subject(path.name.upper(), path)
            for name, path in sorted(_entries(self.root).items())
            if _SUBJECT.match(name) and path.is_dir()
        ]

    def sequences(self, partition: str | None = None) -> list[Sequence]:
        """Every trial that has a video, in the order subject, action, trial; with `partition`, those it names."""
        found = [sequence for subject in self.subjects for sequence in self._sequences_of(subject)]
        return [sequence for sequence in found if partition is None or partition in sequence.partitions]

    def background_videos(self, camera: str) -> list[Path]:
        """The recordings of the empty room by one camera, possibly none."""
        folder = _entries(self.root).get("background", self.root / "Background")
        pattern = re.compile(rf"^background_\d+_\({camera}\)(\.avi)?$", re.IGNORECASE)
        return [path for name, path in _entries(folder).items() if pattern.match(name)]

    def _sequences_of(self, subject: Subject) -> list[Sequence]:
        videos: dict[str, dict[str, Path]] = {}
        names: dict[str, str] = {}
        for path in _entries(subject.part("Image_Data")).values():
            match = _RECORDING.match(path.name)
            if match and (path.is_dir() or (match["suffix"] or "").lower() == ".avi"):
                name = f"{match['action']} {int(match['trial'])}"
                names.setdefault(name.lower(), name)
                videos.setdefault(name.lower(), {})[match["camera"].upper()] = path
        ranges: dict[str, Ranges] = {}
        for (owner, name), spans in self.partitions.items():
            if owner.upper() == subject.name:
                names[name.lower()], ranges[name.lower()] = name, spans  # the table's spelling goes before a file's
        sequences = []
        for key, cameras in videos.items():
            action, trial = names[key].rsplit(" ", 1)
            spans = ranges.get(key, {})
            sequences.append(Sequence(subject, action, int(trial), cameras, spans, self.video_frame_shift))
        return sorted(sequences, key=lambda sequence: (sequence.action.lower(), sequence.trial))


def _find_root(path: Path) -> Path:
    """`path` if it holds subjects, or the one folder in it that does."""
    if not path.is_dir():
        raise DataError(f"{path}: no such folder")
    candidates = [path, *(child for child in sorted(path.iterdir()) if child.is_dir())]
    roots = [folder for folder in candidates if any(map(_is_subject, _entries(folder).values()))]
    if not roots:
        hint = "; it looks like one subject's folder, name its parent" if _is_subject(path.resolve()) else ""
        raise DataError(f"{path}: holds no subject folder (S1, S2, ... with Image_Data in it){hint}")
    if path not in roots and len(roots) > 1:
        raise DataError(f"{path}: holds several data sets, name one: {', '.join(folder.name for folder in roots)}")
    return roots[0]


def _is_subject(path: Path) -> bool:
    return bool(_SUBJECT.match(path.name)) and "image_data" in _entries(path)
