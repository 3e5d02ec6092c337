"""The bone lengths of one person, in a CSV file: ``bone,length_mm``."""

from __future__ import annotations

import csv
import math
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from pose.body.skeleton import HUMANEVA_15, Skeleton
from pose.errors import DataError
from pose.types import FloatArray

_COLUMNS = ["bone", "length_mm"]
_MIN_TOTAL, _MAX_TOTAL = 1000.0, 10000.0
"""Least and largest sum of a person's bone lengths, mm. Lengths in cm or inches have a smaller sum."""


def bone_names(skeleton: Skeleton = HUMANEVA_15) -> tuple[str, ...]:
    """Names of the bones, ``left_hip-left_knee``, in the order of `skeleton.bones`."""
    return tuple(f"{skeleton.names[parent]}-{skeleton.names[child]}" for parent, child in skeleton.bones)


def write_bone_lengths(path: str | Path, lengths: ArrayLike, skeleton: Skeleton = HUMANEVA_15) -> None:
    """Write lengths (b,), mm, in the order of `skeleton.bones`."""
    rows = zip(bone_names(skeleton), np.asarray(lengths, dtype=float), strict=True)
    text = "".join(f"{bone},{length:.1f}\n" for bone, length in rows)
    Path(path).write_text(f"{','.join(_COLUMNS)}\n{text}", encoding="utf-8")


def read_bone_lengths(path: str | Path, skeleton: Skeleton = HUMANEVA_15) -> FloatArray:
    """Read lengths (b,), mm, in the order of `skeleton.bones`; the file's order does not matter.

    Raises
    ------
    DataError
        If the file is missing or no CSV file; if a bone is missing, repeated or unknown; if no person's lengths in mm
        have this sum.
    """
    try:
        text = Path(path).read_text(encoding="utf-8-sig")  # spreadsheets write a byte order mark
        rows = [row for row in csv.reader(text.splitlines(), strict=True) if any(cell.strip() for cell in row)]
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror or error})") from error
    except (UnicodeDecodeError, csv.Error) as error:
        raise DataError(f"{path}: is no CSV file ({error})") from error
    if not rows or [cell.strip() for cell in rows[0]] != _COLUMNS:
        raise DataError(f"{path}: bone lengths begin with the line {','.join(_COLUMNS)}")
    known, found, faults = bone_names(skeleton), dict[str, float](), []
    for row in rows[1:]:
        bone, length = row[0].strip(), _length(row)
        if bone not in known:
            faults.append(f"no bone {bone!r}")
        elif bone in found:
            faults.append(f"{bone} twice")
        elif length is None:
            faults.append(f"{bone} needs one positive length, found {','.join(row[1:]).strip() or 'none'}")
        found[bone] = length or 0.0
    missing = [bone for bone in known if bone not in found]
    faults += [f"missing: {', '.join(missing)}"] if missing else []
    if faults:
        raise DataError(f"{path}: {'; '.join(faults)}")
    total = sum(found.values())
    if not _MIN_TOTAL <= total <= _MAX_TOTAL:
        raise DataError(f"{path}: the {len(known)} bones make {total:g} mm together, which is no person; are they mm?")
    return np.array([found[bone] for bone in known])


def _length(row: list[str]) -> float | None:
    try:
        (text,) = row[1:]
        length = float(text)
    except ValueError:
        return None
    return length if 0 < length < math.inf else None
