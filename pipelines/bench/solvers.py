"""The solvers of `gbcd` on one problem, to one tolerance, in one process."""

from __future__ import annotations

import time
import warnings

import numpy as np
from numpy.typing import NDArray
from rich.table import Table
from sklearn.exceptions import ConvergenceWarning

from gbcd import SOLVERS, KernelSystem, SquaredExponential, solve

FloatArray = NDArray[np.float64]

# A marginal-likelihood fit on 2,000 standardised samples; five of the ten inputs do not matter.
FRIEDMAN1_GAMMA = (0.130502, 0.148834, 0.0672212, 0.0173893, 0.00753965, 1e-6, 0.000115977, 1e-6, 1e-6, 1e-6)
FRIEDMAN1_NOISE = 0.0426459
_TOLERANCE = 1e-4
_MEMORY_BUDGET = 50_000_000  # bytes; small, so that kernel values are computed when they are needed
_MAX_PASSES = 60.0


def friedman1(n: int, seed: int) -> tuple[FloatArray, FloatArray]:
    """Friedman's first problem with unit noise, inputs (n, 10) and output (n,) standardised.

    References
    ----------
    Friedman (1991), "Multivariate adaptive regression splines", Annals of Statistics 19.
    """
    rng = np.random.default_rng(seed)
    X = rng.random((n, 10))
    y = 10 * np.sin(np.pi * X[:, 0] * X[:, 1]) + 20 * (X[:, 2] - 0.5) ** 2 + 10 * X[:, 3] + 5 * X[:, 4]
    y += rng.standard_normal(n)
    return (X - X.mean(axis=0)) / X.std(axis=0), (y - y.mean()) / y.std()


def compare_solvers(n: int, seed: int) -> Table:
    """Solve Friedman1 of size n by every solver; a dagger marks those that did not reach the tolerance."""
    X, y = friedman1(n, seed)
    kernel = SquaredExponential(FRIEDMAN1_GAMMA)
    table = Table(
        title=f"Friedman1, n = {n}: to a gradient norm of {_TOLERANCE:g}",
        caption=f"† stopped at {_MAX_PASSES:g} passes over all columns, kept values included; kernel passes count "
        "evaluations, half of them where symmetry serves. Cholesky stores the matrix, the others at most "
        f"{_MEMORY_BUDGET // 1_000_000} MB of it.",
    )
    for heading in ("solver", "seconds", "kernel passes", "iterations", "gradient norm (float64)"):
        table.add_column(heading, justify="left" if heading == "solver" else "right")
    for name in SOLVERS:
        system = KernelSystem(X, kernel, FRIEDMAN1_NOISE, memory_budget=_MEMORY_BUDGET)
        started = time.perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # the table says it
            result = solve(system, y, name, tol=_TOLERANCE, max_passes=_MAX_PASSES, random_state=seed)
        seconds = time.perf_counter() - started
        mark = "" if result.converged else " †"
        table.add_row(
            name + mark,
            f"{seconds:.1f}",
            f"{result.kernel_passes:.1f}",
            str(result.n_iter),
            f"{result.gradient_norm:.1e}",
        )
    return table
