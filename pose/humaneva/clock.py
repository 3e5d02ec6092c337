"""``.ofs`` files and the clock that a trial's cameras and motion capture share."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from pose.errors import DataError
from pose.humaneva.files.ofs import StreamOffset
from pose.types import FloatArray

#: Cameras in the toolkit's order; the first one present carries the clock.
CAMERA_ORDER = ("C1", "C2", "C3", "BW1", "BW2", "BW3", "BW4")


@dataclass(frozen=True)
class CommonClock:
    """Where the toolkit's frame F = 1, 2, ... lies in every stream.

    Parameters
    ----------
    first_video_frame : mapping of str to int
        o per camera: the 1-based video frame of F = 1.
    mocap_start : float
        T0, the 1-based mocap position of F = 1.
    mocap_per_frame : float
        s, mocap frames in one toolkit frame.
    """

    first_video_frame: Mapping[str, int]
    mocap_start: float
    mocap_per_frame: float

    def video_index(self, camera: str, frame: int) -> int:
        """0-based video frame of toolkit frame `frame` in `camera`."""
        return self.first_video_frame[camera] + frame - 2

    def mocap_position(self, frame: ArrayLike) -> FloatArray:
        """Mocap positions of toolkit frames, 1-based and fractional."""
        return self.mocap_start + (np.asarray(frame, dtype=float) - 1) * self.mocap_per_frame


def common_clock(offsets: Mapping[str, StreamOffset]) -> CommonClock:
    """The toolkit's common time base over the cameras that have an offset.

    The first camera in the toolkit's order sets the mocap instant T0. The start of every other camera is moved to T0 by
    that camera's own rate. Then all are shifted so that the earliest camera starts at its frame 1, and the mocap at
    its frame 1 or later.

    Parameters
    ----------
    offsets : mapping of str to StreamOffset
        By camera.

    Raises
    ------
    DataError
        If there is no camera.
    """
    cameras = sorted(offsets, key=lambda name: (CAMERA_ORDER.index(name) if name in CAMERA_ORDER else 99, name))
    if not cameras:
        raise DataError("no camera has a stream offset (.ofs), so frames cannot be matched to motion capture")
    mocap_start = offsets[cameras[0]].mocap_start
    # The first camera keeps its image frame exactly: its own correction is zero.
    starts = {
        name: offsets[name].image_start + (mocap_start - offsets[name].mocap_start) / offsets[name].mocap_per_image
        for name in cameras
    }
    mocap_per_frame = sum(offsets[name].mocap_per_image for name in cameras) / len(cameras)
    surplus = min(starts.values()) - 1
    mocap_start -= mocap_per_frame * surplus
    starts = {name: start - surplus for name, start in starts.items()}
    if mocap_start < 1:
        starts = {name: start - (mocap_start - 1) / mocap_per_frame for name, start in starts.items()}
        mocap_start = 1.0
    return CommonClock({name: _round_half_up(start) for name, start in starts.items()}, mocap_start, mocap_per_frame)


def _round_half_up(value: float) -> int:
    """Round as Matlab does: halves away from zero, where Python's ``round`` goes to the even neighbour."""
    return int(math.copysign(math.floor(abs(value) + 0.5), value))


#: Clock of a trial that is motion capture alone (trial 3): its toolkit frames are the mocap frames.
MOCAP_ONLY = CommonClock({}, 1.0, 1.0)

# First video frames o of C1, C2, C3 in trial 1, by action and subject; format description, section 5 (the `sync_data`
# of VideoPose3D's converter).
_PUBLISHED = {
    "Walking": {"S1": (82, 81, 82), "S2": (115, 115, 114), "S3": (80, 80, 80)},
    "Jog": {"S1": (51, 51, 50), "S2": (100, 100, 99), "S3": (65, 65, 65)},
    "ThrowCatch": {"S1": (61, 61, 60), "S2": (127, 127, 127), "S3": (79, 79, 79)},
    "Gestures": {"S1": (45, 45, 44), "S2": (122, 122, 121), "S3": (83, 83, 82)},
    "Box": {"S1": (57, 57, 56), "S2": (119, 119, 117), "S3": (1, 1, 1)},
}


def published_first_frames(subject: str, action: str, trial: int) -> Mapping[str, int] | None:
    """Published first video frames o of HumanEva-I's colour cameras; None where none are published.

    They hold for a real copy with all seven ``.ofs`` files after the critical update of the offsets.
    """
    if trial != 1 or subject not in _PUBLISHED.get(action, {}):
        return None
    return dict(zip(CAMERA_ORDER, _PUBLISHED[action][subject], strict=False))


#: Distance of a camera's start from the others', video frames, above which its two numbers may be swapped.
_SWAP_SUSPECTED = 15.0
#: Distance of the start after the swap, video frames, below which the swap explains the fault.
_SWAP_CERTAIN = 8.0


def doubtful_offsets(offsets: Mapping[str, StreamOffset]) -> dict[str, str]:
    """Cameras whose offset disagrees with the others' and would agree if its first two numbers were swapped.

    The cameras of a trial start within a fraction of a second of each other (HumanEva-I: within 2 frames).

    Returns
    -------
    dict of str to str
        What is wrong, by camera.
    """
    faults = {}
    for name, offset in offsets.items():
        others = [o.mocap_start - o.image_start * o.mocap_per_image for key, o in offsets.items() if key != name]
        if not others:
            continue
        expected = float(np.median(others))  # the mocap frame at image 0
        found = offset.mocap_start - offset.image_start * offset.mocap_per_image
        swapped = offset.image_start - offset.mocap_start * offset.mocap_per_image
        distance, distance_swapped = (abs(value - expected) / offset.mocap_per_image for value in (found, swapped))
        if not distance > _SWAP_SUSPECTED > _SWAP_CERTAIN > distance_swapped:
            continue
        if len(others) == 1:  # where two cameras disagree, either may be wrong
            faults[name] = (
                f"starts {distance:.0f} frames away from the other camera, but the two would agree if image frame and "
                "mocap frame of one of them were swapped"
            )
        else:
            faults[name] = (
                f"starts {distance:.0f} frames away from the other cameras, but would fit if its image frame "
                f"{offset.image_start:g} and its mocap frame {offset.mocap_start:g} were swapped"
            )
    return faults
