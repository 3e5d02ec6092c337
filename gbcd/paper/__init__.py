"""Which variables a block descent step solves for.

Every strategy has one method, `select(system, G, m, rng) -> ActiveSet`, and is used by the one loop in
`gbcd.paper.algorithm1`. Symbols are the paper's (Bo & Sminchisescu, UAI 2008): the active set B of m
variables, candidate set O of kappa, gradient g (here G, one column per output, one active set for all).

Greedy selection grows B one index at a time. With e_i = g_i + Kbar_iB Delta_B the residual of i once
B's step Delta_B = -Kbar_BB^{-1} g_B is taken, adding i to B lowers f further by exactly

    sum_j e_ij^2 / (2 (Kbar_ii - Kbar_iB Kbar_BB^{-1} Kbar_Bi))        eq. 7

over the outputs j; eq. 10 replaces the denominator by 2 Kbar_ii. The first pick is over all n: it alone
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
