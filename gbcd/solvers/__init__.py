"""Solvers of Kbar @ alpha = Y behind one function, `solve`."""

from gbcd.solvers.cholesky import CholeskyFactor
from gbcd.solvers.registry import SOLVERS, get_solver, solve
from gbcd.solvers.result import SolveResult, TraceEntry

__all__ = ["SOLVERS", "CholeskyFactor", "SolveResult", "TraceEntry", "get_solver", "solve"]
