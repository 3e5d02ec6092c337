"""The progress lines that `verbose=True` prints."""

from __future__ import annotations

import sys
import time

from gbcd.hyperparameters.search import HyperparameterFit
from gbcd.progress.result import SolveResult
from gbcd.progress.trace import Callback, TraceEntry

MAX_AMPLITUDES_SHOWN = 5
"""Largest number of amplitudes printed in a line."""

SECONDS_BETWEEN = 0.5
"""Seconds from one printed iteration to the next; iterations of small problems take milliseconds."""


class ProgressLines:
    """A callback that prints lines to stderr, at most two a second, and then calls another callback.

    Parameters
    ----------
    verbose : bool
        False prints nothing.
    callback : callable or None
    tol : float, optional
        Gradient norm to be reached, printed for comparison.
    """

    def __init__(self, verbose: bool, callback: Callback | None, tol: float | None = None) -> None:
        self._verbose = verbose
        self._callback = callback
        self._goal = "" if tol is None else f" (to be {tol:.3g})"
        self._next = self._started = time.perf_counter()

    def __call__(self, entry: TraceEntry) -> bool | None:
        """Print the state after an iteration, where a line is due."""
        if time.perf_counter() >= self._next:
            # The objective is not printed: it may rise when the running gradient is evaluated anew.
            self.say(
                f"iteration {entry.iteration}: gradient {entry.gradient_norm:.3g}{self._goal}, "
                f"{entry.kernel_evaluations:.3g} kernel evaluations, {entry.seconds:.1f} s"
            )
            self._next = time.perf_counter() + SECONDS_BETWEEN
        return self._callback(entry) if self._callback is not None else None

    def say(self, line: str) -> None:
        """Print a line."""
        if self._verbose:
            print(line, file=sys.stderr)

    def search(self, fit: HyperparameterFit) -> None:
        """Print what a search for hyperparameters took."""
        self.say(
            f"hyperparameters: {fit.n_evaluations} evaluations on {len(fit.indices):,} rows in {fit.seconds:.1f} s, "
            f"amplitude {', '.join(f'{value:.3g}' for value in fit.amplitude[:MAX_AMPLITUDES_SHOWN])}"
            f"{' ...' if len(fit.amplitude) > MAX_AMPLITUDES_SHOWN else ''}"
        )

    def deviations(self, done: int, count: int) -> None:
        """Print how many standard deviations are computed so far."""
        self.say(f"standard deviations: {done:,} of {count:,} points, {time.perf_counter() - self._started:.1f} s")

    def finish(self, result: SolveResult) -> None:
        """Print the outcome of the solve."""
        self.say(
            f"{result.solver}: {'converged' if result.converged else 'stopped'} after {result.n_iter} iterations, "
            f"gradient {result.gradient_norm:.3g}, {result.kernel_passes:.3g} kernel passes"
        )
