"""The solver "gbcd": a coarse block of chosen columns, then preconditioned, conjugate steps of the whole vector.

The columns of the coarse block are chosen by randomly pivoted Cholesky; their low-rank factor preconditions the steps.
Greedy blocks (`gbcd.paper`) run only where such steps are forecast to take longer, or have done so.

The method is still greedy block coordinate descent in two respects. It converges globally by the argument of the
paper's Theorem 2: every step lowers f by at least a fixed part of |g|^2 (`gbcd.solvers.conjugate_steps`). Variables are
still chosen greedily, but once, for the coarse block, instead of at every step.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np

from gbcd.paper.algorithm1 import DEFAULT_BLOCK_SIZE, block_descent
from gbcd.paper.greedy_pool import GreedyPool
from gbcd.progress.choice import StepChoice
from gbcd.progress.result import Solution
from gbcd.progress.solve_run import SolveRun
from gbcd.solvers.cholesky import Cholesky, NotPositiveDefiniteError
from gbcd.solvers.coarse_block import grow_coarse_block
from gbcd.solvers.column_factor import ColumnFactor
from gbcd.solvers.conjugate_steps import conjugate_descent
from gbcd.solvers.cost_model import CostModel
from gbcd.solvers.preconditioner import Preconditioner
from gbcd.solvers.step_plan import Plan, window
from gbcd.types import Float64Array


@dataclass(frozen=True)
class CoarseDescent:
    """Choose a coarse block of columns, then take preconditioned, conjugate full-vector steps.

    Greedy blocks run where they are forecast to be quicker, and where the steps take far longer than forecast. A
    Cholesky factor replaces the blocks where it fits the memory budget and is forecast to be quicker still.

    Parameters
    ----------
    block_size : int, optional
        m, the number of variables in a greedy block. If it is given, all steps are greedy blocks. If not, m is 500, at
        most n, where blocks run.
    random_state : int, numpy.random.Generator, optional
    cost_model : CostModel
    direct : Cholesky
        The direct solver that may replace greedy blocks.
    """

    block_size: int | None = None
    random_state: int | np.random.Generator | None = None
    cost_model: CostModel = field(default_factory=CostModel)
    direct: Cholesky = field(default_factory=Cholesky)
    name: ClassVar[str] = "gbcd"

    def solve(self, run: SolveRun) -> Solution:
        """Return the last coefficients, their exact gradient, and a `StepChoice`."""
        return self.prepare(run).solve()

    def prepare(self, run: SolveRun, other_seconds: float = np.inf) -> PreparedDescent:
        """Choose the coarse block and the kind of steps, and forecast what they take.

        Parameters
        ----------
        run : SolveRun
        other_seconds : float
            Forecast seconds of another solver. Where that is quicker, the coarse block soon stops growing.
        """
        return PreparedDescent(self, run, other_seconds)


class PreparedDescent:
    """One solve by `CoarseDescent` whose coarse block is chosen and whose steps are planned; `solve` takes the steps.

    Parameters
    ----------
    solver : CoarseDescent
    run : SolveRun
    other_seconds : float
        See `CoarseDescent.prepare`.

    Attributes
    ----------
    choice : StepChoice
        Which steps are taken, why, and their forecast; after `solve` also whether something else took over.
    """

    def __init__(self, solver: CoarseDescent, run: SolveRun, other_seconds: float) -> None:
        system = run.problem.system
        self._solver = solver
        self._run = run
        self._rng = np.random.default_rng(solver.random_state)
        self._block_size = min(solver.block_size or DEFAULT_BLOCK_SIZE, system.n)
        self._factor: ColumnFactor | None = None
        blocks = self._block_seconds()
        self.choice = StepChoice("greedy blocks", "a block size was given", blocks, self._block_size)
        if solver.block_size is not None:
            return
        limit = min(blocks, other_seconds)
        factor, self._plan = self._grow(limit)
        if factor.needs_float64 and system.raise_precision():
            del factor  # frees its memory for the next factor
            factor, self._plan = self._grow(limit)
        steps = self._plan.seconds
        if steps < blocks:
            self._factor = factor
            self.choice = StepChoice(
                "full-vector steps",
                f"forecast {steps:.2g} s, against {blocks:.2g} s for greedy blocks",
                steps,
                self._block_size,
                factor.rank,
                self._plan.steps,
            )
        else:
            reason = f"forecast {blocks:.2g} s, against {steps:.2g} s for full-vector steps"
            self.choice = replace(self.choice, reason=reason)

    def solve(self) -> Solution:
        """Return the last coefficients, their exact gradient, and the choice, which now says how the solve went."""
        if self._factor is None:
            return self._blocks(None)
        alpha, G = self._steps(self._factor)
        if self._run.problem.is_solved_by(G) or self._run.exhausted:
            return Solution(alpha, G, self.choice)
        self._factor = None  # frees its memory for the blocks
        # Each block is solved exactly, however ill-conditioned Kbar is: blocks advance where the forecast was wrong.
        self.choice = replace(self.choice, steps_gave_way=True)
        return self._blocks(alpha)

    def _block_seconds(self) -> float:
        problem = self._run.problem
        return self._solver.cost_model.block_seconds(problem.system, problem.Y.shape[1])

    def _grow(self, limit: float) -> tuple[ColumnFactor, Plan]:
        """Choose the coarse block; `limit` is the seconds that the quickest other way would take."""
        system, n_outputs = self._run.problem.system, self._run.problem.Y.shape[1]
        factor = ColumnFactor(system, self._rng)
        return factor, grow_coarse_block(self._solver.cost_model, system, factor, n_outputs, limit)

    def _steps(self, factor: ColumnFactor) -> tuple[Float64Array, Float64Array]:
        """Take full-vector steps, but stop once they are far more than forecast."""
        system, plan, model = self._run.problem.system, self._plan, self._solver.cost_model
        system.keep("half", plan.reserved if plan.keep else system.storage.room, plan.coded)
        preconditioner = Preconditioner(factor, system.noise)
        most = max(model.max_steps_over_forecast * plan.steps, model.min_steps)
        kept = window(system, self._run.problem.Y.shape[1])
        return conjugate_descent(self._run, preconditioner, kept, most, plan.whole)

    def _blocks(self, start: Float64Array | None) -> Solution:
        """Take greedy blocks, or factor Kbar where that is allowed and forecast to be quicker.

        A factor is quicker where the noise is tiny, since blocks then need many passes: on 1,200 rows of Friedman1 with
        noise 1e-8 blocks took 30 to 150 passes, a factor takes one.
        """
        run = self._run
        if self._factor_is_quicker():
            run.problem.system.keep("nothing")
            try:
                solution = self._solver.direct.solve(run)
            except (NotPositiveDefiniteError, MemoryError):
                pass
            else:
                if run.problem.is_solved_by(solution.gradient) or run.exhausted:
                    self.choice = replace(self.choice, factor="instead of blocks")
                    return replace(solution, choice=self.choice)
                self.choice = replace(self.choice, factor="before blocks")
                start = solution.alpha
        return Solution(*block_descent(run, GreedyPool(), self._block_size, self._rng, start), self.choice)

    def _factor_is_quicker(self) -> bool:
        """Whether a Cholesky factor fits the memory budget and is forecast to be quicker than greedy blocks."""
        solver, system = self._solver, self._run.problem.system
        if solver.block_size is not None:
            return False
        seconds = solver.cost_model.cholesky_seconds(system, solver.direct.first_dtype(system))
        return seconds < min(self._block_seconds(), self._run.seconds_left)
