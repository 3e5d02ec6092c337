"""When the cameras and the motion capture of a trial start, and which instant every frame shows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from pose.humaneva.clock import CommonClock, common_clock
from pose.humaneva.files.ofs import StreamOffset
from pose.synth.motion.motion import Motion
from pose.synth.randomness import random_stream
from pose.types import IntArray

#: Mocap frames in one video frame.
MOCAP_PER_IMAGE = 2
#: The last toolkit frame that repeats the first picture, as the release's encoder did; partitions start after it.
LAST_REPEATED = 5
#: Largest number of a camera's video frames before the motion capture starts.
_LONGEST_LEAD = 12
#: Head start of the motion capture where it starts first, mocap frames: at least the first value, less than the second.
_MOCAP_HEAD_START = (30, 60)
#: Largest number of video frames after the last toolkit frame.
_LONGEST_TAIL = 3


@dataclass(frozen=True, eq=False)
class Schedule:
    """The streams of one trial, on the clock of its motion.

    Parameters
    ----------
    n_frames : int
        Toolkit frames.
    offsets : dict of str to StreamOffset
        Content of the ``.ofs`` files, by camera.
    clock : CommonClock
        The clock that follows from the offsets.
    video_frames : dict of str to int
        Length of every camera's video.
    motion : Motion
        From the first instant that any stream shows.
    first_position : int
        The 1-based mocap position of the motion's first frame; below 1 where a camera starts first.
    train_share : float
        Share of the frames, at the end, that is Train; the others are Validate.
    """

    n_frames: int
    offsets: dict[str, StreamOffset]
    clock: CommonClock
    video_frames: dict[str, int]
    motion: Motion
    first_position: int
    train_share: float = 0.5

    @property
    def positions(self) -> IntArray:
        """1-based mocap positions of the toolkit frames 1 ... n_frames."""
        frames = np.arange(1, self.n_frames + 1)
        return np.rint(self.clock.mocap_position(frames)).astype(np.int64)

    @property
    def partition(self) -> dict[str, list[int]]:
        """First and last toolkit frame, inclusive, of Validate and Train; a part without frames is left out."""
        middle = min(round(self.n_frames * (1 - self.train_share)), self.n_frames)
        parts = {"Validate": [LAST_REPEATED + 1, middle], "Train": [max(middle, LAST_REPEATED) + 1, self.n_frames]}
        return {name: [first, last] for name, (first, last) in parts.items() if first <= last}

    def mocap(self) -> Motion:
        """The motion as the motion capture recorded it: its row i is mocap frame i + 1."""
        last = int(self.positions[-1])
        return self.motion.crop(1 - self.first_position, last + 1 - self.first_position)

    def shown(self, camera: str) -> IntArray:
        """Rows of `motion` that the frames of a camera's video show."""
        offset = self.offsets[camera]
        first = self.clock.first_video_frame[camera]
        frames = np.arange(1, self.video_frames[camera] + 1)
        frames = np.where((frames > first) & (frames < first + LAST_REPEATED), first, frames)
        positions = offset.mocap_start + (frames - offset.image_start) * MOCAP_PER_IMAGE
        rows: IntArray = np.rint(positions - self.first_position).astype(np.int64)
        return rows


def draw_schedule(
    key: tuple[object, ...],
    n_frames: int,
    cameras: tuple[str, ...],
    seed: int,
    perform: Callable[[int], Motion],
    *,
    mocap_first: bool = False,
    train_share: float = 0.5,
) -> Schedule:
    """Draw when a trial's streams start and end, and make its motion.

    Parameters
    ----------
    key : tuple
        Name of the trial; its streams follow from name and seed.
    n_frames : int
        Toolkit frames.
    cameras : tuple of str
        Cameras that make a video.
    seed : int
        Seed of the whole data set.
    perform : callable
        Makes a motion of a given number of frames at 120 Hz.
    mocap_first : bool
        Whether the motion capture starts before the cameras; usually some camera does.
    train_share : float
        See `Schedule`.
    """
    offsets = _draw_offsets(random_stream(seed, *key, "streams"), cameras, mocap_first)
    clock = common_clock(offsets)
    rng = random_stream(seed, *key, "length")
    video_frames = {
        name: clock.first_video_frame[name] + n_frames - 1 + int(rng.integers(_LONGEST_TAIL + 1)) for name in cameras
    }
    first = min(1, *(_position(offset, 1) for offset in offsets.values()))
    last = max(
        round(float(clock.mocap_position(n_frames))),
        *(_position(offsets[name], video_frames[name]) for name in cameras),
    )
    # Long enough for any trial of `n_frames`, so that copies of a trial with other streams show the same motion.
    longest = MOCAP_PER_IMAGE * (n_frames + _LONGEST_LEAD + _LONGEST_TAIL + 1) + _MOCAP_HEAD_START[1]
    motion = perform(longest).crop(0, last - first + 1)
    return Schedule(n_frames, offsets, clock, video_frames, motion, first, train_share)


def _position(offset: StreamOffset, frame: int) -> int:
    return round(offset.mocap_start + (frame - offset.image_start) * MOCAP_PER_IMAGE)


def _draw_offsets(rng: np.random.Generator, cameras: tuple[str, ...], mocap_first: bool) -> dict[str, StreamOffset]:
    """Offsets with a different start for every camera; one camera is half a frame off the others."""
    head_start = int(rng.integers(*_MOCAP_HEAD_START)) if mocap_first else 0
    half_frame_off = cameras[int(rng.integers(1, len(cameras)))] if len(cameras) > 1 else None
    leads = rng.permutation(_LONGEST_LEAD)[: len(cameras)] + 1
    return {
        name: StreamOffset(
            float(lead), float(1 + head_start + (1 if name == half_frame_off else 0)), float(MOCAP_PER_IMAGE)
        )
        for name, lead in zip(cameras, leads, strict=True)
    }
