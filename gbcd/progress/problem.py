"""The linear system as solvers see it: scaled so that the right-hand side is below 1, with a start of zero."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from gbcd.linalg.norms import infinity_norm
from gbcd.progress.tolerance import Tolerance
from gbcd.system.protocol import LinearSystem
from gbcd.types import Float64Array

MAX_UNIT_EXPONENT = 1000
"""Largest exponent of a unit, a power of two: 2^1024 is no float64, and neither is the inverse of 2^-1074."""


@dataclass(frozen=True)
class Problem:
    """Find alpha with Kbar alpha = Y to the tolerance, beginning with alpha = 0.

    The caller's Y and tolerance are divided by `unit`, since squares of 1e-200 underflow and float32 ends at 1e38. The
    unit is a power of two, so the division rounds nothing. Where the caller gives a start alpha_0, Y is replaced by
    Y - Kbar alpha_0, and alpha is the correction to alpha_0. Both problems have the same gradient, and their objectives
    differ by f(alpha_0).

    Attributes
    ----------
    system : LinearSystem
        Kbar.
    Y : array (n, q)
        The right-hand side.
    tolerance : Tolerance
    unit : float
        The caller's values over the solver's.
    start : array (n, q) or None
        alpha_0, in the solver's units.
    start_objective : float
        f(alpha_0), in the solver's units.
    """

    system: LinearSystem
    Y: Float64Array
    tolerance: Tolerance
    unit: float = 1.0
    start: Float64Array | None = None
    start_objective: float = 0.0

    @classmethod
    def in_own_units(cls, system: LinearSystem, Y: Float64Array, tol: float) -> Problem:
        """Return the problem of the caller's Y (n, q) and tolerance, scaled."""
        unit = power_of_two_above(Y)
        return cls(system, Y / unit, Tolerance(tol / unit), unit)

    def can_start_from(self, start: Float64Array) -> bool:
        """Whether this start (n, q), in the caller's units, may be better than zero; nothing is evaluated.

        f(start) <= 0 needs noise/2 |start|^2 <= |Y| |start|. The objective of a larger start may overflow.
        """
        largest = np.abs(start / self.unit).max()
        reach = 2 * np.sqrt(start.size) * np.abs(self.Y).max() / self.system.noise
        return bool(0 < largest <= reach)

    def starting_from(self, start: Float64Array) -> Problem:
        """Return the problem of the correction to this start (n, q), or this problem where f(start) > 0 = f(0).

        Cost: one float64 residual.
        """
        scaled = start / self.unit
        G = self.system.residual(scaled, self.Y)
        value = objective(scaled, G, self.Y)
        return replace(self, start=scaled, start_objective=value, Y=-G) if value <= 0 else self

    def is_solved_by(self, gradient: Float64Array) -> bool:
        """Whether coefficients with this exact gradient (n, q) solve the problem to the tolerance."""
        return self.tolerance.is_met(infinity_norm(gradient))

    def coefficients(self, alpha: Float64Array) -> Float64Array:
        """Return the caller's coefficients (n, q): the start included, in the caller's units."""
        with np.errstate(over="ignore"):
            whole: Float64Array = (alpha if self.start is None else self.start + alpha) * self.unit
        return whole

    def objective(self, alpha: Float64Array, gradient: Float64Array) -> float:
        """Return the caller's objective f, given alpha and its gradient (n, q)."""
        # One factor after the other, since unit * unit may overflow.
        return (self.start_objective + objective(alpha, gradient, self.Y)) * self.unit * self.unit


def objective(alpha: Float64Array, G: Float64Array, Y: Float64Array) -> float:
    """Return f(alpha) = 1/2 alpha' (g - y), as Kbar alpha = g + y, summed over the outputs."""
    return 0.5 * float(np.vdot(alpha, G - Y))


def power_of_two_above(Y: Float64Array) -> float:
    """Return the power of two next above the largest |y|, 1 where all are zero; limited so that it has an inverse."""
    exponent = int(np.frexp(np.abs(Y).max(initial=0.0))[1])
    return 2.0 ** min(max(exponent, -MAX_UNIT_EXPONENT), MAX_UNIT_EXPONENT)
