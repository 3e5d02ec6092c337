"""Tidy CSV for pandas, R and spreadsheets: one row per frame and joint, and a metadata file beside the table.

Units, axes and provenance go into ``NAME.csv-metadata.json``, where CSV on the Web (W3C, "Metadata Vocabulary for
Tabular Data", 2015) looks. A comment line above the header would break readers with default settings.
"""

from __future__ import annotations

import csv
import json
import os
import warnings
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import islice
from pathlib import Path
from types import TracebackType
from typing import Any, Self
from urllib.parse import quote

import numpy as np
from numpy.typing import NDArray

from pose.errors import DataError
from pose.export.record import Record, as_record, checked_series, known_skeleton, parse_json, record_of
from pose.series.pose_series import PoseSeries, quality_of_words, quality_words
from pose.types import FloatArray, IntArray

_KEYS = ("frame", "time_s", "joint")
_POSITION = ("x_mm", "y_mm", "z_mm")
_STD = ("std_x_mm", "std_y_mm", "std_z_mm")
_QUALITY = "quality"
_BETWEEN_FLAGS = ";"
#: Rows converted from text to numbers at a time, while reading.
_ROWS = 10_000
#: Frames held in memory as text at a time, while writing.
_FRAMES = 1_000
_TYPES = {"frame": "integer", "joint": "string", _QUALITY: "string"}
_DESCRIPTIONS = {
    "frame": "0-based frame of the video",
    "time_s": "seconds from the first frame of the video",
    _QUALITY: f"good, or what may be wrong with the frame, separated by {_BETWEEN_FLAGS}",
}


def write_csv(path: str | Path, series: PoseSeries) -> None:
    """Write one row per frame and joint; numbers are empty where nobody was found.

    The columns are ``frame, time_s, joint, x_mm, y_mm, z_mm``, then ``std_x_mm, std_y_mm, std_z_mm`` and ``quality``
    where the series has them. `write_csv_metadata` writes what the table cannot say.
    """
    with CsvAppender(path, series) as appender:
        appender.append(series)


class CsvAppender:
    """Writes a table in batches; the first series decides its columns."""

    def __init__(self, path: str | Path, series: PoseSeries) -> None:
        record_of(series)  # refuses names and axes that no file can hold, before the file is created
        self._file = Path(path).open("w", newline="", encoding="utf-8")  # noqa: SIM115 - closed by __exit__
        self._writer = csv.writer(self._file, lineterminator="\r\n")
        self._writer.writerow(_columns(series))

    def append(self, series: PoseSeries) -> None:
        """Write the rows of some frames."""
        names = [_quoted(name) for name in series.skeleton.names]
        for start in range(0, len(series.frame), _FRAMES):
            self._file.writelines(_lines(series, slice(start, start + _FRAMES), names))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()


def _lines(series: PoseSeries, part: slice, names: Sequence[str]) -> list[str]:
    """The lines of text of some frames."""
    joints = series.joints[part]
    numbers = joints if series.std is None else np.concatenate([joints, series.std[part]], axis=2)
    form = ",".join(["%.2f"] * numbers.shape[2])
    n = len(joints)
    quality = [""] * n if series.quality is None else [f",{_flags_text(int(flags))}" for flags in series.quality[part]]
    lines = []
    for frame, time, pose, flags in zip(series.frame[part], series.time[part], numbers.tolist(), quality, strict=True):
        start = f"{frame},{time:.6f}"
        for name, row in zip(names, pose, strict=True):
            text = (form % tuple(row)).replace("nan", "")
            lines.append(f"{start},{name},{text}{flags}\r\n")
    return lines


def metadata_path(path: str | Path) -> Path:
    """Path of a table's metadata file: ``a.csv-metadata.json`` for ``a.csv``."""
    path = Path(path)
    return path.with_name(f"{path.name}-metadata.json")


def write_csv_metadata(path: str | Path, series: PoseSeries, *, table: str | None = None) -> None:
    """Write the columns' types and units, axes, skeleton and provenance to `path`, which `metadata_path` names.

    `table` is the name of the CSV file; by default it is derived from `path`.
    """
    path = Path(path)
    name = table or path.name.removesuffix("-metadata.json")
    content = {
        "@context": "http://www.w3.org/ns/csvw",
        "url": quote(os.fsencode(name)),
        "tableSchema": {"columns": [_column(column) for column in _columns(series)], "primaryKey": ["frame", "joint"]},
        "notes": [record_of(series)],
    }
    path.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def read_csv(path: str | Path) -> PoseSeries:
    """Read a table of `write_csv`; rows and columns may come in any order, and further columns are ignored.

    Without the metadata file beside the table, the joints must be those of a known skeleton, and the axes are taken to
    be the camera's, with a warning.

    Raises
    ------
    DataError
        If it is no such table; the message names line and column.
    """
    path = Path(path)
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            table = _read_table(path, csv.reader(file))
    except UnicodeDecodeError as error:
        raise DataError(f"{path}: is not text in UTF-8 ({error.reason} at byte {error.start})") from error
    names = list(dict.fromkeys(table["joint"].tolist()))
    return _as_series(path, _record(path, names), table)


def _columns(series: PoseSeries) -> list[str]:
    columns = [*_KEYS, *_POSITION]
    columns += [] if series.std is None else _STD
    return columns + ([] if series.quality is None else [_QUALITY])


def _column(name: str) -> dict[str, Any]:
    what = "position" if name in _POSITION else "standard deviation"
    text = _DESCRIPTIONS.get(name, f"{what} along {name[-4]}, mm" if name.endswith("_mm") else "name of the joint")
    return {"titles": name, "datatype": _TYPES.get(name, "double"), "dc:description": text}


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"' if any(mark in name for mark in ',"') else name


@cache
def _flags_text(flags: int) -> str:
    return _BETWEEN_FLAGS.join(quality_words(flags))


def _read_table(path: Path, rows: Any) -> dict[str, NDArray[Any]]:
    """The known columns of a table, by name."""
    try:
        header = next(rows, None)
        if header is None:
            raise DataError(f"{path}: is empty, a table of poses begins with a line of column names")
        index = _find_columns(path, header)
        parts: dict[str, list[NDArray[Any]]] = {name: [_convert(name, [])] for name in index}
        for lines, columns in _batches(path, rows, len(header)):
            for name, column in index.items():
                texts = columns[column]
                try:
                    parts[name].append(_convert(name, texts))
                except (ValueError, OverflowError) as error:
                    raise DataError(_first_wrong(path, name, texts, lines)) from error
    except csv.Error as error:
        raise DataError(f"{path}, line {rows.line_num}: is not a CSV file ({error})") from error
    return {name: np.concatenate(batches) for name, batches in parts.items()}


def _find_columns(path: Path, header: list[str]) -> dict[str, int]:
    names = [name.strip() for name in header]
    present = [name for name in _STD if name in names]
    wanted = [*_KEYS, *_POSITION, *(_STD if present else ()), *([_QUALITY] if _QUALITY in names else [])]
    missing = [name for name in wanted if name not in names]
    twice = [name for name in wanted if names.count(name) > 1]
    faults = [f"lacks the columns {', '.join(missing)}"] * bool(missing)
    faults += [f"has the columns {', '.join(twice)} twice"] * bool(twice)
    if faults:
        mark = next((mark for mark in ";\t" if mark in header[0]), None) if len(header) == 1 else None
        if mark:
            name = "semicolons" if mark == ";" else "tabs"
            raise DataError(f"{path}: its columns are parted by {name}: save it with commas, and points in the numbers")
        shown = ", ".join(names[:12]) + (", ..." if len(names) > 12 else "")
        raise DataError(f"{path}: {'; '.join(faults)} (its columns: {shown})")
    return {name: names.index(name) for name in wanted}


def _batches(path: Path, rows: Any, width: int) -> Iterator[tuple[list[int], list[tuple[str, ...]]]]:
    """Line numbers and columns of some rows at a time."""
    while numbered := [(rows.line_num, row) for row in islice(rows, _ROWS)]:
        filled = [pair for pair in numbered if pair[1]]
        if not filled:
            continue
        lines, batch = zip(*filled, strict=True)
        if set(map(len, batch)) != {width}:
            line, row = next(pair for pair in filled if len(pair[1]) != width)
            raise DataError(f"{path}, line {line}: has {len(row)} fields, the header has {width}; is it truncated?")
        yield list(lines), list(zip(*batch, strict=True))


def _convert(name: str, texts: Sequence[str]) -> NDArray[Any]:
    if name == "joint":
        return np.array([text.strip() for text in texts], dtype=np.str_)
    if name == "frame":
        return np.array([int(text) for text in texts], dtype=np.int64)
    if name == _QUALITY:
        return np.array([_flags_of(text.strip()) for text in texts], dtype=np.int64)
    return np.array([float(text) if text.strip() else np.nan for text in texts], dtype=np.float64)


@cache
def _flags_of(text: str) -> int:
    return int(quality_of_words(text.split(_BETWEEN_FLAGS)))


def _first_wrong(path: Path, name: str, texts: Sequence[str], lines: list[int]) -> str:
    for line, text in zip(lines, texts, strict=True):
        try:
            _convert(name, [text])
        except (ValueError, OverflowError) as error:
            wanted = {"frame": "a whole number is needed", _QUALITY: str(error)}.get(name, "a number is needed")
            return f"{path}, line {line}, column {name}: found {text!r}, {wanted}"
    raise AssertionError("no text is wrong on its own")


def _record(path: Path, names: list[str]) -> Record:
    beside = metadata_path(path)
    if not beside.is_file():
        if not names:
            raise DataError(f"{path}: has no rows, and no {beside.name} beside it says whose joints they would be")
        skeleton = known_skeleton(path, names)
        warnings.warn(
            f"{path}: there is no {beside.name} beside it: the axes are taken to be the camera's", stacklevel=4
        )
        return Record(skeleton, "camera")
    try:
        content = parse_json(beside.read_text(encoding="utf-8-sig"))
        notes = content["notes"][0]
    except (ValueError, LookupError, TypeError) as error:
        raise DataError(f"{beside}: is not the metadata of a table of poses ({error})") from error
    return as_record(beside, notes)


def _as_series(path: Path, record: Record, table: dict[str, NDArray[Any]]) -> PoseSeries:
    names = np.array(record.skeleton.names)
    frames, row_of, counts = np.unique(table["frame"], return_inverse=True, return_counts=True)
    joint_of = _indices(path, table["joint"], names)
    wrong = np.flatnonzero(counts != len(names))
    if len(wrong):
        raise DataError(
            f"{path}: frame {frames[wrong[0]]} has {counts[wrong[0]]} rows, not one for each of {len(names)} joints"
        )
    place = row_of * len(names) + joint_of
    if len(np.unique(place)) != len(place):
        twice = np.flatnonzero(np.bincount(place) > 1)[0]
        raise DataError(f"{path}: frame {frames[twice // len(names)]} has the joint {names[twice % len(names)]} twice")
    order = np.argsort(place)
    shape = (len(frames), len(names))

    def of_joints(columns: tuple[str, ...]) -> FloatArray:
        return np.stack([table[column][order].reshape(shape) for column in columns], axis=-1)

    def of_frames(column: str) -> NDArray[Any]:
        values = table[column][order].reshape(shape)
        differ = np.flatnonzero(((values != values[:, :1]) & ~(np.isnan(values) & np.isnan(values[:, :1]))).any(axis=1))
        if len(differ):
            raise DataError(f"{path}, column {column}: differs between the joints of frame {frames[differ[0]]}")
        return values[:, 0]

    return checked_series(
        path,
        record,
        frames,
        of_frames("time_s"),
        of_joints(_POSITION),
        of_joints(_STD) if _STD[0] in table else None,
        of_frames(_QUALITY) if _QUALITY in table else None,
    )


def _indices(path: Path, joints: NDArray[np.str_], names: NDArray[np.str_]) -> IntArray:
    known = np.sort(names)
    place = np.minimum(np.searchsorted(known, joints), len(known) - 1)
    wrong = np.flatnonzero(known[place] != joints)
    if len(wrong):
        name = str(joints[wrong[0]])
        raise DataError(f"{path}, column joint: {name!r} is no joint of its skeleton ({', '.join(names)})")
    return np.argsort(names)[place]
