"""Frames read from a video or a folder of numbered stills."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from pose.video.frame import VideoFrame
from pose.video.stills import STILL_RATE, decode_stills, list_stills
from pose.video.video_file import decode_video, open_video, video_stream


@dataclass(frozen=True)
class VideoInfo:
    """The size of a video's pictures, and what its header announces.

    Headers may be wrong. What they do not state is 0.
    """

    width: int
    """Pixels."""
    height: int
    """Pixels."""
    rate: float
    """Frames per second."""
    announced_frames: int


def probe(path: str | Path) -> VideoInfo:
    """Read a video's header and first frame, or the first still and the count of a folder.

    Raises
    ------
    DataError
        If the path is missing, or is neither a video nor a folder of stills.
    """
    path = Path(path)
    height, width = next(read_frames(path)).image.shape[:2]
    if path.is_dir():
        return VideoInfo(width, height, STILL_RATE, len(list_stills(path)))
    with open_video(path) as container:
        stream = video_stream(container)
        assert stream is not None
        rate = float(stream.average_rate or stream.guessed_rate or 0)
        return VideoInfo(width, height, rate, stream.frames)


def read_frames(path: str | Path, start: int = 0, stop: int | None = None) -> Iterator[VideoFrame]:
    """Decode frames in order, from a video file or a folder of numbered stills.

    Decoding is sequential because seeking is inexact in many containers.

    Parameters
    ----------
    path : path-like
        Video, or folder of stills (``bmp png tif tiff jpg``) whose trailing digits number them.
    start, stop : int
        0-based range of frames to yield; to the end by default.

    Yields
    ------
    VideoFrame

    Raises
    ------
    DataError
        If the path is missing or unreadable, or holds no picture or pictures of several sizes.

    Warns
    -----
    UserWarning
        If the file has fewer frames than it announces, or frames within it are damaged or lost. The warning names
        them; later frames keep their index.
    """
    path = Path(path)
    frames = decode_stills(path) if path.is_dir() else decode_video(path)
    for frame in frames:
        if stop is not None and frame.index >= stop:
            return
        if frame.index >= start:
            yield frame
