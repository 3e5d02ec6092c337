"""A folder of numbered pictures, read as the frames of a video."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import cv2
import numpy as np

from pose.errors import DataError
from pose.types import Image
from pose.video.frame import VideoFrame, same_size

STILL_SUFFIXES = (".bmp", ".png", ".tif", ".tiff", ".jpg", ".jpeg")
STILL_RATE = 60.0
"""Frames per second of numbered pictures, which carry no clock: HumanEva's rate."""


def list_stills(folder: Path) -> list[Path]:
    """The numbered pictures of a folder, in the order of their trailing digits; hidden files are left out.

    Raises
    ------
    DataError
        If there is no numbered picture, or two carry the same number.
    """
    return list(_numbered_stills(folder).values())


def holds_stills(folder: Path) -> bool:
    """Whether a folder holds a numbered picture."""
    return any(_still_number(path) is not None for path in folder.iterdir())


def _still_number(path: Path) -> int | None:
    """The number of a picture; None for anything else, such as the hidden file that a Mac writes beside a picture."""
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


def read_still(path: Path, flags: int = cv2.IMREAD_COLOR) -> Image:
    """Read one picture; `flags` are those of `cv2.imread`."""
    # cv2.imread silently returns None for paths that it cannot encode, so the bytes are read here.
    try:
        content = np.frombuffer(path.read_bytes(), np.uint8)
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror})") from error
    image = cv2.imdecode(content, flags) if content.size else None
    if image is None:
        raise DataError(f"{path}: is not a picture")
    return np.asarray(image)


def indexed_stills(folder: Path) -> Iterator[tuple[int, Path]]:
    """Pictures with their 0-based index; numbers may start from 0 or from 1."""
    stills = _numbered_stills(folder)
    origin = min(1, *stills)
    for number, path in stills.items():
        yield number - origin, path


def decode_stills(folder: Path) -> Iterator[VideoFrame]:
    """All pictures of a folder in the order of their numbers."""
    shape = None
    for index, path in indexed_stills(folder):
        image = read_still(path)
        shape = same_size(image, shape, str(path))
        yield VideoFrame(index, index / STILL_RATE, image)
