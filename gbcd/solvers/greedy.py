"""The default: a coarse block of chosen columns, then full-vector steps or greedy blocks, whichever costs less."""

from __future__ import annotations

import numpy as np

from gbcd._arrays import Float64Array
from gbcd.preconditioner import ColumnFactor, Preconditioner
from gbcd.selection import GreedyPool
from gbcd.solvers.block import DEFAULT_BLOCK_SIZE, block_descent
from gbcd.solvers.conjugate import conjugate_descent
from gbcd.solvers.plan import Plan, block_seconds, grow_to_best_rank, window
from gbcd.solvers.result import Progress

PATIENCE = 4.0
MIN_PATIENCE = 60.0
"""Full-vector steps are given up after this many times their forecast number, but not before this number."""


class GreedySolve:
    """One solve by "gbcd", its coarse block chosen and its course planned; `run` does the rest.

    Parameters
    ----------
    progress : Progress
    block_size : int or None
        Given, all steps are greedy blocks of this size.
    rng : numpy.random.Generator

    Attributes
    ----------
    seconds : float
        Forecast of what is left to do.
    choice : str
        Which steps, and why.
    """

    def __init__(self, progress: Progress, block_size: int | None, rng: np.random.Generator) -> None:
        system = progress.system
        self._progress = progress
        self._rng = rng
        self._block_size = min(block_size or DEFAULT_BLOCK_SIZE, system.n)
        self._factor: ColumnFactor | None = None
        self.seconds = block_seconds(system, progress.Y.shape[1])
        self.choice = f"greedy blocks of {self._block_size}"
        if block_size is not None:
            return
        factor = ColumnFactor(system, rng)
        self._plan: Plan = grow_to_best_rank(system, factor, progress.Y.shape[1], limit=self.seconds)
        if self._plan.seconds < self.seconds:
            self._factor = factor
            self.seconds = self._plan.seconds
            self.choice = f"about {self._plan.steps:.0f} full-vector steps after a coarse block of {factor.rank:,}"

    def run(self) -> tuple[Float64Array, Float64Array]:
        """Return alpha and its exact gradient, both (n, q)."""
        progress, system = self._progress, self._progress.system
        if self._factor is None:
            return block_descent(progress, GreedyPool(), self._block_size, self._rng)
        system.keep_half(self._plan.reserved if self._plan.keep else system.room, self._plan.coded)
        preconditioner = Preconditioner(self._factor, system.noise)
        kept = window(system, progress.Y.shape[1])
        patience = max(PATIENCE * self._plan.steps, MIN_PATIENCE)
        alpha, G = conjugate_descent(progress, preconditioner, kept, max_steps=patience)
        if system.gradient_norm(G) <= progress.tol or progress.exhausted:
            return alpha, G
        # L's memory is free for the blocks.
        self._factor = None
        del preconditioner
        # Blocks solve exactly, however ill-conditioned the rest: they get on where the forecast was wrong.
        progress.choice += f", then greedy blocks of {self._block_size}"
        return block_descent(progress, GreedyPool(), self._block_size, self._rng, start=alpha)


def greedy_descent(
    progress: Progress, block_size: int | None, rng: np.random.Generator
) -> tuple[Float64Array, Float64Array]:
    """Solve by whichever of the two kinds of steps is forecast to be quicker.

    Returns
    -------
    alpha, gradient : array (n, q)
        The last coefficients and their exact float64 gradient.
    """
    solve = GreedySolve(progress, block_size, rng)
    progress.choice = solve.choice
    return solve.run()
