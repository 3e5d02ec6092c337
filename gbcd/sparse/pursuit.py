"""Matching pursuit: regressors chosen one by one, each the best of some random rows."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from gbcd._arrays import Float64Array, FloatArray, IntArray
from gbcd._blas import divide, divide_vector
from gbcd._tiles import blas_threads, parallel, spans
from gbcd.kernels import Kernel
from gbcd.system import MAX_FLOAT32_MAGNITUDE

logger = logging.getLogger(__name__)

Criterion = Literal["line_search", "exact"]

N_CANDIDATES = 59
"""The best of 59 random rows is among the best 5 % with probability 0.95 (Smola & Bartlett 2000)."""

MIN_SCHUR = 1e-6
"""A candidate whose variance given the chosen regressors is below this is a copy of them in float32."""

LANES = 8
"""Ranges of rows that are summed up one by one, so that the number of threads makes no difference."""

TILE_COLUMNS = 1024

CANDIDATES_DIVIDED = 30
"""Candidates whose overlaps a thread divides by L at a time."""

PIECE = 2048
"""Columns of V (rows of X) a thread reads at a time; with 256 of them the products take half as long again."""


class Selected(NamedTuple):
    """What `select_regressors` found: the rows in the order chosen, and the kernel values it took."""

    active: IntArray
    kernel_evaluations: int


class Directions(NamedTuple):
    """What candidates would add to V, unscaled: u_c = k_c - V V_c'."""

    u: FloatArray
    """(c, n)"""

    overlaps: Float64Array
    """V' u_c, (c, p)."""

    pull: Float64Array
    """u_c' residual, (c, q)."""

    squares: Float64Array
    """|u_c|^2, (c,)."""


class PursuitBasis:
    """The regressors chosen so far, orthogonalised, and the residual of the fit on them.

    With R the Cholesky factor of K_pp and V = K_np R^-T, the subset-of-regressors objective
    |Y - K_np beta|^2 + noise beta' K_pp beta is the ridge problem |Y - V w|^2 + noise |w|^2. V and the Cholesky
    factor L of V'V + noise I grow by a column per regressor; the residual Y - V w is taken afresh each time.
    A candidate c would add the column v_c = u_c / sqrt(d_c), with u_c = k_c - V V_c' and d_c = k_cc - |V_c|^2.

    Parameters
    ----------
    Y : array (n, q)
    noise : float
    capacity : int
        Regressors there is room for: 4 n capacity bytes in float32.
    dtype : dtype
        Of V; sums over its rows are float64.

    Attributes
    ----------
    size : int
    residual : array (n, q)
    """

    def __init__(self, Y: Float64Array, noise: float, capacity: int, dtype: npt.DTypeLike = np.float32) -> None:
        self.size = 0
        self.residual: FloatArray = Y.astype(dtype)
        self._Y = self.residual.copy()
        self._noise = noise
        # Transposed, so that the first `size` rows are contiguous.
        self._V = np.empty((capacity, len(Y)), dtype=dtype)
        self._lower = np.zeros((capacity, capacity))
        self._forward = np.zeros((capacity, Y.shape[1]))  # L^-1 V' Y
        self._weights = np.zeros((0, Y.shape[1]))

    def schur(self, candidates: IntArray, diagonal: Float64Array) -> Float64Array:
        """Return d_c of the candidates (c,), given their k_cc (c,)."""
        own = self._V[: self.size, candidates]
        explained: Float64Array = np.einsum("ij,ij->j", own, own, dtype=np.float64)
        return diagonal - explained

    def line_search(self, candidates: IntArray, columns: FloatArray, diagonal: Float64Array) -> Float64Array:
        """Return how far each candidate lowers the objective by its own coefficient alone, the others held (c,).

        That is |k_c' residual - noise k_cp beta|^2 / (|k_c|^2 + noise k_cc), summed over the outputs (eq. 8 of Keerthi
        & Chu, without the half); k_cp beta = V_c w.

        Parameters
        ----------
        candidates : int array (c,)
        columns : array (c, n)
            Their kernel rows.
        diagonal : array (c,)
            k_cc.
        """
        own = self._V[: self.size, candidates].astype(np.float64)
        sums = self._summed(columns, self.residual.shape[1] + 1, self._add_pull)
        pull = sums[:, :-1] - self._noise * own.T @ self._weights
        norm = np.maximum(sums[:, -1] + self._noise * diagonal, np.finfo(np.float64).tiny)
        decrease: Float64Array = np.einsum("ij,ij->i", pull, pull) / norm
        return decrease

    def exact(self, directions: Directions, schur: Float64Array) -> Float64Array:
        """Return how far each candidate lowers the objective where all coefficients are solved for again (c,).

        That is |u_c' residual|^2 / (noise d_c + |u_c|^2 - |L^-1 V' u_c|^2), summed over the outputs: the criterion of
        Smola & Bartlett, from two matrix products for all candidates and no further factorization.
        """
        whitened = directions.overlaps.copy()
        lower = self._lower[: self.size, : self.size]

        def work(pieces: Iterator[slice]) -> None:
            for piece in pieces:
                divide(whitened[piece], lower)

        if self.size:
            parallel(work, spans(len(whitened), CANDIDATES_DIVIDED))
        # Not negative but for rounding.
        remainder = np.maximum(directions.squares - np.einsum("ij,ij->i", whitened, whitened), 0)
        norm = np.maximum(self._noise * schur + remainder, np.finfo(np.float64).tiny)
        decrease: Float64Array = np.einsum("ij,ij->i", directions.pull, directions.pull) / norm
        return decrease

    def directions(self, candidates: IntArray, columns: FloatArray) -> Directions:
        """Return the directions of candidates (c,), given their kernel rows (c, n), which are overwritten."""
        t, q = self.size, self.residual.shape[1]
        own = np.ascontiguousarray(self._V[:t, candidates].T)

        def add(sums: Float64Array, u: FloatArray, piece: slice) -> None:
            if t:
                u -= own @ self._V[:t, piece]
                sums[:, :t] += u @ self._V[:t, piece].T
            self._add_pull(sums[:, t:], u, piece)

        sums = self._summed(columns, t + q + 1, add)
        return Directions(columns, sums[:, :t], sums[:, t:-1], sums[:, -1])

    def add(self, directions: Directions, which: int, schur: float) -> None:
        """Add the candidate of this number, given its d_c."""
        t, scale = self.size, np.sqrt(schur)
        np.divide(directions.u[which], self._V.dtype.type(scale), out=self._V[t])
        row = self._lower[t, :t]
        row[:] = directions.overlaps[which] / scale
        if t:
            divide_vector(row, self._lower[:t, :t])
        left = float(directions.squares[which]) / schur - float(row @ row)
        pivot = np.sqrt(self._noise + max(left, 0.0))
        self._lower[t, t] = pivot
        # v' Y less what the earlier columns account for is v' residual.
        self._forward[t] = directions.pull[which] / scale / pivot
        self.size = t + 1
        self._solve()

    def _solve(self) -> None:
        """Set w = L^-T (L^-1 V' Y) and the residual Y - V w."""
        t = self.size
        outputs = self._forward[:t].T.copy(order="C")
        if len(outputs) == 1:
            divide_vector(outputs[0], self._lower[:t, :t], transposed=True)
        else:
            divide(outputs, self._lower[:t, :t], transposed=True)
        self._weights = outputs.T
        weights = self._weights.astype(self._V.dtype)

        def work(pieces: Iterator[slice]) -> None:
            for piece in pieces:
                self.residual[piece] = self._Y[piece] - self._V[:t, piece].T @ weights

        parallel(work, spans(len(self._Y), PIECE))

    def _add_pull(self, sums: Float64Array, u: FloatArray, piece: slice) -> None:
        sums[:, :-1] += u @ self.residual[piece]
        sums[:, -1] += np.einsum("ij,ij->i", u, u)

    def _summed(
        self, columns: FloatArray, width: int, add: Callable[[Float64Array, FloatArray, slice], None]
    ) -> Float64Array:
        """Return the sums (c, width) that `add` makes of each piece of `columns` (c, n), in a fixed order."""
        n = columns.shape[1]
        lanes = spans(n, -(-n // LANES))
        sums = np.zeros((len(lanes), len(columns), width))

        def work(mine: Iterator[int]) -> None:
            for lane in mine:
                for start in range(lanes[lane].start, lanes[lane].stop, PIECE):
                    piece = slice(start, min(start + PIECE, lanes[lane].stop))
                    add(sums[lane], columns[:, piece], piece)

        parallel(work, range(len(lanes)))
        total: Float64Array = sums.sum(axis=0)
        return total


def select_regressors(
    X: Float64Array,
    Y: Float64Array,
    kernel: Kernel,
    noise: float,
    n_regressors: int,
    n_candidates: int = N_CANDIDATES,
    criterion: Criterion = "line_search",
    random_state: int | np.random.Generator | None = None,
) -> Selected:
    """Choose regressors by matching pursuit (Keerthi & Chu, NIPS 2005).

    Each step draws `n_candidates` unchosen rows, takes the one that lowers the subset-of-regressors objective most by
    the criterion (see `PursuitBasis`) and solves for all coefficients again. Runs in float32 where the spread of the
    inputs allows.

    Returns
    -------
    Selected
        Fewer rows than asked for where the rest only copies them.
    """
    rng = np.random.default_rng(random_state)
    n, origin = len(X), X.mean(axis=0)
    dtype = np.float32 if kernel.magnitude(X, origin) <= MAX_FLOAT32_MAGNITUDE else np.float64
    rows = kernel.row_features(X, origin, dtype)
    features = kernel.column_features(X, origin, dtype)
    diagonal = kernel.diagonal(X)
    basis = PursuitBasis(Y, noise, n_regressors, dtype)
    free = np.ones(n, dtype=bool)
    chosen: list[int] = []
    evaluations = 0
    with blas_threads(1):
        while len(chosen) < n_regressors:
            unchosen = np.flatnonzero(free)
            if not len(unchosen):
                logger.info("MPGP stops at %d regressors: the other rows copy them", len(chosen))
                break
            candidates = rng.choice(unchosen, min(n_candidates, len(unchosen)), replace=False)
            schur = basis.schur(candidates, diagonal[candidates])
            # Copies stay copies: they are not drawn again.
            free[candidates[schur <= MIN_SCHUR]] = False
            candidates, schur = candidates[schur > MIN_SCHUR], schur[schur > MIN_SCHUR]
            if not len(candidates):
                continue
            columns = candidate_columns(kernel, rows[candidates], features)
            evaluations += columns.size
            if criterion == "exact":
                directions = basis.directions(candidates, columns)
                which = best = int(np.argmax(basis.exact(directions, schur)))
            else:
                best = int(np.argmax(basis.line_search(candidates, columns, diagonal[candidates])))
                directions, which = basis.directions(candidates[best : best + 1], columns[best : best + 1]), 0
            basis.add(directions, which, float(schur[best]))
            free[candidates[best]] = False
            chosen.append(int(candidates[best]))
    return Selected(np.array(chosen, dtype=np.intp), evaluations)


def candidate_columns(kernel: Kernel, candidates: FloatArray, features: FloatArray) -> FloatArray:
    """Return the kernel between candidates and all rows, given their features: shape (c, n)."""
    values = np.empty((len(candidates), len(features)), dtype=features.dtype)

    def work(pieces: Iterator[slice]) -> None:
        for piece in pieces:
            values[:, piece] = kernel.tile(candidates, features[piece])

    parallel(work, spans(len(features), TILE_COLUMNS))
    return values
