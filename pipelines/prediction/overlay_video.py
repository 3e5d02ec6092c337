"""The overlay video of finished results: a second pass over the frames draws the poses read from the files."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from pipelines.prediction.request import PredictionRequest
from pipelines.progress import Reporter
from pipelines.streaming.workers import n_cores, ordered_map, worker_pool
from pose.drawing.overlay import overlay_frame
from pose.errors import DataError
from pose.series.pose_series import PoseSeries
from pose.types import Image
from pose.video.frame import VideoFrame
from pose.video.reader import probe
from pose.video.writer import VideoWriter

_DEFAULT_RATE = 60.0
"""Frames per second of the overlay of a video that states no rate."""


def write_overlay(path: Path, video: Path, series: PoseSeries, request: PredictionRequest, reporter: Reporter) -> None:
    """Draw contours and skeletons into a video's frames.

    Raises
    ------
    DataError
        If the video cannot be read again, or the overlay cannot be written; no file is left then.
    """
    scene, frames = request.scene, request.frames
    info = probe(video)
    rate = (frames.still_rate if video.is_dir() else None) or info.rate or _DEFAULT_RATE
    examine = scene.watch(video, request.model.config)

    def with_masks() -> Iterator[tuple[VideoFrame, NDArray[np.uint8] | None]]:
        for frame in frames.read(video, scene.ready):
            yield frame, examine(frame).mask if scene.in_order else None

    def draw(item: tuple[int, tuple[VideoFrame, NDArray[np.uint8] | None]]) -> Image:
        row, (frame, mask) = item
        if row >= len(series.frame) or frame.index != series.frame[row]:
            raise DataError(f"{video}: has changed since its poses were made: frame {frame.index} is new")
        return overlay_frame(
            frame.image,
            examine(frame).mask if mask is None else mask,
            series.joints[row] if series.found[row] else None,
            request.model.skeleton,
            series.axes,
            std=None if series.std is None or not series.found[row] else series.std[row],
            quality=0 if series.quality is None else int(series.quality[row]),
            camera=request.camera,
        )

    comment = json.dumps(series.provenance, sort_keys=True)
    with worker_pool() as pool, VideoWriter(path, 2 * info.width, info.height, rate / frames.stride, comment) as writer:
        for count, picture in enumerate(ordered_map(pool, draw, enumerate(with_masks()), 3 * n_cores()), start=1):
            writer.write(picture)
            reporter.progress(f"overlay of {video.name}", count, len(series.frame))
