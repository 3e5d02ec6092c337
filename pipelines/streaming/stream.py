"""Frames to poses as a stream: decoding, silhouettes, descriptors and regression overlap, in little memory."""

from __future__ import annotations

import itertools
from collections.abc import Generator, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np

from pipelines.settings import Config
from pipelines.streaming.frames import FrameRange
from pipelines.streaming.scene import Examine, Scene
from pipelines.streaming.workers import n_cores, ordered_map, worker_pool
from pipelines.types import Histograms, Poses
from pose import EmptySilhouetteError, HistoSC
from pose.body.skeleton import Skeleton
from pose.errors import DataError
from pose.series.pose_series import Quality
from pose.silhouette.masks import Silhouette
from pose.types import BoolArray, FloatArray
from pose.video.frame import VideoFrame

BATCH = 64
"""Number of frames whose poses are computed together. Results are written by whole batches, counted from the first
frame. A pose depends on no other frame of its batch, so a resumed run writes what the stopped one would have."""
SECOND_PERSON_AREA = 0.25
"""Area of another silhouette, as a share of the person's, from which it counts as a second person. Somebody at twice
the distance has a quarter; shadows, reflections and noise have less."""


class VideoModel(Protocol):
    """What the stream asks of a model; `pipelines.model.pose_model.PoseModel` is one."""

    @property
    def config(self) -> Config:
        """The settings of the training, among them those of silhouettes."""

    @property
    def histosc(self) -> HistoSC:
        """The descriptor, with its codebook."""

    @property
    def skeleton(self) -> Skeleton:
        """Joints and bones of the poses."""

    def predict_mean(self, histograms: Histograms) -> Poses:
        """Poses (n, J, 3), mm, root-relative, of histograms (n, words); safe to call from several threads."""

    def standard_deviations(self, histograms: Histograms) -> tuple[Poses, BoolArray]:
        """Standard deviations (n, J, 3), mm, and whether each silhouette is unlike those of the training set (n,)."""


@dataclass(frozen=True, eq=False)
class FramePose:
    """One frame's pose.

    Parameters
    ----------
    frame : int
        0-based number in the video.
    time : float
        Seconds from the video's first frame.
    joints : ndarray of shape (15, 3)
        mm, relative to the root; NaN where nobody was found.
    std : ndarray of shape (15, 3) or None
        Standard deviation of each coordinate, mm; None where they were not asked for.
    quality : Quality
        What may be wrong with the pose.
    coverage : float
        Share of the picture that the silhouette covers.
    """

    frame: int
    time: float
    joints: FloatArray
    std: FloatArray | None
    quality: Quality
    coverage: float


@dataclass(frozen=True, eq=False)
class _Observed:
    """What is kept of a frame once its picture and mask are dropped."""

    frame: int
    time: float
    histogram: FloatArray | None
    quality: Quality
    coverage: float


def stream(
    video: Path, model: VideoModel, scene: Scene, frames: FrameRange, with_std: bool, n_done: int = 0
) -> Generator[list[FramePose], None, None]:
    """Poses of a video's frames, in batches of `BATCH`.

    Parameters
    ----------
    video : Path
        A video or a folder of numbered pictures.
    model : VideoModel
    scene : Scene
    frames : FrameRange
    with_std : bool
        Also give standard deviations.
    n_done : int
        Number of first frames to leave out, a multiple of `BATCH`.

    Raises
    ------
    DataError
        If the video cannot be read, or a frame does not fit the background.
    """
    examine = scene.watch(video, model.config)
    looked_at: Iterator[tuple[VideoFrame, Silhouette | None]]
    selected = frames.read(video, scene.ready)
    if scene.in_order:
        looked_at = _look(selected, examine, n_done)
    else:
        looked_at = ((frame, None) for frame in itertools.islice(selected, n_done, None))

    def observe(item: tuple[VideoFrame, Silhouette | None]) -> _Observed:
        frame, silhouette = item
        return _observe(frame, silhouette or examine(frame), model)

    with worker_pool() as pool:
        # Pictures are large, so few of them wait. Observations are small, so whole batches of them may wait.
        observed = ordered_map(pool, observe, looked_at, 3 * n_cores())
        yield from ordered_map(pool, lambda batch: _regress(video, batch, model, with_std), _batches(observed), 2)


def _look(
    frames: Iterable[VideoFrame], examine: Examine, n_done: int
) -> Iterator[tuple[VideoFrame, Silhouette | None]]:
    """Silhouettes by a model that must see every frame in order; the first `n_done` are seen, but not given."""
    for count, frame in enumerate(frames):
        silhouette = examine(frame)
        if count >= n_done:
            yield frame, silhouette


def _observe(frame: VideoFrame, silhouette: Silhouette, model: VideoModel) -> _Observed:
    mask = silhouette.mask
    coverage = np.count_nonzero(mask) / mask.size
    quality = Quality.GOOD
    if silhouette.other >= SECOND_PERSON_AREA:
        quality |= Quality.SEVERAL_PEOPLE
    if mask[[0, -1]].any() or mask[:, [0, -1]].any():
        quality |= Quality.TOUCHES_BORDER
    try:
        return _Observed(frame.index, frame.time, model.histosc.histogram(mask), quality, coverage)
    except EmptySilhouetteError:
        return _Observed(frame.index, frame.time, None, Quality.NO_PERSON, coverage)


def _batches(observed: Iterable[_Observed]) -> Iterator[list[_Observed]]:
    remaining = iter(observed)
    while batch := list(itertools.islice(remaining, BATCH)):
        yield batch


def _regress(video: Path, batch: list[_Observed], model: VideoModel, with_std: bool) -> list[FramePose]:
    """The poses of a batch."""
    shape = (len(model.skeleton), 3)
    histograms = [observed.histogram for observed in batch if observed.histogram is not None]
    rows = np.stack(histograms) if histograms else np.empty((0, model.histosc.codebook_.n_words_))
    joints = model.predict_mean(rows) if histograms else np.empty((0, *shape))
    stds, unlike = model.standard_deviations(rows) if with_std and histograms else (np.empty((0, *shape)), None)
    if not np.isfinite(joints).all() or (with_std and not np.isfinite(stds).all()):
        raise DataError(
            f"{video}, frame {batch[0].frame} or soon after: the model gives no finite pose; is it damaged?"
        )
    nowhere = np.full(shape, np.nan)
    poses = []
    row = 0
    for observed in batch:
        pose, std, quality = nowhere, nowhere, observed.quality
        if observed.histogram is not None:
            pose, std = joints[row], stds[row] if with_std else nowhere
            if unlike is not None and unlike[row]:
                quality |= Quality.UNLIKE_TRAINING
            row += 1
        poses.append(
            FramePose(observed.frame, observed.time, pose, std if with_std else None, quality, observed.coverage)
        )
    return poses
