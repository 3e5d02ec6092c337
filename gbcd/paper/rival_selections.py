"""BCDC, BCDG and the pairs of SMO: the selections that the paper compares its greedy one with."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gbcd.paper.gradient_draws import largest_rows, steepest
from gbcd.paper.selection import ActiveSet
from gbcd.system.protocol import LinearSystem
from gbcd.types import Float64Array, IntArray


class Cyclic:
    """BCDC: each variable once a sweep, in blocks; every sweep in a new random order.

    With the same blocks in every sweep the descent does not converge in practice: on Friedman1 (n = 5,000, m = 500) the
    gradient norm is 0.15 after 60 passes. With a new order for every sweep it reaches 1e-4 in 13.
    """

    def __init__(self) -> None:
        self._left: IntArray = np.empty(0, dtype=np.intp)

    def select(self, system: LinearSystem, G: Float64Array, m: int, rng: np.random.Generator) -> ActiveSet:  # noqa: ARG002 - the protocol's
        """Return the next `m` variables of the sweep, fewer at its end."""
        if len(self._left) == 0:
            self._left = rng.permutation(system.n)
        indices, self._left = self._left[:m], self._left[m:]
        return ActiveSet(indices)


@dataclass(frozen=True)
class Gradient:
    """BCDG: the m variables with the largest gradient, chosen without regard to one another."""

    def select(self, system: LinearSystem, G: Float64Array, m: int, rng: np.random.Generator) -> ActiveSet:  # noqa: ARG002 - the protocol's
        """Return the `m` rows with the largest |g_i|^2."""
        return ActiveSet(largest_rows(G, m))


@dataclass(frozen=True)
class MaximalViolatingPair:
    """SMO: the steepest variable and the one whose gradient opposes it most, a block of two whatever m is.

    With one output and a constant kernel diagonal these are argmax_i g_i and argmin_i g_i, the maximal violating pair
    of Keerthi et al. (2001). With q outputs, i maximises |g_i|^2 / Kbar_ii and j minimises g_j . g_i. There is no
    equality constraint to make the two move against each other, so they are solved for jointly. Where they coincide
    (n = 1), the block has one variable.

    Notes
    -----
    The first variable is argmax_i |g_i|^2 / Kbar_ii over all n (Theorem 2). To a gradient norm of 1e-3 on Friedman1
    (5 outputs, n = 500) these pairs took 19,500 steps, the extremes of the output with the widest span 25,100, and the
    two steepest rows 31,500.
    """

    def select(self, system: LinearSystem, G: Float64Array, m: int, rng: np.random.Generator) -> ActiveSet:  # noqa: ARG002 - the protocol's
        """Return the pair, whatever `m` is."""
        first = steepest(system, G)
        opposed = int(np.argmin(G @ G[first]))
        if opposed == first:
            return ActiveSet(np.array([first]))
        return ActiveSet(np.array([first, opposed]))
