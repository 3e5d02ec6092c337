"""The tolerance of a solve: when a gradient is small enough, and when rounding keeps it from becoming smaller."""

from __future__ import annotations

from dataclasses import dataclass

RUNNING_SHARE = 0.8
"""Tolerance of the running gradient over that of the exact one. The check by an exact gradient costs half a pass; a
running one just within the tolerance often misses it by a percent, and costs a second check."""

MAX_SHARE_LEFT = 0.5
"""Part of the exact gradient's norm: where more of it is left at the next exact one, rounding is in the way."""


@dataclass(frozen=True)
class Tolerance:
    """What the infinity norm of the gradient Kbar alpha - Y may be, in the solver's units.

    Attributes
    ----------
    exact : float
        For a gradient evaluated in float64. It alone decides that a solve has converged.
    """

    exact: float

    @property
    def running(self) -> float:
        """For a running gradient: within this, an exact one is worth its cost."""
        return RUNNING_SHARE * self.exact

    def is_met(self, norm: float) -> bool:
        """Whether an exact gradient of this infinity norm is small enough."""
        return norm <= self.exact

    def is_missed(self, norm: float) -> bool:
        """Whether it is not. A norm that is NaN is neither: no further step helps it."""
        return norm > self.exact


def has_stalled(before: float, after: float) -> bool:
    """Whether so little was gained from one exact gradient's norm to the next that rounding is in the way."""
    return after > MAX_SHARE_LEFT * before
