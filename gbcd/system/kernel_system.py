"""The linear system Kbar alpha = Y, Kbar = K + noise I, never stored whole unless the memory budget holds it.

Only two operations touch all n rows: "add these columns to the gradient" and "where is the gradient
large". Both live here and nowhere else, so whoever shards the rows over processes, machines or a GPU
replaces `KernelSystem` alone.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
import numpy.typing as npt

from gbcd.kernels.base import Kernel, require_kernel
from gbcd.memory_budget import budget_bytes
from gbcd.scaling import centre
from gbcd.system.exact_tiles import ExactTiles
from gbcd.system.kept_tiles import CODED, TILE, KeptTiles, Pair, half_bytes, tile_pairs
from gbcd.system.products import locality_order, symmetric_product
from gbcd.system.tiles import kernel_matrix, tile_rows
from gbcd.threads import parallel, spans
from gbcd.types import Float64Array, FloatArray, IntArray
from gbcd.validation import as_matrix, positive_number

WORKSPACE_BYTES = 32 << 20
"""Set aside for tiles and selection before K may be kept."""

MAX_FLOAT32_MAGNITUDE = 2e3
"""Above this, float32 tiles err by more than about 1e-4 in k: such systems use float64 tiles from the start."""

MIN_FLOAT32_NOISE = 1e-5
"""Below this, float32 rounding can outweigh the noise: the matrix of such tiles need not be positive definite."""

MIN_NOISE, MAX_NOISE = 1e-300, 1e30
"""Beyond them its inverse overflows, or vectors in float32 do."""

UNIFORM_SHARE = 0.1
"""Part of the draws by gradient that is even over all rows."""

CODE_ERROR = 2.5e-6
"""Standard deviation of the rounding of codes, for values up to 1, before it is known; 2.0e-6 to 2.3e-6 was seen."""

MAX_CODE_ROUNDING = 0.35
"""Codes serve while the norm of their rounding errors is at most this part of the noise: beyond it the restarts from an
exact gradient take more steps than codes save."""

WIDE_TILE = (256, 1024)
"""Rows and columns of a tile of `multiply`."""

NEGLIGIBLE_ROUNDING = 0.1
"""The same: below it nothing is gained by ordering the rows, which takes the memory of their features again."""

CANCELLATION = 1 / 80
"""Error of evaluated values beyond rounding, for each unit of |z|^2 and sqrt(d): as measured at d = 8 and 300."""

MAX_PANEL_ROWS = 512

Precision = Literal["mixed", "float64"]


class KnownColumns(NamedTuple):
    """Kernel values that a selection has already computed: K[rows][:, B] (no noise), in tile precision."""

    rows: IntArray
    values: FloatArray


def check_precision(precision: object) -> None:
    """Refuse a precision that `KernelSystem` does not know.

    Raises
    ------
    ValueError
        Naming it.
    """
    if precision not in get_args(Precision):
        raise ValueError(f"precision must be 'mixed' or 'float64', not {precision!r}.")


def squared_norms(G: Float64Array) -> Float64Array:
    """Return |g_i|^2 over the outputs of each row of G (n, q): shape (n,)."""
    norms: Float64Array = np.einsum("ij,ij->i", G, G)
    return norms


class KernelSystem:
    """Kbar = K + noise I over the rows of X.

    Parameters
    ----------
    X : array (n, d)
        Inputs, as scaled for the kernel. A C-ordered float64 array is not copied: a solver refuses the system once its
        values have been changed.
    kernel : Kernel
    noise : float
        sigma^2, the noise variance on Kbar's diagonal, positive.
    memory_budget : int or "auto"
        Bytes that may be held for kernel values. K is kept (in tile precision, and then never
        evaluated again) when it fits beside the features and the workspace. "auto": a quarter of the
        available memory, at most 4 GiB. Zero keeps nothing; below some 10 MB little else happens, as the workspace and
        a small coarse block are taken in any case.
    precision : {"mixed", "float64"}
        "mixed" evaluates tiles in float32 where the noise and the spread of the inputs allow; residuals
        and factorizations are float64 in both.

    Attributes
    ----------
    n : int
        Number of rows.
    beyond_float32 : bool
        Whether the noise is too small, or the spread of the inputs too large, for float32 tiles.
    kernel_evaluations : int
        Kernel values k(x, x') computed so far, in any precision; a value read from the kept K or got by symmetry
        is not counted again.

    Raises
    ------
    ValueError
        For empty, non-finite, complex or sparse X, what is no kernel, a noise that is not between 1e-300 and 1e30, or
        an unknown precision or budget.
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
        self.memory_budget = budget_bytes(memory_budget)
        self._checksum = zlib.crc32(self.X.data)
        self.n = len(self.X)
        self._origin: Float64Array = centre(self.X)
        self.kernel = kernel.for_inputs(self.X, self._origin)
        self.kernel_evaluations = 0
        self._codes_failed = False
        self._reserved = 0
        self._matrix: FloatArray | None = None
        self._half: KeptTiles | None = None
        self._order: IntArray | None = None
        self._own = self.kernel.diagonal(self.X)
        self._diag = self._own + self.noise
        self._spread = float(self._own.max())
        # Beyond the rounding of a value evaluated in tile precision, digits are lost to cancellation.
        magnitude = self.kernel.magnitude(self.X, self._origin)
        self._lost = 1.0 + CANCELLATION * magnitude * float(np.sqrt(self.X.shape[1]))
        self.beyond_float32 = self.noise < MIN_FLOAT32_NOISE or magnitude > MAX_FLOAT32_MAGNITUDE
        self._set_precision(np.dtype(np.float64 if precision == "float64" or self.beyond_float32 else np.float32))

    @property
    def dtype(self) -> np.dtype[np.floating]:
        """The precision tiles are evaluated in."""
        return self._dtype

    @property
    def origin(self) -> Float64Array:
        """The centre (d,) features are taken about: float32 loses less there."""
        return self._origin

    @property
    def room(self) -> int:
        """Bytes of the memory budget that are left beside the features and the workspace."""
        features = 2 * self.n * (self.X.shape[1] + 2) * self._dtype.itemsize
        return max(0, int(self.memory_budget - features - min(WORKSPACE_BYTES, self.memory_budget // 8)))

    @property
    def tile_error(self) -> float:
        """Standard deviation of a kernel value evaluated in tile precision, about."""
        return float(np.finfo(self._dtype).eps) * self._spread * self._lost / float(np.sqrt(12))

    @property
    def product_error(self) -> float:
        """Standard deviation of a kernel value in `matmul`, about."""
        if self._half is not None and self._half.dtype == CODED:
            return float(np.sqrt(self._half.code_variance)) or CODE_ERROR * self._spread
        return self.tile_error

    def require_unchanged(self) -> None:
        """Refuse to go on where the caller has changed X in place: half of the tiles would still be of the old values.

        Raises
        ------
        ValueError
            If X differs from what it was.
        """
        if zlib.crc32(self.X.data) != self._checksum:
            raise ValueError("X has been changed since the KernelSystem was made: make another one, or give it a copy.")

    def keep_whole(self) -> bool:
        """Keep all of K in tile precision from now on, if it fits the memory budget; return whether it is kept.

        It is evaluated at once, and serves `add_columns`, `panel` and `matmul`.
        """
        if self._matrix is None and self.n**2 * self._dtype.itemsize <= self.room:
            self._half = None
            self._matrix = np.empty((self.n, self.n), dtype=self._dtype)
            self._fill_symmetric(self._matrix)
        return self._matrix is not None

    def keep_half(self, reserved: int = 0, coded: bool | None = None) -> None:
        """Let `matmul` keep one half of K from now on, as far as the memory budget goes.

        Parameters
        ----------
        reserved : int
            Bytes of the budget to leave alone.
        coded : bool, optional
            As 16-bit codes, or in tile precision. By default in tile precision where all of it fits; else as codes,
            where the noise outweighs their rounding; else as much of it as fits, in tile precision.
        """
        self._reserved = reserved
        room = self.room - reserved
        if coded is None:
            coded = half_bytes(self.n, self._dtype) > room and self.allows_codes
        self._matrix = None
        if coded and self._order is None and self.code_rounding > NEGLIGIBLE_ROUNDING:
            self._order = locality_order(self._rows)
            self._product_rows, self._product_columns = self._rows[self._order], self._columns[self._order]
        self._half = KeptTiles(self.n, CODED if coded else self._dtype, room)

    def keep_nothing(self) -> None:
        """Give back what is kept of K."""
        self._matrix = self._half = None

    @property
    def code_rounding(self) -> float:
        """Norm of the rounding errors of 16-bit codes over the noise.

        It is that of a symmetric random matrix, 2 sqrt(n) standard deviations (Wigner).
        """
        return float(2 * np.sqrt(self.n) * CODE_ERROR * self._spread / self.noise)

    @property
    def allows_codes(self) -> bool:
        """Whether K may be kept as 16-bit codes."""
        return self._dtype == np.float32 and not self._codes_failed and self.code_rounding <= MAX_CODE_ROUNDING

    def raise_precision(self) -> bool:
        """Go on without codes, then with float64 tiles, where rounding is in the way; return False if it is not."""
        if self._half is not None and self._half.dtype == CODED:
            self._codes_failed = True
            self.keep_half(self._reserved)
            return True
        if self._dtype.itemsize == 8:
            return False
        self._set_precision(np.dtype(np.float64))
        return True

    def diag(self) -> Float64Array:
        """Return the diagonal of Kbar, the noise included, shape (n,)."""
        return self._diag

    def kernel_diag(self) -> Float64Array:
        """Return k(x, x) of each row, the noise not included, shape (n,)."""
        return self._own

    def block(self, I: IntArray, J: IntArray) -> Float64Array:  # noqa: E741 - the paper's index sets
        """Return Kbar[I, J] in float64, shape (len(I), len(J)), the noise where an index meets itself."""
        if self._matrix is not None and self._dtype == np.float64:
            values = self._matrix[np.ix_(I, J)].astype(np.float64)
        else:
            rows = self.kernel.row_features(self.X[I], self._origin, np.float64)
            columns = self.kernel.column_features(self.X[J], self._origin, np.float64)
            values = self.kernel.tile(rows, columns).astype(np.float64, copy=False)
            self.kernel_evaluations += values.size
        # Not k(x, x) as the tile has it, from squares that cancel but for rounding.
        row, column = np.nonzero(I[:, None] == J[None, :])
        values[row, column] = self._diag[I[row]]
        return values

    def panel(self, I: IntArray, J: IntArray) -> FloatArray:  # noqa: E741 - the paper's index sets
        """Return K[I, J], without noise, in tile precision, shape (len(I), len(J))."""
        matrix = self._matrix
        values = np.empty((len(I), len(J)), dtype=self._dtype)
        columns = None if matrix is not None else self._columns[J]

        def work(pieces: Iterator[slice]) -> None:
            for piece in pieces:
                if matrix is not None:
                    values[piece] = matrix[np.ix_(I[piece], J)]
                elif columns is not None:
                    self.kernel.tile(self._rows[I[piece]], columns, out=values[piece])

        parallel(work, spans(len(I), MAX_PANEL_ROWS))
        if matrix is None:
            self.kernel_evaluations += values.size
        return values

    def add_columns(self, B: IntArray, D: Float64Array, G: Float64Array, known: KnownColumns | None = None) -> None:
        """G += Kbar[:, B] @ D in place, in row tiles; n x m values are never held.

        Parameters
        ----------
        B : int array (m,)
            Distinct columns.
        D : array (m, q)
        G : array (n, q)
        known : KnownColumns, optional
            Values the caller already has, which are then not evaluated again.
        """
        # Scaled to 1 first, so that the cast to float32 neither overflows nor underflows.
        scale = float(np.abs(D).max(initial=0.0))
        if scale == 0:
            return
        step = (D / scale).astype(self._dtype)
        matrix = self._matrix
        if matrix is not None:
            self._add_kept_columns(matrix, B, step, scale, G)
        else:
            rest = None
            if known is not None:
                G[known.rows] += scale * (known.values @ step)
                unknown = np.ones(self.n, dtype=bool)
                unknown[known.rows] = False
                rest = np.flatnonzero(unknown)
            self._add_evaluated_columns(B, step, scale, G, rest)
        G[B] += self.noise * D

    def matmul(self, V: Float64Array) -> Float64Array:
        """Return Kbar @ V in tile precision, shape (n, q); symmetric tiles are evaluated once."""
        matrix = self._matrix
        if matrix is None:
            if self._half is None:
                self.keep_half(self._reserved)
            return self._half_product(V, self._dtype, self._half) + self.noise * V
        scale = float(np.abs(V).max(initial=0.0)) or 1.0
        right = (V / scale).astype(self._dtype)
        product = self.noise * V

        def work(pieces: Iterator[slice]) -> None:
            for piece in pieces:
                product[piece] += scale * (matrix[piece] @ right)

        parallel(work, spans(self.n, MAX_PANEL_ROWS))
        return product

    def multiply(self, V: FloatArray) -> FloatArray:
        """Return Kbar @ V for many columns V (n, q), in tile precision and nothing kept.

        Then the product outweighs the kernel values, and evaluating both halves is cheaper than the memory of partial
        sums that the use of symmetry takes.
        """
        right = V.astype(self._dtype, copy=False)
        product = np.empty_like(right)
        columns = spans(self.n, WIDE_TILE[1])

        def work(pieces: Iterator[slice]) -> None:
            room = np.empty(WIDE_TILE[0] * WIDE_TILE[1], dtype=self._dtype)
            for i in pieces:
                total = self._dtype.type(self.noise) * right[i]
                for j in columns:
                    tile = room[: (i.stop - i.start) * (j.stop - j.start)].reshape(i.stop - i.start, -1)
                    total += self.kernel.tile(self._rows[i], self._columns[j], out=tile) @ right[j]
                product[i] = total

        parallel(work, spans(self.n, WIDE_TILE[0]))
        self.kernel_evaluations += self.n**2
        return product

    def residual(self, alpha: Float64Array, Y: Float64Array) -> Float64Array:
        """Return the gradient Kbar @ alpha - Y, shape (n, q), evaluated in float64 throughout."""
        if self._dtype == np.float64:
            return self.matmul(alpha) - Y
        return self._half_product(alpha, np.dtype(np.float64)) + self.noise * alpha - Y

    def gradient(self, alpha: Float64Array, Y: Float64Array) -> Float64Array:
        """Return Kbar @ alpha - Y, shape (n, q), evaluated afresh in tile precision: `residual` at less cost."""
        return self._half_product(alpha, self._dtype) + self.noise * alpha - Y

    def dense(self, dtype: npt.DTypeLike = np.float64) -> npt.NDArray[Any]:
        """Return the whole Kbar, (n, n), whatever the budget, rounded from float64 tiles: for the direct solver."""
        values = np.empty((self.n, self.n), dtype=dtype)
        self._fill_symmetric(values)
        values.flat[:: self.n + 1] = self._diag
        return values

    def cross(self, X_new: Float64Array) -> Float64Array:
        """Return K between the rows of X and X_new (t, d), in float64, shape (n, t)."""
        self.kernel_evaluations += self.n * len(X_new)
        values = kernel_matrix(self.kernel, self.X, X_new, self._origin)
        return values.astype(np.float64, copy=False)

    def gradient_norm(self, G: Float64Array) -> float:
        """Return the infinity norm of the gradient over all rows and outputs."""
        return float(np.abs(G).max(initial=0.0))

    def steepest(self, G: Float64Array) -> int:
        """Return argmax_i |g_i|^2 / Kbar_ii over all n: the first pick that Theorems 1 and 2 need."""
        return int(np.argmax(squared_norms(G) / self._diag))

    def largest(self, G: Float64Array, size: int) -> IntArray:
        """Return the `size` rows with the largest |g_i|^2, largest first."""
        norms = squared_norms(G)
        top = np.argpartition(-norms, size - 1)[:size]
        return top[np.argsort(-norms[top], kind="stable")]

    def draw_by_gradient(self, G: Float64Array, size: int, rng: np.random.Generator) -> IntArray:
        """Draw `size` distinct rows (Gumbel top-k), a tenth of them evenly, the others in proportion to |g_i|^2.

        The even share matters where rows nearly repeat: a block's own gradient is zero after its step, and rows that
        must move again together with a neighbour would wait for ever. On 4,658 HistoSC images with a pool of 2,000,
        40 n columns did not suffice without it, 20 n did with it; easy problems pay nothing.
        """
        if size >= self.n:
            return np.arange(self.n)
        weights = squared_norms(G)
        weights += max(UNIFORM_SHARE * weights.mean(), np.finfo(np.float64).tiny)
        keys = np.log(weights) + rng.gumbel(size=self.n)
        return np.argpartition(-keys, size - 1)[:size]

    def _set_precision(self, dtype: np.dtype[np.floating]) -> None:
        self._dtype = dtype
        self._rows = self.kernel.row_features(self.X, self._origin, dtype)
        self._columns = self.kernel.column_features(self.X, self._origin, dtype)
        self._matrix = None
        self._half = None
        self._order = None
        self._product_rows, self._product_columns = self._rows, self._columns

    def _add_kept_columns(
        self, matrix: FloatArray, B: IntArray, step: FloatArray, scale: float, G: Float64Array
    ) -> None:
        def work(pieces: Iterator[slice]) -> None:
            for piece in pieces:
                # Rows of the symmetric K instead of its columns: they are contiguous.
                G[piece] += scale * (matrix[B, piece].T @ step)

        parallel(work, spans(self.n, MAX_PANEL_ROWS))

    def _add_evaluated_columns(
        self, B: IntArray, step: FloatArray, scale: float, G: Float64Array, rest: IntArray | None
    ) -> None:
        columns = self._columns[B]
        count = self.n if rest is None else len(rest)
        height = tile_rows(len(B), self._dtype)

        def work(pieces: Iterator[slice]) -> None:
            tile = np.empty((height, len(B)), dtype=self._dtype)
            for piece in pieces:
                rows = piece if rest is None else rest[piece]
                values = self.kernel.tile(self._rows[rows], columns, out=tile[: piece.stop - piece.start])
                G[rows] += scale * (values @ step)

        parallel(work, spans(count, height))
        self.kernel_evaluations += count * len(B)

    def _half_product(
        self, V: Float64Array, dtype: np.dtype[np.floating], kept: KeptTiles | None = None
    ) -> Float64Array:
        order = slice(None) if self._order is None else self._order
        # What is kept is filled with float64 values, rounded.
        exact = dtype != self._dtype or (kept is not None and kept.dtype == np.float32 and not kept.is_full)
        tiles = self._exact_tiles(self._order) if exact else None

        def fill(pair: Pair, values: FloatArray) -> None:
            if tiles is not None and values.dtype != self._dtype:
                tiles.fill(pair, values)
            else:
                self._fill_tile(pair, values)

        product, evaluations = symmetric_product(V[order], dtype, fill, kept)
        self.kernel_evaluations += evaluations
        result = np.empty_like(product)
        result[order] = product
        return result

    def _fill_tile(self, pair: Pair, values: FloatArray) -> None:
        """Evaluate a tile of the rows in the order of products, in tile precision."""
        i, j = pair
        self.kernel.tile(self._product_rows[i], self._product_columns[j], out=values)
        if i.start == j.start:
            np.fill_diagonal(values, self._own[i] if self._order is None else self._own[self._order[i]])

    def _exact_tiles(self, order: IntArray | None) -> ExactTiles:
        room = min(WORKSPACE_BYTES, self.memory_budget // 8)
        return ExactTiles(self.X, self.kernel, self._origin, self._own, order, room)

    def _fill_symmetric(self, matrix: FloatArray) -> None:
        pairs = tile_pairs(self.n, np.dtype(np.float64))
        tiles = self._exact_tiles(None)

        def work(pieces: Iterator[Pair]) -> None:
            room = np.empty(min(self.n, TILE[8]) ** 2)
            for i, j in pieces:
                # In float64 and rounded: a float32 tile errs by 3e-6 at d = 300, rounding by 3e-8, and what is kept
                # is used so often that the difference shows as drift.
                values = room[: (i.stop - i.start) * (j.stop - j.start)].reshape(i.stop - i.start, -1)
                tiles.fill((i, j), values)
                matrix[i, j] = values
                if i.start != j.start:
                    matrix[j, i] = values.T

        parallel(work, pairs)
        self._count(pairs)

    def _count(self, pairs: list[tuple[slice, slice]]) -> None:
        self.kernel_evaluations += sum((i.stop - i.start) * (j.stop - j.start) for i, j in pairs)
