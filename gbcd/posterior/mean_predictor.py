"""Means of a stream of small batches: in float32 where that suffices, and with the same bits whatever the batch."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from gbcd.posterior.posterior import Posterior
from gbcd.system.kernel_matrix import POINTS, point_tile
from gbcd.threads import blas_threads, spans
from gbcd.types import Float64Array, FloatArray

TOLERANCE = 1e-3
"""Largest change of a mean by float32, in standard deviations of the output in training: beyond it float64 is used. The
equations themselves are solved to a gradient of 1e-4."""

MAX_PROBES = 64
"""Largest number of training inputs at which float32 and float64 are compared."""

ROWS = 1024
"""Number of training inputs whose features stay in the cache while all points of a batch are evaluated."""


class HasPosterior(Protocol):
    """A fitted model with a prepared posterior: `GBCDRegressor`."""

    posterior_: Posterior


class MeanPredictor:
    """Predictive means of a fitted `GBCDRegressor`, for batches of any size in any thread.

    Parameters
    ----------
    regressor : GBCDRegressor
        A fitted regressor. It is not changed, and a later fit of it has no effect here.

    Attributes
    ----------
    dtype : numpy dtype
        Precision of the kernel values: float32, or float64 where float32 moves the means at training inputs by more
        than `TOLERANCE`. Their products with the coefficients are summed up in float64 either way.

    Raises
    ------
    sklearn.exceptions.NotFittedError
        If the regressor is not fitted.

    Notes
    -----
    A prediction uses one thread, so that callers can run batches side by side. The result for a row depends neither on
    the thread nor on the other rows of the batch.
    """

    def __init__(self, regressor: HasPosterior) -> None:
        check_is_fitted(regressor, "posterior_")
        self._posterior = regressor.posterior_
        self._features = features = self._posterior.mean_features
        self._pieces = spans(len(features), ROWS)
        probes = features.X[:: max(1, len(features) // MAX_PROBES)][:MAX_PROBES]
        # Features in float64 are made piece by piece: all of them together would take most of the memory.
        made = (features.kernel.row_features(features.X[cut], features.origin, np.float64) for cut in self._pieces)
        exact = self._product(probes, made, np.float64)
        for kind in (np.float32, np.float64):
            self.dtype = np.dtype(kind)
            if np.abs(self._product(probes, self._rows(), self.dtype) - exact).max() <= TOLERANCE:
                break

    def _rows(self) -> Iterable[FloatArray]:
        """Return the features of the training inputs, piece by piece, from those that the posterior keeps."""
        rows = self._features.rows(self.dtype)
        return (rows[cut] for cut in self._pieces)

    def _product(self, points: Float64Array, pieces: Iterable[FloatArray], dtype: npt.DTypeLike) -> Float64Array:
        """Return k(points, X) alpha at scaled points (t, d), shape (t, q), given the training inputs' features."""
        kernel, coef = self._features.kernel, self._posterior.coef
        columns = self._features.of_points(points, dtype)
        product = np.zeros((len(points), coef.shape[1]))
        for cut, rows in zip(self._pieces, pieces, strict=True):
            for batch in spans(len(points), POINTS):
                # The points stay the columns, so that the result for a point does not depend on the others here either.
                part = coef[cut].T @ point_tile(kernel, rows, columns[batch])
                product[batch] += part.T[: batch.stop - batch.start]
        return product

    def predict(self, X: npt.ArrayLike) -> Float64Array:
        """Predictive means (t, q) of inputs X (t, d), in the units of the outputs.

        Raises
        ------
        ValueError
            If X has another number of columns than the training inputs.
        """
        points = np.asarray(X, dtype=np.float64)
        d = self._features.X.shape[1]
        if points.ndim != 2 or points.shape[1] != d:
            raise ValueError(f"X must have the shape (t, {d}), not {points.shape}.")
        with blas_threads(1):
            product = self._product(self._posterior.scaling.inputs(points), self._rows(), self.dtype)
        return self._posterior.scaling.in_units(product)
