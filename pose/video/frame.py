"""One decoded frame, with its number and its time."""

from __future__ import annotations

from dataclasses import dataclass

from pose.errors import DataError
from pose.types import Image


@dataclass(frozen=True)
class VideoFrame:
    """One decoded frame.

    Parameters
    ----------
    index : int
        0-based position in the file. For a still, the number in its name, less 1 unless numbers start from 0: a missing
        picture leaves a gap and does not move the others.
    time : float
        Seconds from the first frame, as the container says; the index over the rate where the container says nothing.
    image : ndarray of shape (height, width, 3), uint8
        Blue, green, red; upright where the container says how the camera was held.
    """

    index: int
    time: float
    image: Image


def same_size(image: Image, shape: tuple[int, ...] | None, where: str) -> tuple[int, ...]:
    """The picture's shape; DataError if it is not the `shape` of the pictures before it."""
    if shape is not None and image.shape != shape:
        raise DataError(
            f"{where}: the picture is {image.shape[1]} x {image.shape[0]} pixels, "
            f"those before it are {shape[1]} x {shape[0]}; every picture must have one size"
        )
    return image.shape
