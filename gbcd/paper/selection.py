"""What a selection strategy is given and what it returns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from gbcd.system.protocol import KnownColumns, LinearSystem
from gbcd.types import Float64Array, IntArray


@dataclass(frozen=True)
class ActiveSet:
    """The variables of one step.

    Attributes
    ----------
    indices : int array (m,)
        B, distinct.
    step : array (m, q) or None
        Delta alpha_B, where the strategy already has it.
    known : KnownColumns or None
        Kernel values of these columns that the strategy has computed. The gradient update reuses them.
    """

    indices: IntArray
    step: Float64Array | None = None
    known: KnownColumns | None = None


class Selection(Protocol):
    """An active-set strategy."""

    def select(self, system: LinearSystem, G: Float64Array, m: int, rng: np.random.Generator) -> ActiveSet:
        """Return at most `m` (at least one) variables to solve for, given the gradient G (n, q)."""
