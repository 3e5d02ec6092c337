"""Kernel features of the training inputs, made once for all means and variances of a posterior."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from gbcd.kernels.base import Kernel
from gbcd.scaling import centre
from gbcd.types import Float64Array, FloatArray


class TrainingFeatures:
    """Features of the training inputs: made when they are first asked for, once in each precision, and kept.

    Parameters
    ----------
    X : array (n, d)
        Training inputs, scaled for the kernel.
    kernel : Kernel

    Attributes
    ----------
    X, kernel
        As given.
    origin : array (d,)
        Centre about which features are taken, which loses least in float32.
    """

    def __init__(self, X: Float64Array, kernel: Kernel) -> None:
        self.X = X
        self.kernel = kernel
        self.origin = centre(X)
        self._rows: dict[np.dtype[Any], FloatArray] = {}
        self._columns: dict[np.dtype[Any], FloatArray] = {}

    def __len__(self) -> int:
        return len(self.X)

    def rows(self, dtype: npt.DTypeLike) -> FloatArray:
        """Return the features (n, p) for tiles whose rows are the training inputs."""
        kind = np.dtype(dtype)
        if kind not in self._rows:
            self._rows[kind] = self.kernel.row_features(self.X, self.origin, kind)
        return self._rows[kind]

    def columns(self, dtype: npt.DTypeLike) -> FloatArray:
        """Return the features (n, p) for tiles whose columns are the training inputs."""
        kind = np.dtype(dtype)
        if kind not in self._columns:
            self._columns[kind] = self.kernel.column_features(self.X, self.origin, kind)
        return self._columns[kind]

    def of_points(self, points: Float64Array, dtype: npt.DTypeLike) -> FloatArray:
        """Return the features (t, p) of new points (t, d), as columns beside `rows`."""
        return self.kernel.column_features(points, self.origin, dtype)
