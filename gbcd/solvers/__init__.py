"""Solvers of Kbar @ alpha = Y behind one function, `solve`."""

from gbcd.progress.result import SolveResult, TraceEntry
from gbcd.solvers.cholesky import CholeskyFactor
from gbcd.solvers.registry import SOLVERS, get_solver, solve

__all__ = ["SOLVERS", "CholeskyFactor", "SolveResult", "TraceEntry", "get_solver", "solve"]
