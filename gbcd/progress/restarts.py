"""Descent by a running gradient, restarted from exact ones: iterative refinement."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from gbcd.linalg.norms import infinity_norm
from gbcd.progress.result import Solution
from gbcd.progress.solve_run import SolveRun
from gbcd.progress.tolerance import has_stalled
from gbcd.types import Float64Array

Descend = Callable[[SolveRun, Float64Array, Float64Array], None]
"""Changes alpha in place, given its exact gradient, both (n, q), until the running gradient is within the tolerance."""


def descend_with_restarts(run: SolveRun, descend: Descend) -> Solution:
    """Descend, restarting from the float64 residual, until that is within the tolerance or a limit is reached.

    Parameters
    ----------
    run : SolveRun
    descend : callable

    Returns
    -------
    Solution
        The last coefficients and their exact gradient.
    """
    problem = run.problem
    system, Y = problem.system, problem.Y
    alpha, G = np.zeros_like(Y), -Y
    norm = infinity_norm(G)
    while problem.tolerance.is_missed(norm) and not run.exhausted:
        descend(run, alpha, G)
        before = norm
        G = system.residual(alpha, Y)
        run.count_columns(system.n)
        norm = infinity_norm(G)
        if problem.tolerance.is_missed(norm) and has_stalled(before, norm) and not system.raise_precision():
            break
    return Solution(alpha, G)
