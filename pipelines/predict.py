"""Prediction: videos in, joints and an overlay video out."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from pipelines.errors import UsageError
from pipelines.features import N_WORKERS
from pipelines.files import atomic_path
from pipelines.model import PoseModel
from pipelines.progress import Reporter
from pipelines.silhouettes import CoverageCheck, Mask, fit_background, silhouette
from pose import EmptySilhouetteError
from pose.background_models import BackgroundModel
from pose.draw import overlay_frame
from pose.errors import DataError
from pose.export import write_csv, write_hdf5
from pose.series import PoseSeries
from pose.video import VideoFrame, VideoWriter, probe, read_frames, read_masks

_BATCH = 64  # frames in memory at once


@dataclass(frozen=True)
class Outputs:
    """The three files of one video."""

    csv: Path
    hdf5: Path
    overlay: Path

    @classmethod
    def of(cls, video: Path, folder: Path) -> Outputs:
        """Named after the video, in `folder`."""
        stem = video.name if video.is_dir() else video.stem
        return cls(folder / f"{stem}.csv", folder / f"{stem}.h5", folder / f"{stem}_overlay.mp4")

    def paths(self) -> tuple[Path, Path, Path]:
        """All of them."""
        return self.csv, self.hdf5, self.overlay


def predict_videos(
    videos: Sequence[Path],
    model: PoseModel,
    backgrounds: Sequence[Path],
    out: Path,
    reporter: Reporter,
    *,
    model_name: str,
    ready_masks: bool = False,
    overwrite: bool = False,
) -> list[str]:
    """Predict every video; one that fails does not stop the others.

    Parameters
    ----------
    videos : sequence of Path
        Videos, or folders of numbered stills.
    model : PoseModel
    backgrounds : sequence of Path
        Recordings or stills of the empty scene by the same camera; none with `ready_masks`.
    out : Path
        Folder for the results, made if missing.
    reporter : Reporter
    model_name : str
        Written into the results.
    ready_masks : bool
        The videos are silhouettes themselves.
    overwrite : bool
        Replace results that are there.

    Returns
    -------
    list of str
        What went wrong, one line a video that failed; the reporter was told each at once.

    Raises
    ------
    UsageError
        If results would overwrite each other or files that are there, or a background is missing.
    """
    if ready_masks and backgrounds:
        raise UsageError("--masks takes the videos as silhouettes: leave out --background")
    jobs = {video: Outputs.of(video, out) for video in videos}
    _check_outputs(jobs, overwrite)
    if not (ready_masks or backgrounds):
        raise UsageError("silhouettes need the empty scene: --background VIDEO or picture (or --masks for ready masks)")
    if out.exists() and not out.is_dir():
        raise UsageError(f"{out}: is a file, a folder is needed for the results")
    background = None if ready_masks else fit_background(backgrounds, model.config)
    out.mkdir(parents=True, exist_ok=True)
    faults = []
    for video, outputs in jobs.items():
        try:
            series = _predict_video(video, outputs, model, background, reporter, model_name)
        except DataError as error:
            faults.append(str(error))
            reporter.fault(str(error))
            continue
        found = int(series.found.sum())
        reporter.say(f"{video.name}: a person in {found} of {len(series.frame)} frames; wrote {outputs.csv}")
    return faults


def _check_outputs(jobs: dict[Path, Outputs], overwrite: bool) -> None:
    names = [outputs.csv.name for outputs in jobs.values()]
    twice = sorted({name.removesuffix(".csv") for name in names if names.count(name) > 1})
    if twice:
        raise UsageError(
            f"several videos would write the results {', '.join(twice)}: predict them into different folders"
        )
    there = [str(path) for outputs in jobs.values() for path in outputs.paths() if path.exists()]
    if there and not overwrite:
        raise UsageError(f"already there: {', '.join(there)}; choose another folder, or --overwrite")


def _predict_video(
    video: Path,
    outputs: Outputs,
    model: PoseModel,
    background: BackgroundModel | None,
    reporter: Reporter,
    model_name: str,
) -> PoseSeries:
    """Write all three files, or none."""
    info = probe(video)
    frames = read_masks(video) if background is None else read_frames(video)
    index, times, poses = [], [], []
    coverage = CoverageCheck()
    with ExitStack() as stack:
        csv_part, hdf5_part = (stack.enter_context(atomic_path(path)) for path in (outputs.csv, outputs.hdf5))
        writer = stack.enter_context(VideoWriter(outputs.overlay, 2 * info.width, info.height, info.rate or 60.0))
        for frame, mask, pose in predict_frames(frames, model, background, video):
            writer.write(overlay_frame(frame.image, mask, pose, model.skeleton, model.axes))
            index.append(frame.index)
            times.append(frame.time)
            coverage.see(mask)
            poses.append(np.full((len(model.skeleton), 3), np.nan) if pose is None else pose)
            reporter.progress(video.name, frame.index + 1, max(info.announced_frames, frame.index + 1))
        provenance = {"model": model_name, "video": video.name, "software": str(model.summary.get("software", ""))}
        series = PoseSeries(np.array(index), np.array(times), np.array(poses), model.skeleton, model.axes, provenance)
        if not series.found.any():
            raise DataError(f"{video}: no person in any of its {len(index)} frames; is the background of this camera?")
        coverage.warn(video)
        write_csv(csv_part, series)
        write_hdf5(hdf5_part, series)
    return series


def predict_frames(
    frames: Iterable[VideoFrame], model: PoseModel, background: BackgroundModel | None, video: Path
) -> Iterator[tuple[VideoFrame, Mask, NDArray[np.float64] | None]]:
    """Predict frames in batches.

    Parameters
    ----------
    frames : iterable of VideoFrame
    model : PoseModel
    background : GaussianBackground or None
        None takes the frames as masks, as `pose.video.read_masks` gives them.
    video : Path
        For messages.

    Yields
    ------
    frame : VideoFrame
    mask : ndarray of shape (height, width), uint8
    pose : ndarray of shape (15, 3) or None
        mm, root-relative; None where no person was found.

    Raises
    ------
    DataError
        If a frame does not fit the background.
    """

    def observe(frame: VideoFrame) -> tuple[Mask, NDArray[np.float64] | None]:
        mask = silhouette(frame, background, video)
        try:
            return mask, model.histosc.histogram(mask)
        except EmptySilhouetteError:
            return mask, None

    remaining = iter(frames)
    with ThreadPoolExecutor(N_WORKERS) as pool:
        while batch := list(itertools.islice(remaining, _BATCH)):
            observed = list(pool.map(observe, batch))
            histograms = [histogram for _, histogram in observed if histogram is not None]
            poses = iter(model.predict(np.stack(histograms)) if histograms else ())
            for frame, (mask, histogram) in zip(batch, observed, strict=True):
                yield frame, mask, None if histogram is None else next(poses)
