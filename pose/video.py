"""Frames in, from a video or a folder of numbered stills, and H.264 video out."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

import av
import cv2
import numpy as np
from numpy.typing import NDArray

from pose.errors import DataError

Image = NDArray[np.uint8]

STILL_SUFFIXES = (".bmp", ".png", ".tif", ".tiff", ".jpg", ".jpeg")


@dataclass(frozen=True)
class VideoFrame:
    """One decoded frame.

    Parameters
    ----------
    index : int
        0-based position in the file.
    time : float
        Seconds from the start, as the container says; the index over the rate where it says nothing.
    image : ndarray of shape (height, width, 3), uint8
        Blue, green, red.
    """

    index: int
    time: float
    image: Image


@dataclass(frozen=True)
class VideoInfo:
    """What a video's header announces; the frame count may be wrong and is 0 where it is not stated."""

    width: int
    height: int
    rate: float
    announced_frames: int


def probe(path: str | Path) -> VideoInfo:
    """Read a video's header, or the first still and the count of a folder.

    Raises
    ------
    DataError
        If the path is missing, or is neither a video nor a folder of stills.
    """
    path = Path(path)
    if path.is_dir():
        stills = list_stills(path)
        height, width = _read_still(stills[0]).shape[:2]
        return VideoInfo(width, height, _STILL_RATE, len(stills))
    with _open(path) as container:
        stream = container.streams.video[0]
        rate = float(stream.average_rate or stream.guessed_rate or 0)
        return VideoInfo(stream.width, stream.height, rate, stream.frames)


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
        If the path is missing, unreadable or holds no picture.

    Warns
    -----
    UserWarning
        If the file ends before the count it announces, naming the frame.
    """
    path = Path(path)
    frames = _decode_stills(path) if path.is_dir() else _decode_video(path)
    for frame in frames:
        if stop is not None and frame.index >= stop:
            return
        if frame.index >= start:
            yield frame


_STILL_RATE = 60.0  # stills carry no clock; HumanEva's is 60 Hz


def list_stills(folder: Path) -> list[Path]:
    """The numbered pictures of a folder, in the order of their trailing digits.

    Raises
    ------
    DataError
        If there is none.
    """
    numbered = [
        (int(digits.group(1)), path)
        for path in folder.iterdir()
        if path.suffix.lower() in STILL_SUFFIXES and (digits := re.search(r"(\d+)$", path.stem))
    ]
    if not numbered:
        raise DataError(f"{folder}: holds no numbered pictures ({' '.join(STILL_SUFFIXES)})")
    return [path for _, path in sorted(numbered)]


def _read_still(path: Path) -> Image:
    # cv2.imread returns None in silence for paths it cannot encode, so the bytes are read here.
    image = cv2.imdecode(np.frombuffer(path.read_bytes(), np.uint8), cv2.IMREAD_COLOR)
    if image is None:
        raise DataError(f"{path}: is not a picture")
    return np.asarray(image, dtype=np.uint8)


def _decode_stills(folder: Path) -> Iterator[VideoFrame]:
    for index, path in enumerate(list_stills(folder)):
        yield VideoFrame(index, index / _STILL_RATE, _read_still(path))


def _open(path: Path) -> av.container.InputContainer:
    if not path.exists():
        raise DataError(f"{path}: no such video")
    try:
        container = av.open(str(path))
    except (av.FFmpegError, OSError) as error:
        raise DataError(f"{path}: cannot be opened as a video ({error.strerror or error})") from error
    if not container.streams.video:
        container.close()
        raise DataError(f"{path}: holds no video stream")
    return container


def _decode_video(path: Path) -> Iterator[VideoFrame]:
    with _open(path) as container:
        stream = container.streams.video[0]
        stream.thread_type = "AUTO"
        rate = float(stream.average_rate or stream.guessed_rate or _STILL_RATE)
        index = 0
        fault = ""
        frames = container.decode(stream)
        while True:
            try:
                frame = next(frames)
            except StopIteration:
                break
            except av.FFmpegError as error:
                fault = f" ({error.strerror or error})"
                break
            time = float(frame.time) if frame.time is not None else index / rate
            yield VideoFrame(index, time, frame.to_ndarray(format="bgr24").astype(np.uint8, copy=False))
            index += 1
        if index == 0:
            raise DataError(f"{path}: no frame could be decoded{fault}")
        if fault or index < stream.frames:
            announced = f" of the {stream.frames} announced" if stream.frames else ""
            warnings.warn(f"{path}: ends after frame {index}{announced}{fault}", stacklevel=2)


class VideoWriter:
    """Write an H.264 MP4 under a temporary name and rename it once it is complete.

    Use it as a context manager: leaving by an exception removes what was written.

    Parameters
    ----------
    path : path-like
        File to make, ``.mp4``; its folder must exist.
    width, height : int
        Picture size in pixels; an odd one is cut by a row or column, which H.264's 4:2:0 needs.
    rate : float
        Frames per second.
    """

    def __init__(self, path: str | Path, width: int, height: int, rate: float = 60.0) -> None:
        self.path = Path(path)
        self._temporary = self.path.with_name(f".{self.path.name}.part")
        self._size = (height - height % 2, width - width % 2)
        self._container = av.open(str(self._temporary), mode="w", format="mp4")
        self._stream = self._container.add_stream("libx264", rate=round(rate))
        self._stream.height, self._stream.width = self._size
        self._stream.pix_fmt = "yuv420p"
        self._stream.options = {"crf": "21", "preset": "veryfast"}

    def write(self, image: Image) -> None:
        """Append one (height, width, 3) BGR picture."""
        height, width = self._size
        picture = np.ascontiguousarray(image[:height, :width])
        for packet in self._stream.encode(av.VideoFrame.from_ndarray(picture, format="bgr24")):
            self._container.mux(packet)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            for packet in self._stream.encode():
                self._container.mux(packet)
        self._container.close()
        if kind is None:
            self._temporary.replace(self.path)
        else:
            self._temporary.unlink(missing_ok=True)
