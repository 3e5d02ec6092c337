"""Matching pursuit: regressors chosen one by one, each the best of some random rows."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from gbcd.kernels.base import Kernel
from gbcd.linalg.blas import divide, divide_vector
from gbcd.scaling import centre
from gbcd.threads import blas_threads, parallel, spans
from gbcd.types import Float64Array, FloatArray, IntArray

logger = logging.getLogger(__name__)

Criterion = Literal["line_search", "exact"]

ChosenCallback = Callable[[int, int], None]
"""Called with the numbers of regressors chosen and wanted."""

N_CANDIDATES = 59
"""Default number of random rows that are scored at each step: the best of 59 is among the best 5 % with probability
0.95 (Smola & Bartlett 2000)."""

MIN_SCHUR = 1e-8
"""Least variance of a row given the chosen regressors, over its prior variance: below it the row is a copy of them."""

MIN_SCHUR_FLOAT32 = 1e-4
"""Value of `MIN_SCHUR` while V is in float32. From column to column, rounding errors are multiplied by the inverse root
of the variance: with 1e-6 the selection on protein data ended after 221 regressors instead of 800."""

MIN_FLOAT32_SHARE = 0.9
"""Least part of the rows that float32 leaves to choose from; below it V is made anew in float64."""

MAX_FLOAT32_MAGNITUDE = 16.0
"""Largest term that cancels in a float32 tile: beyond it values err by more than 1e-6, and come from float64 tiles."""

LANES = 8
"""Number of ranges of rows that are summed up in order, so that the number of threads makes no difference."""

TILE_COLUMNS = 1024
"""Training rows whose kernel values with the candidates a thread evaluates at a time."""

CANDIDATES_DIVIDED = 30
"""Candidates whose overlaps a thread divides by L at a time."""

PIECE = 2048
"""Columns of V (rows of X) that a thread reads at a time; with 256 the products take 1.5 times as long."""


class Selected(NamedTuple):
    """What `MatchingPursuit` found: the rows in the order chosen, and the kernel values evaluated."""

    active: IntArray
    kernel_evaluations: int


class Directions(NamedTuple):
    """What candidates would add to V, unscaled: u_c = k_c - V V_c'."""

    candidates: IntArray
    """Rows of the candidates (c,)."""

    u: FloatArray
    """u_c' of each candidate (c, n)."""

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
    factor L of V'V + noise I grow by a column per regressor; the residual Y - V w is computed anew each time.
    A candidate c would add the column v_c = u_c / sqrt(d_c), with u_c = k_c - V V_c' and d_c = k_cc - |V_c|^2.

    Parameters
    ----------
    Y : array (n, q)
    diagonal : array (n,)
        k(x, x) of each row.
    noise : float
    capacity : int
        Largest number of regressors: V takes 4 n capacity bytes in float32.
    dtype : dtype
        Precision of V; sums over the rows of V are float64.

    Attributes
    ----------
    size : int
    residual : array (n, q)
    schur : array (n,)
        d of each row: its variance given the regressors, zero for a regressor.
    """

    def __init__(
        self, Y: Float64Array, diagonal: Float64Array, noise: float, capacity: int, dtype: npt.DTypeLike
    ) -> None:
        self.size = 0
        self.dtype = np.dtype(dtype)
        self.residual: FloatArray = Y.astype(dtype)
        self.schur = diagonal.astype(np.float64)
        self._Y = self.residual.copy()
        self._diagonal = diagonal
        self._noise = noise
        # Transposed, so that the first `size` rows are contiguous.
        self._V = np.empty((capacity, len(Y)), dtype=dtype)
        self._lower = np.zeros((capacity, capacity))
        self._forward = np.zeros((capacity, Y.shape[1]))  # L^-1 V' Y
        self._weights = np.zeros((0, Y.shape[1]))

    def line_search(self, candidates: IntArray, columns: FloatArray) -> Float64Array:
        """Return how far each candidate lowers the objective by its own coefficient alone, the others held (c,).

        That is |k_c' residual - noise k_cp beta|^2 / (|k_c|^2 + noise k_cc), summed over the outputs (eq. 8 of Keerthi
        & Chu, without the half); k_cp beta = V_c w.

        Parameters
        ----------
        candidates : int array (c,)
        columns : array (c, n)
            Kernel values of the candidates with all rows.
        """
        own = self._V[: self.size, candidates].astype(np.float64)
        sums = self._summed(columns, self.residual.shape[1] + 1, self._add_pull)
        pull = sums[:, :-1] - self._noise * own.T @ self._weights
        norm = np.maximum(sums[:, -1] + self._noise * self._diagonal[candidates], np.finfo(np.float64).tiny)
        decrease: Float64Array = np.einsum("ij,ij->i", pull, pull) / norm
        return decrease

    def exact(self, directions: Directions) -> Float64Array:
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
        # In exact arithmetic not negative.
        remainder = np.maximum(directions.squares - np.einsum("ij,ij->i", whitened, whitened), 0)
        norm = np.maximum(self._noise * self.schur[directions.candidates] + remainder, np.finfo(np.float64).tiny)
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
        return Directions(candidates, columns, sums[:, :t], sums[:, t:-1], sums[:, -1])

    def add(self, directions: Directions, which: int) -> None:
        """Add candidate number `which` to the regressors."""
        t, candidate = self.size, directions.candidates[which]
        schur = float(self.schur[candidate])
        scale = np.sqrt(schur)
        np.divide(directions.u[which], self.dtype.type(scale), out=self._V[t])
        row = self._lower[t, :t]
        row[:] = directions.overlaps[which] / scale
        if t:
            divide_vector(row, self._lower[:t, :t])
        left = float(directions.squares[which]) / schur - float(row @ row)
        pivot = np.sqrt(self._noise + max(left, 0.0))
        self._lower[t, t] = pivot
        # v' residual is v' Y less the part that the earlier columns explain.
        self._forward[t] = directions.pull[which] / scale / pivot
        self.schur = np.maximum(self.schur - np.square(self._V[t], dtype=np.float64), 0)
        self.schur[candidate] = 0
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
        weights = self._weights.astype(self.dtype)

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


@dataclass(frozen=True)
class MatchingPursuit:
    """Chooses regressors one by one (Keerthi & Chu, NIPS 2005).

    Each step draws rows that are not chosen yet, takes the one that lowers the subset-of-regressors objective most, and
    solves for all coefficients again (see `PursuitBasis`). V is float32 until many rows are nearly combinations of the
    regressors, then float64.

    Parameters
    ----------
    kernel : Kernel
    noise : float
    n_candidates : int
        Rows drawn at each step.
    criterion : {"line_search", "exact"}
        How a row is judged: with its own coefficient solved for alone, or with all of them.
    callback : callable, optional
        Called with the numbers of regressors chosen and wanted, before the first and after each.
    """

    kernel: Kernel
    noise: float
    n_candidates: int = N_CANDIDATES
    criterion: Criterion = "line_search"
    callback: ChosenCallback | None = None

    def select(
        self, X: Float64Array, Y: Float64Array, count: int, random_state: int | np.random.Generator | None = None
    ) -> Selected:
        """Choose `count` rows of X (n, d) for the outputs Y (n, q): fewer where all others are copies."""
        rng = np.random.default_rng(random_state)
        selection = _Selection(X, Y, self.kernel, self.noise, count)
        self._tell(0, count)
        with blas_threads(1):
            while len(selection.chosen) < count:
                free = selection.drawable()
                if not len(free):
                    logger.info("MPGP stops at %d regressors: the other rows copy them", len(selection.chosen))
                    break
                drawn = rng.choice(free, min(self.n_candidates, len(free)), replace=False)
                selection.step(drawn, self.criterion)
                self._tell(len(selection.chosen), count)
        return Selected(np.array(selection.chosen, dtype=np.intp), selection.kernel_evaluations)

    def _tell(self, chosen: int, wanted: int) -> None:
        if self.callback is not None:
            self.callback(chosen, wanted)


class _Selection:
    """A selection under way."""

    def __init__(self, X: Float64Array, Y: Float64Array, kernel: Kernel, noise: float, n_regressors: int) -> None:
        self.chosen: list[int] = []
        self.kernel_evaluations = 0
        self._X, self._Y, self._noise, self._capacity = X, Y, noise, n_regressors
        self._origin = centre(X)
        self._kernel = kernel.for_inputs(X, self._origin)
        self._diagonal = kernel.diagonal(X)
        self._set_dtype(np.float32)

    def drawable(self) -> IntArray:
        """Return the rows that are neither regressors nor copies of them.

        Where float32 leaves too few of them, the basis is made anew in float64.
        """
        schur = self._basis.schur
        free = np.flatnonzero(schur > MIN_SCHUR * self._diagonal)
        if self._basis.dtype == np.float32:
            solid = free[schur[free] > MIN_SCHUR_FLOAT32 * self._diagonal[free]]
            if len(solid) >= MIN_FLOAT32_SHARE * len(free):
                return solid
            self._set_dtype(np.float64)
            return self.drawable()
        return free

    def step(self, candidates: IntArray, criterion: Criterion) -> None:
        """Add the best of the candidates (c,)."""
        basis, columns = self._basis, self._columns(candidates)
        if criterion == "exact":
            directions = basis.directions(candidates, columns)
            best = which = int(np.argmax(basis.exact(directions)))
        else:
            best, which = int(np.argmax(basis.line_search(candidates, columns))), 0
            directions = basis.directions(candidates[best : best + 1], columns[best : best + 1])
        basis.add(directions, which)
        self.chosen.append(int(candidates[best]))

    def _set_dtype(self, dtype: npt.DTypeLike) -> None:
        """Make the basis in this precision, of the regressors chosen so far."""
        wide = self._kernel.magnitude(self._X, self._origin) > MAX_FLOAT32_MAGNITUDE
        precision = np.float64 if wide else dtype
        self._rows = self._kernel.row_features(self._X, self._origin, precision)
        self._features = self._kernel.column_features(self._X, self._origin, precision)
        self._basis = PursuitBasis(self._Y, self._diagonal, self._noise, self._capacity, dtype)
        for row in np.reshape(np.array(self.chosen, dtype=np.intp), (-1, 1)):
            self._basis.add(self._basis.directions(row, self._columns(row)), 0)

    def _columns(self, candidates: IntArray) -> FloatArray:
        """Return the kernel between candidates (c,) and all rows, (c, n), in the precision of the basis."""
        values = np.empty((len(candidates), len(self._X)), dtype=self._basis.dtype)
        rows = self._rows[candidates]

        def work(pieces: Iterator[slice]) -> None:
            for piece in pieces:
                values[:, piece] = self._kernel.tile(rows, self._features[piece])

        parallel(work, spans(len(self._X), TILE_COLUMNS))
        self.kernel_evaluations += values.size
        return values
