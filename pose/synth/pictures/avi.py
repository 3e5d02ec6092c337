"""AVI files as the release has them, Xvid-tagged MPEG-4 part 2 at 60 frames a second, and true masks beside them."""

from __future__ import annotations

from pathlib import Path
from types import TracebackType

import av
import cv2
import numpy as np
from av.video.stream import VideoStream

from pose.humaneva.trial import VIDEO_RATE
from pose.synth.pictures.room import FRAME_SIZE
from pose.types import BoolArray, Image

#: The encoder's quantiser, 1 to 31, held constant: at 3 half of the sensor's noise survives; at 4 files
#: are half as large.
_QUANTISER = 3
#: Frames from one key frame to the next.
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
        stream = self._container.add_stream("mpeg4", rate=round(VIDEO_RATE))
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


class MaskWriter:
    """Writes true masks of some frames, or of all as numbered pictures or one lossless video; a context manager.

    Masks of all frames go to ``silhouettes/S1/``, named and numbered like the videos, as ready-made silhouettes.

    Parameters
    ----------
    truth : Path
        Folder of the true joints and masks.
    kind : str
        ``"sample"``: frames that `write` gets a toolkit frame for, as ``masks/S1_Walking_1_(C1)_F0040.png``; ``"png"``
        and ``"video"``: all frames, beside the sample; ``"none"``: no masks.
    subject, stem : str
        Names of the subject and of the video.
    """

    def __init__(self, truth: Path, kind: str, subject: str, stem: str) -> None:
        self._sample = None if kind == "none" else truth / "masks" / f"{subject}_{stem}"
        folder = truth / "silhouettes" / subject
        self._pictures = folder / stem if kind == "png" else None
        self._video_path = folder / f"{stem}.avi" if kind == "video" else None
        self._container: av.container.OutputContainer | None = None
        self._stream: VideoStream | None = None

    def __enter__(self) -> MaskWriter:
        if self._sample is not None:
            self._sample.parent.mkdir(parents=True, exist_ok=True)
        if self._pictures is not None:
            self._pictures.mkdir(parents=True, exist_ok=True)
        if self._video_path is not None:
            self._video_path.parent.mkdir(parents=True, exist_ok=True)
            self._container = av.open(str(self._video_path), "w", format="avi", options={"fflags": "+bitexact"})
            stream = self._container.add_stream("ffv1", rate=round(VIDEO_RATE))
            assert isinstance(stream, VideoStream)
            stream.width, stream.height = FRAME_SIZE
            stream.pix_fmt = "gray"
            stream.codec_context.thread_count = 1
            stream.codec_context.options = {"flags": "+bitexact"}
            self._stream = stream
        return self

    def write(self, number: int, mask: BoolArray, toolkit_frame: int | None) -> None:
        """Add the mask (480, 640) of video frame `number`, from 1; a mask with a toolkit frame joins the sample."""
        picture = mask.astype(np.uint8) * 255
        if self._sample is not None and toolkit_frame is not None:
            _write_png(self._sample.with_name(f"{self._sample.name}_F{toolkit_frame:04d}.png"), picture)
        if self._pictures is not None:
            _write_png(self._pictures / f"{number:06d}.png", picture)
        if self._stream is not None and self._container is not None:
            self._container.mux(self._stream.encode(av.VideoFrame.from_ndarray(picture, format="gray")))

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._container is not None and self._stream is not None:
            if kind is None:
                self._container.mux(self._stream.encode())
            self._container.close()


def _write_png(path: Path, picture: Image) -> None:
    done, content = cv2.imencode(".png", picture)
    assert done
    path.write_bytes(content.tobytes())  # cv2.imwrite itself does not notice a full disk
