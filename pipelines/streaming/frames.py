"""Which frames of a video are predicted, and when they were taken."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from pipelines.errors import UsageError
from pose.export import RATES
from pose.video.frame import VideoFrame
from pose.video.mask_reader import read_masks
from pose.video.reader import read_frames


@dataclass(frozen=True)
class FrameRange:
    """Every `stride`-th frame from `start` up to, but without, `stop`; frame numbers and times stay those of the file.

    Parameters
    ----------
    start, stop, stride : int
        Frames count from 0.
    still_rate : float, optional
        Frames per second of numbered pictures, which carry no clock.

    Raises
    ------
    UsageError
        If the values make no range.
    """

    start: int = 0
    stop: int | None = None
    stride: int = 1
    still_rate: float | None = None

    def __post_init__(self) -> None:
        faults = []
        if self.start < 0:
            faults.append(f"--start {self.start}: frames count from 0")
        if self.stop is not None and self.stop <= self.start:
            faults.append(f"--stop {self.stop}: must be larger than --start {self.start}")
        if self.stride < 1:
            faults.append(f"--stride {self.stride}: must be at least 1")
        if self.still_rate is not None and not RATES[0] <= self.still_rate <= RATES[1]:
            faults.append(f"--rate {self.still_rate:g}: {RATES[0]:g} to {RATES[1]:g} frames a second")
        if faults:
            raise UsageError("; ".join(faults))

    def read(self, path: Path, masks: bool = False) -> Iterator[VideoFrame]:
        """The frames in the range, by `read_frames`, or by `read_masks` for a video of silhouettes."""
        clock = self.still_rate if path.is_dir() else None
        reader = read_masks if masks else read_frames
        for frame in reader(path, self.start, self.stop):
            if (frame.index - self.start) % self.stride == 0:
                yield frame if clock is None else replace(frame, time=frame.index / clock)

    def count(self, n_frames: int) -> int:
        """How many of a video's `n_frames` are taken."""
        stop = n_frames if self.stop is None else min(self.stop, n_frames)
        return len(range(self.start, stop, self.stride))

    def settings(self) -> dict[str, Any]:
        """The range, for the record of a run."""
        return asdict(self)
