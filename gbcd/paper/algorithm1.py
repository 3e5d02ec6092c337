"""Algorithm 1: block coordinate descent. GBCD, BCDC and BCDG are this loop with different selections."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.linalg

from gbcd.linalg.norms import infinity_norm
from gbcd.paper.selection import ActiveSet, Selection
from gbcd.progress.result import Solution
from gbcd.progress.solve_run import SolveRun
from gbcd.progress.tolerance import has_stalled
from gbcd.system.protocol import LinearSystem
from gbcd.threads import blas_threads
from gbcd.types import Float64Array

DEFAULT_BLOCK_SIZE = 500
"""Number of variables in a block (m), as in the paper. Times, there and here, hardly change between 300 and 1,000."""

REFRESH_PASSES = 10.0
"""Passes over Kbar after which the float64 residual replaces the running gradient, converged or not."""

FIRST_JITTER = 1e-14
"""First addition to the diagonal of a block that rounding leaves indefinite, over the mean of the diagonal."""

MIN_COLUMNS_TO_KEEP_K = 32
"""Least number of input columns at which all of K is kept, if it fits: evaluating is then slower than reading."""

MAX_BLOCK_ROUNDING = 0.01
"""Largest norm of the rounding errors of float32 kernel values, over the noise, with which K_BB is made of them."""

MAX_DRIFT = 0.5
"""Error of the running gradient, over the norm of the exact one, above which rounding prevents progress."""


@dataclass(frozen=True)
class BlockDescent:
    """Algorithm 1 with a given selection, as a solver.

    Parameters
    ----------
    selection : Selection
    block_size : int, optional
        m, the number of variables in a block; 500 by default, at most n.
    random_state : int, numpy.random.Generator, optional
    name : str
        Name of the solver in results and warnings.
    """

    selection: Selection
    block_size: int | None = None
    random_state: int | np.random.Generator | None = None
    name: str = "block descent"

    def solve(self, run: SolveRun) -> Solution:
        """Return the last coefficients and their exact gradient."""
        m = min(self.block_size or DEFAULT_BLOCK_SIZE, run.problem.system.n)
        return Solution(*block_descent(run, self.selection, m, np.random.default_rng(self.random_state)))


def solve_block(matrix: Float64Array, gradient: Float64Array) -> Float64Array:
    """Return the step -matrix^{-1} gradient (Algorithm 1, step 4), by Cholesky in float64 on one thread.

    Where rounding leaves the matrix indefinite (duplicated rows, a tiny noise), its diagonal is raised until it is
    positive definite. The step is then not exact, but still descends: with M = matrix + jitter I >= matrix,
    f changes by -g' M^-1 g + 1/2 g' M^-1 matrix M^-1 g <= -1/2 g' M^-1 g.
    """
    jitter = 0.0
    scale = float(np.diagonal(matrix).mean())
    with blas_threads(1):
        while True:
            try:
                shifted = matrix + jitter * np.eye(len(matrix)) if jitter else matrix
                factor = scipy.linalg.cho_factor(shifted, lower=True, check_finite=False)
            except scipy.linalg.LinAlgError:
                jitter = 10 * jitter or FIRST_JITTER * scale
                continue
            return -scipy.linalg.cho_solve(factor, gradient, check_finite=False)


def block_descent(
    run: SolveRun, selection: Selection, m: int, rng: np.random.Generator, start: Float64Array | None = None
) -> tuple[Float64Array, Float64Array]:
    """Descend until the float64 residual is within the tolerance, the passes are used up, or rounding stops it.

    Parameters
    ----------
    run : SolveRun
    selection : Selection
    m : int
        Block size.
    rng : numpy.random.Generator
    start : array (n, q), optional
        alpha to go on from.

    Returns
    -------
    alpha, gradient : array (n, q)
        The last coefficients and their exact float64 gradient.
    """
    problem = run.problem
    system, Y = problem.system, problem.Y
    alpha = np.zeros_like(Y) if start is None else start
    G = -Y if start is None else system.residual(alpha, Y)
    exact_norm = norm = infinity_norm(G)
    exact = True
    refresh_at = REFRESH_PASSES * system.n
    while not (exact and problem.tolerance.is_met(norm)):
        if norm <= problem.tolerance.running or run.work.columns_used >= refresh_at or run.exhausted:
            # With float32 tiles the running gradient drifts away from the exact one. Go on from the float64 gradient
            # (iterative refinement), which alone decides convergence.
            running, G = G, system.residual(alpha, Y)
            run.count_columns(system.n)
            refresh_at = run.work.columns_used + REFRESH_PASSES * system.n
            drift = infinity_norm(G - running)
            before, exact_norm = exact_norm, infinity_norm(G)
            norm, exact = exact_norm, True
            stuck = drift > MAX_DRIFT * exact_norm and has_stalled(before, exact_norm)
            if problem.tolerance.is_met(norm) or run.exhausted or (stuck and not system.raise_precision()):
                break
        if system.X.shape[1] >= MIN_COLUMNS_TO_KEEP_K:
            system.keep("whole")
        chosen = selection.select(system, G, m, rng)
        B = chosen.indices
        step = solve_block(_block(system, chosen), G[B]) if chosen.step is None else chosen.step
        alpha[B] += step
        system.add_columns(B, step, G, known=chosen.known)
        run.count_columns(len(B))
        norm, exact = run.record(alpha, G, active=B), False
    return alpha, G


def _block(system: LinearSystem, chosen: ActiveSet) -> Float64Array:
    """Return Kbar_BB, from the selection's kernel values where their rounding is small beside the noise."""
    B, known = chosen.indices, chosen.known
    if known is None or 2 * np.sqrt(len(B)) * system.precision.tile_error > MAX_BLOCK_ROUNDING * system.noise:
        values = system.block(B, B, exact=True).astype(np.float64, copy=False)
    else:
        order = np.argsort(known.rows)
        at = order[np.searchsorted(known.rows, B, sorter=order)]
        values = known.values[at].astype(np.float64)
        values = (values + values.T) / 2
    values.flat[:: len(B) + 1] += system.noise
    return values
