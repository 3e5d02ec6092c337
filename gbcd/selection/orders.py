"""Selections that look at the gradient alone, or at nothing: the rivals greedy selection is measured against."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gbcd._arrays import Float64Array
from gbcd.selection.base import ActiveSet
from gbcd.system import KernelSystem


class Cyclic:
    """BCDC: consecutive blocks of indices, round and round."""

    def __init__(self) -> None:
        self._position = 0

    def select(self, system: KernelSystem, G: Float64Array, m: int, rng: np.random.Generator) -> ActiveSet:  # noqa: ARG002 - the protocol's
        """Return the next `m` indices."""
        indices = (self._position + np.arange(m)) % system.n
        self._position = int((self._position + m) % system.n)
        return ActiveSet(indices)


@dataclass(frozen=True)
class Gradient:
    """BCDG: the m variables with the largest gradient, chosen without regard to one another."""

    def select(self, system: KernelSystem, G: Float64Array, m: int, rng: np.random.Generator) -> ActiveSet:  # noqa: ARG002 - the protocol's
        """Return the `m` rows with the largest |g_i|^2."""
        return ActiveSet(system.largest(G, m))
