"""C3D, the binary format of motion capture: points in mm at one frame rate, and parameters that describe them.

Standard deviations and quality flags of a series are analog channels at the frame rate, which every C3D viewer draws:
one channel per coordinate (``left_wrist_std_x``), and ``quality``. The parameter ``POSE:RECORD`` holds the record that
all formats share (`pose.export.record`), as JSON cut into pieces.
"""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from pose.c3d_file import C3dFile, read_c3d_file, write_c3d_file
from pose.errors import DataError
from pose.export.record import UNIT, Record, checked_series, known_skeleton, parse_record, record_of
from pose.export.timing import regular_rate
from pose.series.pose_series import PoseSeries
from pose.types import FloatArray, IntArray

#: Largest number of frames that the header can count.
_MAX_FRAMES = 65_535
#: Characters of the record in one text of a parameter; a text has at most 255 bytes.
_PIECE = 120
#: Largest number of texts in one parameter.
_MAX_PIECES = 255
#: Residual and standard deviations of a point that was not seen.
_UNSEEN = -1.0
#: Axes that point right and up on a screen, by the axes of a series without y up.
_SCREEN = {"camera": ("+X", "-Y"), "world": ("+X", "+Z")}
#: Axes that point right and up on a screen, for a series with y up.
_Y_UP_SCREEN = ("+X", "+Y")
#: mm per unit of length, for the units that are read.
_MM_PER_UNIT = {"mm": 1.0, "m": 1000.0}


def write_c3d(path: str | Path, series: PoseSeries, *, rate: float | None = None, name: str | None = None) -> None:
    """Write one point per joint, named after it; in frames that show nobody the residual is -1.

    Parameters
    ----------
    path : path-like
    series : PoseSeries
        In any axes; ``POINT:X_SCREEN`` and ``POINT:Y_SCREEN`` state which of them point right and up.
    rate : float, optional
        Frames per second; by default computed from the times.
    name : str, optional
        The file's name in messages.

    Raises
    ------
    DataError
        If the frames are not evenly spaced, or are more than the format can count.
    """
    import ezc3d  # needed for C3D alone, and slow to load

    where = Path(path) if name is None else Path(path).with_name(name)
    rate = regular_rate(where, series) if rate is None else rate
    n, names = len(series.frame), list(series.skeleton.names)
    if n > _MAX_FRAMES:
        raise DataError(f"{where}: a C3D file holds {_MAX_FRAMES} frames at most, here are {n}: use another format")
    step = int(series.frame[1] - series.frame[0]) if n > 1 else 1
    first = {"first_frame": int(series.frame[0]), "frame_step": step, "start_time_s": float(series.time[0])}
    file = ezc3d.c3d()
    point = file["parameters"]["POINT"]
    point["RATE"]["value"], point["UNITS"]["value"], point["LABELS"]["value"] = [rate], [UNIT], names
    right, up = _SCREEN.get(series.axes, _Y_UP_SCREEN)
    file.add_parameter("POINT", "X_SCREEN", [right])
    file.add_parameter("POINT", "Y_SCREEN", [up])
    file.add_parameter("POSE", "RECORD", _pieces(where, record_of(series) | {"rate_hz": rate, **first}))
    if first["first_frame"] + n <= _MAX_FRAMES:
        file["header"]["points"]["first_frame"] = first["first_frame"]  # ezc3d counts from 0, the file from 1
    points = np.ones((4, len(names), n))
    points[:3] = np.where(series.found[:, None, None], series.joints, 0.0).transpose(2, 1, 0)
    file["data"]["points"] = points
    residuals = np.where(series.found, 0.0, _UNSEEN)
    file["data"]["meta_points"]["residuals"] = np.broadcast_to(residuals, (1, len(names), n)).copy()
    channels = _channels(series)
    if channels:
        analog = file["parameters"]["ANALOG"]
        analog["RATE"]["value"], analog["LABELS"]["value"] = [rate], list(channels)
        analog["UNITS"]["value"] = [UNIT if "_std_" in label else "" for label in channels]
        file["data"]["analogs"] = np.stack(list(channels.values()))[None]
    write_c3d_file(file, Path(path))


def _channels(series: PoseSeries) -> dict[str, FloatArray]:
    """Analog channels by label; -1 where nobody was found."""
    channels = {}
    if series.std is not None:
        known = np.where(series.found[:, None, None], series.std, _UNSEEN)
        for joint, label in enumerate(_std_labels(series.skeleton.names)):
            for axis in range(3):
                channels[label[axis]] = known[:, joint, axis]
    if series.quality is not None:
        channels["quality"] = series.quality.astype(np.float64)
    return channels


def _std_labels(names: tuple[str, ...]) -> list[list[str]]:
    return [[f"{name}_std_{axis}" for axis in "xyz"] for name in names]


def _pieces(where: Path, record: dict[str, Any]) -> list[str]:
    # Readers strip blanks from the ends of texts, so blanks are escaped. Some know ASCII only, as `json.dumps` writes.
    text = json.dumps(record, separators=(",", ":")).replace(" ", "\\u0020")
    pieces = [text[start : start + _PIECE] for start in range(0, len(text), _PIECE)]
    if len(pieces) > _MAX_PIECES:
        raise DataError(f"{where}: its provenance has {len(text)} characters, C3D has room for {_PIECE * _MAX_PIECES}")
    return pieces


def read_c3d(path: str | Path) -> PoseSeries:
    """Read a C3D file of `write_c3d`, or another tool's whose points are the joints of a known skeleton.

    Raises
    ------
    DataError
        If the file is not C3D or is truncated, or its points are not the joints of a known skeleton.
    """
    path = Path(path)
    file = read_c3d_file(path, analog=True)
    names = file.texts("POINT", "LABELS")[: file.positions.shape[1]]
    unit = file.texts("POINT", "UNITS")
    if unit and unit[0] not in _MM_PER_UNIT:
        raise DataError(f"{path}: the unit is {unit[0]!r}, mm and m are known")
    record = _record(path, file, names)
    positions = file.positions * _MM_PER_UNIT[unit[0] if unit else UNIT]
    n = len(positions)
    given = record.extra
    rate = float(given.get("rate_hz") or file.number("POINT", "RATE") or 0.0)
    if not rate > 0:
        raise DataError(f"{path}: its frame rate is {rate:g}")
    first = int(given.get("first_frame", file.first_frame - 1))
    frame = first + np.arange(n, dtype=np.int64) * int(given.get("frame_step", 1))
    time = float(given.get("start_time_s", first / rate)) + np.arange(n) / rate
    labels = file.texts("ANALOG", "LABELS")
    # `write_c3d` writes one sample per frame; channels at another rate are another tool's.
    channels = dict(zip(labels, file.analog.T, strict=False)) if len(file.analog) == n else {}
    return checked_series(path, record, frame, time, positions, *_read_channels(path, channels, record, positions))


def _read_channels(
    path: Path, channels: dict[str, FloatArray], record: Record, positions: FloatArray
) -> tuple[FloatArray | None, IntArray | None]:
    wanted = [label for three in _std_labels(record.skeleton.names) for label in three]
    missing = [label for label in wanted if label not in channels]
    std = None
    if not missing:
        std = np.stack([channels[label] for label in wanted], axis=1).reshape(positions.shape).astype(np.float64)
        std = np.where(np.isfinite(positions), std, np.nan)
    elif len(missing) < len(wanted):
        raise DataError(f"{path}: lacks the analog channels {', '.join(missing)}")
    quality = channels.get("quality")
    return std, None if quality is None else np.round(quality).astype(np.int64)


def _record(path: Path, file: C3dFile, names: list[str]) -> Record:
    pieces = file.texts("POSE", "RECORD")
    if pieces:
        record = parse_record(path, "".join(pieces))
        if list(record.skeleton.names) != names:
            raise DataError(f"{path}: its points are not the joints that it says it has")
        return record
    skeleton = known_skeleton(path, names)
    up = file.texts("POINT", "Y_SCREEN")
    if up not in (["+Y"], ["+Z"]):
        warnings.warn(f"{path}: does not state which axis is up in Y_SCREEN: z is taken to be", stacklevel=4)
    return Record(skeleton, "world-y-up" if up == ["+Y"] else "world")
