"""Greedy selection by the exact decrease over a pool of variables, as a pivoted Cholesky factorization."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import scipy.linalg

from gbcd._arrays import Float64Array, FloatArray, IntArray
from gbcd._tiles import blas_threads, parallel, spans
from gbcd.selection.base import ActiveSet
from gbcd.system import KernelSystem, KnownColumns, squared_norms

UPDATE_ROWS = 512


@dataclass(frozen=True)
class GreedyPool:
    """Greedy selection by the exact decrease (eq. 7) over a pool drawn by gradient: the default.

    With L the partial Cholesky factor of Kbar over the pool, d the Schur diagonal and e the conditional
    residual, eq. 7 reads sum_j e_ij^2 / (2 d_i) and one rank-1 step updates all three: selection *is* a
    pivoted Cholesky factorization, and the prefitting the paper calls expensive costs no more than eq. 10.
    Picks are made `n_pivots` at a time among the `4 n_pivots` most promising, so that the pool is
    updated by matrix products. The pool's kernel values are handed on to the gradient update.

    Parameters
    ----------
    pool_factor : int
        Pool size in blocks: the pool holds pool_factor * m indices drawn in proportion to |g_i|^2, and always
        argmax_i |g_i|^2 / Kbar_ii over all n, which is picked first (Theorem 2).
    n_pivots : int
        Picks between two updates of the pool.
    """

    pool_factor: int = 8
    n_pivots: int = 32

    def select(self, system: KernelSystem, G: Float64Array, m: int, rng: np.random.Generator) -> ActiveSet:
        """Pick `m` of the pool."""
        if m >= system.n:
            return ActiveSet(np.arange(system.n))
        first = system.steepest(G)
        pool = system.draw_by_gradient(G, min(system.n, self.pool_factor * m), rng)
        pool = np.concatenate([[first], pool[pool != first]])
        factor = PoolFactor(system, pool, G[pool], m)
        factor.extend(1, np.zeros(1, dtype=np.intp))
        while factor.size < m:
            count = min(self.n_pivots, m - factor.size)
            factor.extend(count, factor.most_promising(4 * count))
        picks = factor.picks
        return ActiveSet(pool[picks], known=KnownColumns(pool, factor.panel))


class PoolFactor:
    """A partial, greedily pivoted Cholesky factorization of Kbar over a pool.

    Parameters
    ----------
    system : KernelSystem
    pool : int array (p,)
        Indices into the system.
    gradient : array (p, q)
        The gradient at the pool.
    capacity : int
        Number of pivots there is room for, at most p.

    Attributes
    ----------
    size : int
        Pivots so far.
    schur : array (p,)
        d, the Schur diagonal: Kbar_ii - Kbar_iB Kbar_BB^{-1} Kbar_Bi.
    residual : array (p, q)
        e, the gradient after B's step.
    """

    def __init__(self, system: KernelSystem, pool: IntArray, gradient: Float64Array, capacity: int) -> None:
        self.size = 0
        self.residual = gradient.copy()
        self.schur = system.diag()[pool].copy()
        self._system = system
        self._pool = pool
        self._free = np.ones(len(pool), dtype=bool)
        self._picks = np.empty(capacity, dtype=np.intp)
        self._factor = np.zeros((len(pool), capacity), dtype=system.dtype)
        self._panel = np.empty((len(pool), capacity), dtype=system.dtype)
        # The Schur diagonal is never below the noise; in float32 rounding is larger than a tiny noise.
        rounding = 8 * float(np.finfo(system.dtype).eps)
        self._floor = max(system.noise, rounding * float(self.schur.max()))

    @property
    def picks(self) -> IntArray:
        """Positions in the pool of the pivots, in the order they were picked, shape (size,)."""
        return self._picks[: self.size]

    @property
    def panel(self) -> FloatArray:
        """K[pool, B] in tile precision, shape (p, size)."""
        return self._panel[:, : self.size]

    @property
    def gain(self) -> Float64Array:
        """Eq. 7's exact decrease for each index of the pool, shape (p,); -1 where it is picked."""
        gain = squared_norms(self.residual) / (2 * self.schur)
        gain[~self._free] = -1
        return gain

    def most_promising(self, count: int) -> IntArray:
        """Return the positions of the `count` free indices with the largest gain (all the free ones, if fewer)."""
        count = min(count, int(self._free.sum()))
        return np.argpartition(-self.gain, count - 1)[:count]

    def extend(self, count: int, positions: IntArray) -> None:
        """Pick up to `count` pivots, greedily by eq. 7, among these free positions, and update the whole pool."""
        t, count = self.size, min(count, len(positions))
        indices = self._pool[positions]
        earlier = self._factor[:, :t]
        small = self._system.panel(indices, indices).astype(np.float64)
        with blas_threads(1):
            small -= earlier[positions] @ earlier[positions].T
            np.fill_diagonal(small, self.schur[positions])
            order, corner = greedy_pivots(small, self.residual[positions], count, self._floor)
            picks = positions[order]
            # What B's step removes from the residual, in the basis of the factor.
            weights = scipy.linalg.solve_triangular(corner, self.residual[picks], lower=True, check_finite=False)
        columns = self._system.panel(self._pool, self._pool[picks])
        pivots = earlier[picks]
        self._panel[:, t : t + count] = columns

        def update(pieces: Iterator[slice]) -> None:
            for i in pieces:
                right = (columns[i] - earlier[i] @ pivots.T).astype(np.float64)
                new = scipy.linalg.solve_triangular(corner, right.T, lower=True, check_finite=False).T
                # No row of a factor is longer than its Schur diagonal allows: without this, rounding in float32
                # grows from pivot to pivot where rows nearly repeat.
                squares = squared_norms(new)
                excess = squares > self.schur[i]
                new[excess] *= np.sqrt(self.schur[i][excess] / squares[excess])[:, None]
                self._factor[i, t : t + count] = new
                self.residual[i] -= new @ weights
                self.schur[i] -= np.minimum(squares, self.schur[i])

        parallel(update, spans(len(self._pool), UPDATE_ROWS))
        # The pivots themselves, without the rounding of their own columns.
        self._factor[picks, t : t + count] = corner
        self.residual[picks] = 0
        np.maximum(self.schur, self._floor, out=self.schur)
        self._free[picks] = False
        self._picks[t : t + count] = picks
        self.size = t + count


def greedy_pivots(
    matrix: Float64Array, residual: Float64Array, count: int, floor: float
) -> tuple[IntArray, Float64Array]:
    """Run the exact greedy of eq. 7 on a small matrix.

    Parameters
    ----------
    matrix : array (c, c)
        Schur complement of Kbar on the candidates, the noise included.
    residual : array (c, q)
        Conditional residuals of the candidates.
    count : int
        Number of pivots, at most c.
    floor : float
        Smallest Schur diagonal that is believed.

    Returns
    -------
    order : int array (count,)
        The pivots, best first.
    corner : array (count, count)
        Lower Cholesky factor of matrix[order][:, order].
    """
    E = residual.copy()
    d = np.maximum(np.diagonal(matrix), floor)
    factor = np.zeros((len(matrix), count))
    order = np.empty(count, dtype=np.intp)
    taken = np.zeros(len(matrix), dtype=bool)
    for t in range(count):
        gain = squared_norms(E) / d
        gain[taken] = -1
        s = int(np.argmax(gain))
        root = np.sqrt(d[s])
        # |column_i| <= sqrt(d_i) in exact arithmetic (Cauchy-Schwarz); enforced, as in `PoolFactor.extend`.
        reach = np.sqrt(d)
        column = np.clip((matrix[:, s] - factor[:, :t] @ factor[s, :t]) / root, -reach, reach)
        column[s] = root
        factor[:, t] = column
        E -= np.outer(column, E[s] / root)
        d = np.maximum(d - column**2, floor)
        order[t] = s
        taken[s] = True
    return order, np.tril(factor[order])
