"""Solvers of Kbar alpha = Y behind `solve`: by default a coarse block, then conjugate full-vector steps.

`registry` holds `solve` and the names, `solver` says what a solver is. One file a solver: `coarse_descent` ("gbcd", the
default), `auto`, `cg` ("cg", "pcg"), `cholesky`; the paper's are in `gbcd.paper`. The default is made of `coarse_block`
(how many columns), `column_factor` (which ones, and their factor of K), `preconditioner`, `conjugate_steps`, and `plan`
with `cost_model` (what to keep of K, and forecasts of the time).
"""

from gbcd.progress.choice import Choice, SolverChoice, StepChoice
from gbcd.progress.result import SolveResult
from gbcd.progress.trace import TraceEntry
from gbcd.solvers.cholesky import CholeskyFactor
from gbcd.solvers.registry import SOLVERS, get_solver, solve

__all__ = [
    "SOLVERS",
    "Choice",
    "CholeskyFactor",
    "SolveResult",
    "SolverChoice",
    "StepChoice",
    "TraceEntry",
    "get_solver",
    "solve",
]
