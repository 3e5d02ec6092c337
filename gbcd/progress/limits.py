"""When a solve stops without having converged, and what it has used so far."""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np

from gbcd.progress.trace import Callback
from gbcd.system.protocol import LinearSystem


@dataclass(frozen=True)
class Limits:
    """What stops a solve short of the tolerance.

    Parameters
    ----------
    max_passes : float
        Passes over Kbar, see `Work.passes`.
    max_time : float
        Seconds.
    callback : callable or None
        Called after every iteration; returning True stops the solve.
    """

    max_passes: float = np.inf
    max_time: float = np.inf
    callback: Callback | None = None


class Work:
    """Time and kernel values that a solve has used since this object was made.

    Parameters
    ----------
    system : LinearSystem

    Attributes
    ----------
    columns_used : float
        Columns of Kbar that were multiplied with, whether they were evaluated or read.
    """

    def __init__(self, system: LinearSystem) -> None:
        self.columns_used = 0.0
        self._system = system
        self._started = time.perf_counter()
        self._evaluations_before = system.kernel_evaluations

    @property
    def seconds(self) -> float:
        """Seconds since the start."""
        return time.perf_counter() - self._started

    @property
    def evaluations(self) -> int:
        """Kernel values computed since the start."""
        return self._system.kernel_evaluations - self._evaluations_before

    @property
    def passes(self) -> float:
        """Passes over Kbar: evaluations / n^2, or columns used / n where that is more (K is kept and only read)."""
        n = self._system.n
        return max(self.evaluations / n**2, self.columns_used / n)
