"""The default: a coarse block of chosen columns, then full-vector steps or greedy blocks, whichever costs less."""

from __future__ import annotations

import numpy as np

from gbcd.linalg.norms import infinity_norm
from gbcd.paper import GreedyPool
from gbcd.paper.algorithm1 import DEFAULT_BLOCK_SIZE, block_descent
from gbcd.progress.result import Progress
from gbcd.solvers.cholesky import NotPositiveDefiniteError, cholesky
from gbcd.solvers.conjugate_steps import conjugate_descent
from gbcd.solvers.cost_model import Plan, block_seconds, cholesky_seconds, grow_to_best_rank, window
from gbcd.solvers.preconditioner import ColumnFactor, Preconditioner
from gbcd.types import Float64Array

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
    alternative : float
        Seconds that some other solver would take: the coarse block does not grow long where that is less.

    Attributes
    ----------
    seconds : float
        Forecast of what is left to do.
    choice : str
        Which steps, and why.
    """

    def __init__(
        self, progress: Progress, block_size: int | None, rng: np.random.Generator, alternative: float = np.inf
    ) -> None:
        system = progress.system
        self._progress = progress
        self._rng = rng
        self._given = block_size
        self._block_size = min(block_size or DEFAULT_BLOCK_SIZE, system.n)
        self._factor: ColumnFactor | None = None
        self.seconds = block_seconds(system, progress.Y.shape[1])
        self.choice = f"greedy blocks of {self._block_size}"
        if block_size is not None:
            return
        limit = min(self.seconds, alternative)
        factor = ColumnFactor(system, rng)
        self._plan: Plan = grow_to_best_rank(system, factor, progress.Y.shape[1], limit)
        if factor.needs_float64 and system.raise_precision():
            factor = ColumnFactor(system, rng)
            self._plan = grow_to_best_rank(system, factor, progress.Y.shape[1], limit)
        if self._plan.seconds < self.seconds:
            self._factor = factor
            self.seconds = self._plan.seconds
            self.choice = f"about {self._plan.steps:.0f} full-vector steps after a coarse block of {factor.rank:,}"

    def run(self) -> tuple[Float64Array, Float64Array]:
        """Return alpha and its exact gradient, both (n, q)."""
        progress, system = self._progress, self._progress.system
        if self._factor is None:
            return self._blocks(None)
        system.keep("half", self._plan.reserved if self._plan.keep else system.storage.room, self._plan.coded)
        preconditioner = Preconditioner(self._factor, system.noise)
        kept = window(system, progress.Y.shape[1])
        patience = max(PATIENCE * self._plan.steps, MIN_PATIENCE)
        alpha, G = conjugate_descent(progress, preconditioner, kept, patience, self._plan.whole)
        if infinity_norm(G) <= progress.tol or progress.exhausted:
            return alpha, G
        # L's memory is free for the blocks.
        self._factor = None
        del preconditioner
        # Blocks solve exactly, however ill-conditioned the rest: they get on where the forecast was wrong.
        progress.choice += f", then greedy blocks of {self._block_size}"
        return self._blocks(alpha)

    def _blocks(self, start: Float64Array | None) -> tuple[Float64Array, Float64Array]:
        """Go on by blocks, or at once where a factor fits the memory budget and is forecast to take less time.

        The noise is too small for anything else then, and the passes that blocks need grow as it falls: noise 1e-8 and
        1,200 rows of Friedman1 took 30 to 150, a factor takes one.
        """
        progress, system = self._progress, self._progress.system
        direct = cholesky_seconds(system)
        if self._given is None and direct < min(block_seconds(system, progress.Y.shape[1]), progress.seconds_left):
            before = progress.choice
            progress.choice += ": replaced by cholesky, whose factor fits the memory budget"
            system.keep("nothing")
            try:
                alpha, G = cholesky(progress)
            except (NotPositiveDefiniteError, MemoryError):
                progress.choice = before
            else:
                if infinity_norm(G) <= progress.tol or progress.exhausted:
                    return alpha, G
                progress.choice = f"{before}, after cholesky"
                start = alpha
        return block_descent(progress, GreedyPool(), self._block_size, self._rng, start=start)


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
