"""The state after each iteration, and the callback that is told of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from gbcd.types import Float64Array, IntArray


@dataclass(frozen=True)
class TraceEntry:
    """The state after one iteration: running values, not the exact residual.

    Attributes
    ----------
    iteration : int
    seconds : float
        Seconds since the start of the solve.
    kernel_evaluations : int
        Kernel values that this solve has computed.
    gradient_norm : float
        Infinity norm of the running gradient.
    objective : float
        f(alpha) = sum_j 1/2 alpha_j' Kbar alpha_j - y_j' alpha_j, from the running gradient. It falls, but may rise a
        little where an exact gradient replaces the running one.
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


Callback = Callable[[TraceEntry], "bool | None"]
"""Called after every iteration; returning True stops the solve."""
