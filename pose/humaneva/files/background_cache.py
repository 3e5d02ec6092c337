"""``Background_(C1).mat``: the toolkit's background model of a camera, kept so that recordings are read once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from pose.errors import DataError
from pose.humaneva.files.mat import load_mat
from pose.silhouette.toolkit_background import ToolkitBackground
from pose.types import FloatArray


def cache_name(camera: str) -> str:
    """The toolkit's name for the file."""
    return f"Background_({camera}).mat"


def write_background(path: str | Path, model: ToolkitBackground, source: str = "") -> None:
    """Write a fitted model as the toolkit would; the caller makes sure that the file appears whole.

    Parameters
    ----------
    path : path-like
        Ending in ``.mat``.
    model : ToolkitBackground
        Fitted to frames in the order blue, green, red.
    source : str
        Identifies the recordings that the model was fitted to; the toolkit does not read it.
    """
    import scipy.io

    cells = {}
    for name, arrays in (("bg_means", model.means), ("bg_vars", model.variances)):
        cell = np.empty((1, len(arrays)), dtype=object)
        for index, array in enumerate(arrays):
            cell[0, index] = array[:, :, ::-1]  # Matlab's images are red, green, blue
        cells[name] = cell
    scipy.io.savemat(path, {**cells, "source": source}, do_compression=True)


def read_background(path: str | Path, risk: float = 1.0, source: str | None = None) -> ToolkitBackground | None:
    """Read the model that the toolkit, or `write_background`, left.

    Parameters
    ----------
    path : path-like
    risk : float
        See `ToolkitBackground`.
    source : str, optional
        The recordings, as given to `write_background`; None is returned if the file states others or none.

    Raises
    ------
    DataError
        If it cannot be read or holds no such model.
    """
    path = Path(path)
    content = load_mat(path)
    missing = [name for name in ("bg_means", "bg_vars") if name not in content]
    if missing:
        raise DataError(f"{path}: lacks the variable {' and '.join(missing)}")
    if source is not None and "".join(map(str, np.ravel(content.get("source", "")))) != source:
        return None
    means, variances = (_stack(path, name, content[name]) for name in ("bg_means", "bg_vars"))
    try:
        return ToolkitBackground(risk=risk).set_state(means, variances)
    except ValueError as error:
        raise DataError(f"{path}: {error}") from error


def _stack(path: Path, name: str, cell: Any) -> FloatArray:
    try:
        images = [np.asarray(image, dtype=float) for image in np.ravel(cell)]
        return np.stack([image[:, :, ::-1] for image in images])
    except (TypeError, ValueError, IndexError):
        raise DataError(f"{path}: {name} is no cell of pictures (height, width, 3) of one size") from None
