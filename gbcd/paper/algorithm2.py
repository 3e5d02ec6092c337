"""Algorithm 2: the paper's greedy selection of a block, one index at a time, and its variants.

The first pick of each is argmax_i |g_i|^2 / Kbar_ii over all n, as Theorem 2 asks.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gbcd.linalg.norms import squared_norms
from gbcd.paper.gradient_draws import steepest
from gbcd.paper.growing_block import GrowingBlock
from gbcd.paper.selection import ActiveSet
from gbcd.system.protocol import KnownColumns, LinearSystem
from gbcd.threads import blas_threads
from gbcd.types import Float64Array, FloatArray, IntArray


@dataclass(frozen=True)
class RandomSubset:
    """Algorithm 2 of the paper, less its misprints: each pick is the best of kappa random candidates by eq. 10.

    Parameters
    ----------
    n_candidates : int
        kappa, 60 in the paper: the best of 59 random ones is among the best 5 % with probability 0.95.

    Notes
    -----
    The paper has misprints: Algorithm 1, step 4 needs Kbar_BB (the noise on its diagonal); Algorithm 2,
    step 4 means x_s, and step 6 means g_O. The first pick is argmax_i |g_i|^2 / Kbar_ii over all n (Theorem 2).
    """

    n_candidates: int = 60

    def select(self, system: LinearSystem, G: Float64Array, m: int, rng: np.random.Generator) -> ActiveSet:
        """Grow B to `m` indices; the step comes from eq. 13."""
        return _grow_by_candidates(system, G, m, self.n_candidates, rng, exact=False)


@dataclass(frozen=True)
class Prefit:
    """Each pick is the best of kappa random candidates by eq. 7, the exact decrease of f.

    Parameters
    ----------
    n_candidates : int or None
        kappa; None makes every variable a candidate, at the costs of `Exhaustive`.

    Notes
    -----
    The first pick is argmax_i |g_i|^2 / Kbar_ii over all n (Theorem 2): for an empty B eqs. 7 and 10 agree.
    Compared with `RandomSubset` a pick costs kappa |B|^2 more operations, for the Schur complements, and no more
    kernel values.
    """

    n_candidates: int | None = 60

    def select(self, system: LinearSystem, G: Float64Array, m: int, rng: np.random.Generator) -> ActiveSet:
        """Grow B to `m` indices; the step comes from eq. 13."""
        if self.n_candidates is None:
            return _grow_over_all(system, G, m, exact=True)
        return _grow_by_candidates(system, G, m, self.n_candidates, rng, exact=True)


@dataclass(frozen=True)
class Exhaustive:
    """Algorithm 2 with every variable a candidate: each pick is the best of all n by eq. 10.

    Notes
    -----
    A pick costs one kernel column and |B| n operations. The columns are kept, n m values in tile precision (20 MB for
    n = 10,000, m = 500 in float32), and handed on: the gradient update then evaluates nothing. The first pick is
    argmax_i |g_i|^2 / Kbar_ii over all n (Theorem 2).
    """

    def select(self, system: LinearSystem, G: Float64Array, m: int, rng: np.random.Generator) -> ActiveSet:  # noqa: ARG002 - the protocol's
        """Grow B to `m` indices; the step comes from eq. 13."""
        return _grow_over_all(system, G, m, exact=False)


def _grow_by_candidates(
    system: LinearSystem, G: Float64Array, m: int, n_candidates: int, rng: np.random.Generator, exact: bool
) -> ActiveSet:
    """Grow B by the best of `n_candidates` random indices at a time, by eq. 7 if `exact`, else by eq. 10."""
    diag = system.diagonal()
    block = GrowingBlock(m, G.shape[1])
    active = np.empty(m, dtype=np.intp)
    free = np.ones(system.n, dtype=bool)
    n_free = system.n - 1
    with blas_threads(1):
        first = steepest(system, G)
        block.append(np.empty(0), diag[first], G[first])
        active[0] = first
        free[first] = False
        while block.size < m and n_free:
            candidates = _draw_free(free, n_free, n_candidates, rng)
            columns = system.block(candidates, active[: block.size], exact=True)
            residual = G[candidates] + columns @ block.step
            curvature = diag[candidates]
            if exact:
                explained = np.einsum("ij,ij->i", columns @ block.inverse, columns)
                # In exact arithmetic at least the noise. Rounding below it could make any candidate look best.
                curvature = np.maximum(curvature - explained, system.noise)
            best = int(np.argmax(squared_norms(residual) / (2 * curvature)))
            s = int(candidates[best])
            # An index that depends on B to rounding is left out, and not tried again.
            free[s] = False
            n_free -= 1
            if block.append(columns[best], diag[s], G[s]):
                active[block.size - 1] = s
    return ActiveSet(active[: block.size].copy(), step=block.sound_step())


def _draw_free(free: np.ndarray, n_free: int, size: int, rng: np.random.Generator) -> IntArray:
    """Draw up to `size` distinct indices of the `n_free` (at least one) where `free` is set."""
    n = len(free)
    if n_free <= 4 * size:
        return rng.choice(np.flatnonzero(free), min(size, n_free), replace=False)
    drawn: IntArray = np.empty(0, dtype=np.intp)
    while len(drawn) < size:
        # Rejection sampling instead of a permutation of n, which would cost O(n) for each of the m picks.
        more = rng.integers(0, n, 2 * size)
        drawn = np.unique(np.concatenate([drawn, more[free[more]]]))
    return rng.permutation(drawn)[:size]


def _grow_over_all(system: LinearSystem, G: Float64Array, m: int, exact: bool) -> ActiveSet:
    """Grow B by the best index of all n at a time, by eq. 7 if `exact`, else by eq. 10."""
    if m >= system.n:
        return ActiveSet(np.arange(system.n))
    everything = np.arange(system.n)
    diag = system.diagonal()
    block = GrowingBlock(m, G.shape[1])
    active = np.empty(m, dtype=np.intp)
    # Stored by columns: each pick writes one column and multiplies those before it.
    panel: FloatArray = np.empty((system.n, m), dtype=system.dtype, order="F")
    residual = G.copy()
    curvature = diag.copy()
    free = np.ones(system.n, dtype=bool)
    with blas_threads(1):
        while block.size < m and free.any():
            s = int(np.argmax(np.where(free, squared_norms(residual) / curvature, -1)))
            # An index that depends on B to rounding is left out, and not tried again.
            free[s] = False
            t = block.size
            if not block.append(system.block(active[:t], np.array([s]), exact=True)[:, 0], diag[s], G[s]):
                continue
            active[t] = s
            panel[:, t] = system.columns(active[t : t + 1])[:, 0]
            # s moves by its entry of the step, and B follows (eq. 13). What matters to i is its covariance with s
            # given the rest of B.
            covariance = (panel[:, : t + 1] @ block.last_direction.astype(system.dtype)).astype(np.float64)
            residual += np.outer(covariance, block.step[-1])
            if exact:
                curvature = np.maximum(curvature - covariance**2 * block.inverse[-1, -1], system.noise)
    known = KnownColumns(everything, panel[:, : block.size])
    return ActiveSet(active[: block.size].copy(), step=block.sound_step(), known=known)
