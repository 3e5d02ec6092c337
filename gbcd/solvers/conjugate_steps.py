"""Preconditioned steps of the whole coefficient vector, each conjugate to the last ones.

In exact arithmetic conjugate gradients need one earlier direction. Here kernel values carry rounding errors (16-bit
codes, float32 tiles), and the gradient is replaced by a more exact one now and then. Both cost conjugacy: on the arm
(n = 10,000, rank 1,500) 39 steps became 78, and 54 with steps kept conjugate to the last 20 directions.
"""

from __future__ import annotations

from collections import deque

import numpy as np

from gbcd.linalg.norms import infinity_norm
from gbcd.progress.solve_run import SolveRun
from gbcd.solvers.preconditioner import Preconditioner
from gbcd.threads import spans
from gbcd.types import Float64Array, FloatArray

MAX_DRIFT = 0.5
"""Drift over the norm of the running gradient up to which that is used. The drift is what rounding may have moved it by
since it was last evaluated."""

FINAL_NORM = 4.0
"""Norm of the running gradient, in tolerances, below which `MAX_FINAL_DRIFT` is the limit: the check that ends the
descent comes soon then, and the drift is estimated with caution."""

MAX_FINAL_DRIFT = 1.0
"""Drift over the norm of the running gradient up to which that is used just before the end."""

MAX_TILE_DRIFT = 0.1
"""Error over the gradient's norm up to which a gradient evaluated in tile precision serves."""

NEGLIGIBLE_DRIFT = 1e-3
"""Drift over the tolerance up to which the running gradient is as good as the exact one."""

STALLED = 0.5
"""Part of an exact gradient's norm: where more is left at the next one, rounding is in the way."""

MAX_OUTPUTS_TOGETHER = 64
"""Outputs that share directions: more cost more in small products than they save in steps."""

MIN_CURVATURE = 1e-6
"""Curvature of a direction after those of the others are taken away, over its whole: less is rounding."""

LARGEST_ERROR = 4.0
"""The largest of many errors, in standard deviations."""


class Directions:
    """The last search directions D (n, q), scaled to D' Kbar D = I, and their products with Kbar.

    A step gives one direction for each output, and each output moves along those of its whole group: on 4,656 HistoSC
    images (45 outputs, rank 1,000) 39 steps do what takes 54 with a direction of its own for each output.

    Parameters
    ----------
    size : int
        Steps whose directions are kept.
    n_outputs : int
    """

    def __init__(self, size: int, n_outputs: int) -> None:
        self._kept: deque[tuple[FloatArray, FloatArray]] = deque(maxlen=size)
        self._groups = spans(n_outputs, MAX_OUTPUTS_TOGETHER)

    def conjugate(self, step: Float64Array) -> None:
        """Take from the step (n, q), in place, its components along the kept directions."""
        for directions, products in self._kept:
            for j in self._groups:
                step[:, j] -= directions[:, j] @ (products[:, j].T @ step[:, j])

    def add(self, step: Float64Array, product: Float64Array, G: Float64Array) -> Float64Array:
        """Scale the step and its product with Kbar, in place, keep them, and minimise f along them.

        Returns
        -------
        array (n, q)
            What alpha moves by; the gradient G has been changed accordingly.
        """
        moves = np.zeros_like(G)
        for j in self._groups:
            basis = orthonormalising(step[:, j].T @ product[:, j])
            step[:, j], product[:, j] = step[:, j] @ basis, product[:, j] @ basis
            lengths = -(step[:, j].T @ G[:, j])
            moves[:, j] = step[:, j] @ lengths
            G[:, j] += product[:, j] @ lengths
        self._kept.append((step.astype(np.float32), product.astype(np.float32)))
        return moves

    def minimise(self, alpha: Float64Array, G: Float64Array) -> None:
        """Move alpha and its gradient, in place, to the minimum of f along the directions of each step."""
        for directions, products in self._kept:
            for j in self._groups:
                lengths = -(directions[:, j].T @ G[:, j])
                alpha[:, j] += directions[:, j] @ lengths
                G[:, j] += products[:, j] @ lengths


def orthonormalising(curvature: Float64Array) -> Float64Array:
    """Return T (q, q) with T' curvature T = I for a symmetric (q, q) matrix, but for columns of zeros.

    Those stand for directions without curvature of their own in this precision: of outputs that have arrived, or
    that follow from the others'.
    """
    diagonal = np.diagonal(curvature)
    scale = np.divide(1.0, np.sqrt(np.abs(diagonal)), out=np.zeros(len(diagonal)), where=diagonal > 0)
    values, vectors = np.linalg.eigh(scale[:, None] * (curvature + curvature.T) / 2 * scale)
    own = values > MIN_CURVATURE
    roots = np.divide(1.0, np.sqrt(np.abs(values)), out=np.zeros(len(values)), where=own)
    scaled: Float64Array = scale[:, None] * vectors * roots
    return scaled


def conjugate_descent(
    run: SolveRun, preconditioner: Preconditioner, window: int, max_steps: float = np.inf, whole: bool = False
) -> tuple[Float64Array, Float64Array]:
    """Descend until the float64 residual is within the tolerance, a limit is reached, or rounding stops it.

    Parameters
    ----------
    run : SolveRun
    preconditioner : Preconditioner
    window : int
        Earlier directions a step is kept conjugate to.
    max_steps : float
        Steps after which to give up.
    whole : bool
        K is kept whole, so that a step takes a small part of the time of an exact gradient.

    Returns
    -------
    alpha, gradient : array (n, q)
        The last coefficients and their exact float64 gradient.

    Notes
    -----
    Converges globally: a step minimises f over a space that contains -P^-1 g, so f falls by at least
    (g' P^-1 g)^2 / (2 g' P^-1 Kbar P^-1 g) >= |g|^2 / (2 largest(P) kappa), kappa the condition of
    P^-1/2 Kbar P^-1/2, which is Theorem 2's kind of decrease with another constant.
    """
    problem = run.problem
    system, Y = problem.system, problem.Y
    alpha, G = np.zeros_like(Y), -Y
    exact_norm = norm = infinity_norm(G)
    exact = True
    directions = Directions(window, Y.shape[1])
    moved = np.zeros_like(Y)
    base = 0.0  # error of the gradient that was evaluated last
    steps = 0
    while not (exact and norm <= problem.tol) and not run.exhausted and steps < max_steps:
        steps += 1
        step = -preconditioner.solve(G)
        directions.conjugate(step)
        product = system.matmul(step)
        run.count_columns(system.n)
        moves = directions.add(step, product, G)
        alpha += moves
        moved += moves
        norm = run.record(alpha, G)
        drift = base + _drift(system.product_error, moved)
        # In float64 the running gradient is as good as one that is evaluated afresh.
        exact = system.dtype == np.float64 and drift <= NEGLIGIBLE_DRIFT * problem.tol
        if exact and norm <= problem.tol:
            break
        # An exact gradient costs half a pass, and one that is not within the tolerance several steps: norm and drift
        # must be within it together, or the norm within half of it.
        arrived = norm <= max(problem.running_tol - drift, 0.5 * problem.running_tol) or not moves.any()
        ends_soon = whole and norm <= FINAL_NORM * problem.tol and drift <= MAX_FINAL_DRIFT * norm
        if not arrived and (ends_soon or drift <= MAX_DRIFT * norm):
            continue
        moved[:] = 0
        # Values evaluated in float32 err a hundred times less than codes, and take a third of the time of float64.
        tile_drift = _drift(system.precision.tile_error, alpha)
        exact = arrived or tile_drift > MAX_TILE_DRIFT * norm
        base = 0.0 if exact else tile_drift
        G = system.residual(alpha, Y, exact=exact)
        run.count_columns(system.n)
        norm = infinity_norm(G)
        if exact:
            stuck, exact_norm = norm > STALLED * exact_norm, norm
            if norm <= problem.tol or (stuck and not system.raise_precision()):
                break
        directions.minimise(alpha, G)
    return alpha, G if exact else system.residual(alpha, Y)


def _drift(value_error: float, moved: Float64Array) -> float:
    """Return about the largest error of K @ moved (n, q) whose kernel values carry this error."""
    return LARGEST_ERROR * value_error * float(np.sqrt(np.einsum("ij,ij->j", moved, moved).max()))
