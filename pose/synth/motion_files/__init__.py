"""Motion capture files of other labs, BVH, Acclaim (AMC with its ASF) and C3D, read into one form of a person.

`read_motion` reads a file. Beneath it `bvh`, `amc`, `asf` and `c3d` read formats, `skeletons` says which bone is which
part of the body, and `landmarks` converts unit and axes, and skips a rest pose.
"""

from __future__ import annotations

from pathlib import Path

from pose.errors import DataError
from pose.synth.motion_files.amc import read_amc
from pose.synth.motion_files.bvh import read_bvh
from pose.synth.motion_files.c3d import read_marker_clip
from pose.synth.motion_files.clip import Clip
from pose.synth.motion_files.landmarks import FRAME_RATES, UNITS, UP_AXES, Landmarks, find_landmarks

__all__ = [
    "FRAME_RATES",
    "SUFFIXES",
    "UNITS",
    "UP_AXES",
    "Clip",
    "Landmarks",
    "find_landmarks",
    "read_clip",
    "read_motion",
]

_READERS = {".bvh": read_bvh, ".amc": read_amc, ".c3d": read_marker_clip}
#: Suffixes of motion files; their case does not matter.
SUFFIXES = tuple(_READERS)


def read_clip(path: str | Path) -> Clip:
    """Read a motion file in its own unit and axes; its suffix names the format.

    Raises
    ------
    DataError
        If the suffix is not in `SUFFIXES`, or the file is missing, malformed or unreadable.
    """
    path = Path(path)
    suffix = path.suffix.lower()
    if suffix == ".asf":
        raise DataError(f"{path}: is a skeleton without motion; give the .amc file, its .asf file beside it is found")
    if suffix not in _READERS:
        raise DataError(f"{path}: no motion file that can be read ({', '.join(SUFFIXES)} can)")
    if not path.is_file():
        raise DataError(f"{path}: no such motion file")
    try:
        return _READERS[suffix](path)
    except OSError as error:
        raise DataError(f"{error.filename or path}: cannot be read ({error.strerror or error})") from error


def read_motion(
    path: str | Path, *, unit_mm: float | None = None, up: str | None = None, rate: float | None = None
) -> Landmarks:
    """Read a motion file as a person in mm, z up.

    Parameters
    ----------
    path : path-like
        A ``.bvh``, ``.amc`` or ``.c3d`` file.
    unit_mm, up, rate
        See `find_landmarks`.

    Raises
    ------
    DataError
        As `read_clip`, or if no person can be made of the file.
    """
    return find_landmarks(read_clip(path), unit_mm=unit_mm, up=up, rate=rate)
