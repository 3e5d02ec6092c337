"""SMO: descent by maximal violating pairs, in a loop of its own.

`gbcd.paper.algorithm1` with `MaximalViolatingPair` takes the same steps. But a pair needs so few kernel values that the
general loop's overhead would take ten times as long.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numba
import numpy as np

from gbcd.compiling import IN_ORDER
from gbcd.paper.algorithm1 import DEFAULT_BLOCK_SIZE
from gbcd.progress.restarts import descend_with_restarts
from gbcd.progress.result import Solution
from gbcd.progress.solve_run import SolveRun
from gbcd.types import Float64Array, FloatArray, IntArray

MIN_RELATIVE_DETERMINANT = 1e-14
"""Determinant of a pair's 2 x 2 matrix, over the product of its diagonal, below which the two count as one variable."""


@dataclass(frozen=True)
class SMO:
    """Descent by maximal violating pairs, restarted from the float64 residual until that is within the tolerance.

    An iteration of the trace is as many pairs as fill a block of the default size (or n variables, where n is
    smaller). The limits and the callback are looked at after each iteration.
    """

    name: ClassVar[str] = "smo"

    def solve(self, run: SolveRun) -> Solution:
        """Return the last coefficients and their exact gradient."""
        return descend_with_restarts(run, _descend)


def _descend(run: SolveRun, alpha: Float64Array, exact: Float64Array) -> None:
    """Lower the gradient from `exact` until its running value is within the tolerance; alpha changes in place."""
    system = run.problem.system
    system.keep("whole")
    G = exact.T.copy()  # along the variables, for the compiled loops
    weights, work = 1 / system.diagonal(), np.empty(system.n)
    room = np.empty((2, system.n), dtype=system.dtype)
    pairs = np.empty((max(1, min(DEFAULT_BLOCK_SIZE, system.n) // 2), 2), dtype=np.intp)
    while not run.exhausted:
        for pair in pairs:
            pair[:] = _violating_pair(G, weights, work)
            _move(G, alpha, system.rows(pair, out=room), pair, system.diagonal(), system.noise)
        run.count_columns(pairs.size)
        if run.record(alpha, G.T, active=np.unique(pairs)) <= run.problem.tolerance.running:
            return


def _violating_pair(G: Float64Array, weights: Float64Array, work: Float64Array) -> tuple[int, int]:
    """Return the pair of `MaximalViolatingPair`, given the gradient (q, n), 1 / Kbar_ii (n,) and a workspace (n,)."""
    _weighted_squares(G, weights, work)
    steepest = int(work.argmax())
    _products(G, steepest, work)
    return steepest, int(work.argmin())


@numba.njit(**IN_ORDER)
def _weighted_squares(G: Float64Array, weights: Float64Array, out: Float64Array) -> None:
    """out_i = |g_i|^2 weight_i."""
    out[:] = 0.0
    for row in G:
        for i in range(len(out)):
            out[i] += row[i] * row[i]
    for i in range(len(out)):
        out[i] *= weights[i]


@numba.njit(**IN_ORDER)
def _products(G: Float64Array, index: int, out: Float64Array) -> None:
    """out_i = g_i . g_index."""
    out[:] = 0.0
    for row in G:
        reference = row[index]
        for i in range(len(out)):
            out[i] += row[i] * reference


@numba.njit(**IN_ORDER)
def _move(
    G: Float64Array, alpha: Float64Array, columns: FloatArray, pair: IntArray, diag: Float64Array, noise: float
) -> None:
    """Minimise f over a pair (or one variable, where i = j): alpha (n, q) and G (q, n) change in place."""
    i, j = pair[0], pair[1]
    a, b, c = diag[i], diag[j], columns[0, j]
    determinant = a * b - c * c
    # Two variables that are alike to rounding count as one.
    alone = i == j or determinant <= MIN_RELATIVE_DETERMINANT * a * b
    for k in range(G.shape[0]):
        row = G[k]
        if alone:
            first, second = -row[i] / a, 0.0
        else:
            first = (c * row[j] - b * row[i]) / determinant
            second = (c * row[i] - a * row[j]) / determinant
        alpha[i, k] += first
        alpha[j, k] += second
        for s in range(row.shape[0]):
            row[s] += first * columns[0, s] + second * columns[1, s]
        row[i] += noise * first
        row[j] += noise * second
