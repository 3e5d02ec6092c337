"""The solver "auto": the direct solver or descent, whichever is forecast to be quicker."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np

from gbcd.progress.choice import SolverChoice
from gbcd.progress.result import Solution
from gbcd.progress.solve_run import SolveRun
from gbcd.solvers.cholesky import Cholesky
from gbcd.solvers.coarse_descent import CoarseDescent
from gbcd.solvers.cost_model import CostModel


@dataclass(frozen=True)
class Auto:
    """Solve by `Cholesky` where its factor fits the memory budget and is forecast to be quicker, else `CoarseDescent`.

    The growth of the coarse block tells how hard the problem is: n and q alone do not.

    Parameters
    ----------
    block_size, random_state
        Of `CoarseDescent`.
    cost_model : CostModel
    direct : Cholesky
    """

    block_size: int | None = None
    random_state: int | np.random.Generator | None = None
    cost_model: CostModel = field(default_factory=CostModel)
    direct: Cholesky = field(default_factory=Cholesky)
    name: ClassVar[str] = "auto"

    def solve(self, run: SolveRun) -> Solution:
        """Return the last coefficients, their exact gradient, and a `SolverChoice`."""
        seconds = self._factor_seconds(run)
        if seconds < self.cost_model.factor_at_once_seconds:
            reason = f"{run.problem.system.n:,} rows are factored at once"
            return self._factored(run, SolverChoice("cholesky", reason, seconds))
        descent = CoarseDescent(self.block_size, self.random_state, self.cost_model, self.direct)
        prepared = descent.prepare(run, seconds)
        # Forecast again: the coarse block may have shown that float64 is needed, which doubles the bytes of the factor.
        seconds = self._factor_seconds(run)
        steps = prepared.choice
        if seconds < steps.seconds:
            reason = f"forecast {seconds:.2g} s, against {steps.seconds:.2g} s for {steps}"
            return self._factored(run, SolverChoice("cholesky", reason, seconds, steps))
        solution = prepared.solve()
        steps = prepared.choice  # which now also says how the descent went
        return replace(solution, choice=SolverChoice("gbcd", str(steps), steps.seconds, steps))

    def _factor_seconds(self, run: SolveRun) -> float:
        system = run.problem.system
        return self.cost_model.cholesky_seconds(system, self.direct.first_dtype(system))

    def _factored(self, run: SolveRun, choice: SolverChoice) -> Solution:
        return replace(self.direct.solve(run), choice=choice)
