"""Frames in, from a video or a folder of numbered stills."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import av
import cv2
import numpy as np
from av.video.reformatter import VideoReformatter

from pose.errors import DataError
from pose.files import is_pipe_or_device
from pose.silhouette.gaussian_background import as_mask
from pose.types import BoolArray, Image
from pose.video.avi_index import whole_frames
from pose.video.frame_times import timed_frames

STILL_SUFFIXES = (".bmp", ".png", ".tif", ".tiff", ".jpg", ".jpeg")


@dataclass(frozen=True)
class VideoFrame:
    """One decoded frame.

    Parameters
    ----------
    index : int
        0-based position in the file. Of a still, its number less 1, or its number where they count from 0: a picture
        that is missing leaves a gap and does not move the others.
    time : float
        Seconds from the first frame, as the container says; the index over the rate where it says nothing.
    image : ndarray of shape (height, width, 3), uint8
        Blue, green, red; upright where the container says how the camera was held.
    """

    index: int
    time: float
    image: Image


@dataclass(frozen=True)
class VideoInfo:
    """The size of a video's pictures, and what its header announces.

    The frame count may be wrong, and is 0 where it is not stated; so is the rate.
    """

    width: int
    height: int
    rate: float
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
        return VideoInfo(width, height, _STILL_RATE, len(list_stills(path)))
    with _open(path) as container:
        stream = _film(container)
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
        If the file ends before the count it announces, or frames within it are damaged or lost, naming them; those
        behind them keep their index.
    """
    path = Path(path)
    frames = _decode_stills(path) if path.is_dir() else _decode_video(path)
    for frame in frames:
        if stop is not None and frame.index >= stop:
            return
        if frame.index >= start:
            yield frame


def read_masks(path: str | Path, start: int = 0, stop: int | None = None) -> Iterator[VideoFrame]:
    """Read ready-made silhouettes as `read_frames` reads pictures; each comes as 0 or 255 in all three channels.

    Of a video the bright half (above 127) is the person, as most codecs do not keep 0 and 1 apart; where a lossless one
    holds no larger value than 1, that is the person. A still is taken as `pose.as_mask` takes it. The alpha channel of
    either, where it varies, is the mask.

    Parameters, errors and warnings are those of `read_frames`.
    """
    path = Path(path)
    if not path.is_dir():
        level = _mask_level(path)
        for frame in _decode_video(path, keep_alpha=True):
            if stop is not None and frame.index >= stop:
                return
            if frame.index >= start:
                yield replace(frame, image=_as_picture(_mask_channel(frame.image) > level))
        return
    shape = None
    for index, still in _indexed_stills(path):
        if start <= index and (stop is None or index < stop):
            try:
                mask = as_mask(_read_still(still, cv2.IMREAD_UNCHANGED))
            except ValueError as error:
                raise DataError(f"{still}: {error}") from error
            picture = _as_picture(mask)
            shape = _same_shape(picture, shape, str(still))
            yield VideoFrame(index, index / _STILL_RATE, picture)


_HALF = 127  # of 0..255
_LOSSLESS = {"ffv1", "ffvhuff", "huffyuv", "magicyuv", "png", "qtrle", "rawvideo", "utvideo", "zlib"}


def _mask_level(path: Path) -> int:
    """Above it a pixel of a mask video is the person: half of 255, or 0 where nothing is above 1 for certain."""
    with _open(path) as container:
        stream = _film(container)
        assert stream is not None
        if stream.codec_context.name not in _LOSSLESS:
            return _HALF
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what is wrong with the file is told when it is read
        return _HALF if any(_mask_channel(f.image).max() > 1 for f in _decode_video(path, keep_alpha=True)) else 0


def _mask_channel(image: Image) -> Image:
    """The alpha channel where there is one that varies, else the brightest colour, (height, width)."""
    if image.shape[2] == 4 and (image[..., 3] != image[0, 0, 3]).any():
        return image[..., 3]
    return np.asarray(image[..., :3].max(axis=2))


def _as_picture(mask: BoolArray) -> Image:
    return np.repeat(mask[:, :, None].astype(np.uint8) * 255, 3, axis=2)


_LARGEST_FREED = 16 << 20  # bytes; glibc heeds none above 32 MiB
_STILL_RATE = 60.0  # stills carry no clock; HumanEva's is 60 Hz


def list_stills(folder: Path) -> list[Path]:
    """The numbered pictures of a folder, in the order of their trailing digits; hidden files are no pictures.

    Raises
    ------
    DataError
        If there is none, or two carry the same number.
    """
    return list(_numbered_stills(folder).values())


def holds_stills(folder: Path) -> bool:
    """Whether a folder holds a numbered picture."""
    return any(_still_number(path) is not None for path in folder.iterdir())


_VIDEO_SUFFIXES = {".avi", ".mp4", ".m4v", ".mov", ".mkv", ".webm", ".mpg", ".mpeg", ".ts", ".mts", ".wmv", ".3gp"}


def is_video(path: Path) -> bool:
    """Whether a file is meant to be a video, by its name, or is one, by its content."""
    if path.suffix.lower() in _VIDEO_SUFFIXES:
        return True
    try:
        with _open(path) as container:
            return not container.format.name.endswith("_pipe") and container.format.name != "image2"  # one picture
    except DataError:
        return False


def _still_number(path: Path) -> int | None:
    """The number of a picture; None for anything else. Hidden files are what a Mac writes beside each."""
    digits = re.search(r"[0-9]{1,9}$", path.stem)
    if not digits or path.suffix.lower() not in STILL_SUFFIXES or path.name.startswith(".") or not path.is_file():
        return None
    return int(digits.group())


def _numbered_stills(folder: Path) -> dict[int, Path]:
    """Pictures by number, ascending."""
    if not folder.is_dir():
        raise DataError(f"{folder}: no such folder")
    try:
        content = sorted(folder.iterdir())
    except OSError as error:
        raise DataError(f"{folder}: cannot be read ({error.strerror})") from error
    stills: dict[int, Path] = {}
    for path in content:
        number = _still_number(path)
        if number is None:
            continue
        twin = stills.setdefault(number, path)
        if twin != path:
            raise DataError(f"{folder}: {twin.name} and {path.name} carry the same number; keep one of them")
    if not stills:
        raise DataError(f"{folder}: holds no numbered pictures ({' '.join(STILL_SUFFIXES)})")
    return dict(sorted(stills.items()))


def _read_still(path: Path, flags: int = cv2.IMREAD_COLOR) -> Image:
    # cv2.imread returns None in silence for paths it cannot encode, so the bytes are read here.
    try:
        content = np.frombuffer(path.read_bytes(), np.uint8)
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror})") from error
    image = cv2.imdecode(content, flags) if content.size else None
    if image is None:
        raise DataError(f"{path}: is not a picture")
    return np.asarray(image)


def _indexed_stills(folder: Path) -> Iterator[tuple[int, Path]]:
    """Pictures with their 0-based index; tools number from 0 or from 1."""
    stills = _numbered_stills(folder)
    origin = min(1, *stills)
    for number, path in stills.items():
        yield number - origin, path


def _decode_stills(folder: Path) -> Iterator[VideoFrame]:
    shape = None
    for index, path in _indexed_stills(folder):
        image = _read_still(path)
        shape = _same_shape(image, shape, str(path))
        yield VideoFrame(index, index / _STILL_RATE, image)


def _same_shape(image: Image, shape: tuple[int, ...] | None, where: str) -> tuple[int, ...]:
    """The picture's shape, which must be that of the pictures before it."""
    if shape is not None and image.shape != shape:
        raise DataError(
            f"{where}: the picture is {image.shape[1]} x {image.shape[0]} pixels, "
            f"those before it are {shape[1]} x {shape[0]}; every picture must have one size"
        )
    return image.shape


def _open(path: Path) -> av.container.InputContainer:
    if not path.exists():
        raise DataError(f"{path}: no such video")
    if is_pipe_or_device(path):
        raise DataError(f"{path}: is a pipe or a device, save it as a file first")
    try:
        container = av.open(ffmpeg_address(path))
    except (av.FFmpegError, OSError) as error:
        raise DataError(f"{path}: cannot be opened as a video ({error.strerror or error})") from error
    is_text = container.format.name == "tty"  # FFmpeg draws any .txt file as pictures of its letters
    if is_text or _film(container) is None:
        container.close()
        raise DataError(f"{path}: " + ("is a text file, not a video" if is_text else "holds no video stream"))
    return container


def ffmpeg_address(path: Path) -> str:
    """The path as FFmpeg takes it: absolute, as it would read the ``a`` of ``a:b.avi`` as a protocol."""
    return str(path.absolute())


def _decode_video(path: Path, *, keep_alpha: bool = False) -> Iterator[VideoFrame]:
    with _open(path) as container:
        stream = _film(container)
        assert stream is not None
        stream.thread_type = "AUTO"
        rate = float(stream.average_rate or stream.guessed_rate or _STILL_RATE)
        pictures = (whole_frames if container.format.name == "avi" else timed_frames)(path, container, stream, rate)
        shape = None
        _keep_freed_pictures()
        # One for all frames: to make the conversion's tables anew for each takes longer than to decode it.
        reformatter = VideoReformatter()
        for index, time, frame in pictures:
            has_alpha = keep_alpha and any(part.is_alpha for part in frame.format.components)
            image = _upright(frame, reformatter, "bgra" if has_alpha else "bgr24")
            shape = _same_shape(image, shape, f"{path}, frame {index + 1}")
            yield VideoFrame(index, time, image)


def _keep_freed_pictures() -> None:
    """Let the memory of a picture that is dropped be that of the next.

    glibc returns what is free at the end of the heap to the system, two pictures at a time, and the page faults that
    follow take longer than decoding. Twice the largest block that it has ever freed it keeps.
    """
    np.empty(_LARGEST_FREED, dtype=np.uint8)


def _film(container: av.container.InputContainer) -> av.VideoStream | None:
    """The first video stream that is no cover picture of a song."""
    films = [s for s in container.streams.video if not s.disposition & av.stream.Disposition.attached_pic]
    return films[0] if films else None


def _upright(frame: av.VideoFrame, reformatter: VideoReformatter, layout: str) -> Image:
    """A frame's picture, turned as the container's display matrix says: phones record one way and note the other."""
    image = reformatter.reformat(frame, format=layout, threads=1).to_ndarray()
    turns = round(frame.rotation / 90)
    return np.ascontiguousarray(np.rot90(image, turns) if turns else image, dtype=np.uint8)
