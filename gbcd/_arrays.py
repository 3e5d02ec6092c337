"""Array types and the checks every public entrance shares."""

from __future__ import annotations

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


def standardisation(Y: Float64Array) -> tuple[Float64Array, Float64Array]:
    """Return the mean and scale (q,) that standardise each column of Y (n, q).

    A column that is constant to rounding gets its own value as mean and scale 1, so it becomes exactly
    zero, its coefficients too, and it is predicted as exactly that value.
    """
    mean = Y.mean(axis=0)
    scale = Y.std(axis=0)
    # Rounding alone gives a constant column a standard deviation of some epsilons of its size.
    constant = (np.ptp(Y, axis=0) == 0) | (scale <= 10 * np.finfo(np.float64).eps * np.abs(mean))
    mean[constant] = Y[0, constant]
    scale[constant] = 1
    return mean, scale
