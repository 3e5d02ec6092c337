"""Many videos, one after the other: finished ones are kept, begun ones go on, and one that fails stops no other."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import numpy as np

from pipelines.errors import UsageError
from pipelines.features.silhouettes import is_too_large, warn_of_coverage
from pipelines.prediction.journal import Journal
from pipelines.prediction.outcomes import VideoOutcome
from pipelines.prediction.overlay_video import write_overlay
from pipelines.prediction.request import PredictionRequest
from pipelines.prediction.result_files import Outputs, kept_results, provenance_of, write_results
from pipelines.progress import Reporter
from pipelines.streaming.stream import stream
from pose.errors import DataError
from pose.export import metadata_path, read_hdf5
from pose.files import lost_by_writing
from pose.series.bone_lengths import with_bone_lengths
from pose.series.pose_series import PoseSeries, Quality
from pose.series.smoothing import smooth
from pose.video.reader import probe


def predict_videos(videos: Sequence[Path], request: PredictionRequest, reporter: Reporter) -> list[VideoOutcome]:
    """Predict every video; one that fails does not stop the others.

    Parameters
    ----------
    videos : sequence of Path
        Videos, or folders of numbered stills, as `expand` gives them.
    request : PredictionRequest
    reporter : Reporter

    Returns
    -------
    list of VideoOutcome
        One per video; the reporter got each fault as it occurred.

    Raises
    ------
    UsageError
        If results would overwrite each other, files of another origin, or their own sources, or if the model cannot
        give the standard deviations asked for.
    DataError
        If the empty scene cannot be learnt.
    """
    out, scene = request.out, request.scene
    jobs = {video: Outputs.of(video, out) for video in videos}
    _check_names(jobs)
    if out.exists() and not out.is_dir():
        raise UsageError(f"{out}: is a file, a folder is needed for the results")
    _check_sources(jobs, [*request.sources, *videos, *scene.recordings])
    request.check_deviations()
    if not request.overwrite:
        _check_outputs(jobs, request)
    scene.prepare(request.model.config)
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DataError(f"{out}: cannot be made ({error.strerror or error})") from error
    return [_attempt(video, outputs, request, reporter) for video, outputs in jobs.items()]


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


def _check_outputs(jobs: dict[Path, Outputs], request: PredictionRequest) -> None:
    """Refuse to replace any file but the results of this very run."""
    foreign = []
    for video, outputs in jobs.items():
        there = [path for path in outputs.paths() if path.exists()]
        # An HDF5 of this run without its CSV may be replaced: the run was stopped between the two files.
        if there and not _is_own(video, outputs, request):
            foreign += [str(path) for path in there]
    if foreign:
        raise UsageError(
            f"already there, of another model, video, setting or origin: {', '.join(foreign)}; "
            "choose another folder, or --overwrite"
        )


def _is_own(video: Path, outputs: Outputs, request: PredictionRequest) -> bool:
    try:
        run = provenance_of(video, request)["run"]
    except (OSError, DataError):
        return False
    return kept_results(outputs, run, csv_may_lack=True) is not None


def _attempt(video: Path, outputs: Outputs, request: PredictionRequest, reporter: Reporter) -> VideoOutcome:
    began = time.monotonic()
    try:
        state, series = _predict(video, outputs, request, reporter)
    except DataError as error:
        fault = str(error)
    except OSError as error:
        fault = f"{error.filename or video}: {error.strerror or error}"
    else:
        found = int(series.found.sum())
        seconds = time.monotonic() - began
        return VideoOutcome(video, state, len(series.frame), found, _count_flags(series), seconds)
    reporter.fault(fault)
    return VideoOutcome(video, "failed", seconds=time.monotonic() - began, fault=fault)


def _count_flags(series: PoseSeries) -> dict[str, int]:
    quality = np.zeros(len(series.frame), np.int64) if series.quality is None else series.quality
    counts = {flag.name or "": int(np.count_nonzero(quality & flag)) for flag in Quality if flag}
    return {name: count for name, count in counts.items() if count}


def _predict(
    video: Path, outputs: Outputs, request: PredictionRequest, reporter: Reporter
) -> tuple[Literal["done", "kept"], PoseSeries]:
    provenance = provenance_of(video, request)
    if provenance["input_sha256"] in request.settings.get("background_sha256", ()):
        raise DataError(f"{video}: the same is given as the empty scene, before which nobody would be seen")
    run = provenance["run"]
    kept = None if request.overwrite else kept_results(outputs, run)
    if kept is not None and (outputs.overlay.exists() or not request.overlay):
        return "kept", kept
    with Journal(outputs.journal, run, len(request.model.skeleton), with_std=request.with_std) as journal:
        # Looked up again under the lock: meanwhile another process may have finished the same output.
        series = kept = None if request.overwrite else kept_results(outputs, run)
        if series is None:
            _fill(journal, video, request, reporter)
            write_results(outputs, _series(journal, video, request, provenance))
            outputs.overlay.unlink(missing_ok=True)  # drawn from older results
            series = read_hdf5(outputs.hdf5)  # the old series is mapped from the journal, which is removed next
        journal.discard()
        if request.overlay and not outputs.overlay.exists():
            write_overlay(outputs.overlay, video, series, request, reporter)
    return "done" if kept is None else "kept", series


def _fill(journal: Journal, video: Path, request: PredictionRequest, reporter: Reporter) -> None:
    """Append the frames that are not in the journal yet."""
    info = probe(video)
    total = request.frames.count(info.announced_frames)
    if len(journal):
        reporter.say(f"{video.name}: goes on behind the first {len(journal)} frames")
    batches = stream(video, request.model, request.scene, request.frames, request.with_std, len(journal))
    try:
        while True:
            try:
                batch = next(batches, None)
            except DataError:
                journal.discard()  # going on from it would fail in the same way
                raise
            if batch is None:
                break
            journal.append(batch)
            reporter.progress(video.name, len(journal), total)
    finally:
        batches.close()
    if len(journal) == 0:
        raise DataError(f"{video}: ends before frame {request.frames.start} (from 0), where --start begins")


def _series(journal: Journal, video: Path, request: PredictionRequest, provenance: dict[str, str]) -> PoseSeries:
    """All results, mapped from the journal; on request smoothed, and with the person's bone lengths."""
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
