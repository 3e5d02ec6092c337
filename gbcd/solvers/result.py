"""What every solver returns, and the warning it gives when it stops short."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from gbcd._arrays import Float64Array, IntArray
from gbcd.system import KernelSystem


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
        f(alpha) = sum_j 1/2 alpha_j' Kbar alpha_j - y_j' alpha_j.
    active : int array or None
        B of this iteration, for block solvers.
    """

    iteration: int
    seconds: float
    kernel_evaluations: int
    gradient_norm: float
    objective: float
    active: IntArray | None = None


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
    """

    coef: Float64Array
    gradient: Float64Array
    gradient_norm: float
    objective: float
    n_iter: int
    kernel_evaluations: int
    kernel_passes: float
    converged: bool
    solver: str
    trace: list[TraceEntry] = field(default_factory=list)


def objective(alpha: Float64Array, G: Float64Array, Y: Float64Array) -> float:
    """Return f(alpha) = 1/2 alpha' (g - y), as Kbar alpha = g + y, summed over the outputs."""
    return 0.5 * float(np.vdot(alpha, G - Y))


class Progress:
    """Clock, counter and trace of one solve.

    Parameters
    ----------
    system : KernelSystem
    Y : array (n, q)
    tol : float
    max_passes : float
    callback : callable or None
    """

    def __init__(
        self, system: KernelSystem, Y: Float64Array, tol: float, max_passes: float, callback: Callback | None
    ) -> None:
        self.system = system
        self.Y = Y
        self.tol = tol
        self.trace: list[TraceEntry] = []
        self.columns_used = 0.0
        self.stopped = False
        self._max_passes = max_passes
        self._callback = callback
        self._started = time.perf_counter()
        self._evaluations_before = system.kernel_evaluations

    @property
    def evaluations(self) -> int:
        """Kernel values computed since the start."""
        return self.system.kernel_evaluations - self._evaluations_before

    @property
    def exhausted(self) -> bool:
        """Whether the passes are used up, counted in columns where K is kept and costs no evaluations."""
        passes = max(self.evaluations / self.system.n**2, self.columns_used / self.system.n)
        return self.stopped or passes >= self._max_passes

    def record(self, alpha: Float64Array, G: Float64Array, active: IntArray | None = None) -> float:
        """Append an entry to the trace, tell the callback, and return the running infinity norm."""
        norm = self.system.gradient_norm(G)
        entry = TraceEntry(
            iteration=len(self.trace) + 1,
            seconds=time.perf_counter() - self._started,
            kernel_evaluations=self.evaluations,
            gradient_norm=norm,
            objective=objective(alpha, G, self.Y),
            active=active,
        )
        self.trace.append(entry)
        if self._callback is not None and self._callback(entry):
            self.stopped = True
        return norm

    def finish(self, alpha: Float64Array, exact: Float64Array, solver: str) -> SolveResult:
        """Build the result from the exact gradient, and warn where it is above the tolerance."""
        norm = self.system.gradient_norm(exact)
        converged = norm <= self.tol
        passes = self.evaluations / self.system.n**2
        if not converged:
            why = "the callback stopped it" if self.stopped else "raise max_passes, the tolerance or the noise"
            warnings.warn(
                f"{solver}: the gradient's infinity norm is {norm:.3g} after {len(self.trace)} iterations and "
                f"{passes:.1f} kernel passes, above the tolerance {self.tol:.3g} ({why}).",
                ConvergenceWarning,
                stacklevel=3,
            )
        return SolveResult(
            coef=alpha,
            gradient=exact,
            gradient_norm=norm,
            objective=objective(alpha, exact, self.Y),
            n_iter=len(self.trace),
            kernel_evaluations=self.evaluations,
            kernel_passes=passes,
            converged=converged,
            solver=solver,
            trace=self.trace,
        )
