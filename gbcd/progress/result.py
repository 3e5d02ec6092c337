"""What every solver returns, and the warning it gives when it stops short."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from gbcd.linalg.norms import infinity_norm
from gbcd.memory_budget import available_memory
from gbcd.progress.saved_coefficients import SavedCoefficients
from gbcd.system.protocol import LinearSystem
from gbcd.types import Float64Array, IntArray


@dataclass(frozen=True)
class TraceEntry:
    """The state after one iteration: running values, not the exact residual.

    Attributes
    ----------
    iteration : int
    seconds : float
        Since the start of the solve.
    kernel_evaluations : int
        Of this solve.
    gradient_norm : float
        Infinity norm of the running gradient.
    objective : float
        f(alpha) = sum_j 1/2 alpha_j' Kbar alpha_j - y_j' alpha_j, from the running gradient: it falls, but may rise a
        little where what rounding has done to that is put right.
    active : int array or None
        B of this iteration, for block solvers.
    coef : array (n, q) or None
        alpha after this iteration, in what a callback gets; None in `SolveResult.trace`.
    """

    iteration: int
    seconds: float
    kernel_evaluations: int
    gradient_norm: float
    objective: float
    active: IntArray | None = field(default=None, repr=False)
    coef: Float64Array | None = field(default=None, compare=False, repr=False)


HARD_NOISE = 1e-5
"""Beside k(x, x): below it iterative solvers take many passes."""

Callback = Callable[[TraceEntry], "bool | None"]
"""Called after every iteration; returning True stops the solve."""


@dataclass(frozen=True)
class SolveResult:
    """A solution of Kbar @ coef = Y.

    Attributes
    ----------
    coef : array (n, q)
        alpha.
    gradient : array (n, q)
        Kbar @ coef - Y, recomputed in float64.
    gradient_norm : float
        Its infinity norm: exact, never the running value.
    objective : float
        f(coef), from the exact gradient.
    n_iter : int
    kernel_evaluations : int
        Kernel values computed by this solve, selection and checks included.
    kernel_passes : float
        kernel_evaluations / n^2.
    converged : bool
        gradient_norm <= tol.
    solver : str
        The name it was asked for by.
    trace : list of TraceEntry
    choice : str
        What a solver that had a choice chose, and why.
    resumed : bool
        Whether a checkpoint was the start.
    """

    coef: Float64Array = field(repr=False)
    gradient: Float64Array = field(repr=False)
    gradient_norm: float
    objective: float
    n_iter: int
    kernel_evaluations: int
    kernel_passes: float
    converged: bool
    solver: str
    trace: list[TraceEntry] = field(default_factory=list, repr=False)
    resumed: bool = False
    choice: str = ""


def objective(alpha: Float64Array, G: Float64Array, Y: Float64Array) -> float:
    """Return f(alpha) = 1/2 alpha' (g - y), as Kbar alpha = g + y, summed over the outputs."""
    return 0.5 * float(np.vdot(alpha, G - Y))


def _power_of_two(Y: Float64Array) -> float:
    """Return the power of two next above the largest |y|, 1 where all are zero; kept where it has an inverse."""
    exponent = int(np.frexp(np.abs(Y).max(initial=0.0))[1])
    return 2.0 ** min(max(exponent, -1000), 1000)


class Progress:
    """Clock, counter and trace of one solve, and what it starts from.

    With a start alpha_0 the solver is given the right-hand side Y - Kbar alpha_0 and finds the correction: the
    gradient of that problem is the whole one's, and its objective lacks f(alpha_0), which is added here.

    The solver's Y and tolerance are divided by a power of two that brings Y below 1 (nothing is rounded by that), as
    squares of 1e-200 vanish and float32 ends at 1e38. The trace and the result are in the caller's units.

    Parameters
    ----------
    system : LinearSystem
    Y : array (n, q)
    tol : float
    max_passes : float
    callback : callable or None
    start : array (n, q), optional
        Taken only where f(start) <= 0 = f(0).
    max_time : float, optional
        Seconds.
    saved : SavedCoefficients, optional
        Gets the whole alpha when it is due and when the solve stops short; removed on convergence.

    Attributes
    ----------
    Y : array (n, q)
        The right-hand side for the solver.
    tol : float
        On the infinity norm of the solver's gradient.
    choice : str
        Set by solvers that have a choice: what they chose, and why.
    """

    def __init__(
        self,
        system: LinearSystem,
        Y: Float64Array,
        tol: float,
        max_passes: float,
        callback: Callback | None,
        start: Float64Array | None = None,
        max_time: float | None = None,
        saved: SavedCoefficients | None = None,
    ) -> None:
        self.system = system
        self._unit = _power_of_two(Y)
        self.Y = Y / self._unit
        self.tol = tol / self._unit
        self.trace: list[TraceEntry] = []
        self.columns_used = 0.0
        self.choice = ""
        self.stopped = False
        self._max_passes = max_passes
        self._max_time = np.inf if max_time is None else max_time
        self._callback = callback
        self._started = time.perf_counter()
        self._evaluations_before = system.kernel_evaluations
        self._saved = saved
        self._start: Float64Array | None = None
        self._start_objective = 0.0
        self._correction: Float64Array | None = None
        if start is not None:
            self._start_from(start / self._unit)

    @property
    def evaluations(self) -> int:
        """Kernel values computed since the start."""
        return self.system.kernel_evaluations - self._evaluations_before

    @property
    def seconds(self) -> float:
        """Since the start."""
        return time.perf_counter() - self._started

    @property
    def seconds_left(self) -> float:
        """Until the time runs out, infinite without a limit."""
        return self._max_time - self.seconds

    @property
    def passes(self) -> float:
        """Passes over Kbar, counted in columns where K is kept and costs no evaluations."""
        return max(self.evaluations / self.system.n**2, self.columns_used / self.system.n)

    @property
    def arrived(self) -> bool:
        """Whether the start is within the tolerance already."""
        return self._start is not None and infinity_norm(self.Y) <= self.tol

    @property
    def exhausted(self) -> bool:
        """Whether the time or the passes are used up, or the callback has said stop."""
        return self.stopped or self.passes >= self._max_passes or self.seconds >= self._max_time

    def record(self, alpha: Float64Array, G: Float64Array, active: IntArray | None = None) -> float:
        """Append an entry to the trace, save what is due, tell the callback, and return the running infinity norm."""
        norm = infinity_norm(G)
        entry = TraceEntry(
            iteration=len(self.trace) + 1,
            seconds=self.seconds,
            kernel_evaluations=self.evaluations,
            gradient_norm=norm * self._unit,
            objective=self._objective(alpha, G),
            active=active,
        )
        self.trace.append(entry)
        self._correction = alpha
        if self._saved is not None and self._saved.due:
            self.save()
        if self._callback is not None and self._callback(replace(entry, coef=self._whole(alpha))):
            self.stopped = True
        return norm

    def save(self) -> None:
        """Save the alpha last recorded, where there is a file for it."""
        if self._saved is not None and self._correction is not None:
            self._saved.save(self._whole(self._correction))

    def finish(self, alpha: Float64Array, exact: Float64Array, solver: str) -> SolveResult:
        """Build the result from the exact gradient, and warn where it is above the tolerance.

        Raises
        ------
        ValueError
            If the coefficients exceed the range of numbers.
        """
        coef = self._whole(alpha)
        if not np.isfinite(coef).all():
            raise ValueError(
                f"The coefficients exceed 1.8e308, the largest number there is: Y is too large for a noise of "
                f"{self.system.noise:.3g}. Divide Y first."
            )
        norm = infinity_norm(exact)
        converged = norm <= self.tol
        norm *= self._unit
        if converged and self._saved is not None:
            self._saved.remove()
        if not converged:
            self._correction = alpha
            self.save()
            warnings.warn(
                f"{solver}: the gradient's infinity norm is {norm:.3g} after {len(self.trace)} iterations and "
                f"{self.passes:.1f} passes, above the tolerance {self.tol * self._unit:.3g} ({self._why(solver)}).",
                ConvergenceWarning,
                stacklevel=3,
            )
        return SolveResult(
            coef=coef,
            gradient=exact * self._unit,
            gradient_norm=norm,
            objective=self._objective(alpha, exact),
            n_iter=len(self.trace),
            kernel_evaluations=self.evaluations,
            kernel_passes=self.evaluations / self.system.n**2,
            converged=converged,
            solver=solver,
            trace=self.trace,
            choice=self.choice,
            resumed=self._saved is not None and self._saved.found is not None,
        )

    def _start_from(self, start: Float64Array) -> None:
        # f(start) <= 0 needs noise/2 |start|^2 <= |Y| |start|: what is larger is not even evaluated, it may overflow.
        reach = 2 * np.sqrt(start.size) * np.abs(self.Y).max() / self.system.noise
        if not 0 < np.abs(start).max() <= reach:
            return
        G = self.system.residual(start, self.Y)
        self.columns_used += self.system.n
        value = objective(start, G, self.Y)
        if value <= 0:
            self._start, self._start_objective, self.Y = start, value, -G

    def _whole(self, correction: Float64Array) -> Float64Array:
        with np.errstate(over="ignore"):
            whole: Float64Array = (correction if self._start is None else self._start + correction) * self._unit
        return whole

    def _objective(self, alpha: Float64Array, G: Float64Array) -> float:
        # One factor after the other: their product may overflow alone.
        return (self._start_objective + objective(alpha, G, self.Y)) * self._unit * self._unit

    def _why(self, solver: str) -> str:
        if self.stopped:
            return "the callback stopped it"
        size, available = 8 * self.system.n**2, available_memory()
        fits = solver != "cholesky" and (available is None or size <= available)
        direct = f"solver='cholesky', whose factor takes {max(size / 1e6, 0.1):,.1f} MB, or " if fits else ""
        if self.seconds >= self._max_time:
            reason = f"the time of {self._max_time:.3g} s ran out"
            hard = self.system.noise < HARD_NOISE * float(self.system.diagonal().max())
            return (
                f"{reason}; the noise {self.system.noise:.3g} makes it hard: try {direct}a larger one"
                if hard
                else reason
            )
        if solver == "cholesky":
            return "this is the rounding of float64: raise the tolerance or the noise"
        return f"try {direct}a larger noise, max_passes or tolerance"
