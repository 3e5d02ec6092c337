"""``.ofs`` files: one instant that a camera and the motion capture both show."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from pose.errors import DataError
from pose.text_files import read_numbers

#: Largest plausible frame number.
_LARGEST_FRAME = 1e8


@dataclass(frozen=True)
class StreamOffset:
    """One instant that a camera and the motion capture both show, and their rates.

    Parameters
    ----------
    image_start : float
        1-based video frame.
    mocap_start : float
        1-based mocap frame of the same instant; may be zero or negative.
    mocap_per_image : float
        Mocap frames in one video frame, near 2.
    """

    image_start: float
    mocap_start: float
    mocap_per_image: float


def read_ofs(path: str | Path) -> StreamOffset:
    """Read a ``.ofs`` file: image frame, mocap frame, mocap frames per image frame.

    Raises
    ------
    DataError
        If there are not three finite numbers, the image frame is below 1, or the rate is not positive.
    """
    path = Path(path)
    image_start, mocap_start, rate = read_numbers(path, 3, "image frame, mocap frame, mocap frames an image")
    if max(abs(image_start), abs(mocap_start)) > _LARGEST_FRAME:
        raise DataError(f"{path}: frame numbers {image_start:g} and {mocap_start:g} cannot be right")
    if image_start < 1:
        raise DataError(f"{path}: the image frame must be 1 or more, found {image_start:g}")
    if not 0.1 <= rate <= 20:
        raise DataError(f"{path}: {rate:g} mocap frames an image frame cannot be right (2 is usual)")
    return StreamOffset(float(image_start), float(mocap_start), float(rate))


def write_ofs(path: str | Path, offset: StreamOffset) -> None:
    """Write a ``.ofs`` file."""
    values = (offset.image_start, offset.mocap_start, offset.mocap_per_image)
    Path(path).write_text("".join(f"{value:.6f} \n" for value in values))
