"""What a solver returns, and what `gbcd.solve` makes of it."""

from __future__ import annotations

from dataclasses import dataclass, field

from gbcd.progress.choice import Choice
from gbcd.progress.trace import TraceEntry
from gbcd.types import Float64Array


@dataclass(frozen=True)
class Solution:
    """What a solver returns: the last coefficients, in the units of its `Problem`.

    Attributes
    ----------
    alpha : array (n, q)
    gradient : array (n, q)
        Kbar alpha - Y, evaluated in float64.
    choice : Choice
        What the solver chose, empty where it had no choice.
    """

    alpha: Float64Array = field(repr=False)
    gradient: Float64Array = field(repr=False)
    choice: Choice = field(default_factory=Choice)


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
        Infinity norm of `gradient`, never of a running gradient.
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
        Name of the solver that was asked for.
    trace : list of TraceEntry
    choice : Choice
        What the solver chose, and why: a `StepChoice` of "gbcd", a `SolverChoice` of "auto", empty for other solvers.
        ``str(choice)`` is a sentence.
    resumed : bool
        Whether the solve started from a checkpoint.
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
    choice: Choice = field(default_factory=Choice)
