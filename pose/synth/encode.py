"""AVI files as the release has them: Xvid-tagged MPEG-4 part 2 at 60 frames a second."""

from __future__ import annotations

from pathlib import Path
from types import TracebackType

import av
import cv2
import numpy as np
from av.video.stream import VideoStream

from pose.synth.room import FRAME_SIZE, Image

#: Frames per second of the videos.
VIDEO_RATE = 60
_QUANTISER = 3  # 1 to 31, held constant: at 3 half of the sensor's noise survives, a step more halves the files
_KEY_FRAMES = 60


class AviWriter:
    """Writes BGR pictures into an AVI file; a context manager.

    The encoder runs in one thread and writes no version or date, so the same pictures give the same bytes.

    Parameters
    ----------
    path : Path
        File to create.
    """

    def __init__(self, path: Path) -> None:
        self._container = av.open(str(path), "w", format="avi", options={"fflags": "+bitexact"})
        stream = self._container.add_stream("mpeg4", rate=VIDEO_RATE)
        assert isinstance(stream, VideoStream)
        stream.width, stream.height = FRAME_SIZE
        stream.pix_fmt = "yuv420p"
        context = stream.codec_context
        context.codec_tag = "XVID"
        context.gop_size = _KEY_FRAMES
        context.thread_count = 1
        context.qmin = context.qmax = _QUANTISER
        context.options = {"flags": "+bitexact"}
        self._stream = stream

    def write(self, picture: Image) -> None:
        """Append one picture, (480, 640, 3) uint8 BGR."""
        planes = np.asarray(cv2.cvtColor(picture, cv2.COLOR_BGR2YUV_I420), dtype=np.uint8)
        self._container.mux(self._stream.encode(av.VideoFrame.from_ndarray(planes, format="yuv420p")))

    def __enter__(self) -> AviWriter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            self._container.mux(self._stream.encode())
        self._container.close()
