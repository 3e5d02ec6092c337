"""One object for a HumanEva-I tree: its subjects, trials, cameras, partitions, labelled frames and backgrounds."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import cached_property
from pathlib import Path

import numpy as np

from pose.body.skeleton import HUMANEVA_15, Skeleton
from pose.errors import DataError, MissingFile
from pose.humaneva.clock import CAMERA_ORDER
from pose.humaneva.folders import MOTION, RECORDING, SUBJECT, entries, find_root
from pose.humaneva.frames import (
    Frame,
    FrameArrays,
    frame_arrays,
    iterate_frames,
    iterate_instants,
    join,
    labels_or_nothing,
)
from pose.humaneva.labels import Labels
from pose.humaneva.partition_counts import PartitionCount, count_frames
from pose.humaneva.partitions import Partitions, Ranges, read_partitions
from pose.humaneva.splits import OFFICIAL, SCHEMES, split
from pose.humaneva.subject import Subject
from pose.humaneva.trial import VIDEO_RATE, Trial
from pose.types import FloatArray

ACTION_ORDER = ("Walking", "Jog", "ThrowCatch", "Gestures", "Box", "Combo")
COLOUR_CAMERAS = ("C1", "C2", "C3")
GREY_CAMERAS = ("BW1", "BW2", "BW3", "BW4")

__all__ = ["ACTION_ORDER", "COLOUR_CAMERAS", "GREY_CAMERAS", "HumanEva"]

Names = str | Iterable[str] | None


class HumanEva:
    """A HumanEva-I tree, whole or in part.

    Parameters
    ----------
    root : path-like
        The folder that holds ``S1`` ..., its parent, or the toolkit's folder in it.
    video_frame_shift, video_rate : int, float
        See `Trial`.
    scheme : str
        How trials are divided: ``"official"``, ``"tgp-half"`` or ``"blocked-75-25"``; see `pose.humaneva.splits`.

    Raises
    ------
    DataError
        If no subject's folder is found there.
    ValueError
        If there is no such scheme.

    Examples
    --------
    >>> data = HumanEva("HumanEva_I")  # doctest: +SKIP
    >>> for frame in data.frames("Train", subjects="S1", cameras=("C1", "C2")):  # doctest: +SKIP
    ...     frame.image, frame.joints, frame.pixels, frame.valid, frame.number, frame.time
    """

    def __init__(
        self,
        root: str | Path,
        video_frame_shift: int = 0,
        *,
        scheme: str = OFFICIAL,
        video_rate: float = VIDEO_RATE,
    ) -> None:
        if scheme not in SCHEMES:
            raise ValueError(f"there is no scheme {scheme!r} to split by: {', '.join(SCHEMES)}")
        self.root = find_root(Path(root))
        self.video_frame_shift, self.video_rate = video_frame_shift, video_rate
        self.scheme = scheme
        self._table = read_partitions(self.root)
        self.subjects = [
            Subject(path.name.upper(), path)
            for name, path in sorted(entries(self.root).items())
            if SUBJECT.match(name) and path.is_dir()
        ]
        self._known = [trial for subject in self.subjects for trial in self._trials_of(subject)]

    @cached_property
    def partitions(self) -> Partitions:
        """Toolkit frames of every partition, by (subject, "Action trial").

        The official scheme takes the table of the root's ``partitions.json`` or of the toolkit. Another scheme divides
        the trials that are there.
        """
        return self._table if self.scheme == OFFICIAL else split(self._known, self.scheme)

    @cached_property
    def trials(self) -> list[Trial]:
        """Every trial that has a video, offsets or motion capture, in the order subject, action, trial."""
        if self.scheme == OFFICIAL:
            return self._known
        return [self._with_ranges(trial, self.partitions) for trial in self._known]

    @property
    def actions(self) -> list[str]:
        """Names of the actions that are there, in the toolkit's order."""
        found = {trial.action for trial in self._known}
        return [name for name in ACTION_ORDER if name in found] + sorted(found - set(ACTION_ORDER))

    @property
    def cameras(self) -> list[str]:
        """Names of the cameras that have a video, in the toolkit's order."""
        found = {camera for trial in self._known for camera in trial.videos}
        return [name for name in CAMERA_ORDER if name in found] + sorted(found - set(CAMERA_ORDER))

    def trials_with_video(self, partition: str | None = None) -> list[Trial]:
        """Trials that have a video, and the partition if one is given, in the order subject, action, trial."""
        return [trial for trial in self.trials if trial.videos and (partition is None or partition in trial.partitions)]

    def trial(self, subject: str, action: str, trial: int) -> Trial:
        """One trial.

        Raises
        ------
        DataError
            If it is not there; the message lists the trials that are.
        """
        found = self.select(subjects=subject, actions=action, trials=(trial,))
        if not found:
            there = ", ".join(trial.name for trial in self.trials) or "none"
            raise DataError(f"{self.root}: holds no trial {subject} {action} {trial} (it holds {there})")
        return found[0]

    def select(
        self,
        partition: str | None = None,
        *,
        subjects: Names = None,
        actions: Names = None,
        trials: Iterable[int] | None = None,
    ) -> list[Trial]:
        """The trials with these names, whatever their case, that have the partition.

        Raises
        ------
        DataError
            If the tree holds nothing of one of the names.
        """
        wanted_subjects = self._names(subjects, [subject.name for subject in self.subjects], "subject")
        wanted_actions = self._names(actions, self.actions, "action")
        numbers = None if trials is None else set(trials)
        return [
            trial
            for trial in self.trials
            if trial.subject.name in wanted_subjects
            and trial.action in wanted_actions
            and (numbers is None or trial.number in numbers)
            and (partition is None or partition in trial.partitions)
        ]

    def frames(
        self,
        partition: str | None = None,
        *,
        subjects: Names = None,
        actions: Names = None,
        trials: Iterable[int] | None = None,
        cameras: Names = None,
        skeleton: Skeleton = HUMANEVA_15,
        valid_only: bool = False,
        screen: float | bool = False,
    ) -> Iterator[Frame]:
        """Decode frames one by one, video by video, with their labels.

        A part of the release that is missing is left out with a warning; a file that is faulty is an error.

        Parameters
        ----------
        partition : str, optional
            ``"Train"``, ``"Validate"`` or ``"Test"``; by default every frame that the table names.
        subjects, actions, cameras : str or iterable of str, optional
        trials : iterable of int, optional
        skeleton : Skeleton
            `HUMANEVA_15` or `HUMANEVA_20`.
        valid_only : bool
            Leave out frames that are not valid, or whose joints are not known.
        screen : bool or float
            See `Trial.labels`.

        Yields
        ------
        Frame

        Raises
        ------
        DataError
            If the tree holds nothing of one of the names, there is nothing to yield, or a file is faulty.
        """
        chosen = self.select(partition, subjects=subjects, actions=actions, trials=trials)
        for trial, labels, used in self._labelled(chosen, partition, cameras, skeleton, screen, pictures=True):
            for camera in used:
                yield from iterate_frames(trial, camera, labels=labels, valid_only=valid_only)

    def instants(
        self,
        partition: str | None = None,
        *,
        subjects: Names = None,
        actions: Names = None,
        trials: Iterable[int] | None = None,
        cameras: Names = None,
        skeleton: Skeleton = HUMANEVA_15,
        valid_only: bool = False,
        screen: float | bool = False,
    ) -> Iterator[dict[str, Frame]]:
        """What `frames` yields, but instant by instant: the frames by camera, of the cameras whose videos reach it.

        Parameters and errors are those of `frames`.
        """
        chosen = self.select(partition, subjects=subjects, actions=actions, trials=trials)
        for trial, labels, used in self._labelled(chosen, partition, cameras, skeleton, screen, pictures=True):
            yield from iterate_instants(trial, used, labels, valid_only=valid_only)

    def arrays(
        self,
        partition: str | None = None,
        *,
        subjects: Names = None,
        actions: Names = None,
        trials: Iterable[int] | None = None,
        cameras: Names = None,
        skeleton: Skeleton = HUMANEVA_15,
        valid_only: bool = False,
        screen: float | bool = False,
    ) -> FrameArrays:
        """What `frames` yields as arrays, without the pictures; trials without video come too.

        Nothing is decoded, so a video that ends early is not noticed. `FrameArrays.table` makes a table of the arrays.

        Parameters and errors are those of `frames`.
        """
        chosen = self.select(partition, subjects=subjects, actions=actions, trials=trials)
        parts = []
        for trial, labels, used in self._labelled(chosen, partition, cameras, skeleton, screen, pictures=False):
            parts += frame_arrays(trial, used or ("",), labels, valid_only=valid_only)
        return join(parts, skeleton)

    def reference_lengths(self, subject: str) -> FloatArray:
        """Lengths (15,), mm, to screen a subject's trials by: the median of the trials' medians.

        First come the 14 bones of `HUMANEVA_15`, then the distance from pelvis to head. They help where most frames of
        a trial are wrong, as in S3 Walking 1:
        ``trial.labels(numbers, screen=True, reference=data.reference_lengths("S3"))``.

        Raises
        ------
        DataError
            If no trial of the subject has motion capture.
        """
        medians = [trial.bone_lengths for trial in self.select(subjects=subject) if trial.has_mocap]
        if not medians:
            raise DataError(f"{self.root}: no trial of {subject} has motion capture")
        return np.asarray(np.nanmedian(medians, axis=0))

    def partition_counts(self, cameras: Names = None) -> list[PartitionCount]:
        """Numbers of frames, valid frames and images, by trial and partition."""
        wanted = tuple(self._names(cameras, self.cameras, "camera"))
        return [row for trial in self.trials for row in count_frames(trial, wanted)]

    def background_videos(self, camera: str) -> list[Path]:
        """One camera's recordings of the empty room, possibly none."""
        folder = entries(self.root).get("background", self.root / "Background")
        pattern = re.compile(rf"^background_\d+_\({camera}\)(\.avi)?$", re.IGNORECASE)
        return [path for name, path in entries(folder).items() if pattern.match(name)]

    def _labelled(
        self,
        chosen: list[Trial],
        partition: str | None,
        cameras: Names,
        skeleton: Skeleton,
        screen: float | bool,
        *,
        pictures: bool,
    ) -> Iterator[tuple[Trial, Labels, list[str]]]:
        """The trials that can be used, with labels and cameras; an error if none can."""
        wanted = tuple(self._names(cameras, self.cameras, "camera"))
        faults = []
        n_used = 0
        for trial in chosen:
            if (pictures or wanted != tuple(self.cameras)) and not trial.videos:
                continue
            try:
                numbers = trial.numbers(partition)
                labels = labels_or_nothing(trial, numbers, skeleton, screen=screen)
                used = trial.cameras(wanted) if trial.videos else []
            except MissingFile as error:
                faults.append(str(error))
                warnings.warn(f"{trial.name} is left out: {error}", stacklevel=3)
                continue
            if trial.videos and not used:
                faults.append(f"{trial.name}: no camera of {', '.join(wanted)} has a video and a .ofs file")
                continue
            n_used += 1
            yield trial, labels, used
        if not n_used:
            there = ", ".join(trial.name for trial in self.trials) or "none"
            reasons = "; ".join(faults) or f"no trial {'with video ' * pictures}has frames of {partition or 'any kind'}"
            raise DataError(f"{self.root}: nothing to read: {reasons} (trials: {there})")

    def _names(self, wanted: Names, there: list[str], what: str) -> list[str]:
        """The wanted names in the tree's spelling and order; all by default."""
        if wanted is None:
            return there
        names = {name.lower(): name for name in ([wanted] if isinstance(wanted, str) else wanted)}
        unknown = names.keys() - {name.lower() for name in there}
        if unknown:
            listed = ", ".join(names[key] for key in sorted(unknown))
            raise DataError(f"{self.root}: holds no {what} {listed} (it holds {', '.join(there) or 'none'})")
        return [name for name in there if name.lower() in names]

    def _trials_of(self, subject: Subject) -> list[Trial]:
        videos: dict[str, dict[str, Path]] = {}
        names: dict[str, str] = {}
        for path in entries(subject.part("Image_Data")).values():
            match = RECORDING.match(path.name)
            is_recording = match and ((match["suffix"] or "").lower() == ".avi" or path.is_dir())
            if match and is_recording:
                name = f"{match['action']} {int(match['trial'])}"
                names.setdefault(name.lower(), name)
                videos.setdefault(name.lower(), {})[match["camera"].upper()] = path
        for part in ("Mocap_Data", "Sync_Data"):
            for path in entries(subject.part(part)).values():
                match = MOTION.match(path.name) if part == "Mocap_Data" else RECORDING.match(path.name)
                if match and path.suffix:
                    name = f"{match['action']} {int(match['trial'])}"
                    names.setdefault(name.lower(), name)
        for owner, name in self._table:
            if owner.upper() == subject.name and name.lower() in names:
                names[name.lower()] = name  # the table's spelling is preferred to a file's
        trials = []
        for key, name in names.items():
            action, number = name.rsplit(" ", 1)
            trial = Trial(
                subject, action, int(number), videos.get(key, {}), {}, self.video_frame_shift, self.video_rate
            )
            trials.append(self._with_ranges(trial, self._table))
        return sorted(trials, key=lambda trial: (trial.action.lower(), trial.number))

    def _with_ranges(self, trial: Trial, table: Partitions) -> Trial:
        """The trial with its ranges from a table, whose names may differ in case."""
        ranges: Ranges = {}
        for (owner, name), spans in table.items():
            if owner.upper() == trial.subject.name and name.lower() == f"{trial.action} {trial.number}".lower():
                ranges = spans
        if ranges == trial.partitions:
            return trial
        return replace(trial, partitions=ranges)
