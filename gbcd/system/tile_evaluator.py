"""Tiles of K in the system's tile precision, evaluated from features of all rows that are made once."""

from __future__ import annotations

import numpy as np

from gbcd.kernels.base import Kernel
from gbcd.system.kept_tiles import Pair
from gbcd.system.locality import locality_order
from gbcd.types import Float64Array, FloatArray, IntArray


class TileEvaluator:
    """Evaluates K between the rows of X in tile precision.

    Parameters
    ----------
    X : array (n, d)
    kernel : Kernel
    origin : array (d,)
        Centre about which features are taken.
    diagonal : array (n,)
        k(x, x) without rounding; a tile computes it from squares that cancel.
    dtype : dtype
        Tile precision.

    Attributes
    ----------
    rows, columns : array (n, p)
        Features of the rows, as rows and as columns of a tile.
    order : int array (n,) or None
        Order of the rows in which `fill` counts; None is the order of X.
    """

    def __init__(
        self,
        X: Float64Array,
        kernel: Kernel,
        origin: Float64Array,
        diagonal: Float64Array,
        dtype: np.dtype[np.floating],
    ) -> None:
        self.rows = kernel.row_features(X, origin, dtype)
        self.columns = kernel.column_features(X, origin, dtype)
        self.order: IntArray | None = None
        self._kernel = kernel
        self._diagonal = diagonal
        self._ordered_rows, self._ordered_columns = self.rows, self.columns
        self._by_feature: FloatArray | None = None

    def evaluate(self, i: slice, j: slice, out: FloatArray) -> FloatArray:
        """Write K[i, j] to `out` (a, b), and return it."""
        return self._kernel.tile(self.rows[i], self.columns[j], out=out)

    def sort(self) -> None:
        """Let `fill` count in an order that puts near rows together: tiles span less, and codes err less."""
        if self.order is None:
            self.order = locality_order(self.rows)
            self._ordered_rows, self._ordered_columns = self.rows[self.order], self.columns[self.order]

    def fill(self, pair: Pair, values: FloatArray) -> None:
        """Write K[pair], rows counted in `order`, to `values` (a, b) in tile precision."""
        i, j = pair
        self._kernel.tile(self._ordered_rows[i], self._ordered_columns[j], out=values)
        if i.start == j.start:
            np.fill_diagonal(values, self._diagonal[i] if self.order is None else self._diagonal[self.order[i]])

    def few_rows(self, I: IntArray, out: FloatArray) -> FloatArray:  # noqa: E741 - the paper's index sets
        """Write K[I, :] to `out` (m, n), and return it."""
        if self._by_feature is None:
            # The product of two rows with all the others then reads along memory, three times faster.
            self._by_feature = np.asfortranarray(self.columns)
        return self._kernel.tile(self.rows[I], self._by_feature, out=out)
