"""JSON, one frame a line; the schema is ``docs/pose-series.schema.json``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from pose.errors import DataError
from pose.export.record import Record, as_record, checked_series, parse_json, record_of
from pose.series.pose_series import PoseSeries, quality_of_words, quality_words
from pose.types import FloatArray

#: Decimals of a number in mm: a micrometre.
_DECIMALS = 3
#: Largest frame number, and largest time in seconds: float64 holds every whole number up to here.
_MAX_INTEGER = 2**53


def write_json(path: str | Path, series: PoseSeries) -> None:
    """Write the record, and a list ``frames``.

    Each frame has ``frame``, ``time_s``, ``joints_mm`` (null where nobody was found), and ``std_mm`` and ``quality`` (a
    list of words) where the series has them.
    """
    head = json.dumps(record_of(series), ensure_ascii=False, indent=1)
    with Path(path).open("w", encoding="utf-8") as file:
        file.write(head.removesuffix("\n}") + ',\n "frames": [')
        for row in range(len(series.frame)):
            file.write(("," if row else "") + "\n  " + json.dumps(_frame(series, row), separators=(",", ":")))
        file.write("\n ]\n}\n")


def _frame(series: PoseSeries, row: int) -> dict[str, Any]:
    def vectors(values: FloatArray) -> list[list[float]] | None:
        rounded: list[list[float]] = (np.round(values[row], _DECIMALS) + 0.0).tolist()  # no -0
        return rounded if series.found[row] else None

    content: dict[str, Any] = {"frame": int(series.frame[row]), "time_s": float(series.time[row])}
    if series.quality is not None:
        content["quality"] = [word for word in quality_words(int(series.quality[row])) if word != "good"]
    content["joints_mm"] = vectors(series.joints)
    if series.std is not None:
        content["std_mm"] = vectors(series.std)
    return content


def read_json(path: str | Path) -> PoseSeries:
    """Read what `write_json` wrote.

    Raises
    ------
    DataError
        If the file is something else; the message names the frame and what is wrong in it.
    """
    path = Path(path)
    try:
        content = parse_json(path.read_text(encoding="utf-8-sig"))
    except UnicodeDecodeError as error:
        raise DataError(f"{path}: is not text in UTF-8 ({error.reason} at byte {error.start})") from error
    except ValueError as error:
        raise DataError(f"{path}: is not JSON, or is truncated ({error})") from error
    record = as_record(path, content)
    frames = content.get("frames")
    if not isinstance(frames, list):
        raise DataError(f"{path}: lacks the list of frames")
    rows = [_parse(path, number, entry, record) for number, entry in enumerate(frames)]
    shape = (len(rows), len(record.skeleton), 3)
    has = {key: bool(frames) and key in frames[0] for key in ("std_mm", "quality")}
    for number, entry in enumerate(frames):
        for key, expected in has.items():
            if (key in entry) != expected:
                raise DataError(f"{path}, frames[{number}]: {key} must stand in all frames or in none")
    return checked_series(
        path,
        record,
        np.array([row[0] for row in rows], dtype=np.int64),
        np.array([row[1] for row in rows], dtype=np.float64),
        np.array([row[2] for row in rows], dtype=np.float64).reshape(shape),
        np.array([row[3] for row in rows], dtype=np.float64).reshape(shape) if has["std_mm"] else None,
        np.array([row[4] for row in rows], dtype=np.int64) if has["quality"] else None,
    )


_Row = tuple[int, float, FloatArray, FloatArray, int]


def _parse(path: Path, number: int, entry: object, record: Record) -> _Row:
    where = f"{path}, frames[{number}]"
    if not isinstance(entry, dict):
        raise DataError(f"{where}: is not an object")
    frame, time = entry.get("frame"), entry.get("time_s")
    if not isinstance(frame, int) or isinstance(frame, bool) or abs(frame) > _MAX_INTEGER:
        raise DataError(f"{where}: frame is {frame!r}, a whole number is needed")
    if not isinstance(time, int | float) or isinstance(time, bool) or abs(time) > _MAX_INTEGER:
        raise DataError(f"{where}: time_s is {time!r}, a number is needed")
    if "joints_mm" not in entry:
        raise DataError(f"{where}: lacks joints_mm")
    words = entry.get("quality", [])
    try:
        flags = int(quality_of_words(words))
    except (ValueError, TypeError, AttributeError) as error:
        raise DataError(f"{where}: quality is {words!r} ({error})") from error
    vectors = [_vectors(where, key, entry.get(key), len(record.skeleton)) for key in ("joints_mm", "std_mm")]
    return frame, float(time), vectors[0], vectors[1], flags


def _vectors(where: str, key: str, value: object, n_joints: int) -> FloatArray:
    if value is None:
        return np.full((n_joints, 3), np.nan)
    try:
        vectors = np.array(value, dtype=np.float64)
    except (ValueError, TypeError, OverflowError):
        vectors = np.empty(0)
    if vectors.shape != (n_joints, 3):
        raise DataError(f"{where}: {key} is not a list of {n_joints} times 3 numbers, or null")
    return vectors
