"""`KernelSystem`: Kbar = K + noise I over the rows of one matrix, in one process.

It joins four parts: which values are kept (`storage`), in which precision values are evaluated (`precision`), the
tiles that are evaluated (`tile_evaluator`, `exact_tiles`), and products with vectors (`products`). What each
operation costs stands in `LinearSystem`.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from gbcd.kernels.base import Kernel, require_kernel
from gbcd.memory_budget import budget_bytes
from gbcd.scaling import centre
from gbcd.system.exact_tiles import ExactTiles
from gbcd.system.kept_tiles import TILE, KeptTiles, Pair, tile_pairs
from gbcd.system.kernel_matrix import kernel_matrix, tile_rows
from gbcd.system.precision import Precision, TilePrecision, check_precision
from gbcd.system.products import MAX_PANEL_ROWS, symmetric_product, whole_product, wide_product
from gbcd.system.protocol import KeptPart, KnownColumns
from gbcd.system.storage import KernelStorage
from gbcd.system.tile_evaluator import TileEvaluator
from gbcd.threads import parallel, spans
from gbcd.types import Float64Array, FloatArray, IntArray
from gbcd.validation import as_matrix, positive_number

MIN_NOISE, MAX_NOISE = 1e-300, 1e30
"""Least and largest noise: beyond these the inverse of the noise or vectors in float32 overflow."""

NEGLIGIBLE_ROUNDING = 0.1
"""Norm of the codes' rounding errors, over the noise, up to which rows are not sorted for codes: sorting gains little
there, and holds the features twice."""


class KernelSystem:
    """Kbar = K + noise I over the rows of X.

    Parameters
    ----------
    X : array (n, d)
        Inputs, scaled for the kernel. A C-ordered float64 array is not copied. Once its values have been changed,
        solvers refuse the system.
    kernel : Kernel
    noise : float
        sigma^2, the noise variance on Kbar's diagonal, positive.
    memory_budget : int or "auto"
        Bytes that may be held for kernel values. K is kept (in tile precision, and then never
        evaluated again) when it fits beside the features and the workspace. "auto": a quarter of the
        available memory, at most 4 GiB. Zero keeps nothing. Budgets below some 10 MB hardly differ
        from zero, as the workspace and a small coarse block are allocated in any case.
    precision : {"mixed", "float64"}
        "mixed" evaluates tiles in float32 where the noise and the spread of the inputs allow; residuals
        and factorizations are float64 in either case.

    Attributes
    ----------
    n : int
        Number of rows.
    X : array (n, d)
    kernel : Kernel
        The kernel in the form that is exact for these inputs.
    noise : float
    origin : array (d,)
        Centre about which features are taken, which loses least in float32.
    kernel_evaluations : int
        Kernel values k(x, x') computed so far, in any precision; a value read from the kept K or got by symmetry
        is not counted again.
    precision : TilePrecision
        Precision in which kernel values are evaluated, and their errors.
    storage : KernelStorage
        The part of K that is kept, and the memory budget.

    Raises
    ------
    ValueError
        For empty, non-finite, complex or sparse X, a kernel that is no `Kernel`, a noise that is not between 1e-300 and
        1e30, or an unknown precision or budget.
    """

    def __init__(
        self,
        X: npt.ArrayLike,
        kernel: Kernel,
        noise: float,
        memory_budget: int | Literal["auto"] = "auto",
        precision: Precision = "mixed",
    ) -> None:
        self.X = as_matrix(X, "X")
        self.noise = positive_number(noise, "noise")
        if not MIN_NOISE <= self.noise <= MAX_NOISE:
            raise ValueError(f"noise must be between {MIN_NOISE:g} and {MAX_NOISE:g}, not {noise}.")
        require_kernel(kernel)
        check_precision(precision)
        budget = budget_bytes(memory_budget)
        self._checksum = zlib.crc32(self.X.data)
        self.n, d = self.X.shape
        self.origin: Float64Array = centre(self.X)
        self.kernel = kernel.for_inputs(self.X, self.origin)
        self.kernel_evaluations = 0
        self._kernel_diagonal = self.kernel.diagonal(self.X)
        self._diagonal = self._kernel_diagonal + self.noise
        magnitude = self.kernel.magnitude(self.X, self.origin)
        largest = float(self._kernel_diagonal.max())
        self.precision = TilePrecision(precision, self.noise, (self.n, d), magnitude, largest)
        self.storage = KernelStorage((self.n, d), budget, self.precision)
        self._tiles = self._make_tiles()

    @property
    def dtype(self) -> np.dtype[np.floating]:
        """The precision in which tiles are evaluated."""
        return self.precision.dtype

    @property
    def product_error(self) -> float:
        """Approximate standard deviation of the error of a kernel value in `matmul`."""
        return self.storage.code_error if self.storage.is_coded else self.precision.tile_error

    def require_unchanged(self) -> None:
        """Refuse to go on if the caller has changed X in place, as kept tiles would still hold the old values.

        Raises
        ------
        ValueError
            If X differs from what it was.
        """
        if zlib.crc32(self.X.data) != self._checksum:
            raise ValueError("X has been changed since the KernelSystem was made: make another one, or give it a copy.")

    def keep(self, part: KeptPart, reserved: int = 0, coded: bool | None = None) -> bool:
        """Set which part of K is kept from now on, within the memory budget; return whether all of that part fits.

        The parameters are those of `LinearSystem.keep`.
        """
        if part == "whole":
            return self.storage.keep_whole(self._fill_symmetric)
        if part == "half":
            return self._keep_half(reserved, coded).share == 1
        self.storage.release()
        return False

    def raise_precision(self) -> bool:
        """Raise the precision where rounding stops a solver: give up codes, then float32. Return False in float64."""
        if self.storage.is_coded:
            self.precision.forbid_codes()
            self._keep_half()
            return True
        if not self.precision.raise_to_float64():
            return False
        self.storage.release()
        self._tiles = self._make_tiles()
        return True

    def diagonal(self, noise: bool = True) -> Float64Array:
        """Return the diagonal of Kbar, or of K where `noise` is False, shape (n,); not to be written to."""
        return self._diagonal if noise else self._kernel_diagonal

    def block(self, I: IntArray, J: IntArray, exact: bool = False) -> npt.NDArray[Any]:  # noqa: E741 - the paper's index sets
        """Return K[I, J], without noise, shape (len(I), len(J)).

        In tile precision, or in float64 where `exact`. Values on the diagonal of K are then exactly k(x, x).
        """
        return self._exact_block(I, J) if exact else self._panel(I, J)

    def columns(self, J: IntArray) -> FloatArray:
        """Return K[:, J], without noise, in tile precision, shape (n, m)."""
        return self._panel(None, J)

    def rows(self, I: IntArray, out: FloatArray | None = None) -> FloatArray:  # noqa: E741 - the paper's index sets
        """Return K[I, :], without noise, in tile precision, shape (m, n); `out` may be written to."""
        if self.storage.matrix is not None:
            return self.storage.matrix[I]
        self.kernel_evaluations += len(I) * self.n
        values = np.empty((len(I), self.n), dtype=self.dtype) if out is None else out
        return self._tiles.few_rows(I, values)

    def add_columns(self, B: IntArray, D: Float64Array, G: Float64Array, known: KnownColumns | None = None) -> None:
        """G += Kbar[:, B] @ D in place, in row tiles; n x m values are never held.

        Parameters
        ----------
        B : int array (m,)
            Distinct columns.
        D : array (m, q)
        G : array (n, q)
        known : KnownColumns, optional
            Kernel values that the caller already has. They are not evaluated again.
        """
        # Scaled to 1 first, so that the cast to float32 neither overflows nor underflows.
        scale = float(np.abs(D).max(initial=0.0))
        if scale == 0:
            return
        step = (D / scale).astype(self.dtype)
        if self.storage.matrix is not None:
            _add_kept_columns(self.storage.matrix, B, step, scale, G)
        else:
            rest = None
            if known is not None:
                G[known.rows] += scale * (known.values @ step)
                unknown = np.ones(self.n, dtype=bool)
                unknown[known.rows] = False
                rest = np.flatnonzero(unknown)
            self._add_evaluated_columns(B, step, scale, G, rest)
        G[B] += self.noise * D

    def matmul(self, V: FloatArray, wide: bool = False) -> npt.NDArray[Any]:
        """Return Kbar @ V in float64, shape (n, q); symmetric tiles are evaluated once.

        `wide` is for hundreds of columns: the result is in tile precision, nothing is kept or read, and both halves are
        evaluated. For so many columns this is quicker than the use of symmetry, with its partial sums in memory.
        """
        if wide:
            self.kernel_evaluations += self.n**2
            return wide_product(self._tiles, V.astype(self.dtype, copy=False), self.noise)
        if self.storage.matrix is not None:
            return whole_product(self.storage.matrix, V) + self.noise * V
        half = self._keep_half() if self.storage.half is None else self.storage.half
        return self._half_product(V, self.dtype, half) + self.noise * V

    def residual(self, alpha: Float64Array, Y: Float64Array, exact: bool = True) -> Float64Array:
        """Return the gradient Kbar @ alpha - Y, shape (n, q).

        In float64 throughout, or, where `exact` is False, evaluated anew in tile precision in a third of the time.
        """
        if exact and self.dtype == np.float64:
            return self.matmul(alpha) - Y
        dtype = np.dtype(np.float64) if exact else self.dtype
        return self._half_product(alpha, dtype) + self.noise * alpha - Y

    def dense(self, dtype: npt.DTypeLike = np.float64) -> npt.NDArray[Any]:
        """Return the whole Kbar, (n, n), whatever the budget, rounded from float64 tiles: for the direct solver."""
        values = np.empty((self.n, self.n), dtype=dtype)
        self._fill_symmetric(values)
        values.flat[:: self.n + 1] = self._diagonal
        return values

    def cross(self, X_new: Float64Array, dtype: npt.DTypeLike = np.float64) -> npt.NDArray[Any]:
        """Return K between the rows of X and X_new (t, d), shape (n, t)."""
        self.kernel_evaluations += self.n * len(X_new)
        return kernel_matrix(self.kernel, self.X, X_new, self.origin, dtype)

    def _make_tiles(self) -> TileEvaluator:
        return TileEvaluator(self.X, self.kernel, self.origin, self._kernel_diagonal, self.dtype)

    def _keep_half(self, reserved: int | None = None, coded: bool | None = None) -> KeptTiles:
        half = self.storage.keep_half(reserved, coded)
        if self.storage.is_coded and self.precision.code_rounding > NEGLIGIBLE_ROUNDING:
            self._tiles.sort()
        return half

    def _panel(self, I: IntArray | None, J: IntArray) -> FloatArray:  # noqa: E741 - the paper's index sets
        """Return K[I, J] in tile precision; all rows where I is None."""
        count = self.n if I is None else len(I)
        values = np.empty((count, len(J)), dtype=self.dtype)
        matrix, rows = self.storage.matrix, self._tiles.rows
        columns = None if matrix is not None else self._tiles.columns[J]

        def work(pieces: Iterator[slice]) -> None:
            for piece in pieces:
                if matrix is not None:
                    values[piece] = matrix[piece, J] if I is None else matrix[np.ix_(I[piece], J)]
                elif columns is not None:
                    self.kernel.tile(rows[piece if I is None else I[piece]], columns, out=values[piece])

        parallel(work, spans(count, MAX_PANEL_ROWS))
        if matrix is None:
            self.kernel_evaluations += values.size
        return values

    def _exact_block(self, I: IntArray, J: IntArray) -> Float64Array:  # noqa: E741
        """Return K[I, J] in float64."""
        matrix = self.storage.matrix
        if matrix is not None and matrix.dtype == np.float64:
            return matrix[np.ix_(I, J)].astype(np.float64, copy=False)
        rows = self.kernel.row_features(self.X[I], self.origin, np.float64)
        columns = self.kernel.column_features(self.X[J], self.origin, np.float64)
        values = self.kernel.tile(rows, columns).astype(np.float64, copy=False)
        self.kernel_evaluations += values.size
        # k(x, x) itself: in the tile it carries the rounding of squares that cancel.
        row, column = np.nonzero(I[:, None] == J[None, :])
        values[row, column] = self._kernel_diagonal[I[row]]
        return values

    def _add_evaluated_columns(
        self, B: IntArray, step: FloatArray, scale: float, G: Float64Array, rest: IntArray | None
    ) -> None:
        rows, columns = self._tiles.rows, self._tiles.columns[B]
        count = self.n if rest is None else len(rest)
        height = tile_rows(len(B), self.dtype)

        def work(pieces: Iterator[slice]) -> None:
            tile = np.empty((height, len(B)), dtype=self.dtype)
            for piece in pieces:
                index = piece if rest is None else rest[piece]
                values = self.kernel.tile(rows[index], columns, out=tile[: piece.stop - piece.start])
                G[index] += scale * (values @ step)

        parallel(work, spans(count, height))
        self.kernel_evaluations += count * len(B)

    def _half_product(self, V: FloatArray, dtype: np.dtype[np.floating], kept: KeptTiles | None = None) -> Float64Array:
        """Return K @ V by symmetric tiles in this precision, read from `kept` where it holds them."""
        order = self._tiles.order
        fill = fill_kept = self._tiles.fill
        if dtype != self.dtype:
            fill = self._exact_tiles(order).fill
        elif kept is not None and kept.dtype == np.float32 and not kept.is_full:
            fill_kept = self._exact_tiles(order).fill
        rows = slice(None) if order is None else order
        product, evaluations = symmetric_product(V[rows], dtype, fill, kept, fill_kept)
        self.kernel_evaluations += evaluations
        result = np.empty_like(product)
        result[rows] = product
        return result

    def _exact_tiles(self, order: IntArray | None) -> ExactTiles:
        return ExactTiles(self.X, self.kernel, self.origin, self._kernel_diagonal, order, self.storage.workspace)

    def _fill_symmetric(self, matrix: FloatArray) -> None:
        """Write K to `matrix` (n, n), rounded from float64."""
        pairs = tile_pairs(self.n, np.dtype(np.float64))
        tiles = self._exact_tiles(None)

        def work(pieces: Iterator[Pair]) -> None:
            room = np.empty(min(self.n, TILE[8]) ** 2)
            for i, j in pieces:
                # Evaluated in float64 and rounded. At d = 300 a float32 tile errs by 3e-6, a rounded one by 3e-8. Kept
                # values are used so often that the difference shows as drift.
                values = room[: (i.stop - i.start) * (j.stop - j.start)].reshape(i.stop - i.start, -1)
                tiles.fill((i, j), values)
                matrix[i, j] = values
                if i.start != j.start:
                    matrix[j, i] = values.T

        parallel(work, pairs)
        self.kernel_evaluations += sum((i.stop - i.start) * (j.stop - j.start) for i, j in pairs)


def _add_kept_columns(matrix: FloatArray, B: IntArray, step: FloatArray, scale: float, G: Float64Array) -> None:
    """G += scale * K[:, B] @ step, for the whole K (n, n)."""

    def work(pieces: Iterator[slice]) -> None:
        for piece in pieces:
            # Rows of the symmetric K instead of its columns: they are contiguous.
            G[piece] += scale * (matrix[B, piece].T @ step)

    parallel(work, spans(len(matrix), MAX_PANEL_ROWS))
