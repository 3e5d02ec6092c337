"""C3D files, the binary format of motion capture: read in chunks of frames, checked after they are written.

ezc3d writes the files but does not read them here. It makes one object for each point, which takes several times the
memory and the time, and it does not report a truncated file: `tests/unit/pose/test_c3d_file.py` shows the two faults.
"""

from __future__ import annotations

import errno
import struct
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pose.errors import DataError
from pose.types import Float32Array, FloatArray

#: Bytes of a block; the file gives the places of its parts in blocks.
_BLOCK = 512
#: The second byte of every C3D file.
_MAGIC = 80
#: Codes of the three processors: Intel (little endian), DEC (VAX floats), MIPS (big endian).
_INTEL, _DEC, _MIPS = 84, 85, 86
#: Frames converted at once, few enough to stay in the processor's cache.
_CHUNK = 200
#: Bytes of a value by the code of its type: -1 characters, 1 bytes, 2 integers, 4 floats.
_TYPE_SIZES = {-1: 1, 1: 1, 2: 2, 4: 4}
#: Largest number of points in a frame; a header that gives more is damaged.
_MAX_POINTS = 10_000

Parameters = dict[str, "list[str] | FloatArray"]


@dataclass(frozen=True, eq=False)
class C3dFile:
    """What a C3D file holds.

    Parameters
    ----------
    positions : ndarray of shape (n_frames, n_points, 3)
        In the file's unit; NaN where the residual says that a point was not seen.
    first_frame : int
        Number of the first frame in the header, which usually counts from 1.
    groups : dict of str to dict
        Parameters by group and name, in upper case: lists of str, stripped of blanks, or flat float arrays.
    analog : ndarray of shape (n_samples, n_channels)
        Scaled samples of the analog channels; empty unless they were asked for.
    """

    positions: FloatArray
    first_frame: int
    groups: dict[str, Parameters]
    analog: FloatArray

    @property
    def point(self) -> Parameters:
        """The parameters of the group POINT."""
        return self.groups.get("POINT", {})

    def texts(self, group: str, name: str) -> list[str]:
        """A parameter that is a list of texts; an empty list where it is missing or something else."""
        value = self.groups.get(group, {}).get(name)
        return value if isinstance(value, list) else []

    def number(self, group: str, name: str) -> float | None:
        """The first number of a parameter; None where it is missing or something else."""
        value = self.groups.get(group, {}).get(name)
        return float(value[0]) if isinstance(value, np.ndarray) and value.size else None


@dataclass(frozen=True)
class _Header:
    """The contents of the first block.

    Parameters
    ----------
    n_points, n_analog : int
        Points in a frame, and analog values in a frame, of all channels together.
    first_frame, n_frames : int
    scale : float
        Factor of points stored as integers; negative where points are stored as floats.
    data_start : int
        Byte where the frames begin.
    """

    n_points: int
    n_analog: int
    first_frame: int
    n_frames: int
    scale: float
    data_start: int


def read_c3d_file(path: Path, *, analog: bool = False) -> C3dFile:
    """Read a C3D file in any of the three byte orders, its points stored as integers or floats.

    Parameters
    ----------
    path : Path
    analog : bool
        Whether the analog channels are read too.

    Raises
    ------
    DataError
        If the file is no C3D file, truncated or inconsistent.
    OSError
        If the file cannot be opened.

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
        processor = section[3]
        if processor not in (_INTEL, _DEC, _MIPS):
            raise DataError(f"{path}: is not a readable c3d file (processor code {processor}; 84, 85 and 86 are known)")
        header = _read_header(head, processor)
        # Some writers give too few blocks of parameters, or 0: the parameters then end where the data begin.
        n_bytes = max(section[2] * _BLOCK, header.data_start - parameters_start) - 4
        groups = _parameters(path, file.read(max(n_bytes, 0)), processor)
    header = _reconcile(path, header, groups.get("POINT", {}))
    if header.data_start <= parameters_start:
        raise DataError(f"{path}: is not a readable c3d file (no block is said to hold its points)")
    positions, samples = _read_frames(path, header, processor, size, analog)
    return C3dFile(positions, header.first_frame, groups, _scaled_analog(samples, groups.get("ANALOG", {})))


def _read_header(head: bytes, processor: int) -> _Header:
    order = ">" if processor == _MIPS else "<"
    n_points, n_analog, first, last = struct.unpack_from(f"{order}4H", head, 2)
    scale = float(_floats(head[12:16], processor)[0])
    (data_block,) = struct.unpack_from(f"{order}H", head, 16)
    return _Header(n_points, n_analog, first, max(last - first + 1, 0), scale, max(data_block - 1, 0) * _BLOCK)


def _reconcile(path: Path, header: _Header, parameters: Parameters) -> _Header:
    """The header corrected by the parameters, since its frame numbers end at 65,535; the point counts must agree."""
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
    return replace(header, n_frames=n_frames, scale=scale, data_start=data_start)


def _whole_number(value: list[str] | FloatArray | None) -> int | None:
    """The only number of a parameter, None for anything else; 16-bit integers are unsigned."""
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


def _parameters(path: Path, raw: bytes, processor: int) -> dict[str, Parameters]:
    """All parameters by group and name."""
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
    return {name: found.get(number, {}) for number, name in reversed(group_names.items())}


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
        return [_text(content[i : i + width]) for i in range(0, count, max(width, 1))]
    if kind == 4:
        return _floats(content, processor).astype(float)
    return (np.frombuffer(content, "i1") if kind == 1 else _integers(content, processor)).astype(float)


def _text(raw: bytes) -> str:
    """Text without blanks at its ends; the format does not fix an encoding beyond ASCII."""
    try:
        return raw.decode().strip(" \0")
    except UnicodeDecodeError:
        return raw.decode("latin-1").strip(" \0")


def _read_frames(path: Path, header: _Header, processor: int, size: int, analog: bool) -> tuple[FloatArray, FloatArray]:
    """All positions, and the analog values (n_frames, n) as stored; the file is read once, some frames at a time."""
    if header.n_points > _MAX_POINTS:
        raise DataError(f"{path}: {header.n_points} points cannot be right")
    width = 4 if header.scale < 0 else 2  # a negative scale means floats
    n_values = 4 * header.n_points + header.n_analog
    data_size = max(size - header.data_start, 0)
    if data_size < header.n_frames * n_values * width:
        raise DataError(f"{path}: is truncated: it holds {data_size // (n_values * width)} of {header.n_frames} frames")
    positions = np.empty((header.n_frames, header.n_points, 3))
    samples = np.empty((header.n_frames, header.n_analog if analog else 0))
    with path.open("rb") as file:
        file.seek(header.data_start)
        for start in range(0, header.n_frames, _CHUNK):
            n = min(_CHUNK, header.n_frames - start)
            raw = file.read(n * n_values * width)
            values = _floats(raw, processor) if width == 4 else _integers(raw, processor)
            rows = values.reshape(n, n_values)
            points = rows[:, : 4 * header.n_points].reshape(n, header.n_points, 4)
            chunk = positions[start : start + n]
            chunk[...] = points[:, :, :3]
            if width == 2:
                chunk *= header.scale
            chunk[points[:, :, 3] < 0] = np.nan
            if analog:
                samples[start : start + n] = rows[:, 4 * header.n_points :]
    return positions, samples


def _scaled_analog(samples: FloatArray, parameters: Parameters) -> FloatArray:
    """Samples (n_samples, n_channels) from stored values (n_frames, n): (value - OFFSET) * SCALE * GEN_SCALE."""
    used = parameters.get("USED")
    n_channels = int(used[0]) if isinstance(used, np.ndarray) and used.size else 0
    if n_channels < 1 or samples.shape[1] % n_channels:
        return np.empty((0, 0))
    scaled = samples.reshape(-1, n_channels)
    for name, change in (("OFFSET", np.subtract), ("SCALE", np.multiply)):
        values = parameters.get(name)
        if isinstance(values, np.ndarray) and len(values) >= n_channels:
            scaled = change(scaled, values[:n_channels])
    general = parameters.get("GEN_SCALE")
    factor = float(general[0]) if isinstance(general, np.ndarray) and general.size else 1.0
    return scaled * factor


def write_c3d_file(file: Any, path: Path) -> None:
    """Write a ``c3d`` object of ezc3d and read it back, since ezc3d does not report a full disk.

    Raises
    ------
    OSError
        If only a part of the file was written.
    """
    file.write(str(path))
    try:
        read_c3d_file(path)
    except DataError as error:
        raise OSError(errno.ENOSPC, "only a part of it was; is the disk full?", str(path)) from error
