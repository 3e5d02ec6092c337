"""Survey of a HumanEva-I tree: what it holds and lacks, and how many frames can be used."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from pipelines.progress import Reporter
from pose.body.skeleton import HUMANEVA_15
from pose.errors import DataError, MissingFile
from pose.humaneva import SCHEMES, HumanEva, Labels, Subject, Trial
from pose.humaneva.files.ofs import read_ofs
from pose.humaneva.folders import entries
from pose.humaneva.partition_counts import PartitionCount
from pose.humaneva.partitions import own_table
from pose.humaneva.release import COLOUR_CAMERAS, GREY_CAMERAS
from pose.humaneva.splits import ranges_of
from pose.humaneva.trial import MOCAP_TRIAL, TEST_TRIAL
from pose.types import BoolArray

N_BACKGROUNDS = 3
"""Number of recordings of the empty room per camera in HumanEva-I."""


@dataclass(frozen=True)
class CameraFrames:
    """Counts of one trial's frames in one camera.

    Parameters
    ----------
    trial, camera : str
        The camera is empty if the trial has no video.
    named : int
        Toolkit frames that the partitions name.
    valid : int
        Named frames with valid motion capture.
    used : int
        Valid frames with every joint known, an offset, and a picture within the number in the video's header.
    announced : int
        Number of pictures in the video's header; 0 if it states none.
    reason : str
        Why no frame is used.
    """

    trial: str
    camera: str
    named: int
    valid: int
    used: int
    announced: int
    reason: str = ""


@dataclass(frozen=True, eq=False)
class DataInfo:
    """What a tree holds.

    Parameters
    ----------
    data : HumanEva
    frames : list of CameraFrames
    counts : dict of str to list of PartitionCount
        Counts by scheme.
    missing, faults, notes : list of str
        Missing parts; files that cannot be used; the reader's warnings.
    """

    data: HumanEva
    frames: list[CameraFrames] = field(default_factory=list)
    counts: dict[str, list[PartitionCount]] = field(default_factory=lambda: {scheme: [] for scheme in SCHEMES})
    missing: list[str] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def survey(root: str | Path, reporter: Reporter) -> DataInfo:
    """Survey a tree. Only the headers and first pictures of its videos are read.

    Raises
    ------
    DataError
        If there is no tree. Faulty files inside it are listed instead.
    """
    data = HumanEva(root)
    info = DataInfo(data, missing=missing_parts(data))
    for done, sequence in enumerate(data.trials):
        reporter.progress("trials", done, len(data.trials))
        with collected_warnings(info.notes):
            _survey_trial(replace(sequence), info)  # a copy, so that its motion capture is not kept
    reporter.progress("trials", len(data.trials), len(data.trials))
    info.faults[:] = dict.fromkeys(info.faults)
    return info


@contextmanager
def collected_warnings(texts: list[str]) -> Iterator[None]:
    """Add the text of every warning to `texts`, once, instead of showing it."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            yield
        finally:
            texts += [text for text in dict.fromkeys(str(w.message) for w in caught) if text not in texts]


def missing_parts(data: HumanEva) -> list[str]:
    """Parts that are missing, though the table of partitions or the existing videos need them.

    Raises
    ------
    DataError
        If a folder cannot be read.
    """
    missing = []
    wanted = {(owner.upper(), name.lower()): name for owner, name in data.partitions}
    there = {(sequence.subject.name, f"{sequence.action} {sequence.number}".lower()) for sequence in data.trials}
    subjects = [subject.name for subject in data.subjects]
    absent = sorted({owner for owner, _ in wanted} - set(subjects))
    if absent:
        missing.append(f"subjects {' '.join(absent)}: no folder")
    if not has_own_table(data):
        unseen = [name for name in (*COLOUR_CAMERAS, *GREY_CAMERAS) if name not in data.cameras]
        if unseen:
            missing.append(f"cameras {' '.join(unseen)}: no video in any trial")
    for subject in data.subjects:
        trials = [name for (owner, key), name in wanted.items() if owner == subject.name and (owner, key) not in there]
        if trials:
            missing.append(f"{subject.name}: nothing of the trials {', '.join(trials)}")
        missing += _missing_of_subject(subject, data.cameras)
    for sequence in data.trials:
        missing += _missing_of_trial(sequence, data.cameras)
    for camera in data.cameras:
        n_found = len(data.background_videos(camera))
        if n_found < N_BACKGROUNDS:
            missing.append(f"Background: {n_found} of {N_BACKGROUNDS} recordings of the empty room by {camera}")
    return missing


def has_own_table(data: HumanEva) -> bool:
    """Whether the tree has its own table of partitions, and so is no copy of the release."""
    return own_table(data.root) is not None


def _missing_of_subject(subject: Subject, cameras: list[str]) -> list[str]:
    calibrations, mocap = entries(subject.part("Calibration_Data")), entries(subject.part("Mocap_Data"))
    files = [f"Calibration_Data/{camera}.cal" for camera in cameras if f"{camera}.cal".lower() not in calibrations]
    if f"{subject.name}.mp".lower() not in mocap:
        files.append(f"Mocap_Data/{subject.name}.mp")
    if not subject.mocap_file("Static").is_file():
        files.append("Mocap_Data/Static.c3d")
    return [f"{subject.name}: {', '.join(files)}"] if files else []


def _missing_of_trial(sequence: Trial, cameras: list[str]) -> list[str]:
    missing = [] if sequence.partitions else ["no frames of it in the table of partitions"]
    if not sequence.is_mocap_only:
        missing += [] if sequence.videos else ["no video"]
        missing += [] if sequence.videos or sequence.offset_files else ["no .ofs"]
        videos = [camera for camera in cameras if sequence.videos and camera not in sequence.videos]
        offsets = [camera for camera in sequence.videos if camera not in sequence.offset_files]
        missing += [f"no video by {' '.join(videos)}"] if videos else []
        missing += [f"no .ofs of {' '.join(offsets)}"] if offsets else []
    if sequence.number != TEST_TRIAL and not sequence.has_mocap:
        missing.append("no motion capture")
    return [f"{sequence.name}: {', '.join(missing)}"] if missing else []


def file_faults(sequence: Trial, cameras: list[str]) -> list[str]:
    """All faults in a trial's small files and its motion capture; missing files are no faults here.

    Using a trial would stop at its first faulty file; here all are read, so that a person sees all faults.
    """
    subject = sequence.subject
    readers: list[Callable[[], object]] = [partial(read_ofs, path) for path in sequence.offset_files.values()]
    readers += [partial(subject.camera, camera) for camera in cameras]
    readers += [lambda: sequence.markers, lambda: subject.shape]
    faults = []
    for read in readers:
        try:
            read()
        except MissingFile:
            continue
        except DataError as error:
            faults.append(str(error))
    return faults


def _survey_trial(sequence: Trial, info: DataInfo) -> None:
    cameras = [name for name in info.data.cameras if name in sequence.videos]
    labels, reason = None, ""
    info.faults.extend(file_faults(sequence, cameras))
    try:
        labels = sequence.labels(sequence.numbers())
        if sequence.number == TEST_TRIAL and not sequence.has_mocap:
            reason = "its motion capture is withheld"
    except MissingFile as error:
        reason = str(error)
    except DataError as error:
        reason = str(error)
        info.faults.append(reason)
    for camera in cameras:
        info.frames.append(_camera_frames(sequence, camera, labels, reason, info.faults))
    if not cameras:
        named, valid, used = (0, 0, 0) if labels is None else _counts(labels)
        info.frames.append(CameraFrames(sequence.name, "", named, valid, used, 0, reason))
    if labels is not None:
        usable = tuple(name for name in cameras if name in sequence.clock.first_video_frame)
        for scheme in SCHEMES:
            info.counts[scheme] += _partition_counts(sequence, scheme, labels, usable)


def _counts(labels: Labels) -> tuple[int, int, int]:
    return len(labels.numbers), int(labels.valid.sum()), int(labels.usable.sum())


def _camera_frames(sequence: Trial, camera: str, labels: Labels | None, reason: str, faults: list[str]) -> CameraFrames:
    announced = 0
    try:
        announced = sequence.video_info(camera).announced_frames
    except DataError as error:
        reason = reason or str(error)
        faults.append(str(error))
    if labels is None:
        return CameraFrames(sequence.name, camera, 0, 0, 0, announced, reason)
    named, valid, _ = _counts(labels)
    if not reason and camera not in sequence.clock.first_video_frame:
        reason = "no .ofs file"
    used = 0 if reason else int((labels.usable & _in_video(sequence, camera, labels, announced)).sum())
    return CameraFrames(sequence.name, camera, named, valid, used, announced, reason)


def _in_video(sequence: Trial, camera: str, labels: Labels, n_frames: int) -> BoolArray:
    """Whether the video holds a picture of each labelled frame, (n,)."""
    index = labels.numbers + sequence.clock.video_index(camera, 0) + sequence.video_frame_shift
    inside: BoolArray = (index >= 0) & ((index < n_frames) | (n_frames == 0))
    return inside


def _partition_counts(sequence: Trial, scheme: str, labels: Labels, cameras: tuple[str, ...]) -> list[PartitionCount]:
    rows = []
    for partition, (first, last) in sorted(ranges_of(sequence, scheme).items(), key=lambda item: item[1]):
        within = (labels.numbers >= first) & (labels.numbers <= last)
        n_valid = int((within & labels.usable).sum())
        counts = (first, last, int(within.sum()), n_valid)
        rows.append(
            PartitionCount(sequence.subject.name, sequence.action, sequence.number, partition, *counts, cameras)
        )
    return rows


@dataclass(frozen=True)
class PartitionTotal:
    """A partition over all trials: filmed instants, valid ones, images by all cameras; valid frames not filmed."""

    partition: str
    trials: int
    instants: int
    valid: int
    images: int
    mocap_frames: int


def totals(counts: list[PartitionCount]) -> list[PartitionTotal]:
    """Sum the counts of a scheme by partition. Third trials have another frame rate and are summed separately."""
    sums = []
    for partition in dict.fromkeys(row.partition for row in counts):
        rows = [row for row in counts if row.partition == partition]
        filmed = [row for row in rows if row.cameras or row.trial < MOCAP_TRIAL]
        alone = [row for row in rows if row not in filmed]
        sums.append(
            PartitionTotal(
                partition,
                len(rows),
                sum(row.instants for row in filmed),
                sum(row.valid for row in filmed),
                sum(row.images for row in filmed),
                sum(row.valid for row in alone),
            )
        )
    return sums


def bone_names() -> tuple[str, ...]:
    """Names of the lengths of `Trial.bone_lengths`: the bones of `HUMANEVA_15`, then pelvis to head."""
    names = HUMANEVA_15.names
    return (*(f"{names[a]}-{names[b]}".replace("_", " ") for a, b in HUMANEVA_15.bones), "pelvis-head")
