"""The ``.mat`` files that the toolkit writes beside a ``.c3d``: markers and parameters (Matlab v5 to v7)."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from pose.errors import DataError
from pose.types import FloatArray


@dataclass(frozen=True, eq=False)
class MatMarkers:
    """Positions (n_frames, n_markers, 3) in the file's unit, NaN where not seen; labels, unit and rate, if stated."""

    positions: FloatArray
    labels: list[str]
    unit: str | None
    rate: float


def read_mat(path: Path) -> MatMarkers:
    """Read the variables ``Markers`` and ``ParameterGroup``, and the rate and the residuals if the file has them.

    Raises
    ------
    DataError
        If the file is foreign, or one of the two variables is missing or damaged.
    """
    content = load_mat(path)
    missing = [name for name in ("Markers", "ParameterGroup") if name not in content]
    if missing:
        raise DataError(f"{path}: lacks the variable {' and '.join(missing)}")
    positions = _markers(path, content["Markers"])
    residuals = np.asarray(content.get("ResidualError", ()))
    if residuals.shape == positions.shape[:2]:
        positions[residuals < 0] = np.nan
    parameters = _point_parameters(path, content["ParameterGroup"])
    labels = [str(_unwrap(label)) for label in np.ravel(parameters.get("LABELS", np.array([])))]
    if not labels:
        raise DataError(f"{path}: ParameterGroup holds no POINT / LABELS")
    if len(labels) < positions.shape[1]:
        raise DataError(f"{path}: {positions.shape[1]} markers but {len(labels)} labels")
    unit = str(_unwrap(parameters["UNITS"])) if np.size(parameters.get("UNITS", ())) else None
    return MatMarkers(positions, labels[: positions.shape[1]], unit, _rate(content, parameters))


def _markers(path: Path, value: Any) -> FloatArray:
    try:
        markers = np.asarray(value, dtype=float)
    except (TypeError, ValueError):
        raise DataError(f"{path}: Markers holds no numbers") from None
    if markers.ndim != 3 or markers.shape[2] != 3:
        raise DataError(f"{path}: Markers has the shape {markers.shape}, expected (frames, markers, 3)")
    return markers if markers.flags.writeable else markers.copy()


def _unwrap(value: Any) -> Any:
    """Matlab wraps a single value in any number of 1x1 arrays and cells."""
    while isinstance(value, np.ndarray) and value.size == 1:
        value = value.ravel()[0]
    return value


def _point_parameters(path: Path, groups: Any) -> dict[str, Any]:
    """Parameters of the group POINT by name."""
    try:
        for group in np.ravel(groups):
            if _unwrap(group.name) == "POINT":
                return {str(_unwrap(parameter.name)): parameter.data for parameter in np.ravel(group.Parameter)}
    except AttributeError:
        raise DataError(f"{path}: ParameterGroup is not the toolkit's (a struct of name and Parameter)") from None
    return {}


def _rate(content: dict[str, Any], parameters: dict[str, Any]) -> float:
    """Hz; 0 where the file states none."""
    for value in (content.get("VideoFrameRate"), parameters.get("RATE")):
        number = _unwrap(value)
        if isinstance(number, int | float | np.number) and np.isfinite(number):
            return float(np.real(number))
    return 0.0


def load_mat(path: Path) -> dict[str, Any]:
    """The variables of a file by name.

    Raises
    ------
    DataError
        If the file cannot be read, or is not a ``.mat`` file of these versions.
    """
    import scipy.io  # takes 20 MB of memory, and few callers need it

    try:
        content: dict[str, Any] = scipy.io.loadmat(path, struct_as_record=False)
    except NotImplementedError as error:
        raise DataError(f"{path}: is a Matlab v7.3 file; save it again with save(..., '-v7')") from error
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror or error})") from error
    except Exception as error:  # scipy raises many kinds on a foreign file
        raise DataError(f"{path}: is not a readable .mat file ({' '.join(str(error).split())})") from error
    return content
