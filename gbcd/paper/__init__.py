"""The paper's own algorithms, and the rivals it compares them with (Bo & Sminchisescu, UAI 2008).

A map for a reader of the paper:

=============================================  ====================================  ===========================
in the paper                                   here                                  ``solve(..., solver=)``
=============================================  ====================================  ===========================
Algorithm 1, block coordinate descent          `algorithm1`: `block_descent`
Algorithm 1 with Algorithm 2 (GBCD)            `algorithm2`: `RandomSubset`          "gbcd-paper"
Algorithm 2 over all n, or by eq. 7            `algorithm2`: `Exhaustive`, `Prefit`
eq. 7 and eq. 10, what an index gains          `algorithm2`, `greedy_pool`
eqs. 12 and 13, a block that grows             `growing_block`: `GrowingBlock`
Theorem 1, its first pick over all n           `gradient_draws`: `steepest`
BCDC, cyclic blocks                            `rival_selections`: `Cyclic`          "bcdc"
BCDG, blocks of the largest gradients          `rival_selections`: `Gradient`        "bcdg"
SMO, pairs                                     `smo`: `SMO`                          "smo"
CG, conjugate gradients                        `gbcd.solvers.cg`                     "cg"
eq. 2, the predictive variance                 `gbcd.posterior.variance`
=============================================  ====================================  ===========================

Not in the paper: `greedy_pool` makes the choice of eq. 7 over a pool of indices at the cost of eq. 10. "gbcd", the
default of `solve`, falls back to it where full-vector steps do not pay (`gbcd.solvers.coarse_descent`).

BCDC, BCDG and GBCD are one loop, `block_descent`, with different selections. A selection is a class with one method,
``select(system, G, m, rng) -> ActiveSet`` (`selection`). Symbols are the paper's: the active set B of m variables, the
candidate set O of kappa, the gradient g (here G, one column for each output, one active set for all).

Greedy selection grows B one index at a time. Let e_i = g_i + Kbar_iB Delta_B be the residual of i once B has taken its
step Delta_B = -Kbar_BB^{-1} g_B. Adding i to B lowers f further by exactly

    sum_j e_ij^2 / (2 (Kbar_ii - Kbar_iB Kbar_BB^{-1} Kbar_Bi))        eq. 7

over the outputs j. Eq. 10 replaces the denominator by 2 Kbar_ii. The first pick is the best of all n: it alone
guarantees the decrease max_i |g_i|^2 / (2 Kbar_ii) of Theorem 1, hence convergence (Theorem 2).
"""

from __future__ import annotations

from gbcd.paper.algorithm2 import Exhaustive, Prefit, RandomSubset
from gbcd.paper.greedy_pool import GreedyPool, PoolFactor, greedy_pivots
from gbcd.paper.growing_block import GrowingBlock
from gbcd.paper.rival_selections import Cyclic, Gradient, MaximalViolatingPair
from gbcd.paper.selection import ActiveSet, Selection

__all__ = [
    "ActiveSet",
    "Cyclic",
    "Exhaustive",
    "Gradient",
    "GreedyPool",
    "GrowingBlock",
    "MaximalViolatingPair",
    "PoolFactor",
    "Prefit",
    "RandomSubset",
    "Selection",
    "greedy_pivots",
]
