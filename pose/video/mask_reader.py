"""Ready-made silhouettes, from a video or a folder of numbered stills."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import cv2
import numpy as np

from pose.errors import DataError
from pose.silhouette.masks import as_mask
from pose.types import BoolArray, Image
from pose.video.frame import VideoFrame, same_size
from pose.video.stills import STILL_RATE, indexed_stills, read_still
from pose.video.video_file import decode_video, open_video, video_stream

_HALF = 127
"""Grey level above which a pixel of a mask video is the person."""
_LOSSLESS = {"ffv1", "ffvhuff", "huffyuv", "magicyuv", "png", "qtrle", "rawvideo", "utvideo", "zlib"}
"""FFmpeg's names of the codecs that keep grey levels 0 and 1 apart."""


def read_masks(path: str | Path, start: int = 0, stop: int | None = None) -> Iterator[VideoFrame]:
    """Read ready-made silhouettes as `read_frames` reads pictures; each comes as 0 or 255 in all three channels.

    In a video pixels brighter than 127 are the person, since most codecs do not keep 0 and 1 apart. Where a lossless
    video holds no value above 1, pixels of value 1 are the person. A still is read as `pose.as_mask` reads it. An alpha
    channel that varies is the mask, in a video and in a still.

    Parameters, errors and warnings are those of `read_frames`.
    """
    path = Path(path)
    if not path.is_dir():
        level = _mask_level(path)
        for frame in decode_video(path, keep_alpha=True):
            if stop is not None and frame.index >= stop:
                return
            if frame.index >= start:
                yield replace(frame, image=_as_picture(_mask_channel(frame.image) > level))
        return
    shape = None
    for index, still in indexed_stills(path):
        if start <= index and (stop is None or index < stop):
            try:
                mask = as_mask(read_still(still, cv2.IMREAD_UNCHANGED))
            except ValueError as error:
                raise DataError(f"{still}: {error}") from error
            picture = _as_picture(mask)
            shape = same_size(picture, shape, str(still))
            yield VideoFrame(index, index / STILL_RATE, picture)


def _mask_level(path: Path) -> int:
    """The grey level above which a pixel is the person: 127, or 0 in a lossless video without a value above 1."""
    with open_video(path) as container:
        stream = video_stream(container)
        assert stream is not None
        if stream.codec_context.name not in _LOSSLESS:
            return _HALF
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # these warnings come when the masks are read
        return _HALF if any(_mask_channel(f.image).max() > 1 for f in decode_video(path, keep_alpha=True)) else 0


def _mask_channel(image: Image) -> Image:
    """The alpha channel (height, width), if there is one and it varies; otherwise the brightest colour."""
    if image.shape[2] == 4 and (image[..., 3] != image[0, 0, 3]).any():
        return image[..., 3]
    return np.asarray(image[..., :3].max(axis=2))


def _as_picture(mask: BoolArray) -> Image:
    return np.repeat(mask[:, :, None].astype(np.uint8) * 255, 3, axis=2)
