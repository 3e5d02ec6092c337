"""The choice between the direct solver and descent."""

from __future__ import annotations

import numpy as np

from gbcd.progress.result import Progress
from gbcd.solvers.cholesky import cholesky
from gbcd.solvers.coarse_descent import GreedySolve
from gbcd.solvers.cost_model import cholesky_seconds
from gbcd.types import Float64Array

AT_ONCE = 0.3
"""Seconds of a factorization below which nothing else is looked at."""


def auto(progress: Progress, block_size: int | None, rng: np.random.Generator) -> tuple[Float64Array, Float64Array]:
    """Solve directly where the factor fits the memory budget and is forecast to be quicker, else by "gbcd".

    The growth of the coarse block tells how hard the problem is: n and q alone do not.

    Returns
    -------
    alpha, gradient : array (n, q)
    """
    system = progress.system
    direct = cholesky_seconds(system)
    if direct < AT_ONCE:
        progress.choice = f"cholesky: {system.n:,} rows are factored at once"
        return cholesky(progress)
    descent = GreedySolve(progress, block_size, rng, alternative=direct)
    direct = cholesky_seconds(system)  # again: the coarse block may have found that float64 is needed, twice the bytes
    if direct < descent.seconds:
        progress.choice = f"cholesky: forecast {direct:.2g} s, against {descent.seconds:.2g} s for {descent.choice}"
        return cholesky(progress)
    progress.choice = f"gbcd: {descent.choice}"
    return descent.run()
