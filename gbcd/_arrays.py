"""Array types and the checks every public entrance shares."""

from __future__ import annotations

import math
from numbers import Integral, Real
from typing import Any

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.floating[Any]]
Float64Array = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.intp]


def require_finite(values: FloatArray, name: str) -> None:
    """Refuse NaN and infinity.

    Parameters
    ----------
    values : array (n,) or (n, d)
    name : str
        What the array is called in the message.

    Raises
    ------
    ValueError
        Naming the first offending row and column.
    """
    finite = np.isfinite(values)
    if finite.all():
        return
    table = values.reshape(len(values), -1)
    row, column = (int(i) for i in np.argwhere(~finite.reshape(table.shape))[0])
    kind = "NaN" if np.isnan(table[row, column]) else "infinity"
    count = int(finite.size - finite.sum())
    raise ValueError(
        f"{name} contains {kind} at row {row}, column {column} ({count} values are NaN or infinite): "
        f"drop or fill these rows first."
    )


def as_matrix(values: npt.ArrayLike, name: str) -> Float64Array:
    """Return a finite, C-ordered float64 matrix (n, d) with at least one row and one column.

    Raises
    ------
    ValueError
        If it has another number of dimensions, is empty, or holds NaN or infinity.
    """
    matrix = np.ascontiguousarray(values, dtype=np.float64)
    if matrix.ndim != 2:
        raise ValueError(f"{name} must have two dimensions (rows, columns), not shape {matrix.shape}.")
    if 0 in matrix.shape:
        raise ValueError(f"{name} is empty (shape {matrix.shape}): give at least one row and one column.")
    require_finite(matrix, name)
    return matrix


def as_columns(values: npt.ArrayLike, name: str, d: int) -> Float64Array:
    """Return `as_matrix`, refused where it has not the `d` columns of the training inputs."""
    matrix = as_matrix(values, name)
    if matrix.shape[1] != d:
        raise ValueError(f"{name} has {matrix.shape[1]} columns, the training inputs {d}.")
    return matrix


def as_outputs(values: npt.ArrayLike, n: int, name: str = "Y") -> Float64Array:
    """Return outputs as finite float64 (n, q); a vector (n,) becomes one column.

    Raises
    ------
    ValueError
        If the number of rows is not `n`, or a value is NaN or infinite.
    """
    outputs = np.array(values, dtype=np.float64)
    if outputs.ndim == 1:
        outputs = outputs[:, None]
    if outputs.ndim != 2 or len(outputs) != n:
        raise ValueError(f"{name} must have shape ({n},) or ({n}, q), as X has {n} rows, not {np.shape(values)}.")
    require_finite(outputs, name)
    return outputs


def centre(X: Float64Array) -> Float64Array:
    """Return the mean (d,) of the rows of X (n, d), whose sum may overflow."""
    with np.errstate(over="ignore", invalid="ignore"):
        mean: Float64Array = X.mean(axis=0)
    return mean if np.isfinite(mean).all() else (X / len(X)).sum(axis=0)


def positive_number(value: object, name: str) -> float:
    """Return a positive, finite number as a float.

    Raises
    ------
    ValueError
        If it is zero, negative, NaN or infinite, or no single number.
    """
    number = math.nan if isinstance(value, bool) or not isinstance(value, Real) else float(value)
    if not (math.isfinite(number) and number > 0):
        raise ValueError(f"{name} must be a positive number, not {value}.")
    return number


def positive_integer(value: object, name: str) -> int:
    """Return an integer of at least 1 as an int.

    Raises
    ------
    ValueError
        If it is below 1, or no integer.
    """
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise ValueError(f"{name} must be an integer, not {value!r}.")
    number = int(value)
    if number < 1:
        raise ValueError(f"{name} must be at least 1, not {value}.")
    return number


def group_labels(groups: npt.ArrayLike, n: int) -> IntArray:
    """Return the groups' labels (n,) as integers from 0.

    Raises
    ------
    ValueError
        If there is not one label for each of n rows.
    """
    labels = np.asarray(groups)
    if labels.shape != (n,):
        raise ValueError(f"groups must have shape ({n},), one label for each row of X, not {labels.shape}.")
    return np.unique(labels, return_inverse=True)[1].astype(np.intp)


def standardisation(Y: Float64Array) -> tuple[Float64Array, Float64Array]:
    """Return the mean and scale (q,) that standardise each column of Y (n, q).

    A column that is constant to rounding gets its own value as mean and scale 1, so it becomes exactly
    zero, its coefficients too, and it is predicted as exactly that value.
    """
    # Sums and squares of large numbers overflow, squares of small ones vanish: a power of two, which rounds nothing,
    # brings every column below 1 first.
    exponent = np.frexp(np.abs(Y).max(axis=0))[1]
    small = np.ldexp(Y, -exponent)
    mean: Float64Array = np.ldexp(small.mean(axis=0), exponent)
    scale: Float64Array = np.ldexp(small.std(axis=0), exponent)
    # Rounding alone gives a constant column a standard deviation of some epsilons of its size.
    constant = (Y[0] == Y).all(axis=0) | (scale <= 10 * np.finfo(np.float64).eps * np.abs(mean))
    mean[constant] = Y[0, constant]
    scale[constant] = 1
    return mean, scale
