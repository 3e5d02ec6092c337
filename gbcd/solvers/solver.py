"""The protocol that every solver fulfils: a name, and `solve(run)`."""

from __future__ import annotations

from typing import Protocol

from gbcd.progress.result import Solution
from gbcd.progress.solve_run import SolveRun


class Solver(Protocol):
    """A way to solve Kbar alpha = Y. The constructor takes the options; a solve leaves the solver unchanged."""

    @property
    def name(self) -> str:
        """Name of the solver in results and warnings."""

    def solve(self, run: SolveRun) -> Solution:
        """Return the last coefficients and their exact float64 gradient, converged or not.

        Parameters
        ----------
        run : SolveRun
            The problem, its limits, and the record of the iterations.
        """
