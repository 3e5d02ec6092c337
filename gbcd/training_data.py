"""Checks of training data and new inputs that all estimators share, and the scaled data that the solvers take."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

from gbcd.scaling import Scaling, require_moderate
from gbcd.types import Float64Array, IntArray
from gbcd.validation import COMPLEX, SPARSE, TOO_LARGE, group_labels, require_finite


@dataclass(frozen=True, eq=False)
class TrainingData:
    """Training data, checked and scaled.

    Attributes
    ----------
    X : array (n, d)
        Inputs as the kernel takes them.
    Y : array (n, q)
        Standardised outputs.
    groups : int array (n,) or None
        Rows of one group are near-duplicates; labels count from 0.
    scaling : Scaling
        What X and Y were scaled by.
    flat : bool
        Whether the outputs were given as a vector (n,).
    """

    X: Float64Array
    Y: Float64Array
    groups: IntArray | None
    scaling: Scaling
    flat: bool

    @classmethod
    def checked(
        cls,
        estimator: BaseEstimator,
        X: npt.ArrayLike,
        y: npt.ArrayLike,
        groups: npt.ArrayLike | None,
        input_scaling: str | None,
    ) -> Self:
        """Check and scale the data given to `fit`; the estimator is not changed.

        Raises
        ------
        ValueError
            For NaN or infinity (naming row and column), numbers whose differences overflow, complex or sparse numbers,
            shapes that do not match, or an unknown scaling.
        """
        inputs, outputs = _checked(estimator, X, y)
        labels = None if groups is None else group_labels(groups, len(inputs))
        columns = outputs.reshape(len(outputs), -1)
        scaling = Scaling.learnt(inputs, columns, input_scaling)
        return cls(scaling.inputs(inputs), scaling.standardised(columns), labels, scaling, outputs.ndim == 1)


def _checked(estimator: BaseEstimator, X: npt.ArrayLike, y: npt.ArrayLike) -> tuple[Float64Array, Float64Array]:
    """Return finite float64 inputs (n, d) and outputs, (n,) or (n, q) as given.

    Raises
    ------
    ValueError
        For NaN or infinity (naming row and column), numbers whose differences overflow, complex or sparse numbers, or
        shapes that do not match.
    """
    if scipy.sparse.issparse(y):
        raise ValueError(SPARSE.format(name="y"))
    _refuse_complex(X, "X")
    _refuse_complex(y, "y")
    _check_numbers(y)
    # scikit-learn records the columns on the estimator. It gets a copy, since the fit may still fail.
    noted = copy.copy(estimator)
    try:
        inputs, outputs = validate_data(
            noted, X, y, dtype=np.float64, multi_output=True, y_numeric=True, ensure_all_finite=False
        )
    except OverflowError:
        raise ValueError(TOO_LARGE.format(name="X")) from None
    require_finite(inputs, "X")
    require_moderate(inputs, "X")
    return inputs, np.asarray(outputs, dtype=np.float64)


def note_columns(estimator: BaseEstimator, X: npt.ArrayLike) -> None:
    """Set n_features_in_, and feature_names_in_ where the columns have names, from inputs that passed the checks."""
    validate_data(estimator, X, skip_check_array=True)


def new_inputs(estimator: BaseEstimator, X: npt.ArrayLike) -> Float64Array:
    """Return finite float64 inputs (t, d), d as in training.

    Raises
    ------
    ValueError
        For NaN or infinity (naming row and column), or another number of columns.
    """
    _refuse_complex(X, "X")
    try:
        inputs: Float64Array = validate_data(estimator, X, dtype=np.float64, reset=False, ensure_all_finite=False)
    except OverflowError:
        raise ValueError(TOO_LARGE.format(name="X")) from None
    require_finite(inputs, "X")
    return inputs


def refuse_weights(estimator: BaseEstimator, unsupported: dict[str, Any]) -> None:
    """Refuse sample weights with the reason, and other keyword arguments as Python does."""
    for name, value in unsupported.items():
        if name != "sample_weight":
            raise TypeError(f"{type(estimator).__name__}.fit() got an unexpected keyword argument {name!r}.")
        if value is not None:
            raise ValueError(
                "sample_weight is not supported: the noise is the same in all rows. Repeat rows that count more than "
                "others, leave out those that do not count."
            )


def _refuse_complex(values: npt.ArrayLike, name: str) -> None:
    """Refuse complex numbers in one line; scikit-learn's message would print the data."""
    if np.asarray(values).dtype.kind == "c":
        raise ValueError(COMPLEX.format(name=name))


def _check_numbers(y: npt.ArrayLike) -> None:
    """Refuse NaN, infinity and too large numbers in y; scikit-learn's message would not name row and column."""
    values = np.asarray(y)
    if values.dtype.kind == "O":
        try:
            values = values.astype(np.float64)
        except OverflowError:
            raise ValueError(TOO_LARGE.format(name="y")) from None
        except (TypeError, ValueError):
            return
    if values.dtype.kind == "f" and values.ndim in (1, 2):
        require_finite(values, "y")
        require_moderate(values, "y")
