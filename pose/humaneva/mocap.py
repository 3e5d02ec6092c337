"""Marker tracks from ``.c3d`` and ``.mat`` files."""

from __future__ import annotations

import struct
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import ezc3d
import numpy as np
import scipy.io
from numpy.typing import NDArray

from pose.errors import DataError

FloatArray = NDArray[np.float64]

_MM_PER_UNIT = {"mm": 1.0, "cm": 10.0, "m": 1000.0}
#: A body's markers lie decimetres from the origin; a smaller median means the numbers are metres.
_SMALLEST_MEDIAN_MM = 20.0
_DERIVED_SUFFIXES = ("Angles", "Force", "Moment", "Power")


@dataclass(frozen=True, eq=False)
class MarkerTracks:
    """Marker positions over time.

    Parameters
    ----------
    path : Path
        Where they come from.
    labels : tuple of str
        One a marker, as in the file.
    positions : ndarray of shape (n_frames, n_markers, 3)
        mm, world; NaN where a marker was not seen.
    rate : float
        Hz.
    """

    path: Path
    labels: tuple[str, ...]
    positions: FloatArray
    rate: float

    def __len__(self) -> int:
        return len(self.positions)

    def find(self, name: str) -> int | None:
        """Index of the marker called `name`, whatever subject prefix it carries; None if there is none."""
        bare = [label.rsplit(":", 1)[-1].strip() for label in self.labels]
        if name in bare:
            return bare.index(name)
        for index, label in enumerate(bare):
            if name in label and not label.endswith(_DERIVED_SUFFIXES):
                warnings.warn(f"{self.path}: no marker {name}; taking {self.labels[index]!r} for it", stacklevel=2)
                return index
        return None

    def require(self, names: tuple[str, ...]) -> FloatArray:
        """Positions of the named markers, (n_frames, len(names), 3).

        Raises
        ------
        DataError
            If any is missing from the file; the message lists all that are.
        """
        found = {name: self.find(name) for name in names}
        missing = [name for name, index in found.items() if index is None]
        if missing:
            raise DataError(f"{self.path}: lacks the markers {' '.join(missing)}")
        return self.positions[:, [index for index in found.values() if index is not None]]


def read_markers(path: str | Path) -> MarkerTracks:
    """Read a ``.c3d`` or ``.mat`` file of HumanEva.

    A marker counts as missing (NaN) where the file says NaN, (0, 0, 0) or a negative residual.

    Raises
    ------
    DataError
        If the file is missing, empty, foreign, or in a unit that cannot be right.
    """
    path = Path(path)
    if not path.is_file():
        raise DataError(f"{path}: no such motion capture file")
    tracks = _read_mat(path) if path.suffix.lower() == ".mat" else _read_c3d(path)
    if tracks.positions.shape[0] == 0 or tracks.positions.shape[1] == 0:
        raise DataError(f"{path}: holds no markers")
    if not np.isfinite(tracks.positions).any():
        raise DataError(f"{path}: no marker is seen in any frame")
    median = float(np.nanmedian(np.abs(tracks.positions)))
    if median < _SMALLEST_MEDIAN_MM:
        raise DataError(f"{path}: the median coordinate is {median:.3g}, so the unit is not mm")
    return tracks


def _without_gaps(positions: FloatArray, residuals: NDArray[Any] | None = None) -> FloatArray:
    """NaN for all three conventions of a missing marker."""
    missing = ~np.isfinite(positions).all(axis=2) | (positions == 0).all(axis=2)
    if residuals is not None:
        missing |= residuals < 0
    positions[missing] = np.nan
    return positions


_C3D_BLOCK = 512  # bytes
_C3D_MAGIC = 80
_BIG_ENDIAN_PROCESSOR = 86


def _check_c3d_is_whole(path: Path) -> None:
    """Refuse a foreign or truncated file by its header: ezc3d reads beyond the end of one for hours."""
    with path.open("rb") as file:
        head = file.read(_C3D_BLOCK)
        if len(head) < _C3D_BLOCK or head[1] != _C3D_MAGIC or head[0] == 0:
            raise DataError(f"{path}: is not a readable c3d file (no c3d header)")
        parameters_start = (head[0] - 1) * _C3D_BLOCK
        file.seek(parameters_start)
        parameters_head = file.read(4)
        size = file.seek(0, 2)
    if len(parameters_head) < 4 or size < parameters_start + parameters_head[2] * _C3D_BLOCK:
        raise DataError(f"{path}: is truncated inside its parameters")
    order = ">" if parameters_head[3] == _BIG_ENDIAN_PROCESSOR else "<"
    n_points, n_analog, first, last = struct.unpack_from(f"{order}4H", head, 2)
    scale, data_block = struct.unpack_from(f"{order}fH", head, 12)
    bytes_a_frame = (4 * n_points + n_analog) * (4 if scale < 0 else 2)  # a negative scale means floats
    data_size = max(size - (data_block - 1) * _C3D_BLOCK, 0)
    n_frames = last - first + 1
    if data_size < n_frames * bytes_a_frame:
        raise DataError(f"{path}: is truncated: it holds {data_size // bytes_a_frame} of {n_frames} frames")


def _read_c3d(path: Path) -> MarkerTracks:
    _check_c3d_is_whole(path)
    try:
        data = ezc3d.c3d(str(path))
    except Exception as error:  # ezc3d raises whatever its C++ threw
        raise DataError(f"{path}: is not a readable c3d file ({' '.join(str(error).split())})") from error
    parameters = data["parameters"].get("POINT", {})
    points = data["data"]["points"]
    labels = [label for key in ("LABELS", "LABELS2", "LABELS3") for label in parameters.get(key, {}).get("value", [])]
    labels += [f"*{index}" for index in range(len(labels), points.shape[1])]
    positions = np.moveaxis(points[:3], 0, 2).swapaxes(0, 1).astype(float)
    residuals = data["data"]["meta_points"]["residuals"][0].T
    tracks = MarkerTracks(
        path,
        tuple(labels[: points.shape[1]]),
        _without_gaps(positions, residuals),
        float(parameters["RATE"]["value"][0]) if "RATE" in parameters else 0.0,
    )
    return _to_mm(tracks, next(iter(parameters.get("UNITS", {}).get("value", [])), None))


def _to_mm(tracks: MarkerTracks, unit: str | None) -> MarkerTracks:
    unit = (unit or "").strip().lower()
    if not unit:
        warnings.warn(f"{tracks.path}: states no unit; taking mm", stacklevel=4)
        return tracks
    if unit not in _MM_PER_UNIT:
        raise DataError(f"{tracks.path}: unknown unit {unit!r} (mm, cm and m are known)")
    tracks.positions[...] *= _MM_PER_UNIT[unit]
    return tracks


def _unwrap(value: Any) -> Any:
    """Matlab wraps a single value in any number of 1x1 arrays and cells."""
    while isinstance(value, np.ndarray) and value.size == 1:
        value = value.ravel()[0]
    return value


def _read_mat(path: Path) -> MarkerTracks:
    try:
        content = scipy.io.loadmat(path, struct_as_record=False)
    except Exception as error:  # scipy raises many kinds on a foreign file
        raise DataError(f"{path}: is not a readable .mat file ({error})") from error
    missing = [name for name in ("Markers", "ParameterGroup") if name not in content]
    if missing:
        raise DataError(f"{path}: lacks the variable {' and '.join(missing)}")
    markers = np.asarray(content["Markers"], dtype=float)
    if markers.ndim != 3 or markers.shape[2] != 3:
        raise DataError(f"{path}: Markers has the shape {markers.shape}, expected (frames, markers, 3)")
    labels = _mat_labels(path, content["ParameterGroup"])
    if len(labels) < markers.shape[1]:
        raise DataError(f"{path}: {markers.shape[1]} markers but {len(labels)} labels")
    rate = float(np.ravel(content.get("VideoFrameRate", 0.0))[0])
    return MarkerTracks(path, tuple(labels[: markers.shape[1]]), _without_gaps(markers.copy()), rate)


def _mat_labels(path: Path, groups: Any) -> list[str]:
    for group in np.ravel(groups):
        if _unwrap(group.name) != "POINT":
            continue
        for parameter in np.ravel(group.Parameter):
            if _unwrap(parameter.name) == "LABELS":
                return [str(_unwrap(label)) for label in np.ravel(parameter.data)]
    raise DataError(f"{path}: ParameterGroup holds no POINT / LABELS")
