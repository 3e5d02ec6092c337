"""Solvers of Kbar @ alpha = Y behind one function, `solve`.

`registry` holds `solve` and the names. One file a solver: `coarse_descent` ("gbcd"), `auto`, `cg` ("cg", "pcg"),
`cholesky`; those of the paper are in `gbcd.paper`. "gbcd" is made of `coarse_block` (how many columns),
`column_factor` (which, and their factor of K), `preconditioner`, `conjugate_steps`, and `plan` on `cost_model` (what it
will take).
"""

from gbcd.progress.result import SolveResult
from gbcd.progress.trace import TraceEntry
from gbcd.solvers.cholesky import CholeskyFactor
from gbcd.solvers.registry import SOLVERS, get_solver, solve

__all__ = ["SOLVERS", "CholeskyFactor", "SolveResult", "TraceEntry", "get_solver", "solve"]
