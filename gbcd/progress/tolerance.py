"""The tolerance of a solve: when a gradient is small enough, and when rounding keeps it from becoming smaller."""

from __future__ import annotations

from dataclasses import dataclass

RUNNING_SHARE = 0.8
"""Tolerance of the running gradient over that of the exact one. A check by an exact gradient costs half a pass. Where
the running gradient is only just within the tolerance, the exact one often misses it by a percent."""

MAX_SHARE_LEFT = 0.5
"""Norm of an exact gradient, over that of the exact gradient before it, above which rounding prevents progress."""


@dataclass(frozen=True)
class Tolerance:
    """Limits of the infinity norm of the gradient Kbar alpha - Y, in the solver's units.

    Attributes
    ----------
    exact : float
        Largest norm of a gradient evaluated in float64, which alone decides that a solve has converged.
    """

    exact: float

    @property
    def running(self) -> float:
        """Largest norm of a running gradient at which an exact one is worth its cost."""
        return RUNNING_SHARE * self.exact

    def is_met(self, norm: float) -> bool:
        """Whether an exact gradient of this infinity norm is small enough."""
        return norm <= self.exact

    def is_missed(self, norm: float) -> bool:
        """Whether an exact gradient of this infinity norm is too large. NaN is not: no further step would help."""
        return norm > self.exact


def has_stalled(before: float, after: float) -> bool:
    """Whether the norm fell so little from one exact gradient to the next that rounding prevents progress."""
    return after > MAX_SHARE_LEFT * before
