"""TRC, the marker file of OpenSim: tab-separated text with one frame rate.

The record stands as JSON behind the file's name in the first line, where OpenSim accepts anything.
"""

from __future__ import annotations

import json
import math
import warnings
from pathlib import Path
from typing import NoReturn

import numpy as np

from pose.errors import DataError
from pose.export.record import Record, checked_series, known_skeleton, parse_record, record_of
from pose.export.timing import regular_rate
from pose.series.pose_series import PoseSeries
from pose.types import FloatArray, IntArray

_KEYS = "DataRate CameraRate NumFrames NumMarkers Units OrigDataRate OrigDataStartFrame OrigNumFrames".split()
#: mm per unit of length, for the units that are read.
_MM_PER_UNIT = {"mm": 1.0, "m": 1000.0}
#: Lines before the first frame.
_HEADER_LINES = 5
#: Largest number of digits in a count.
_MAX_DIGITS = 9
#: Decimals of a number in mm: a float32 is the same number when it is read back.
_DECIMALS = 5


def write_trc(path: str | Path, series: PoseSeries, *, rate: float | None = None, name: str | None = None) -> None:
    """Write markers in mm; cells are empty where nobody was found, and ``Frame#`` counts from 1.

    Standard deviations and quality flags have no place in the format and are left out, with a warning.

    Parameters
    ----------
    path : path-like
    series : PoseSeries
        Written in its own axes, which the record states. OpenSim expects y up: see `pose.export.axes.to_y_up`.
    rate : float, optional
        Frames per second; by default computed from the times.
    name : str, optional
        The file's name in its header and in messages.

    Raises
    ------
    DataError
        If the frames are not evenly spaced.
    """
    path = Path(path)
    where = path if name is None else path.with_name(name)
    rate = regular_rate(where, series) if rate is None else rate
    lost = ["standard deviations"] * (series.std is not None) + ["quality flags"] * (series.quality is not None)
    if lost:
        warnings.warn(f"{where}: TRC has no place for {' and '.join(lost)}; they are left out", stacklevel=2)
    n, names = len(series.frame), series.skeleton.names
    record = json.dumps(record_of(series), ensure_ascii=False, separators=(",", ":"))
    shown = f"{rate:.10g}"
    values = [shown, shown, n, len(names), "mm", shown, int(series.frame[0]) + 1 if n else 1, n]
    numbers = range(1, len(names) + 1)
    lines = [
        "\t".join(["PathFileType", "4", "(X/Y/Z)", where.name, record]),
        "\t".join(_KEYS),
        "\t".join(map(str, values)),
        "Frame#\tTime\t" + "".join(f"{name}\t\t\t" for name in names),
        "\t\t" + "".join(f"X{number}\tY{number}\tZ{number}\t" for number in numbers),
        "",
    ]
    # A tab ends each row, as in OpenSim's own files: its reader drops a row's last cell if that is empty.
    form = f"%.{_DECIMALS}f\t" * (3 * len(names))
    empty = "\t" * (3 * len(names))
    for frame, time, pose, found in zip(series.frame, series.time, series.joints, series.found, strict=True):
        cells = form % tuple(pose.ravel().tolist()) if found else empty
        lines.append(f"{frame + 1}\t{time:.6f}\t{cells}")
    # OpenSim's reader needs line ends of one character.
    path.write_text("\n".join(lines) + "\n", encoding="utf-8", newline="\n")


def read_trc(path: str | Path) -> PoseSeries:
    """Read a TRC file of `write_trc`, or another tool's whose markers are the joints of a known skeleton.

    Raises
    ------
    DataError
        If the file is not TRC or is truncated; the message names line and column.
    """
    path = Path(path)
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except UnicodeDecodeError as error:
        raise DataError(f"{path}: is not text in UTF-8 ({error.reason} at byte {error.start})") from error
    if not lines or not lines[0].startswith("PathFileType"):
        raise DataError(f"{path}: is not a TRC file (its first line does not begin with PathFileType)")
    if len(lines) < _HEADER_LINES:
        raise DataError(f"{path}: is truncated inside its header")
    header = _header(path, lines[1], lines[2])
    names = [name for name in lines[3].split("\t")[2:] if name]
    if len(names) != int(header["NumMarkers"]):
        raise DataError(f"{path}, line 4: names {len(names)} markers, NumMarkers announces {header['NumMarkers']}")
    record = _record(path, lines[0], names)
    frame, time, values = _rows(path, lines, names)
    if len(frame) != int(header["NumFrames"]):
        raise DataError(
            f"{path}: holds {len(frame)} frames, its header announces {header['NumFrames']}; is it truncated?"
        )
    joints = values.reshape(-1, len(names), 3) * _MM_PER_UNIT[header["Units"]]
    return checked_series(path, record, frame - 1, time, joints)


def _header(path: Path, keys: str, values: str) -> dict[str, str]:
    header = dict(zip(keys.split("\t"), values.split("\t"), strict=False))
    faults = [f"lacks {key}" for key in ("NumFrames", "NumMarkers", "Units") if not header.get(key)]
    for key in ("NumFrames", "NumMarkers"):
        if header.get(key) and not (header[key].isdecimal() and len(header[key]) <= _MAX_DIGITS):
            faults.append(f"{key} is {header[key]!r}, a whole number is needed")
    if header.get("Units") and header["Units"] not in _MM_PER_UNIT:
        faults.append(f"the unit is {header['Units']!r}, there are {', '.join(_MM_PER_UNIT)}")
    if faults:
        raise DataError(f"{path}: its header {'; '.join(faults)}")
    return header


def _record(path: Path, line: str, names: list[str]) -> Record:
    fields = line.split("\t")
    if len(fields) > 4 and fields[4].startswith("{"):
        record = parse_record(f"{path}, line 1", fields[4])
        if list(record.skeleton.names) != names:
            raise DataError(f"{path}: the markers of line 4 are not the joints of line 1")
        return record
    warnings.warn(f"{path}: states no axes: y is taken to be up, as in OpenSim", stacklevel=4)
    return Record(known_skeleton(path, names), "world-y-up")


def _rows(path: Path, lines: list[str], names: list[str]) -> tuple[IntArray, FloatArray, FloatArray]:
    width = 2 + 3 * len(names)
    columns = ["Frame#", "Time", *(f"{axis} of {name}" for name in names for axis in "XYZ")]
    frames, numbers = [], []
    for number, line in enumerate(lines[_HEADER_LINES:], _HEADER_LINES + 1):
        if not line.strip():
            continue
        cells = line.split("\t")
        # Some writers end each line with a tab.
        cells = cells[:width] if len(cells) == width + 1 and not cells[width].strip() else cells
        if len(cells) != width:
            raise DataError(f"{path}, line {number}: has {len(cells)} fields, {width} are needed; is it truncated?")
        try:
            frames.append(int(np.int64(int(cells[0]))))
            numbers.append([float(cell) if cell.strip() else math.nan for cell in cells[1:]])
        except (ValueError, OverflowError):
            _name_wrong_cell(path, number, columns, cells)
    values = np.array(numbers, dtype=np.float64).reshape(-1, width - 1)
    return np.array(frames, dtype=np.int64), values[:, 0], values[:, 1:]


def _name_wrong_cell(path: Path, number: int, columns: list[str], cells: list[str]) -> NoReturn:
    for column, cell in zip(columns, cells, strict=True):
        try:
            np.int64(int(cell)) if column == "Frame#" else float(cell.strip() or "nan")
        except (ValueError, OverflowError) as error:
            raise DataError(f"{path}, line {number}, column {column}: found {cell!r}, a number is needed") from error
    raise AssertionError("no cell is wrong on its own")
