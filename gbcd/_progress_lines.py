"""What `verbose` prints."""

from __future__ import annotations

import sys
import time

from gbcd.solvers.result import Callback, SolveResult, TraceEntry

SECONDS_BETWEEN = 0.5
"""Iterations of small problems take milliseconds: nobody reads a line for each."""


class ProgressLines:
    """A callback that prints lines to stderr, at most two a second, and calls another one.

    Parameters
    ----------
    verbose : bool
        False prints nothing.
    callback : callable or None
    """

    def __init__(self, verbose: bool, callback: Callback | None) -> None:
        self._verbose = verbose
        self._callback = callback
        self._next = time.perf_counter()

    def __call__(self, entry: TraceEntry) -> bool | None:
        """Print the state after an iteration, where a line is due."""
        if time.perf_counter() >= self._next:
            self.say(
                f"iteration {entry.iteration}: gradient {entry.gradient_norm:.3g}, objective {entry.objective:.6g}, "
                f"{entry.kernel_evaluations:.3g} kernel evaluations, {entry.seconds:.1f} s"
            )
            self._next = time.perf_counter() + SECONDS_BETWEEN
        return self._callback(entry) if self._callback is not None else None

    def say(self, line: str) -> None:
        """Print a line."""
        if self._verbose:
            print(line, file=sys.stderr)

    def finish(self, result: SolveResult) -> None:
        """Print the last line."""
        self.say(
            f"{result.solver}: {'converged' if result.converged else 'stopped'} after {result.n_iter} iterations, "
            f"gradient {result.gradient_norm:.3g}, {result.kernel_passes:.3g} kernel passes"
        )
