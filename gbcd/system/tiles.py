"""Tiles of the kernel matrix, evaluated and used while they are in cache, and the threads that do it.

numpy and scipy each bring an OpenBLAS pool. Small factorizations with two of its threads run 10 to
100 times slower than with one, so the rule is: one BLAS thread inside parallel tiles and for small
factorizations. The threads that work on tiles are this module's own, and are kept: starting one takes longer
than a small tile.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
import scipy.linalg  # noqa: F401 - loads scipy's BLAS, which the controller below must find

from gbcd.kernels.base import Kernel
from gbcd.threads import _pool, parallel, spans
from gbcd.types import Float64Array, FloatArray

TILE_BYTES = 1 << 20
"""A tile of kernel values this size stays in a second-level cache beside its features."""

MAX_TILE_ROWS = 1024
MIN_TILE_ROWS = 64

POINTS = 16
"""Points evaluated together by `point_tile`. With 16, each is one lane of the same inner loop of BLAS."""


# A forked child has the pool's object but not its threads.
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_pool.cache_clear)


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
    width = 2048

    def work(pieces: Iterator[slice]) -> None:
        for piece in pieces:
            rows = kernel.row_features(A[piece], origin, np.float64)
            for cut in spans(len(columns), width):
                product[piece] += kernel.tile(rows, columns[cut]) @ V[cut]

    parallel(work, spans(len(A), tile_rows(min(width, len(columns)), np.float64)))
    return product
