"""A video file, opened and decoded by FFmpeg."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import av
import numpy as np
from av.video.reformatter import VideoReformatter

from pose.errors import DataError
from pose.files import is_pipe_or_device
from pose.types import Image
from pose.video.avi_index import whole_frames
from pose.video.frame import VideoFrame, same_size
from pose.video.frame_times import timed_frames
from pose.video.stills import STILL_RATE

_LARGEST_FREED = 16 << 20
"""Bytes of the block that is freed to make glibc keep memory; glibc ignores blocks above 32 MiB."""
_VIDEO_SUFFIXES = {".avi", ".mp4", ".m4v", ".mov", ".mkv", ".webm", ".mpg", ".mpeg", ".ts", ".mts", ".wmv", ".3gp"}


def is_video(path: Path) -> bool:
    """Whether a file has a video's suffix or, failing that, a video's content."""
    if path.suffix.lower() in _VIDEO_SUFFIXES:
        return True
    try:
        with open_video(path) as container:
            return not container.format.name.endswith("_pipe") and container.format.name != "image2"  # one picture
    except DataError:
        return False


def open_video(path: Path) -> av.container.InputContainer:
    """Open a file that holds a video stream.

    Raises
    ------
    DataError
        If the file is missing, a pipe or a device, or no video.
    """
    if not path.exists():
        raise DataError(f"{path}: no such video")
    if is_pipe_or_device(path):
        raise DataError(f"{path}: is a pipe or a device, save it as a file first")
    try:
        container = av.open(ffmpeg_address(path))
    except (av.FFmpegError, OSError) as error:
        raise DataError(f"{path}: cannot be opened as a video ({error.strerror or error})") from error
    is_text = container.format.name == "tty"  # FFmpeg draws any .txt file as pictures of its letters
    if is_text or video_stream(container) is None:
        container.close()
        raise DataError(f"{path}: " + ("is a text file, not a video" if is_text else "holds no video stream"))
    return container


def ffmpeg_address(path: Path) -> str:
    """The absolute path for FFmpeg, which would take the ``a`` of ``a:b.avi`` for a protocol."""
    return str(path.absolute())


def decode_video(path: Path, *, keep_alpha: bool = False) -> Iterator[VideoFrame]:
    """All frames of a video file in order, upright; with `keep_alpha` in four channels where the file has alpha."""
    with open_video(path) as container:
        stream = video_stream(container)
        assert stream is not None
        stream.thread_type = "AUTO"
        rate = float(stream.average_rate or stream.guessed_rate or STILL_RATE)
        pictures = (whole_frames if container.format.name == "avi" else timed_frames)(path, container, stream, rate)
        shape = None
        _keep_freed_pictures()
        # One for all frames: making the conversion's tables takes longer than decoding a frame.
        reformatter = VideoReformatter()
        for index, time, frame in pictures:
            has_alpha = keep_alpha and any(part.is_alpha for part in frame.format.components)
            image = _upright(frame, reformatter, "bgra" if has_alpha else "bgr24")
            shape = same_size(image, shape, f"{path}, frame {index + 1}")
            yield VideoFrame(index, time, image)


def _keep_freed_pictures() -> None:
    """Make glibc keep the memory of dropped pictures for the next ones.

    By default glibc returns free memory at the end of the heap to the system, two pictures at a time, and the page
    faults that follow take longer than decoding. It keeps twice the size of the largest block ever freed, so one large
    block is freed here.
    """
    np.empty(_LARGEST_FREED, dtype=np.uint8)


def video_stream(container: av.container.InputContainer) -> av.VideoStream | None:
    """The first video stream that is no cover picture of a song."""
    films = [s for s in container.streams.video if not s.disposition & av.stream.Disposition.attached_pic]
    return films[0] if films else None


def _upright(frame: av.VideoFrame, reformatter: VideoReformatter, layout: str) -> Image:
    """A frame's picture, turned as the container's display matrix says: phones note there how they were held."""
    image = reformatter.reformat(frame, format=layout, threads=1).to_ndarray()
    turns = round(frame.rotation / 90)
    return np.ascontiguousarray(np.rot90(image, turns) if turns else image, dtype=np.uint8)
