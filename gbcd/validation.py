"""The checks of arguments that the public functions and classes share: what is refused, and in which words."""

from __future__ import annotations

import math
from numbers import Integral, Real

import numpy as np
import numpy.typing as npt
import scipy.sparse

from gbcd.types import Float64Array, FloatArray, IntArray

COMPLEX = "Complex data not supported: give the real part of {name}, or real and imaginary parts as two columns."
SPARSE = "{name} is sparse, and only dense arrays are taken: give {name}.toarray()."
TOO_LARGE = "{name} holds an integer beyond 1.8e308, the largest number there is: divide it first."


def as_floats(values: npt.ArrayLike, name: str, copy: bool = False) -> Float64Array:
    """Return dense, real numbers as float64. A float64 array is not copied, unless `copy` is set.

    Raises
    ------
    ValueError
        For sparse or complex numbers, integers beyond the range of floats, and values that are not numbers.
    """
    if scipy.sparse.issparse(values):
        raise ValueError(SPARSE.format(name=name))
    try:
        plain = np.asarray(values)
        if plain.dtype.kind == "c":
            raise ValueError(COMPLEX.format(name=name))
        return np.array(plain, dtype=np.float64) if copy else plain.astype(np.float64, copy=False)
    except OverflowError:
        raise ValueError(TOO_LARGE.format(name=name)) from None
    except TypeError as error:
        raise ValueError(f"{name} must hold numbers ({error}).") from None


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
    matrix = as_floats(values, name)
    if matrix.ndim != 2:
        raise ValueError(f"{name} must have two dimensions (rows, columns), not shape {matrix.shape}.")
    if 0 in matrix.shape:
        raise ValueError(f"{name} is empty (shape {matrix.shape}): give at least one row and one column.")
    require_finite(matrix, name)
    return np.ascontiguousarray(matrix)


def as_columns(values: npt.ArrayLike, name: str, d: int) -> Float64Array:
    """Return `as_matrix` of the values; refuse a number of columns other than the `d` of the training inputs."""
    matrix = as_matrix(values, name)
    if matrix.shape[1] != d:
        raise ValueError(f"{name} has {matrix.shape[1]} columns, the training inputs {d}.")
    return matrix


def as_outputs(values: npt.ArrayLike, n: int, name: str = "Y") -> Float64Array:
    """Return outputs as finite float64 (n, q), a copy; a vector (n,) becomes one column.

    Raises
    ------
    ValueError
        If the number of rows is not `n`, there are no columns, or a value is NaN or infinite.
    """
    outputs = as_floats(values, name, copy=True)
    if outputs.ndim == 1:
        outputs = outputs[:, None]
    if outputs.ndim != 2 or len(outputs) != n:
        raise ValueError(f"{name} must have shape ({n},) or ({n}, q), as X has {n} rows, not {np.shape(values)}.")
    if outputs.shape[1] == 0:
        raise ValueError(f"{name} is empty (shape {outputs.shape}): give at least one column.")
    require_finite(outputs, name)
    return outputs


def positive_number(value: object, name: str, infinite: bool = False) -> float:
    """Return a positive number as a float; infinity is refused unless `infinite` is set.

    Raises
    ------
    ValueError
        If the value is zero, negative, NaN or infinite, or not a single number.
    """
    try:
        number = math.nan if isinstance(value, bool | np.bool_) or not isinstance(value, Real) else float(value)
    except OverflowError:
        number = math.inf
    if not (number > 0 and (infinite or math.isfinite(number))):
        raise ValueError(f"{name} must be a positive number, not {value}.")
    return number


def positive_integer(value: object, name: str, least: int = 1) -> int:
    """Return an integer that is not below `least`, as an int.

    Raises
    ------
    ValueError
        If the value is below `least`, or not an integer.
    """
    if isinstance(value, bool | np.bool_) or not isinstance(value, Integral):
        raise ValueError(f"{name} must be an integer, not {value!r}.")
    number = int(value)
    if number < least:
        raise ValueError(f"{name} must be at least {least}, not {value}.")
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
