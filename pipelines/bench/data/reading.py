"""Data sets from files: NAME.npz, NAME.csv or NAME.mat, one data set per file.

- `.npz`: `X` (n, d) and `y` (n,) or `Y` (n, q).
- `.csv`: one line per sample, with or without a line of headings; columns are separated by commas, semicolons, tabs or
  blanks. Columns headed y, target or y1, y2, ... are the outputs; without such headings the last column is the output.
- `.mat` (to version 7): `X` and `y` or `Y`, or one matrix whose last column is the output. In Sarcos
  (`sarcos_inv.mat`: 21 inputs, 7 torques) the first torque is the output.
"""

from __future__ import annotations

import csv
import re
import zipfile
import zlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import scipy.io
from scipy.io.matlab import MatReadError

from pose.errors import DataError
from pose.types import FloatArray

SUFFIXES = (".npz", ".csv", ".mat")

OUTPUT_HEADING = re.compile(r"y\d*|target\d*", re.IGNORECASE)

LAYOUTS = {"sarcos_inv": (21, 21)}
"""Number of inputs and index of the output column, for files of one matrix whose last column is not the output."""

SMALLEST, LARGEST = 1e-100, 1e100
"""Smallest spread and largest absolute value of a column: squares of others underflow or overflow."""

DIGITS = 1e-10
"""Spread of a column, relative to its largest value, below which it is rounding and cannot be scaled."""

MAX_NAMED = 3
"""Largest number of faults of one kind that a message names."""

UNREADABLE = (
    OSError,
    EOFError,
    ValueError,
    KeyError,
    TypeError,
    NotImplementedError,
    zipfile.BadZipFile,
    zlib.error,
    MatReadError,
)
"""Errors that the reading libraries raise for damaged files or files of another format."""

Samples = tuple[FloatArray, FloatArray]


def find(folder: Path, name: str) -> Path | None:
    """Return the file of a data set, or None.

    Raises
    ------
    DataError
        If there are several.
    """
    stems = [name, *(stem for stem in LAYOUTS if stem.startswith(f"{name}_"))]
    found = [path for stem in stems for suffix in SUFFIXES if (path := folder / f"{stem}{suffix}").is_file()]
    if len(found) > 1:
        raise DataError(f"{folder}: {' and '.join(path.name for path in found)} are one data set; keep one of them")
    return found[0] if found else None


def names(folder: Path) -> list[str]:
    """Return the names of a folder's data sets, sorted."""
    stems = {path.stem for path in folder.iterdir() if path.suffix in SUFFIXES and path.is_file()}
    return sorted({stem.partition("_")[0] if stem in LAYOUTS else stem for stem in stems})


def read_samples(path: Path, constants: bool = False) -> Samples:
    """Return X (n, d) and Y (n, q) of a file.

    Parameters
    ----------
    path : Path
    constants : bool
        Allow constant columns, which histograms and root-relative poses have.

    Raises
    ------
    DataError
        If the file cannot be read, or its values cannot be used: not finite or too large to square, columns constant or
        nearly so, fewer than two rows. The message names all faults.
    """
    try:
        X, Y = {".npz": _read_npz, ".csv": _read_csv, ".mat": _read_mat}[path.suffix](path)
    except DataError:
        raise  # it is a ValueError too, but its message is complete
    except UNREADABLE as error:
        raise DataError(f"{path}: cannot be read as {path.suffix[1:]} ({' '.join(str(error).split())})") from error
    faults = _faults(X, Y, constants)
    if faults:
        raise DataError(f"{path}: {'; '.join(faults)}")
    return X, Y


def _read_npz(path: Path) -> Samples:
    # Opened here, since NumPy leaves a damaged file open.
    with path.open("rb") as file, np.load(file, allow_pickle=False) as held:
        return _named(path, {name: held[name] for name in held.files})


def _read_mat(path: Path) -> Samples:
    held = {name: value for name, value in scipy.io.loadmat(path).items() if not name.startswith("__")}
    if "X" in held:
        return _named(path, held)
    matrices = [value for value in held.values() if np.ndim(value) == 2 and np.issubdtype(value.dtype, np.number)]
    if len(matrices) != 1:
        raise DataError(f"{path}: needs X and y or Y, or one matrix; it holds {', '.join(sorted(held)) or 'nothing'}")
    matrix = matrices[0].astype(np.float64)
    inputs, output = LAYOUTS.get(path.stem, (matrix.shape[1] - 1, matrix.shape[1] - 1))
    if not 0 < inputs < matrix.shape[1]:
        raise DataError(f"{path}: has {matrix.shape[1]} column; inputs and an output are needed")
    return matrix[:, :inputs], matrix[:, output : output + 1]


def _named(path: Path, held: dict[str, np.ndarray]) -> Samples:
    outputs = "Y" if "Y" in held else "y"
    if "X" not in held or outputs not in held:
        raise DataError(
            f"{path}: needs X (n, d) and y (n,) or Y (n, q); it holds {', '.join(sorted(held)) or 'nothing'}"
        )
    X, Y = held["X"], held[outputs]
    if Y.ndim == 2 and len(Y) == 1 < len(X):  # a row vector, common in MATLAB files
        Y = Y.T
    if X.ndim != 2 or Y.ndim not in (1, 2) or len(X) != len(Y):
        raise DataError(f"{path}: X {X.shape} and {outputs} {Y.shape} must have the same rows")
    real = (np.integer, np.floating)
    others = [
        name for name, values in (("X", X), (outputs, Y)) if not any(np.issubdtype(values.dtype, kind) for kind in real)
    ]
    if others:
        raise DataError(f"{path}: {' and '.join(others)} must hold real numbers")
    return X.astype(np.float64), Y.astype(np.float64).reshape(len(X), -1)


def _read_csv(path: Path) -> Samples:
    lines = path.read_text(encoding="utf-8-sig").splitlines()
    rows = [(number, cells) for number, cells in enumerate(_split(lines), start=1) if any(cells)]
    if not rows:
        raise DataError(f"{path}: is empty")
    headings: Sequence[str] = ()
    if not any(_number(cell) is not None for cell in rows[0][1]):
        headings, rows = rows[0][1], rows[1:]
    width = len(headings or rows[0][1]) if headings or rows else 0
    uneven = [f"line {number} has {len(cells)} cells" for number, cells in rows if len(cells) != width]
    if uneven:
        raise DataError(f"{path}: {_some(uneven)}, not {width}")
    if width < 2:
        raise DataError(f"{path}: has {width} column; inputs and an output are needed")
    values = [[_number(cell) for cell in cells] for _, cells in rows]
    faults = []
    for column in range(width):
        row = next((row for row, numbers in enumerate(values) if numbers[column] is None), None)
        if row is not None:
            number, cells = rows[row]
            what = f"text ({cells[column]!r})" if cells[column] else "nothing"
            heading = f" ({headings[column]})" if headings else ""
            faults.append(f"column {column + 1}{heading} holds {what} in line {number}")
    if faults:
        raise DataError(f"{path}: {_some(faults)}; numbers are needed")
    numbers = np.array(values, dtype=np.float64).reshape(-1, width)
    outputs = [j for j, heading in enumerate(headings) if OUTPUT_HEADING.fullmatch(heading)] or [width - 1]
    inputs = [j for j in range(width) if j not in outputs]
    if not inputs:
        raise DataError(f"{path}: all columns are outputs by their headings")
    return numbers[:, inputs], numbers[:, outputs]


def _split(lines: list[str]) -> list[list[str]]:
    """Return the cells of each line; the delimiter is found in the first line."""
    first = next((line for line in lines if line.strip()), "")
    delimiter = next((mark for mark in ",;\t" if mark in first), None)
    if delimiter is None:
        return [line.split() for line in lines]
    reader = csv.reader(lines, delimiter=delimiter)
    try:
        return [[cell.strip() for cell in cells] for cells in reader]
    except csv.Error as error:
        raise ValueError(f"line {reader.line_num}: {error}") from error


def _number(cell: str) -> float | None:
    try:
        return float(cell)
    except ValueError:
        return None


def _faults(X: FloatArray, Y: FloatArray, constants: bool) -> list[str]:
    """Return the faults of a data set's numbers."""
    if len(X) < 2:
        return [f"has {len(X)} row{'' if len(X) == 1 else 's'}, two or more are needed"]
    faults = []
    for name, values in (("X", X), ("y", Y)):
        lost = np.argwhere(~np.isfinite(values))
        if len(lost):
            row, column = lost[0]
            faults.append(
                f"{len(lost)} values of {name} are not finite, the first in row {row + 1}, column {column + 1}"
            )
            continue
        large = np.argwhere(np.abs(values) > LARGEST)
        if len(large):
            row, column = large[0]
            faults.append(
                f"{len(large)} values of {name} are beyond {LARGEST:g}, the first in row {row + 1}, column {column + 1}"
            )
        elif not constants:
            faults += _narrow_columns(name, values)
    return faults


def _narrow_columns(name: str, values: FloatArray) -> list[str]:
    """Return a fault for each column that is constant, or varies too little to be scaled."""
    spans = np.ptp(values, axis=0)
    faults = []
    for column in np.flatnonzero(spans <= np.maximum(SMALLEST, DIGITS * np.abs(values).max(axis=0)))[:MAX_NAMED]:
        where = f"column {column + 1} of {name}"
        if spans[column] == 0:
            faults.append(f"{where} is constant: remove it")
        else:
            faults.append(f"{where} varies by {spans[column]:.1g} alone: take off its mean, or choose another unit")
    return faults


def _some(faults: list[str]) -> str:
    more = len(faults) - MAX_NAMED
    return "; ".join(faults[:MAX_NAMED]) + (f" (and {more} more)" if more > 0 else "")
