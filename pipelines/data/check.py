"""Consistency of a HumanEva-I tree: calibration, synchronisation, bone lengths, and videos decoded to their ends."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from pipelines.data.check_result import BoneRow, CalibrationRow, DataCheck, Selection, SyncRow, VideoRow
from pipelines.data.info import bone_names, collected_warnings, file_faults, has_own_table, missing_parts
from pipelines.data.picture_check import (
    LARGEST_SHIFT,
    JointDistances,
    Look,
    best_shift,
    choose_frames,
    joint_distances,
    look_through,
    save_overlay,
)
from pipelines.features.silhouettes import fit_background
from pipelines.progress import Reporter
from pipelines.settings import Config
from pose.body.camera import Camera
from pose.errors import DataError, MissingFile
from pose.humaneva import HumanEva, Labels, Trial
from pose.humaneva.clock import CAMERA_ORDER, published_first_frames
from pose.humaneva.screening import HEAD_SPAN, LENGTH_TOLERANCE, median_lengths, plausible_bones
from pose.silhouette.background_model import BackgroundModel
from pose.types import FloatArray, IntArray

_N_SYNC_FRAMES = 16
"""Number of pictures of each video that the joints are compared with."""
_N_OVERLAY_FRAMES = 4
"""Number of frames drawn of each trial."""
_BELIEVED_SHIFT = 2
"""Shift, in frames, from which a fault is reported; a shift of one may be the rounding of offsets."""
_MIN_SHARE_ON_PERSON = 0.6
"""Least share of the joints that must be near the silhouette; with a right clock it is above 0.9."""
_CAUSES = "are its .ofs files and calibrations those of this recording, and the numbers in them in their order?"
_IMPLAUSIBLE_SHARE = 0.05
"""Share of a trial's valid frames with implausible bone lengths, above which the trial is noted."""
_AIM = np.array([0.0, 0.0, 1000.0])
"""Point in the middle of the room, 1 m above the floor, world axes, mm."""
_LARGEST_DISTANCE = 20_000.0
"""Distance of a camera from the middle of the floor, mm, above which its calibration is taken to be wrong."""


def check_tree(
    root: str | Path,
    reporter: Reporter,
    *,
    out: Path | None = None,
    selection: Selection | None = None,
    video_frame_shift: int = 0,
) -> DataCheck:
    """Check a tree, decoding its videos once.

    Parameters
    ----------
    root : path-like
    reporter : Reporter
    out : Path, optional
        Folder for one overlay picture per trial, made if missing; without it none are drawn.
    selection : Selection, optional
    video_frame_shift : int
        See `pose.humaneva.Trial`.

    Raises
    ------
    DataError
        If there is no tree, or it has no part of a selected name. Faults inside the tree are listed instead.
    """
    data = HumanEva(root, video_frame_shift)
    checker = _Checker(data, reporter, out, selection or Selection())
    checker.run()
    return checker.result


class _Checker:
    """One run over a tree; each method adds to the result."""

    def __init__(self, data: HumanEva, reporter: Reporter, out: Path | None, selection: Selection) -> None:
        self.data, self.reporter, self.out, self.selection = data, reporter, out, selection
        self.result = DataCheck(notes=[f"missing: {part}" for part in missing_parts(data)])
        self.trials = data.select(subjects=selection.subjects or None, actions=selection.actions or None)
        self.cameras = data.cameras
        if selection.cameras:
            wanted = {name.upper() for name in selection.cameras}
            unknown = wanted - set(data.cameras)
            if unknown:
                there = ", ".join(data.cameras) or "none"
                raise DataError(f"{data.root}: no video by {', '.join(sorted(unknown))} (there are {there})")
            self.cameras = [name for name in data.cameras if name in wanted]
        self._backgrounds: dict[str, BackgroundModel | None] = {}
        self._references: dict[str, FloatArray | None] = {}
        self._distances: list[JointDistances] = []

    def run(self) -> None:
        with collected_warnings(self.result.notes):
            names = dict.fromkeys(sequence.subject.name for sequence in self.trials)
            calibrations = {name: self._calibrations(name) for name in names}
        n_videos = max(sum(self._n_videos(sequence) for sequence in self.trials), 1)
        self.reporter.progress("videos", 0, n_videos)
        done = 0
        for known in self.trials:
            with collected_warnings(self.result.notes):
                sequence = replace(known)  # a copy, so that its motion capture is not kept
                for _ in self._check_trial(sequence, calibrations[sequence.subject.name]):
                    done += 1
                    self.reporter.progress("videos", done, n_videos)
        if self._distances:
            shift = best_shift(self._distances)
            if shift is not None and abs(shift) < LARGEST_SHIFT:  # the true shift may lie beyond the largest tried
                self.result.suggested_shift = shift + self.data.video_frame_shift
        for texts in (self.result.faults, self.result.notes):
            texts[:] = dict.fromkeys(texts)

    def _n_videos(self, sequence: Trial) -> int:
        return sum(camera in sequence.videos for camera in self.cameras)

    def _calibrations(self, name: str) -> dict[str, Camera]:
        subject = next(subject for subject in self.data.subjects if subject.name == name)
        found = {}
        for camera in self.cameras:
            try:
                calibration = subject.camera(camera)
            except MissingFile:
                continue  # listed among the missing parts
            except DataError as error:
                self.result.faults.append(str(error))
                continue
            found[camera] = calibration
            aim = calibration.project(_AIM)
            fx, fy = calibration.matrix[0, 0], calibration.matrix[1, 1]
            centre = calibration.centre
            x, y, z = (float(value) / 1000 for value in centre)
            self.result.calibrations.append(
                CalibrationRow(name, camera, (float(fx), float(fy)), (x, y, z), (float(aim[0]), float(aim[1])))
            )
            if centre[2] < 0 or np.linalg.norm(centre) > _LARGEST_DISTANCE:
                self.result.faults.append(
                    f"{name} {camera}.cal: the camera stands at ({x:.1f}, {y:.1f}, {z:.1f}) m, which cannot be right; "
                    "is R world to camera, and t in mm?"
                )
            elif not np.isfinite(aim).all():
                self.result.faults.append(f"{name} {camera}.cal: the camera looks away from the middle of the room")
        return found

    def _check_trial(self, sequence: Trial, calibrations: dict[str, Camera]) -> list[str]:
        """Check one trial, and return the cameras whose video was decoded."""
        self.result.faults += file_faults(sequence, [])  # faults of calibrations are listed already
        labels = self._labels(sequence)
        numbers = np.zeros(0, dtype=np.int64)
        if labels is not None and labels.usable.any():
            self._check_bones(sequence, labels)
            self._check_motion(sequence)
            numbers = choose_frames(labels, _N_SYNC_FRAMES)
        shown = numbers[:: max(len(numbers) // _N_OVERLAY_FRAMES, 1)][:_N_OVERLAY_FRAMES]
        if self.selection.frames:
            shown = np.unique(np.array(self.selection.frames, dtype=np.int64))
        elif labels is not None and not len(shown):
            shown = labels.numbers[np.linspace(0, len(labels.numbers) - 1, _N_OVERLAY_FRAMES).astype(int)]
        looks = self._look(sequence, np.union1d(numbers, shown))
        for camera, look in looks.items():
            self._check_video(sequence, camera, look, labels, calibrations.get(camera))
        distances = self._distances_of(sequence, looks, numbers, calibrations)
        self._check_sync(sequence, distances)
        if self.out is not None and looks and labels is not None and len(shown):
            self.out.mkdir(parents=True, exist_ok=True)
            path = self.out / f"{sequence.subject.name}_{sequence.stem}.png"
            pictures = {camera: look.images for camera, look in looks.items() if camera in self._synced(sequence)}
            if pictures:
                save_overlay(path, sequence, pictures, calibrations, shown)
                self.result.overlays.append(path)
        return [camera for camera in self.cameras if camera in sequence.videos]

    def _labels(self, sequence: Trial) -> Labels | None:
        try:
            return sequence.labels(sequence.numbers())
        except MissingFile as error:
            self.result.notes.append(f"{sequence.name}: {error}")
        except DataError as error:
            self.result.faults.append(str(error))
        return None

    def _synced(self, sequence: Trial) -> dict[str, int]:
        """First video frame by camera; empty if offsets are missing or faulty, which `_labels` has reported."""
        try:
            return dict(sequence.clock.first_video_frame)
        except DataError:
            return {}

    def _look(self, sequence: Trial, numbers: IntArray) -> dict[str, Look]:
        wanted = numbers if self._synced(sequence) else ()
        looks = {}
        for camera in self.cameras:
            if camera not in sequence.videos:
                continue
            try:
                looks[camera] = look_through(sequence, camera, wanted)
            except DataError as error:
                self.result.faults.append(str(error))
        return looks

    def _check_video(
        self, sequence: Trial, camera: str, look: Look, labels: Labels | None, calibration: Camera | None
    ) -> None:
        info = sequence.video_info(camera)
        needed = 0
        if labels is not None and camera in self._synced(sequence):
            needed = sequence.clock.video_index(camera, int(labels.numbers[-1])) + 1 + sequence.video_frame_shift
        row = VideoRow(
            sequence.name,
            camera,
            info.announced_frames,
            look.n_frames,
            needed,
            (info.width, info.height),
            info.rate,
        )
        self.result.videos.append(row)
        path = sequence.videos[camera]
        if look.n_frames < needed:
            self.result.faults.append(
                f"{path}: holds {look.n_frames} pictures, but the partitions need {needed}; the last "
                f"{needed - look.n_frames} are left out"
            )
        if info.rate and abs(info.rate / sequence.video_rate - 1) > 0.01:
            self.result.notes.append(f"{path}: its header says {info.rate:g} pictures a second, not 60")
        if calibration is not None and not calibration.fits(info.width, info.height):
            principal = calibration.matrix[:2, 2]
            self.result.faults.append(
                f"{path}: {info.width} x {info.height} pixels do not fit the calibration of {camera}, whose "
                f"principal point is ({principal[0]:.0f}, {principal[1]:.0f})"
            )

    def _check_bones(self, sequence: Trial, labels: Labels) -> None:
        name = sequence.subject.name
        if name not in self._references:
            try:
                self._references[name] = self.data.reference_lengths(name)
            except DataError:  # a fault of another trial, reported with that trial
                self._references[name] = None
        reference = self._references[name]
        joints = labels.joints[labels.usable]
        own = median_lengths(joints, spans=HEAD_SPAN)
        reference = own if reference is None else reference
        plausible = plausible_bones(joints, reference=reference, spans=HEAD_SPAN)
        n_wrong = int((~plausible.all(axis=1)).sum())
        worst = int(np.argmin(plausible.mean(axis=0) - 1e-3 * np.abs(own / reference - 1)))
        row = BoneRow(sequence.name, len(joints), n_wrong, bone_names()[worst], float(own[worst]), reference[worst])
        self.result.bones.append(row)
        if n_wrong > _IMPLAUSIBLE_SHARE * len(joints):
            self.result.notes.append(
                f"{sequence.name}: in {n_wrong} of {len(joints)} valid frames a bone deviates by more than "
                f"{LENGTH_TOLERANCE:.0%} from the subject's median, most often {row.worst} ({row.median:.0f} mm, "
                f"elsewhere {row.reference:.0f} mm); screen=True leaves them out"
            )

    def _check_motion(self, sequence: Trial) -> None:
        """Note frames in which no marker moved: real markers always move a little, so such frames were filled in."""
        positions = sequence.markers.positions
        repeats = np.flatnonzero(((positions[1:] == positions[:-1]) | np.isnan(positions[1:])).all(axis=(1, 2)))
        if len(repeats):
            self.result.notes.append(
                f"{sequence.markers.path}: {len(repeats)} of {len(positions)} mocap frames repeat the one before, "
                f"first {repeats[0] + 2}"
            )

    def _distances_of(
        self,
        sequence: Trial,
        looks: dict[str, Look],
        numbers: IntArray,
        calibrations: dict[str, Camera],
    ) -> dict[str, JointDistances]:
        found = {}
        for camera, look in looks.items():
            background = self._background(camera)
            if background is None or camera not in calibrations:
                continue
            images = {int(number): look.images[int(number)] for number in numbers if int(number) in look.images}
            try:
                distances = joint_distances(sequence, calibrations[camera], images, background)
            except DataError as error:
                self.result.faults.append(str(error))
                continue
            if distances is not None:
                found[camera] = distances
        self._distances += found.values()
        return found

    def _background(self, camera: str) -> BackgroundModel | None:
        if camera not in self._backgrounds:
            self._backgrounds[camera] = None
            recordings = self.data.background_videos(camera)
            try:
                self._backgrounds[camera] = fit_background(recordings, Config()) if recordings else None
            except DataError as error:
                self.result.faults.append(str(error))
        return self._backgrounds[camera]

    def _check_sync(self, sequence: Trial, distances: dict[str, JointDistances]) -> None:
        first = self._synced(sequence)
        if not first:
            return
        clock = sequence.clock
        known = published_first_frames(sequence.subject.name, sequence.action, sequence.number)
        published = None if known is None or has_own_table(self.data) else dict(known)
        shift = best_shift(distances.values()) if distances else None
        near = float(np.mean([d.share_near for d in distances.values()])) if distances else None
        self.result.syncs.append(
            SyncRow(
                sequence.name,
                first,
                clock.mocap_start,
                clock.mocap_per_frame,
                published,
                near,
                shift,
            )
        )
        self._compare_published(sequence, first, published)
        if shift is not None and abs(shift) == LARGEST_SHIFT:
            self.result.faults.append(
                f"{sequence.name}: joints lie {abs(shift)} frames or more off the person; {_CAUSES}"
            )
        elif shift is not None and abs(shift) >= _BELIEVED_SHIFT:
            self.result.faults.append(
                f"{sequence.name}: joints lie best on the person with --video-frame-shift "
                f"{shift + sequence.video_frame_shift}; look at the overlay, and if it is so set data.video_frame_shift"
            )
        elif near is not None and near < _MIN_SHARE_ON_PERSON:
            self.result.faults.append(
                f"{sequence.name}: only {near:.0%} of the joints lie on the person, and no shift mends it; {_CAUSES}"
            )
        self._compare_cameras(sequence, distances, shift)

    def _compare_cameras(self, sequence: Trial, distances: dict[str, JointDistances], shift: int | None) -> None:
        for camera, distance in distances.items():
            others = best_shift([d for name, d in distances.items() if name != camera]) if len(distances) > 2 else shift
            own = None if others is None else best_shift([distance], believed=others)
            if own is not None and others is not None and abs(own - others) >= _BELIEVED_SHIFT:
                apart = f"{abs(own - others)} frames{' or more' * (abs(own) == LARGEST_SHIFT)}"
                self.result.faults.append(
                    f"{sequence.offset_files[camera]}: the pictures of {camera} are {apart} "
                    f"{'late' if own > others else 'early'} against those of the other cameras"
                )

    def _compare_published(self, sequence: Trial, first: dict[str, int], published: dict[str, int] | None) -> None:
        """Compare with the published first frames, which assume the corrected offsets of all seven cameras."""
        if published is None:
            return
        differing = {name: (first[name], o) for name, o in published.items() if name in first and first[name] != o}
        if not differing:
            return
        listed = ", ".join(f"{name} {found} instead of {o}" for name, (found, o) in differing.items())
        lacking = [name for name in CAMERA_ORDER if name not in first]
        if lacking and max(abs(found - o) for found, o in differing.values()) <= 1:
            self.result.notes.append(
                f"{sequence.name}: first video frames {listed}, which may come of the .ofs files that are missing: "
                f"{' '.join(lacking)}"
            )
            return
        self.result.faults.append(
            f"{sequence.name}: first video frames {listed} as published; have the .ofs files been replaced by those of "
            "the critical update?"
        )
