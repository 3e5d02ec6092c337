"""Greedy selection by the exact decrease over a pool of variables, as a pivoted Cholesky factorization."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numba
import numpy as np
import scipy.linalg

from gbcd.compiling import IN_ORDER
from gbcd.linalg.norms import squared_norms
from gbcd.paper.gradient_draws import draw_by_gradient, steepest
from gbcd.paper.selection import ActiveSet
from gbcd.system.protocol import KnownColumns, LinearSystem
from gbcd.threads import blas_threads, parallel, spans
from gbcd.types import Float64Array, FloatArray, IntArray

UPDATE_ROWS = 512
"""Rows of the pool that are updated together: their part of the factor stays in a second-level cache."""

CANDIDATES_PER_PIVOT = 3
"""Rows of the pool that are candidates for each pick: 4 cost more evaluations than they save, 2 cost iterations."""

MAX_INVERSE_GROWTH = 10.0
"""Norm of a row of the factor's inverse, over its bound in exact arithmetic, above which the pivot is dropped."""

FLOOR_ROUNDINGS = 8.0
"""Smallest Schur diagonal, in rounding errors of the largest one, where the noise is smaller: less is rounding."""


@dataclass(frozen=True)
class GreedyPool:
    """Greedy selection by the exact decrease (eq. 7) over a pool drawn by gradient.

    With L the partial Cholesky factor of Kbar over the pool, d the Schur diagonal and e the conditional
    residual, eq. 7 reads sum_j e_ij^2 / (2 d_i) and one rank-1 step updates all three: selection *is* a
    pivoted Cholesky factorization, and the prefitting the paper calls expensive costs no more than eq. 10.
    Picks are made `n_pivots` at a time among the `3 n_pivots` most promising, so that the pool is
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

    def select(self, system: LinearSystem, G: Float64Array, m: int, rng: np.random.Generator) -> ActiveSet:
        """Pick `m` of the pool."""
        if m >= system.n:
            return ActiveSet(np.arange(system.n))
        first = steepest(system, G)
        pool = draw_by_gradient(G, min(system.n, self.pool_factor * m), rng)
        pool = np.concatenate([[first], pool[pool != first]])
        factor = PoolFactor(system, pool, G[pool], m)
        factor.extend(1, np.zeros(1, dtype=np.intp))
        while factor.size < m:
            count = min(self.n_pivots, m - factor.size)
            factor.extend(count, factor.most_promising(CANDIDATES_PER_PIVOT * count))
        picks = factor.picks
        return ActiveSet(pool[picks], known=KnownColumns(pool, factor.panel))


class PoolFactor:
    """A partial, greedily pivoted Cholesky factorization of Kbar over a pool.

    Parameters
    ----------
    system : LinearSystem
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

    def __init__(self, system: LinearSystem, pool: IntArray, gradient: Float64Array, capacity: int) -> None:
        self.size = 0
        self.residual = gradient.copy()
        self.schur = system.diagonal()[pool].copy()
        self._system = system
        self._pool = pool
        self._free = np.ones(len(pool), dtype=bool)
        self._picks = np.empty(capacity, dtype=np.intp)
        # One array holds both. The C library would return two smaller arrays to the system after each block, and
        # getting fresh pages takes longer than filling them.
        memory: FloatArray = np.empty((2, len(pool), capacity), dtype=system.dtype)
        self._factor: FloatArray = memory[0]
        self._panel: FloatArray = memory[1]
        # The Schur diagonal is never below the noise. In float32 its rounding may be larger than a tiny noise.
        rounding = FLOOR_ROUNDINGS * float(np.finfo(system.dtype).eps)
        largest = float(self.schur.max())
        self._floor = max(system.noise, rounding * largest)
        # Bound of a residual, as |Kbar_iB Kbar_BB^-1| <= sqrt(Kbar_ii / noise). A larger residual is rounding that has
        # grown from pivot to pivot, and would go on growing until float32 overflows.
        self._reach = (1 + float(np.sqrt(largest / self._floor))) * float(np.linalg.norm(gradient))

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
        """Exact decrease (eq. 7) for each index of the pool, shape (p,); -1 for an index already picked."""
        with np.errstate(over="ignore"):  # an infinite gain is simply the largest
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
        small = self._system.block(indices, indices).astype(np.float64)
        with blas_threads(1):
            small -= earlier[positions] @ earlier[positions].T
            np.fill_diagonal(small, self.schur[positions])
            order, corner = greedy_pivots(small, self.residual[positions], count, self._floor)
            inverse = scipy.linalg.solve_triangular(corner, np.eye(count), lower=True, check_finite=False)
            count = self._sound(inverse)
            order, corner, inverse = order[:count], corner[:count, :count], inverse[:count, :count]
            picks = positions[order]
            # What the step of the new pivots removes from a residual, for each new column of the factor.
            weights = inverse @ self.residual[picks]
        columns = self._system.block(self._pool, self._pool[picks])
        pivots = earlier[picks]
        # A product with the small inverse is several times faster than a triangular solve, and exact enough for columns
        # in tile precision. The weights are scaled to 1, so that their cast cannot overflow.
        inverse = inverse.astype(self._factor.dtype)
        scale = float(np.abs(weights).max()) or 1.0
        shares = (weights / scale).astype(self._factor.dtype)

        def update(pieces: Iterator[slice]) -> None:
            work = np.empty((UPDATE_ROWS, count), dtype=columns.dtype)
            for i in pieces:
                self._panel[i, t : t + count] = columns[i]
                new = np.matmul(earlier[i], pivots.T, out=work[: i.stop - i.start])
                columns[i] -= new
                np.matmul(columns[i], inverse.T, out=new)
                squares = squared_norms(new)
                # |new_i|^2 <= schur_i in exact arithmetic. Enforced, since rounding in float32 would grow from pivot to
                # pivot where rows nearly repeat.
                schur = self.schur[i]
                excess = squares > schur
                if excess.any():
                    new[excess] *= np.sqrt(schur[excess] / squares[excess])[:, None]
                self._factor[i, t : t + count] = new
                self.residual[i] -= scale * (new @ shares)
                np.clip(self.residual[i], -self._reach, self._reach, out=self.residual[i])
                np.maximum(schur - squares, self._floor, out=schur)

        parallel(update, spans(len(self._pool), UPDATE_ROWS))
        # The pivots' own rows are known without the rounding of their columns.
        self._factor[picks, t : t + count] = corner
        self.residual[picks] = 0
        self._free[picks] = False
        self._picks[t : t + count] = picks
        self.size = t + count

    def _sound(self, inverse: Float64Array) -> int:
        """Return how many of the new pivots are sound, given the inverse of their factor.

        In exact arithmetic no row of the inverse is longer than 1 / sqrt(noise). Where inputs nearly repeat, rounding
        can make the rows grow from pivot to pivot until float32 overflows. The pivots from the first such row on are
        dropped; later picks replace them.
        """
        with np.errstate(over="ignore"):
            sound = squared_norms(inverse) <= MAX_INVERSE_GROWTH**2 / self._floor
        return len(sound) if sound.all() else max(1, int(np.argmin(sound)))


def greedy_pivots(
    matrix: Float64Array, residual: Float64Array, count: int, floor: float
) -> tuple[IntArray, Float64Array]:
    """Pick pivots greedily by the exact decrease (eq. 7) on a small matrix.

    Parameters
    ----------
    matrix : array (c, c)
        Schur complement of Kbar on the candidates, the noise included.
    residual : array (c, q)
        Conditional residuals of the candidates.
    count : int
        Number of pivots, at most c.
    floor : float
        Smallest Schur diagonal: smaller ones, which are rounding, are raised to it.

    Returns
    -------
    order : int array (count,)
        The pivots, best first.
    corner : array (count, count)
        Lower Cholesky factor of matrix[order][:, order].
    """
    order = np.empty(count, dtype=np.intp)
    factor = np.zeros((count, len(matrix)))
    diagonal = np.maximum(np.diagonal(matrix), floor)
    _eliminate(np.ascontiguousarray(matrix), residual.T.copy(), diagonal, floor, order, factor)
    return order, np.tril(factor[:, order].T)


@numba.njit(**IN_ORDER)
def _eliminate(
    matrix: Float64Array, E: Float64Array, d: Float64Array, floor: float, order: IntArray, factor: Float64Array
) -> None:
    """Do the picks of `greedy_pivots`: residuals E (q, c) and diagonal d are changed in place, factor is (count, c).

    All arrays lie along the candidates, so that every inner loop is one vector operation.
    """
    q, c = E.shape
    taken = np.zeros(c, dtype=np.bool_)
    norms = np.empty(c)
    for t in range(len(order)):
        norms[:] = 0.0
        for j in range(q):
            row = E[j]
            for i in range(c):
                norms[i] += row[i] * row[i]
        s = -1
        best = -1.0
        for i in range(c):
            gain = norms[i] / d[i]
            if gain > best and not taken[i]:
                best = gain
                s = i
        column = factor[t]
        column[:] = matrix[s]
        for u in range(t):
            earlier = factor[u]
            weight = earlier[s]
            for i in range(c):
                column[i] -= weight * earlier[i]
        root = np.sqrt(d[s])
        for i in range(c):
            # |column_i| <= sqrt(d_i) in exact arithmetic (Cauchy-Schwarz); enforced, as in `PoolFactor.extend`.
            reach = np.sqrt(d[i])
            column[i] = min(max(column[i] / root, -reach), reach)
        column[s] = root
        for j in range(q):
            row = E[j]
            weight = row[s] / root
            for i in range(c):
                row[i] -= weight * column[i]
        for i in range(c):
            d[i] = max(d[i] - column[i] * column[i], floor)
        order[t] = s
        taken[s] = True
