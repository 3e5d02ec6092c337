"""The sentence of a solve that stops short of the tolerance: what it reached, why, and what to try."""

from __future__ import annotations

from gbcd.memory_budget import available_memory
from gbcd.progress.limits import Limits, Work
from gbcd.progress.problem import Problem

HARD_NOISE = 1e-5
"""Noise over the largest k(x, x) below which iterative solvers take many passes."""


def convergence_warning(
    solver: str, problem: Problem, limits: Limits, work: Work, n_iter: int, norm: float, stopped: bool
) -> str:
    """Return the sentence.

    Parameters
    ----------
    solver : str
        Name of the solver.
    problem : Problem
    limits : Limits
    work : Work
        Work done until now.
    n_iter : int
    norm : float
        Infinity norm of the exact gradient, in the caller's units.
    stopped : bool
        Whether the callback has stopped the solve.
    """
    reason = "the callback stopped it" if stopped else _reason(solver, problem, limits, work)
    return (
        f"{solver}: the gradient's infinity norm is {norm:.3g} after {n_iter} iterations and "
        f"{work.passes:.1f} passes, above the tolerance {problem.tolerance.exact * problem.unit:.3g} ({reason})."
    )


def _reason(solver: str, problem: Problem, limits: Limits, work: Work) -> str:
    """Say which limit was reached, and what to try."""
    system = problem.system
    if work.seconds >= limits.max_time:
        reason = f"the time of {limits.max_time:.3g} s ran out"
        if system.noise < HARD_NOISE * float(system.diagonal().max()):
            advice = _advice_to_factor(solver, system.n)
            return f"{reason}; the noise {system.noise:.3g} makes it hard: try {advice}a larger one"
        return reason
    if solver == "cholesky":
        return "this is the rounding of float64: raise the tolerance or the noise"
    return f"try {_advice_to_factor(solver, system.n)}a larger noise, max_passes or tolerance"


def _advice_to_factor(solver: str, n: int) -> str:
    """Name the direct solver where it has not been tried and its float64 factor fits the memory available."""
    size, available = 8 * n**2, available_memory()
    if solver == "cholesky" or (available is not None and size > available):
        return ""
    return f"solver='cholesky', whose factor takes {max(size / 1e6, 0.1):,.1f} MB, or "
