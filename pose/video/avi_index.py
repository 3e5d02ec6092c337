"""The undamaged frames of an AVI file, numbered by the file's own index.

FFmpeg counts the packets that it finds. After a damaged place every frame would carry the number of an earlier frame,
and be paired with the wrong instant.
"""

from __future__ import annotations

import struct
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Self

import av

from pose.errors import DataError
from pose.video.decoder import decoded_pictures, held_back

_CHUNK = struct.Struct("<4sI")
"""Layout of a chunk's header: id, size."""
_ENTRY = struct.Struct("<4sIII")
"""Layout of an index entry: id, flags, offset, size."""
_PICTURES = (b"dc", b"db")
"""Endings of the ids of picture chunks: compressed, raw."""
_LIST_HEAD = 12
"""Bytes of a list's header, which its chunks follow."""
_MAX_CHUNKS = 1000
"""Largest number of chunks that are skipped between two pictures."""


def whole_frames(
    path: Path, container: av.container.InputContainer, stream: av.VideoStream, rate: float
) -> Iterator[tuple[int, float, av.VideoFrame]]:
    """Number, seconds since frame 0, and picture of each undamaged frame of an AVI file.

    Raises
    ------
    DataError
        At the end, if there was no such frame.

    Warns
    -----
    UserWarning
        For frames that are left out, and at the end if the file announces more frames.
    """
    frames = WholeFrames(path, container, stream)
    start = None
    fault = ""
    while True:
        try:
            index, frame = next(frames)
        except StopIteration:
            break
        except UnknownFrameError:
            fault = " (damaged behind it: which frames are lost is not known, and the rest is left out)"
            break
        time = float(frame.time) if frame.time is not None and not frames.renumbered else index / rate
        start = time - index / rate if start is None else start  # the first frames may be damaged
        yield index, time - start, frame
    if start is None:
        raise DataError(f"{path}: no frame could be decoded{fault or frames.reason}")
    fault = fault or (frames.reason or " (what is behind is damaged)") * frames.damaged
    if fault or frames.n_whole < stream.frames:
        announced = f" of the {stream.frames} announced" if stream.frames else ""
        warnings.warn(f"{path}: ends after frame {frames.n_whole}{announced}{fault}", stacklevel=4)


class UnknownFrameError(Exception):
    """A packet lies where the index has no frame, so that its number and all later numbers are unknown."""


class WholeFrames:
    """Undamaged frames with their numbers.

    All frames from a damaged or missing one to the next key frame are left out: they are stored as differences from
    damaged pictures and would be smeared. A warning names them.

    Parameters
    ----------
    path : Path
    container, stream
        As PyAV opens them.
    """

    def __init__(self, path: Path, container: av.container.InputContainer, stream: av.video.stream.VideoStream) -> None:
        self._path, self._container, self._stream = path, container, stream
        self._numbers = NumbersByIndex(path, container.format.name, stream.index)
        self._damaged_from: int | None = None
        self._next = 0
        self.reason = ""
        """The last fault, in brackets; empty without one."""
        self._frames = self._whole()

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> tuple[int, av.VideoFrame]:
        return next(self._frames)

    @property
    def damaged(self) -> bool:
        """Whether the frames read last are damaged."""
        return self._damaged_from is not None

    @property
    def n_whole(self) -> int:
        """Number of frames up to the last undamaged one."""
        return self._next if self._damaged_from is None else self._damaged_from

    @property
    def renumbered(self) -> bool:
        """Whether frames are lost, so that the container's times are wrong."""
        return self._numbers.n_lost > 0

    def _whole(self) -> Iterator[tuple[int, av.VideoFrame]]:
        for n_before, frame in enumerate(self._decoded()):
            number = self._numbers.of(frame, n_before)
            if self._damaged_from is None and (number > self._next or frame.is_corrupt):
                self._damaged_from = self._next
            if self._damaged_from is not None and frame.key_frame and not frame.is_corrupt:
                self._warn(self._damaged_from, number)
                self._damaged_from = None
            self._next = number + 1
            if self._damaged_from is None:
                yield number, frame

    def _decoded(self) -> Iterator[av.VideoFrame]:
        try:
            yield from decoded_pictures(self._container, self._stream, self._fault, self._numbers.see)
        except UnknownFrameError:
            yield from held_back(self._stream, self._fault)  # frames before the damage
            raise

    def _fault(self, reason: str) -> None:
        self.reason = f" ({reason})"
        self._numbers.lose_count()

    def _warn(self, first: int, stop: int) -> None:
        span = f"frame {first + 1} is" if stop == first + 1 else f"frames {first + 1} to {stop} are"
        warnings.warn(f"{self._path}: {span} damaged or lost, and left out", stacklevel=7)


class NumbersByIndex:
    """Numbers the pictures of an AVI file by their byte positions, those of other files in the order they come.

    Parameters
    ----------
    path : Path
    container_format : str
        FFmpeg's name of the file's format. The file's index is read only for ``"avi"``.
    stream : int
        Index of the video stream.
    """

    def __init__(self, path: Path, container_format: str, stream: int) -> None:
        self._path = path
        self._is_avi = container_format == "avi"
        positions = read_index(path, stream) if self._is_avi else []
        self._slots = {position: slot for slot, position in enumerate(positions)}
        self._index_end = max(positions, default=0)
        self._end: int | None = None  # byte after the last packet
        self._by_time: dict[int, int] = {}
        self._n_packets = self._lost = 0
        self._by_count = True

    def see(self, packet: av.Packet[Any]) -> None:
        """Take the next packet.

        Raises
        ------
        UnknownFrameError
            If frames are lost before the packet, and the file does not say how many.
        """
        if not packet.size or packet.pos is None or not self._is_avi:
            return
        slot = self._n_packets + self._lost
        found = self._slots.get(packet.pos)
        if found is None and not self._n_packets:
            self._slots = {}  # the index lacks even the first packet: it is of another kind
        if found is not None and found > slot:
            self._lost += found - slot
        elif found is None and self._end is not None and not self._follows(packet.pos):
            raise UnknownFrameError
        if packet.dts is not None:
            self._by_time[packet.dts] = self._n_packets + self._lost
        self._n_packets += 1
        self._end = packet.pos + packet.size + packet.size % 2

    def lose_count(self) -> None:
        """Note that a packet gave no frame: from now on frames are numbered by their times, not by their count."""
        self._by_count = False

    @property
    def n_lost(self) -> int:
        """Number of frames that are known to be missing so far."""
        return self._lost

    def of(self, frame: av.VideoFrame, count: int) -> int:
        """Number of a decoded frame, the `count`-th to come; both count from 0."""
        if self._by_count and not self._lost:
            return count
        if frame.pts is None or not self._by_time:
            return count + self._lost
        # The decoder may give a frame from before the loss only after it has taken the packet that follows the loss.
        return self._by_time.get(frame.pts, count)

    def _follows(self, position: int) -> bool:
        """Whether only whole chunks lie between the last packet and a byte position."""
        assert self._end is not None
        with self._path.open("rb") as file:
            at = self._end
            for _ in range(_MAX_CHUNKS):
                if at + _CHUNK.size >= position:
                    return at + _CHUNK.size == position
                file.seek(at)
                kind, size = _CHUNK.unpack(file.read(_CHUNK.size))
                at += _LIST_HEAD if kind in (b"LIST", b"RIFF") else _CHUNK.size + size + size % 2
        return False


def read_index(path: Path, stream: int) -> list[int]:
    """Byte positions of a stream's pictures, without empty pictures; an empty list where there is no index."""
    try:
        with path.open("rb") as file:
            kind, _ = _CHUNK.unpack(file.read(_CHUNK.size))
            if kind != b"RIFF" or file.read(4) != b"AVI ":
                return []
            movie = 0
            while len(head := file.read(_CHUNK.size)) == _CHUNK.size:
                kind, size = _CHUNK.unpack(head)
                start = file.tell()
                if kind == b"idx1":
                    return _positions(file.read(size), movie, stream)
                if kind == b"LIST" and file.read(4) == b"movi":
                    movie = start
                file.seek(start + size + size % 2)
    except (OSError, struct.error):
        pass
    return []


def _positions(content: bytes, movie: int, stream: int) -> list[int]:
    ids = {b"%02d" % stream + suffix for suffix in _PICTURES}
    whole = len(content) - len(content) % _ENTRY.size
    offsets = [offset for kind, _, offset, size in _ENTRY.iter_unpack(content[:whole]) if kind in ids and size]
    # Some writers count offsets from the list of pictures, others from the beginning of the file.
    origin = 0 if offsets and offsets[0] > movie else movie
    return [origin + offset + _CHUNK.size for offset in offsets]
