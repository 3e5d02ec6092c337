"""One solve under way: what a solver is given, and what its result is made from."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from gbcd.linalg.norms import infinity_norm
from gbcd.progress.convergence_warning import convergence_warning
from gbcd.progress.limits import Limits, Work
from gbcd.progress.problem import Problem
from gbcd.progress.result import Solution, SolveResult
from gbcd.progress.saved_coefficients import SavedCoefficients
from gbcd.progress.trace import TraceEntry
from gbcd.system.protocol import LinearSystem
from gbcd.types import Float64Array, IntArray


class SolveRun:
    """A problem being solved, its limits, its trace and its saved coefficients.

    A solver reads `problem`, calls `record` after each iteration and `count_columns` for each product, and returns once
    `exhausted` is true.

    Parameters
    ----------
    system : LinearSystem
    Y : array (n, q)
    tol : float
    limits : Limits
    start : array (n, q), optional
        Taken only where f(start) <= 0 = f(0).
    saved : SavedCoefficients, optional
        Gets the coefficients, in the caller's units, when a saving is due and when the solve stops short. Removed on
        convergence.

    Attributes
    ----------
    problem : Problem
        In the solver's units; the trace and the result are in the caller's.
    work : Work
    trace : list of TraceEntry
    stopped : bool
        Whether the callback has said stop.
    """

    def __init__(
        self,
        system: LinearSystem,
        Y: Float64Array,
        tol: float,
        limits: Limits | None = None,
        start: Float64Array | None = None,
        saved: SavedCoefficients | None = None,
    ) -> None:
        self.work = Work(system)
        self.trace: list[TraceEntry] = []
        self.stopped = False
        self._limits = Limits() if limits is None else limits
        self._saved = saved
        self._last: Float64Array | None = None
        self.problem = Problem.in_own_units(system, Y, tol)
        if start is not None and self.problem.can_start_from(start):
            self.problem = self.problem.starting_from(start)
            self.count_columns(system.n)

    @property
    def seconds_left(self) -> float:
        """Seconds until the time runs out, infinite without a limit."""
        return self._limits.max_time - self.work.seconds

    @property
    def starts_solved(self) -> bool:
        """Whether the start is within the tolerance already."""
        return self.problem.start is not None and self.problem.is_solved_by(self.problem.Y)

    @property
    def exhausted(self) -> bool:
        """Whether the time or the passes are used up, or the callback has said stop."""
        limits, work = self._limits, self.work
        return self.stopped or work.passes >= limits.max_passes or work.seconds >= limits.max_time

    def count_columns(self, count: int) -> None:
        """Count columns of Kbar that a solver has multiplied with: n for a product or a residual."""
        self.work.columns_used += count

    def record(self, alpha: Float64Array, G: Float64Array, active: IntArray | None = None) -> float:
        """Append an entry to the trace, save what is due, tell the callback, and return the running infinity norm.

        Parameters
        ----------
        alpha, G : array (n, q)
            The coefficients and their running gradient.
        active : int array, optional
            B, for block solvers.
        """
        problem, callback = self.problem, self._limits.callback
        norm = infinity_norm(G)
        entry = TraceEntry(
            iteration=len(self.trace) + 1,
            seconds=self.work.seconds,
            kernel_evaluations=self.work.evaluations,
            gradient_norm=norm * problem.unit,
            objective=problem.objective(alpha, G),
            active=active,
        )
        self.trace.append(entry)
        self._last = alpha
        if self._saved is not None and self._saved.due:
            self.save()
        if callback is not None and callback(replace(entry, coef=problem.coefficients(alpha))):
            self.stopped = True
        return norm

    def save(self) -> None:
        """Save the alpha last recorded, where there is a file for it."""
        if self._saved is not None and self._last is not None:
            self._saved.save(self.problem.coefficients(self._last))

    def finish(self, solution: Solution, solver: str) -> SolveResult:
        """Build the result, and warn where its gradient is above the tolerance.

        Parameters
        ----------
        solution : Solution
        solver : str
            Name of the solver that was asked for.

        Raises
        ------
        ValueError
            If the coefficients exceed the range of numbers.
        """
        problem, work = self.problem, self.work
        coef = problem.coefficients(solution.alpha)
        if not np.isfinite(coef).all():
            raise ValueError(
                f"The coefficients exceed 1.8e308, the largest number there is: Y is too large for a noise of "
                f"{problem.system.noise:.3g}. Divide Y first."
            )
        converged = problem.is_solved_by(solution.gradient)
        norm = infinity_norm(solution.gradient) * problem.unit
        if converged and self._saved is not None:
            self._saved.remove()
        if not converged:
            self._last = solution.alpha
            self.save()
            warnings.warn(
                convergence_warning(solver, problem, self._limits, work, len(self.trace), norm, self.stopped),
                ConvergenceWarning,
                stacklevel=3,
            )
        return SolveResult(
            coef=coef,
            gradient=solution.gradient * problem.unit,
            gradient_norm=norm,
            objective=problem.objective(solution.alpha, solution.gradient),
            n_iter=len(self.trace),
            kernel_evaluations=work.evaluations,
            kernel_passes=work.evaluations / problem.system.n**2,
            converged=converged,
            solver=solver,
            trace=self.trace,
            choice=solution.choice,
            resumed=self._saved is not None and self._saved.found is not None,
        )
