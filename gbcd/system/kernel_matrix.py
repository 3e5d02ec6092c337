"""Kernel matrices between any two sets of points, and products with them, evaluated in tiles that stay in cache."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from gbcd.kernels.base import Kernel
from gbcd.threads import parallel, spans
from gbcd.types import Float64Array, FloatArray

TILE_BYTES = 1 << 20
"""Bytes of a tile of kernel values, which stays in a second-level cache beside its features."""

MIN_TILE_ROWS, MAX_TILE_ROWS = 64, 1024
"""Least and largest number of rows of a tile."""

PRODUCT_COLUMNS = 2048
"""Columns of a tile of `kernel_product`."""

POINTS = 16
"""Number of points that `point_tile` evaluates together. With 16, each is one lane of the same inner loop of BLAS."""


def tile_rows(columns: int, dtype: npt.DTypeLike) -> int:
    """Return how many rows a tile with `columns` columns should have to stay in cache."""
    rows = TILE_BYTES // (max(1, columns) * np.dtype(dtype).itemsize)
    return int(np.clip(rows, MIN_TILE_ROWS, MAX_TILE_ROWS))


def kernel_matrix(
    kernel: Kernel, A: FloatArray, B: FloatArray, origin: Float64Array, dtype: npt.DTypeLike = np.float64
) -> FloatArray:
    """Return k(A, B), shape (a, b), computed in parallel row tiles."""
    kernel = kernel.for_inputs(B, origin)
    rows = kernel.row_features(A, origin, dtype)
    columns = kernel.column_features(B, origin, dtype)
    values = np.empty((len(A), len(B)), dtype=dtype)

    def work(pieces: Iterator[slice]) -> None:
        for piece in pieces:
            kernel.tile(rows[piece], columns, out=values[piece])

    parallel(work, spans(len(A), tile_rows(len(B), dtype)))
    return values


def point_tile(kernel: Kernel, rows: FloatArray, points: FloatArray) -> FloatArray:
    """Return k between row features (n, p) and the column features of at most `POINTS` points (t, p).

    The value for a point has the same bits whatever the other points are, and wherever it stands among them. BLAS
    promises neither: it runs other code for the last rows and columns of a product, which rounds in another way.
    So the product always has the same shape, and the points are its columns, which OpenBLAS takes as one vector.

    Returns
    -------
    array (n, POINTS)
        The columns from t on repeat the last point.
    """
    return kernel.tile(rows, points.take(range(POINTS), axis=0, mode="clip"))


def kernel_product(kernel: Kernel, A: FloatArray, B: FloatArray, V: FloatArray, origin: Float64Array) -> Float64Array:
    """Return k(A, B) @ V in float64, shape (a, q), never holding more than a tile of k(A, B) per worker."""
    kernel = kernel.for_inputs(B, origin)
    return feature_product(kernel, A, kernel.column_features(B, origin, np.float64), V, origin)


def feature_product(
    kernel: Kernel, A: FloatArray, columns: FloatArray, V: FloatArray, origin: Float64Array
) -> Float64Array:
    """Return what `kernel_product` does, from column features of B (b, p) in float64."""
    product = np.zeros((len(A), V.shape[1]))

    def work(pieces: Iterator[slice]) -> None:
        for piece in pieces:
            rows = kernel.row_features(A[piece], origin, np.float64)
            for cut in spans(len(columns), PRODUCT_COLUMNS):
                product[piece] += kernel.tile(rows, columns[cut]) @ V[cut]

    parallel(work, spans(len(A), tile_rows(min(PRODUCT_COLUMNS, len(columns)), np.float64)))
    return product
