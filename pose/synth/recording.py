"""One trial of the synthetic set: its motion, when its streams start, and which instant every frame shows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pose.humaneva.clock import CommonClock, common_clock
from pose.humaneva.files.ofs import StreamOffset
from pose.synth.body import Body, subject_body
from pose.synth.motion.actions import Generate, generate
from pose.synth.motion.motion import Motion
from pose.synth.randomness import stream
from pose.types import IntArray

#: Mocap frames in one video frame.
MOCAP_PER_IMAGE = 2
#: Toolkit frames up to this one repeat the first picture, as the release's encoder did; partitions start after them.
LAST_REPEATED = 5
_LONGEST_LEAD = 12  # video frames that a camera may run before the mocap starts
_MOCAP_HEAD_START = (30, 60)  # mocap frames before the cameras start, where the mocap is first
_LONGEST_TAIL = 3  # video frames after the last toolkit frame


@dataclass(frozen=True, eq=False)
class Trial:
    """A subject doing something once before all cameras.

    Parameters
    ----------
    subject, action : str
        As in the data set's names.
    n_frames : int
        Toolkit frames.
    offsets : dict of str to StreamOffset
        What the ``.ofs`` files say.
    clock : CommonClock
        What follows from them.
    video_frames : dict of str to int
        Length of every camera's video.
    motion : Motion
        From the first instant that any stream shows.
    first_position : int
        The 1-based mocap position of the motion's first frame; below 1 where a camera starts first.
    number : int
        The trial's.
    train_share : float
        Of the frames, the last ones; the others validate.
    """

    subject: str
    action: str
    n_frames: int
    offsets: dict[str, StreamOffset]
    clock: CommonClock
    video_frames: dict[str, int]
    motion: Motion
    first_position: int
    number: int = 1
    train_share: float = 0.5

    @property
    def stem(self) -> str:
        """The name of the trial's files."""
        return f"{self.action}_{self.number}"

    @property
    def positions(self) -> IntArray:
        """1-based mocap positions of the toolkit frames 1 ... n_frames."""
        frames = np.arange(1, self.n_frames + 1)
        return np.rint(self.clock.mocap_position(frames)).astype(np.int64)

    @property
    def partition(self) -> dict[str, list[int]]:
        """First and last toolkit frame of either part, both included; a part without frames is left out."""
        middle = min(round(self.n_frames * (1 - self.train_share)), self.n_frames)
        parts = {"Validate": [LAST_REPEATED + 1, middle], "Train": [max(middle, LAST_REPEATED) + 1, self.n_frames]}
        return {name: [first, last] for name, (first, last) in parts.items() if first <= last}

    def mocap(self) -> Motion:
        """The motion as the mocap recorded it: its row i is mocap frame i + 1."""
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


def plan_trial(
    subject: str,
    action: str,
    n_frames: int,
    cameras: tuple[str, ...],
    seed: int,
    *,
    mocap_first: bool = False,
    number: int = 1,
    train_share: float = 0.5,
    body: Body | None = None,
    perform: Generate | None = None,
) -> Trial:
    """Draw a trial's streams and make its motion.

    Parameters
    ----------
    subject, action : str
        Who does what.
    n_frames : int
        Toolkit frames.
    cameras : tuple of str
        Whose videos there will be.
    seed : int
        Of the whole data set.
    mocap_first : bool
        Whether the mocap starts before the cameras; usually some camera does.
    number, train_share
        See `Trial`.
    body : Body, optional
        By default that of the subject of that name.
    perform : callable, optional
        Makes the motion; by default the action of that name is generated.

    Raises
    ------
    DataError
        If the subject or the action is not known.
    """
    key = (subject, action) if number == 1 else (subject, action, number)
    offsets = _draw_offsets(stream(seed, *key, "streams"), cameras, mocap_first)
    clock = common_clock(offsets)
    rng = stream(seed, *key, "length")
    video_frames = {
        name: clock.first_video_frame[name] + n_frames - 1 + int(rng.integers(_LONGEST_TAIL + 1)) for name in cameras
    }
    first = min(1, *(_position(offset, 1) for offset in offsets.values()))
    last = max(
        round(float(clock.mocap_position(n_frames))),
        *(_position(offsets[name], video_frames[name]) for name in cameras),
    )
    make = perform or (lambda body, length, generator: generate(action, body, length, generator))
    # As long as any trial of so many frames needs it, so that copies of a trial with other streams show one motion.
    longest = MOCAP_PER_IMAGE * (n_frames + _LONGEST_LEAD + _LONGEST_TAIL + 1) + _MOCAP_HEAD_START[1]
    motion = make(body or subject_body(subject), longest, stream(seed, subject, action, "motion"))
    motion = motion.crop(0, last - first + 1)
    return Trial(subject, action, n_frames, offsets, clock, video_frames, motion, first, number, train_share)


def _position(offset: StreamOffset, frame: int) -> int:
    return round(offset.mocap_start + (frame - offset.image_start) * MOCAP_PER_IMAGE)


def _draw_offsets(rng: np.random.Generator, cameras: tuple[str, ...], mocap_first: bool) -> dict[str, StreamOffset]:
    """Different starts for all cameras, one of them half a frame off the others."""
    head_start = int(rng.integers(*_MOCAP_HEAD_START)) if mocap_first else 0
    half_frame_off = cameras[int(rng.integers(1, len(cameras)))] if len(cameras) > 1 else None
    leads = rng.permutation(_LONGEST_LEAD)[: len(cameras)] + 1
    return {
        name: StreamOffset(
            float(lead), float(1 + head_start + (1 if name == half_frame_off else 0)), float(MOCAP_PER_IMAGE)
        )
        for name, lead in zip(cameras, leads, strict=True)
    }
