"""H.264 videos, written whole or not at all."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from fractions import Fraction
from pathlib import Path
from types import TracebackType
from typing import Self

import av
import numpy as np

from pose.errors import DataError
from pose.types import Image
from pose.video.video_file import ffmpeg_address

_RATE_DENOMINATOR = 1001
"""Largest denominator of a frame rate, which is that of television's rates such as 30000 / 1001."""


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
        Frames per second; rates such as 30000 / 1001 are kept exactly.
    comment : str
        Kept in the file, where players and ``ffprobe`` show it.

    Raises
    ------
    DataError
        If the file cannot be written there, or no picture was written when the context ends.
    ValueError
        If no video can have the size or the rate, or a picture has another size.
    """

    def __init__(self, path: str | Path, width: int, height: int, rate: float = 60.0, comment: str = "") -> None:
        self.path = Path(path)
        exact_rate = Fraction(rate).limit_denominator(_RATE_DENOMINATOR) if math.isfinite(rate) else Fraction(0)
        if min(width, height) < 2 or exact_rate <= 0:
            raise ValueError(f"{self.path}: no video has {width} x {height} pixels at {rate:g} frames a second")
        with self._faults_named():
            is_folder = self.path.is_dir()
        if is_folder:
            raise DataError(f"{self.path}: cannot be written, it is a folder; name a file")
        if not self.path.parent.is_dir():
            raise DataError(f"{self.path}: cannot be written, there is no folder {self.path.parent}; make it first")
        self._temporary = self.path.with_name(f".{self.path.name}.{os.getpid()}.part")
        self._shape = (height, width, 3)
        self._n_written = 0
        self._container = av.open(ffmpeg_address(self._temporary), mode="w", format="mp4")
        if comment:
            self._container.metadata["comment"] = comment
        self._stream = self._container.add_stream("libx264", rate=exact_rate)
        self._stream.height, self._stream.width = height - height % 2, width - width % 2
        self._stream.pix_fmt = "yuv420p"
        self._stream.options = {"crf": "21", "preset": "veryfast"}

    def write(self, image: Image) -> None:
        """Append one (height, width, 3) BGR picture."""
        if image.shape != self._shape:
            raise ValueError(f"{self.path}: expected a picture of shape {self._shape}, found {image.shape}")
        picture = np.ascontiguousarray(image[: self._stream.height, : self._stream.width])
        with self._faults_named():
            self._encode(av.VideoFrame.from_ndarray(picture, format="bgr24"))
        self._n_written += 1

    def _encode(self, frame: av.VideoFrame | None) -> None:
        """Encode a frame, or with None what the encoder still holds."""
        for packet in self._stream.encode(frame):
            self._container.mux(packet)

    @contextmanager
    def _faults_named(self) -> Iterator[None]:
        try:
            yield
        except (av.FFmpegError, OSError) as error:
            raise DataError(f"{self.path}: cannot be written ({error.strerror or error})") from error

    def _finish(self) -> None:
        if self._n_written == 0:
            raise DataError(f"{self.path}: not written, as there is no picture to write")
        with self._faults_named():
            self._encode(None)
            self._container.close()
            self._temporary.replace(self.path)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if kind is None:
                self._finish()
        finally:
            with suppress(av.FFmpegError, OSError):  # a full disk is full for the end of the file too
                self._container.close()
            with suppress(OSError):  # tidying up must not hide the first error
                self._temporary.unlink(missing_ok=True)
