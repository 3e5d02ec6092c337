"""The direct solver: Cholesky of the whole Kbar, the reference every other solver is tested against.

A large mixed-precision system is factored in float32, in half the time and memory, and refined with the float64
residual. Each refinement multiplies the error by the relative error of the factor, which is 1 / 100 where the noise is
not tiny.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt
import scipy.linalg

from gbcd.linalg.cholesky import cholesky_in_place, cholesky_solve
from gbcd.linalg.norms import infinity_norm
from gbcd.memory_budget import available_memory
from gbcd.progress.result import Solution
from gbcd.progress.solve_run import SolveRun
from gbcd.progress.tolerance import has_stalled
from gbcd.system.protocol import LinearSystem
from gbcd.types import Float64Array


class NotPositiveDefiniteError(ValueError):
    """Rounding leaves Kbar indefinite."""


class CholeskyFactor:
    """Kbar = L L', factored once, for many right-hand sides.

    Parameters
    ----------
    system : LinearSystem
        The factor takes 8 n^2 bytes (float64) or 4 n^2 (float32), whatever the memory budget. No other array of this
        size is allocated.
    dtype : float32 or float64
        Solutions by a float32 factor need refinement. They do not serve for variances, which are small differences of
        large numbers: on 4,000 rows of Friedman1 with noise 1e-4 variances err by 9 %, and by 4 % after one refinement.

    Raises
    ------
    ValueError
        If rounding leaves Kbar indefinite.
    MemoryError
        If the factor does not fit the memory now available; nothing has been allocated then.
    """

    def __init__(self, system: LinearSystem, dtype: npt.DTypeLike = np.float64) -> None:
        precision = np.dtype(dtype)
        needed, available = system.n**2 * precision.itemsize, available_memory()
        if available is not None and needed > available:
            raise MemoryError(
                f"A {precision} Cholesky factor of {system.n} rows needs {needed / 2**30:.1f} GiB, "
                f"{available / 2**30:.1f} GiB are available: use the solver 'gbcd', which keeps to its memory budget."
            )
        try:
            self._lower = cholesky_in_place(system.dense(precision))
        except scipy.linalg.LinAlgError:
            raise NotPositiveDefiniteError(
                f"Kbar ({system.n} rows, noise {system.noise:.3g}, {precision}) is not positive definite to rounding: "
                f"raise the noise."
            ) from None

    @property
    def lower(self) -> npt.NDArray[np.floating]:
        """L (n, n), of which only the lower triangle counts."""
        return self._lower

    def solve(self, Y: Float64Array) -> Float64Array:
        """Return Kbar^{-1} Y, shape (n, q), in the precision of the factor."""
        # Scaled to 1 first, so that the cast to float32 neither overflows nor underflows.
        scale = float(np.abs(Y).max(initial=0.0)) or 1.0
        solution: Float64Array = scale * cholesky_solve(self._lower, Y / scale).astype(np.float64, copy=False)
        return solution


@dataclass(frozen=True)
class Cholesky:
    """Solve directly, refining where the factor's rounding leaves a residual above the tolerance.

    A float32 factor that is indefinite, or whose refinement stalls, is replaced by a float64 factor. If that does not
    fit the memory, the float32 result is returned. Each factor and each residual evaluates half a pass.

    Parameters
    ----------
    float64_rows : int
        Rows above which a mixed-precision system is factored in float32 first. Up to this size a float64 factor takes
        less time than the refinement of a float32 one.
    """

    float64_rows: int = 2000
    name: ClassVar[str] = "cholesky"

    def first_dtype(self, system: LinearSystem) -> np.dtype[np.floating]:
        """Return the precision in which the system is factored first."""
        return np.dtype(np.float32 if system.dtype == np.float32 and system.n > self.float64_rows else np.float64)

    def solve(self, run: SolveRun) -> Solution:
        """Return the coefficients with the lowest gradient norm met, and their exact gradient.

        Raises
        ------
        NotPositiveDefiniteError
            If rounding leaves Kbar indefinite in float64.
        MemoryError
            If the n^2 values of a factor exceed the memory available, and there is no solution yet.
        """
        problem = run.problem
        system = problem.system
        alpha, G = np.zeros_like(problem.Y), -problem.Y
        refined = False
        if self.first_dtype(system) == np.float32:
            try:
                alpha, G = _refine(run, CholeskyFactor(system, np.float32), alpha, G)
                refined = True
            except NotPositiveDefiniteError:
                pass
            if run.stopped or problem.is_solved_by(G):
                return Solution(alpha, G)
        try:
            factor = CholeskyFactor(system)
        except (MemoryError, NotPositiveDefiniteError):
            if refined:
                return Solution(alpha, G)
            raise
        return Solution(*_refine(run, factor, alpha, G))


def _refine(
    run: SolveRun, factor: CholeskyFactor, alpha: Float64Array, G: Float64Array
) -> tuple[Float64Array, Float64Array]:
    """Take steps -factor^{-1} G, with the float64 residual G, to the tolerance or until a step does not halve |G|."""
    problem = run.problem
    norm = infinity_norm(G)
    while True:
        moved = alpha - factor.solve(G)
        residual = problem.system.residual(moved, problem.Y)
        run.count_columns(problem.system.n)
        before, norm = norm, run.record(moved, residual)
        if not norm < before:
            return alpha, G
        alpha, G = moved, residual
        if problem.tolerance.is_met(norm) or has_stalled(before, norm) or run.stopped:
            return alpha, G
