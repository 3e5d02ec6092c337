"""The points of a C3D file, frame by frame from the disk.

ezc3d makes an object of every point, 400 MB for 10,000 pictures' worth of markers, and reads beyond the end of a
truncated file; a marker file needs no more than its parameters and one array.
"""

from __future__ import annotations

import errno
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pose.errors import DataError
from pose.types import Float32Array, FloatArray

_BLOCK = 512  # bytes
_MAGIC = 80
_INTEL, _DEC, _MIPS = 84, 85, 86  # processor codes
_CHUNK = 200  # frames converted at once, so that they stay in the processor's cache
_TYPE_SIZES = {-1: 1, 1: 1, 2: 2, 4: 4}  # characters, bytes, integers, floats
_MAX_POINTS = 10_000

Parameters = dict[str, "list[str] | FloatArray"]


@dataclass(frozen=True, eq=False)
class C3dPoints:
    """The point section of a C3D file.

    Parameters
    ----------
    positions : ndarray of shape (n_frames, n_points, 3)
        In the file's unit; NaN where the residual says that a point was not seen.
    parameters : dict
        Those of the group ``POINT``: lists of str, stripped of blanks, or flat float arrays.
    """

    positions: FloatArray
    parameters: Parameters


@dataclass(frozen=True)
class _Header:
    """What the first block says."""

    n_points: int
    n_analog: int
    n_frames: int
    scale: float
    data_start: int


def read_c3d(path: Path) -> C3dPoints:
    """Read the points of a C3D file of any processor's byte order, as integers or floats.

    Raises
    ------
    DataError
        If the file is foreign, truncated or inconsistent.
    OSError
        If it cannot be opened.

    References
    ----------
    The C3D File Format, User Guide (Motion Lab Systems, 2008).
    """
    size = path.stat().st_size
    with path.open("rb") as file:
        head = file.read(_BLOCK)
        if len(head) < _BLOCK or head[1] != _MAGIC or head[0] == 0:
            raise DataError(f"{path}: is not a readable c3d file (no c3d header)")
        parameters_start = (head[0] - 1) * _BLOCK
        file.seek(parameters_start)
        section = file.read(4)
        if len(section) < 4 or size < parameters_start + section[2] * _BLOCK:
            raise DataError(f"{path}: is truncated inside its parameters")
        # Some writers leave the block count at 0 or too small: the data's start bounds the section as well.
        processor = section[3]
        if processor not in (_INTEL, _DEC, _MIPS):
            raise DataError(f"{path}: is not a readable c3d file (processor code {processor}; 84, 85 and 86 are known)")
        header = _read_header(head, processor)
        n_bytes = max(section[2] * _BLOCK, header.data_start - parameters_start) - 4
        parameters = _point_parameters(path, file.read(max(n_bytes, 0)), processor)
    header = _reconcile(path, header, parameters)
    if header.data_start <= parameters_start:
        raise DataError(f"{path}: is not a readable c3d file (no block is said to hold its points)")
    return C3dPoints(_read_points(path, header, processor, size), parameters)


def _read_header(head: bytes, processor: int) -> _Header:
    order = ">" if processor == _MIPS else "<"
    n_points, n_analog, first, last = struct.unpack_from(f"{order}4H", head, 2)
    scale = float(_floats(head[12:16], processor)[0])
    (data_block,) = struct.unpack_from(f"{order}H", head, 16)
    return _Header(n_points, n_analog, max(last - first + 1, 0), scale, max(data_block - 1, 0) * _BLOCK)


def _reconcile(path: Path, header: _Header, parameters: Parameters) -> _Header:
    """The parameters go before the header, whose frame numbers end at 65,535; of points both must say the same."""
    n_frames, scale, data_start = header.n_frames, header.scale, header.data_start
    used, start = _whole_number(parameters.get("USED")), _whole_number(parameters.get("DATA_START"))
    if used is not None and used != header.n_points:
        raise DataError(f"{path}: its header says {header.n_points} points, its parameters {used}")
    if not data_start and start:
        data_start = (start - 1) * _BLOCK
    n_frames = max(n_frames, _whole_number(parameters.get("FRAMES")) or 0)
    known = parameters.get("SCALE")
    if isinstance(known, np.ndarray) and known.size == 1 and known[0] != 0:
        scale = float(known[0])
    return _Header(header.n_points, header.n_analog, n_frames, scale, data_start)


def _whole_number(value: list[str] | FloatArray | None) -> int | None:
    """A single number of a parameter; integers of 16 bits are meant without a sign."""
    if not isinstance(value, np.ndarray) or value.size != 1 or not np.isfinite(value[0]):
        return None
    return int(value[0]) + (65536 if value[0] < 0 else 0)


def _integers(raw: bytes, processor: int) -> NDArray[np.int16]:
    return np.frombuffer(raw, ">i2" if processor == _MIPS else "<i2")


def _floats(raw: bytes, processor: int) -> Float32Array:
    """Four-byte floats of any of the three processors."""
    if processor != _DEC:
        return np.frombuffer(raw, ">f4" if processor == _MIPS else "<f4")
    # A VAX float has its 16-bit halves exchanged and an exponent 2 higher than IEEE's.
    words = np.frombuffer(raw, "<u2").reshape(-1, 2)[:, ::-1]
    exchanged = np.frombuffer(np.ascontiguousarray(words).tobytes(), "<f4")
    return np.asarray(exchanged / np.float32(4), dtype=np.float32)


def _point_parameters(path: Path, raw: bytes, processor: int) -> Parameters:
    """The parameters of the group POINT; records of other groups are passed over."""
    order = ">" if processor == _MIPS else "<"
    group_names: dict[int, str] = {}
    found: dict[int, Parameters] = {}
    at = 0
    try:
        while at + 2 <= len(raw):
            n_chars, group = struct.unpack_from("bb", raw, at)
            n_chars = abs(n_chars)  # negative: the parameter is locked
            if n_chars == 0 or group == 0:
                break
            name = raw[at + 2 : at + 2 + n_chars].decode("latin-1").strip().upper()
            at += 2 + n_chars
            (step,) = struct.unpack_from(f"{order}H", raw, at)
            if group < 0:
                group_names[-group] = name
            else:
                found.setdefault(group, {})[name] = _parameter_value(raw, at + 2, processor)
            if step == 0:  # the last record
                break
            at += step
    except (struct.error, IndexError, ValueError) as error:
        raise DataError(f"{path}: is not a readable c3d file (its parameters are damaged at byte {at})") from error
    for number, name in group_names.items():
        if name == "POINT":
            return found.get(number, {})
    return {}


def _parameter_value(raw: bytes, at: int, processor: int) -> list[str] | FloatArray:
    (kind,) = struct.unpack_from("b", raw, at)
    shape = list(raw[at + 2 : at + 2 + raw[at + 1]])
    at += 2 + len(shape)
    count = int(np.prod(shape, dtype=np.int64)) if shape else 1
    content = raw[at : at + count * _TYPE_SIZES.get(kind, 1)]
    if kind not in _TYPE_SIZES or len(content) < count * _TYPE_SIZES[kind]:
        raise ValueError("an unknown type, or a value that is cut off")
    if kind == -1:
        width = shape[0] if shape else 1
        return [content[i : i + width].decode("latin-1").strip(" \0") for i in range(0, count, max(width, 1))]
    if kind == 4:
        return _floats(content, processor).astype(float)
    return (np.frombuffer(content, "i1") if kind == 1 else _integers(content, processor)).astype(float)


def _read_points(path: Path, header: _Header, processor: int, size: int) -> FloatArray:
    """All positions; the file is read once, some frames at a time."""
    if header.n_points > _MAX_POINTS:
        raise DataError(f"{path}: {header.n_points} points cannot be right")
    width = 4 if header.scale < 0 else 2  # a negative scale means floats
    n_values = 4 * header.n_points + header.n_analog
    data_size = max(size - header.data_start, 0)
    if data_size < header.n_frames * n_values * width:
        raise DataError(f"{path}: is truncated: it holds {data_size // (n_values * width)} of {header.n_frames} frames")
    positions = np.empty((header.n_frames, header.n_points, 3))
    with path.open("rb") as file:
        file.seek(header.data_start)
        for start in range(0, header.n_frames, _CHUNK):
            n = min(_CHUNK, header.n_frames - start)
            raw = file.read(n * n_values * width)
            values = _floats(raw, processor) if width == 4 else _integers(raw, processor)
            points = values.reshape(n, n_values)[:, : 4 * header.n_points].reshape(n, header.n_points, 4)
            chunk = positions[start : start + n]
            chunk[...] = points[:, :, :3]
            if width == 2:
                chunk *= header.scale
            chunk[points[:, :, 3] < 0] = np.nan
    return positions


def write_whole(file: Any, path: Path) -> None:
    """Write a ``c3d`` of ezc3d, which itself says nothing when the disk is full.

    Raises
    ------
    OSError
        If only a part of it was written.
    """
    file.write(str(path))
    try:
        read_c3d(path)
    except DataError as error:
        raise OSError(errno.ENOSPC, "only a part of it was; is the disk full?", str(path)) from error
