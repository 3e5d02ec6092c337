"""Many videos, one after the other: the finished are left alone, the begun go on, a bad one stops no other."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from pipelines.errors import UsageError
from pipelines.features.silhouettes import is_too_large, warn_of_coverage
from pipelines.model.pose_model import PoseModel
from pipelines.prediction.journal import Journal
from pipelines.prediction.outcomes import VideoOutcome
from pipelines.prediction.overlay import write_overlay
from pipelines.prediction.results import Outputs, describe_run, kept_results, write_results
from pipelines.progress import Reporter
from pipelines.streaming.frames import FrameRange
from pipelines.streaming.scene import Scene
from pipelines.streaming.stream import stream
from pose.body.camera import Camera
from pose.errors import DataError
from pose.export import metadata_path, read_hdf5
from pose.files import lost_by_writing
from pose.series.bone_lengths import with_bone_lengths
from pose.series.bone_lengths_file import bone_names
from pose.series.pose_series import PoseSeries, Quality
from pose.series.smoothing import smooth
from pose.video.reader import probe


@dataclass(frozen=True)
class _Request:
    """What all videos of a call have in common."""

    model: PoseModel
    model_name: str
    scene: Scene
    frames: FrameRange
    settings: dict[str, Any]
    camera: Camera | None
    with_std: bool
    smoothed: bool
    bone_lengths: NDArray[np.float64] | None
    overlay: bool
    overwrite: bool
    reporter: Reporter

    def describe(self, video: Path) -> dict[str, str]:
        """Where the results of a video come from."""
        return describe_run(video, self.model, self.model_name, self.scene.title, self.settings)


def predict_videos(
    videos: Sequence[Path],
    model: PoseModel,
    scene: Scene,
    out: Path,
    reporter: Reporter,
    *,
    model_name: str,
    frames: FrameRange | None = None,
    camera: Camera | None = None,
    with_std: bool = False,
    smoothed: bool = False,
    bone_lengths: NDArray[np.float64] | None = None,
    overlay: bool = False,
    overwrite: bool = False,
    sources: Sequence[Path] = (),
) -> list[VideoOutcome]:
    """Predict every video; one that fails does not stop the others.

    Parameters
    ----------
    videos : sequence of Path
        Videos, or folders of numbered stills, as `expand` gives them.
    model : PoseModel
    scene : Scene
        Where silhouettes come from, as `choose_scene` gives it.
    out : Path
        Folder for the results, made if missing.
    reporter : Reporter
    model_name : str
        Written into the results.
    frames : FrameRange, optional
        Which frames; all by default.
    camera : Camera, optional
        Calibrated, for the overlay.
    with_std : bool
        Standard deviations too, and whether silhouettes are unlike those of the training set.
    smoothed : bool
        Smooth the poses over time (`pose.series.smoothing.smooth`), which needs standard deviations.
    bone_lengths : ndarray of shape (b,), optional
        The person's own, mm, in the order of the skeleton's bones: every pose gets them, after smoothing
        (`pose.series.bone_lengths.with_bone_lengths`).
    overlay : bool
        Make a video with contour and skeleton too.
    overwrite : bool
        Replace results that are there, finished ones of the same run too.
    sources : sequence of Path
        Files that the model and the camera are from: no result replaces them, nor a video or a recording.

    Returns
    -------
    list of VideoOutcome
        One a video; the reporter was told each fault at once.

    Raises
    ------
    UsageError
        If results would overwrite each other, or files of another origin.
    DataError
        If the empty scene cannot be learnt.
    """
    frames = frames or FrameRange()
    jobs = {video: Outputs.of(video, out) for video in videos}
    _check_names(jobs)
    if out.exists() and not out.is_dir():
        raise UsageError(f"{out}: is a file, a folder is needed for the results")
    _check_sources(jobs, [*sources, *videos, *scene.recordings])
    _check_deviations(model, with_std, smoothed)
    settings = {**frames.settings(), **scene.settings(), "std": with_std, "smooth": smoothed}
    if bone_lengths is not None:
        settings["bone_lengths_mm"] = dict(zip(bone_names(model.skeleton), bone_lengths.tolist(), strict=True))
    request = _Request(
        model,
        model_name,
        scene,
        frames,
        settings,
        camera,
        with_std,
        smoothed,
        bone_lengths,
        overlay,
        overwrite,
        reporter,
    )
    if not overwrite:
        _check_outputs(jobs, request)
    scene.prepare(model.config)
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DataError(f"{out}: cannot be made ({error.strerror or error})") from error
    return [_attempt(video, outputs, request) for video, outputs in jobs.items()]


def _check_deviations(model: PoseModel, with_std: bool, smoothed: bool) -> None:
    if smoothed and not with_std:
        raise UsageError("smoothing weighs frames by their standard deviations: leave out --no-std")
    if with_std and model.calibration is None:
        raise UsageError("the model holds no calibrated standard deviations: train it again, or --no-std")


def _check_names(jobs: dict[Path, Outputs]) -> None:
    names = [outputs.csv.name for outputs in jobs.values()]
    twice = sorted({name.removesuffix(".csv") for name in names if names.count(name) > 1})
    if twice:
        raise UsageError(
            f"several videos would write the results {', '.join(twice)}: predict them into different folders"
        )


def _check_sources(jobs: dict[Path, Outputs], sources: Sequence[Path]) -> None:
    targets = [path for outputs in jobs.values() for path in (*outputs.paths(), metadata_path(outputs.csv))]
    lost = list(dict.fromkeys(map(str, lost_by_writing(targets, sources))))
    if lost:
        raise UsageError(f"the results would replace what they are made from, {', '.join(lost)}: choose another folder")


def _check_outputs(jobs: dict[Path, Outputs], request: _Request) -> None:
    """Refuse to replace what is not a finished result of this very run."""
    foreign = []
    for video, outputs in jobs.items():
        there = [path for path in outputs.paths() if path.exists()]
        # Without its CSV the HDF5 of this run may be replaced: a run was stopped between the two.
        if there and not _is_own(video, outputs, request):
            foreign += [str(path) for path in there]
    if foreign:
        raise UsageError(
            f"already there, of another model, video, setting or origin: {', '.join(foreign)}; "
            "choose another folder, or --overwrite"
        )


def _is_own(video: Path, outputs: Outputs, request: _Request) -> bool:
    try:
        run = request.describe(video)["run"]
    except (OSError, DataError):
        return False
    return kept_results(outputs, run, csv_may_lack=True) is not None


def _attempt(video: Path, outputs: Outputs, request: _Request) -> VideoOutcome:
    began = time.monotonic()
    try:
        state, series = _predict(video, outputs, request)
    except DataError as error:
        fault = str(error)
    except OSError as error:
        fault = f"{error.filename or video}: {error.strerror or error}"
    else:
        found = int(series.found.sum())
        seconds = time.monotonic() - began
        return VideoOutcome(video, state, len(series.frame), found, _count_flags(series), seconds)
    request.reporter.fault(fault)
    return VideoOutcome(video, "failed", seconds=time.monotonic() - began, fault=fault)


def _count_flags(series: PoseSeries) -> dict[str, int]:
    quality = np.zeros(len(series.frame), np.int64) if series.quality is None else series.quality
    counts = {flag.name or "": int(np.count_nonzero(quality & flag)) for flag in Quality if flag}
    return {name: count for name, count in counts.items() if count}


def _predict(video: Path, outputs: Outputs, request: _Request) -> tuple[Literal["done", "kept"], PoseSeries]:
    provenance = request.describe(video)
    if provenance["input_sha256"] in request.settings.get("background_sha256", ()):
        raise DataError(f"{video}: the same is given as the empty scene, before which nobody would be seen")
    run = provenance["run"]
    kept = None if request.overwrite else kept_results(outputs, run)
    if kept is not None and (outputs.overlay.exists() or not request.overlay):
        return "kept", kept
    with Journal(outputs.journal, run, len(request.model.skeleton), with_std=request.with_std) as journal:
        # Again, under the lock: another run on the same output may have finished it meanwhile.
        series = kept = None if request.overwrite else kept_results(outputs, run)
        if series is None:
            _fill(journal, video, request)
            write_results(outputs, _series(journal, video, request, provenance))
            outputs.overlay.unlink(missing_ok=True)  # of older results
            series = read_hdf5(outputs.hdf5)  # not the journal's pages, which go now
        journal.discard()
        if request.overlay and not outputs.overlay.exists():
            model, scene, frames = request.model, request.scene, request.frames
            write_overlay(outputs.overlay, video, series, model, scene, frames, request.camera, request.reporter)
    return "done" if kept is None else "kept", series


def _fill(journal: Journal, video: Path, request: _Request) -> None:
    """Append the frames that are not in the journal yet."""
    info = probe(video)
    total = request.frames.count(info.announced_frames)
    if len(journal):
        request.reporter.say(f"{video.name}: goes on behind the first {len(journal)} frames")
    batches = stream(video, request.model, request.scene, request.frames, request.with_std, len(journal))
    try:
        while True:
            try:
                batch = next(batches, None)
            except DataError:
                journal.discard()  # the same would come of it again
                raise
            if batch is None:
                break
            journal.append(batch)
            request.reporter.progress(video.name, len(journal), total)
    finally:
        batches.close()
    if len(journal) == 0:
        raise DataError(f"{video}: ends before frame {request.frames.start} (from 0), where --start begins")


def _series(journal: Journal, video: Path, request: _Request, provenance: dict[str, str]) -> PoseSeries:
    """All results, mapped from the journal, smoothed and with the person's bones on request."""
    records, model = journal.records(), request.model
    series = PoseSeries(
        records["frame"],
        records["time"],
        records["joints"],
        model.skeleton,
        model.axes,
        dict(provenance),
        std=records["std"] if request.with_std else None,
        quality=records["quality"].astype(np.int64),
    )
    if not series.found.any():
        journal.discard()
        raise DataError(f"{video}: no person in any of its {len(records)} frames; is the background of this camera?")
    warn_of_coverage(video, sum(map(is_too_large, records["coverage"].tolist())), len(records))
    if request.smoothed:
        series = smooth(series)
    return series if request.bone_lengths is None else with_bone_lengths(series, request.bone_lengths)
