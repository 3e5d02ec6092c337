"""The paper's greedy selections, one index at a time over a growing block."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gbcd._arrays import Float64Array, IntArray
from gbcd._tiles import blas_threads
from gbcd.selection.base import ActiveSet
from gbcd.selection.growing import GrowingBlock
from gbcd.system import KernelSystem, squared_norms

MIN_RELATIVE_SCHUR = 1e-6


@dataclass(frozen=True)
class RandomSubset:
    """Algorithm 2 of the paper, as it is meant: each pick is the best of kappa random candidates by eq. 10.

    Parameters
    ----------
    n_candidates : int
        kappa, 60 in the paper: the best of 59 random ones is among the best 5 % with probability 0.95.

    Notes
    -----
    The print has slips: Algorithm 1, step 4 needs Kbar_BB (the noise on its diagonal); Algorithm 2,
    step 4 means x_s and step 6 g_O. The first pick is over all n (Theorem 2).
    """

    n_candidates: int = 60

    def select(self, system: KernelSystem, G: Float64Array, m: int, rng: np.random.Generator) -> ActiveSet:
        """Grow B to `m` indices; the step comes from eq. 13."""
        diag = system.diag()
        block = GrowingBlock(m, G.shape[1])
        active = np.empty(m, dtype=np.intp)
        picked = np.zeros(system.n, dtype=bool)
        with blas_threads(1):
            first = system.steepest(G)
            block.append(np.empty(0), diag[first], G[first])
            active[0] = first
            picked[first] = True
            while block.size < m:
                B = active[: block.size]
                candidates = _draw_unpicked(picked, self.n_candidates, block.size, rng)
                columns = system.block(candidates, B)
                residual = G[candidates] + columns @ block.step
                best = int(np.argmax(squared_norms(residual) / (2 * diag[candidates])))  # eq. 10
                s = int(candidates[best])
                if not block.append(columns[best], diag[s], G[s]):
                    break
                active[block.size - 1] = s
                picked[s] = True
        # Where variables nearly repeat, the incremental step has lost digits: the loop then solves for it afresh.
        step = block.step.copy() if block.smallest_schur >= MIN_RELATIVE_SCHUR * diag.min() else None
        return ActiveSet(active[: block.size].copy(), step=step)


def _draw_unpicked(picked: np.ndarray, size: int, n_picked: int, rng: np.random.Generator) -> IntArray:
    """Draw up to `size` distinct indices that are not picked; at least one is left by the caller."""
    n = len(picked)
    if n - n_picked <= 4 * size:
        unpicked = np.flatnonzero(~picked)
        return rng.choice(unpicked, min(size, len(unpicked)), replace=False)
    drawn: IntArray = np.empty(0, dtype=np.intp)
    while len(drawn) < size:
        # Rejection instead of a permutation of n: a draw must not cost O(n) for each of the m picks.
        more = rng.integers(0, n, 2 * size)
        drawn = np.unique(np.concatenate([drawn, more[~picked[more]]]))
    return rng.permutation(drawn)[:size]
