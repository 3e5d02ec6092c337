"""The direct solver: float64 Cholesky of the whole Kbar, the reference every other solver is tested against."""

from __future__ import annotations

import numpy as np
import scipy.linalg

from gbcd._arrays import Float64Array
from gbcd._dense import cholesky_in_place, cholesky_solve
from gbcd.solvers.result import Progress
from gbcd.system import KernelSystem


class CholeskyFactor:
    """Kbar = L L', factored once, for many right-hand sides.

    Parameters
    ----------
    system : KernelSystem
        8 n^2 bytes are allocated, whatever its memory budget.

    Raises
    ------
    ValueError
        If rounding leaves Kbar indefinite.
    """

    def __init__(self, system: KernelSystem) -> None:
        try:
            self._lower = cholesky_in_place(system.dense())
        except scipy.linalg.LinAlgError as error:
            raise ValueError(
                f"Kbar ({system.n} rows, noise {system.noise:.3g}) is not positive definite to rounding: "
                f"raise the noise."
            ) from error

    def solve(self, Y: Float64Array) -> Float64Array:
        """Return Kbar^{-1} Y, shape (n, q)."""
        return cholesky_solve(self._lower, Y)


MAX_REFINEMENTS = 3


def cholesky(progress: Progress) -> tuple[Float64Array, Float64Array]:
    """Solve directly, refining where the conditioning leaves a residual above the tolerance.

    Returns
    -------
    alpha, gradient : array (n, q)
    """
    system, Y = progress.system, progress.Y
    factor = CholeskyFactor(system)
    alpha = factor.solve(Y)
    G = system.residual(alpha, Y)
    norm = progress.record(alpha, G)
    for _ in range(MAX_REFINEMENTS):
        if norm <= progress.tol or not np.isfinite(norm):
            break
        alpha -= factor.solve(G)
        G = system.residual(alpha, Y)
        norm = progress.record(alpha, G)
    return alpha, G
