"""The mean of a fitted regressor for a stream of small batches: prepared once, in float32 where that is as good.

`GBCDRegressor.predict` prepares the training inputs anew for every call, which is nothing for thousands of rows and
most of the work for a few dozen.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from gbcd.regressor import GBCDRegressor
from gbcd.system.tiles import POINTS, point_tile
from gbcd.threads import blas_threads, spans
from gbcd.types import Float64Array, FloatArray

TOLERANCE = 1e-3
"""Of an output's standard deviation in training: what float32 may change, seen on training inputs, before it is given
up for float64. The equations themselves are solved to a gradient of 1e-4."""
_N_PROBES = 64
_ROWS = 1024
"""Training inputs whose features are in the cache while all points of a batch pass by."""


class MeanPredictor:
    """Predictive means of a fitted `GBCDRegressor`, for batches of any size in any thread.

    Parameters
    ----------
    regressor : GBCDRegressor
        Fitted; not changed, nor followed if it is fitted again.

    Attributes
    ----------
    dtype : numpy dtype
        Of the kernel values: float32, or float64 where float32 moves the means of training inputs by more than
        `TOLERANCE`. Their product with the coefficients is accumulated in float64 either way.

    Notes
    -----
    One thread: callers run batches side by side. The result for a row depends neither on the thread nor on the batch
    that it is in.
    """

    def __init__(self, regressor: GBCDRegressor) -> None:
        self._regressor = regressor
        self._origin: Float64Array = regressor.X_train_.mean(axis=0)
        probes = regressor.X_train_[:: max(1, len(regressor.X_train_) // _N_PROBES)][:_N_PROBES]
        double = np.dtype(np.float64)
        exact = self._scaled_mean(probes, self._made_rows(double), double)
        for kind in (np.float32, np.float64):
            self.dtype = np.dtype(kind)
            self._rows = list(self._made_rows(self.dtype))
            if np.abs(self._scaled_mean(probes, self._rows, self.dtype) - exact).max() <= TOLERANCE:
                break

    def _made_rows(self, dtype: np.dtype[Any]) -> Iterator[FloatArray]:
        """What tiles need of the training inputs, piece by piece: in float64 a whole copy is most of the memory."""
        regressor = self._regressor
        for cut in spans(len(regressor.X_train_), _ROWS):
            yield regressor.kernel_.row_features(regressor.X_train_[cut], self._origin, dtype)

    def _scaled_mean(self, points: Float64Array, pieces: Iterable[FloatArray], dtype: np.dtype[Any]) -> Float64Array:
        regressor = self._regressor
        features = regressor.kernel_.column_features(points, self._origin, dtype)
        mean = np.zeros((len(points), regressor.coef_.shape[1]))
        for cut, rows in zip(spans(len(regressor.X_train_), _ROWS), pieces, strict=True):
            for batch in spans(len(points), POINTS):
                # The points stay the columns, so that here, too, the result for one depends on no other.
                product = regressor.coef_[cut].T @ point_tile(regressor.kernel_, rows, features[batch])
                mean[batch] += product.T[: batch.stop - batch.start]
        return mean

    def predict(self, X: npt.ArrayLike) -> Float64Array:
        """Predictive means (t, q) of inputs X (t, d), in the units of the outputs.

        Raises
        ------
        ValueError
            If X has another number of columns than the training inputs.
        """
        regressor = self._regressor
        points = np.asarray(X, dtype=np.float64)
        if points.ndim != 2 or points.shape[1] != regressor.n_features_in_:
            raise ValueError(f"X must have the shape (t, {regressor.n_features_in_}), not {points.shape}.")
        with blas_threads(1):
            scaled = self._scaled_mean(regressor.scale_inputs(points), self._rows, self.dtype)
        mean: Float64Array = scaled * regressor.y_scale_ + regressor.y_mean_
        return mean
