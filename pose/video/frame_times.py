"""Numbers of decoded pictures, found by their times where other pictures cannot be decoded."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from pathlib import Path

import av

from pose.errors import DataError
from pose.video.decoder import decoded_pictures

_MAX_NAMED = 3
"""Largest number of gaps that a warning lists."""


def timed_frames(
    path: Path, container: av.container.InputContainer, stream: av.VideoStream, rate: float
) -> Iterator[tuple[int, float, av.VideoFrame]]:
    """Number, seconds since the first frame, and picture of each frame of a file whose packets carry their times.

    Raises
    ------
    DataError
        At the end, if no frame could be decoded.

    Warns
    -----
    UserWarning
        At the end, for frames that could not be decoded or are missing.
    """
    numbering = NumbersByTime(rate)
    for frame in decoded_pictures(container, stream, numbering.fault):
        place = numbering.place(float(frame.time) if frame.time is not None else None)
        if place is None:
            continue
        if frame.is_corrupt:
            numbering.damaged(place[0])
        yield *place, frame
    if numbering.count == 0:
        raise DataError(f"{path}: no frame could be decoded{numbering.reason}")
    for lack in numbering.lacks(stream.frames):
        warnings.warn(f"{path}: {lack}", stacklevel=4)


class NumbersByTime:
    """Numbers and times of the pictures that a decoder gives, in order.

    Without faults a picture's number is the count of pictures before it. After a fault the number follows from the
    picture's time, if all times before were those of a constant rate; otherwise each fault is taken for one frame.

    Parameters
    ----------
    rate : float
        Frames per second, as the container says.
    """

    def __init__(self, rate: float) -> None:
        self.count = 0
        """Number of the last picture, plus 1."""
        self._rate = rate
        self._start: float | None = None
        self._last_time = -1.0
        self._even = True  # whether all times so far are those of the rate
        self._pending = 0  # faults since the last picture
        self._faulty = False
        self._first_fault = ""
        self._gaps: list[tuple[int, int]] = []
        self._damaged: list[tuple[int, int]] = []

    def fault(self, reason: str) -> None:
        """Note that a packet, or all that follows, cannot be decoded."""
        self._pending += 1
        self._faulty = True
        self._first_fault = self._first_fault or reason

    def damaged(self, index: int) -> None:
        """Note that the decoder has made up parts of the picture with the number `index`."""
        if self._damaged and self._damaged[-1][1] == index - 1:
            self._damaged[-1] = (self._damaged[-1][0], index)
        else:
            self._damaged.append((index, index))

    @property
    def reason(self) -> str:
        """The first fault in brackets, empty if there was none."""
        return f" ({self._first_fault})" if self._first_fault else ""

    def place(self, time: float | None) -> tuple[int, float] | None:
        """Number of the next picture and its seconds from the first frame; `time` is its time in the container.

        None for a picture that comes too late, where a fault has mixed up the order of pictures.
        """
        if self._start is None:
            self._start = (time or 0.0) - self._pending / self._rate
        known = time is not None
        since = time - self._start if time is not None else (self.count + self._pending) / self._rate
        if self._faulty and since <= self._last_time:
            return None
        index = self.count + self._pending
        if self._faulty and self._even and known:
            index = max(self.count, round(since * self._rate))
        if index > self.count:
            self._gaps.append((self.count, index - 1))
        self._even &= known and abs(since * self._rate - index) < 0.5
        self._pending, self._last_time, self.count = 0, since, index + 1
        return index, since

    def lacks(self, announced: int) -> list[str]:
        """What to warn of once the file has ended: frames missing or damaged. `announced` is 0 if unknown."""
        told = []
        if self._gaps:
            told.append(
                f"frames {_named(self._gaps)} (from 0) cannot be decoded{self.reason}: they are left out, and those "
                "behind them may look damaged"
            )
        if self._pending or self.count < announced:
            of = f" of the {announced} announced" if announced else ""
            cut = self._damaged[-1:] == [(self.count - 1, self.count - 1)]
            if cut:
                self._damaged.pop()
            told.append(f"ends after frame {self.count}{of}{', which is damaged' if cut else ''}{self.reason}")
        if self._damaged:
            told.append(f"frames {_named(self._damaged)} (from 0) are damaged: parts of these pictures are made up")
        return told


def _named(spans: list[tuple[int, int]]) -> str:
    named = ", ".join(f"{first} to {last}" if last > first else f"{first}" for first, last in spans[:_MAX_NAMED])
    return named + (f" and at {len(spans) - _MAX_NAMED} more places" if len(spans) > _MAX_NAMED else "")
