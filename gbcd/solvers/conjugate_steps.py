"""Preconditioned steps of the whole coefficient vector, each conjugate to the last ones.

Conjugate gradients need one earlier direction in exact arithmetic. With a matrix whose values carry
rounding errors (16-bit codes, float32 tiles), and a gradient that is replaced by a more exact one now and then, they
lose conjugacy: on the arm (n = 10,000, rank 1,500) 39 iterations became 78. Kept conjugate to the last 20 directions
explicitly, 54.
"""

from __future__ import annotations

from collections import deque

import numpy as np

from gbcd.linalg.norms import infinity_norm
from gbcd.paper.algorithm1 import SAFETY
from gbcd.progress.result import Progress
from gbcd.solvers.preconditioner import Preconditioner
from gbcd.threads import spans
from gbcd.types import Float64Array, FloatArray

MAX_DRIFT = 0.5
"""Of the running gradient: beyond it the gradient is evaluated afresh."""

NEAR, MAX_DRIFT_NEAR = 4.0, 1.0
"""Within so many times the tolerance the drift may be so large a part."""

MAX_TILE_DRIFT = 0.1
"""The same for a gradient that is to be evaluated in tile precision."""

NO_DRIFT = 1e-3
"""Of the tolerance: changes nothing."""

GROUP = 64
"""Outputs that share directions: more cost more in small products than they save in steps."""

MIN_CURVATURE = 1e-6
"""Of a direction's own, beside that of the others: less is rounding."""

LARGEST_DEVIATION = 4.0
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
        self._groups = spans(n_outputs, GROUP)

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
    progress: Progress, preconditioner: Preconditioner, window: int, max_steps: float = np.inf, whole: bool = False
) -> tuple[Float64Array, Float64Array]:
    """Descend until the float64 residual is within the tolerance, a limit is reached, or rounding stops it.

    Parameters
    ----------
    progress : Progress
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
    system, Y = progress.system, progress.Y
    alpha, G = np.zeros_like(Y), -Y
    exact_norm = norm = infinity_norm(G)
    exact = True
    directions = Directions(window, Y.shape[1])
    moved = np.zeros_like(Y)
    base = 0.0  # drift of the gradient that the moves are counted from
    steps = 0
    while not (exact and norm <= progress.tol) and not progress.exhausted and steps < max_steps:
        steps += 1
        step = -preconditioner.solve(G)
        directions.conjugate(step)
        product = system.matmul(step)
        progress.columns_used += system.n
        moves = directions.add(step, product, G)
        alpha += moves
        moved += moves
        norm = progress.record(alpha, G)
        drift = base + _drift(system.product_error, moved)
        # In float64 the running gradient is as good as one that is evaluated afresh.
        exact = system.dtype == np.float64 and drift <= NO_DRIFT * progress.tol
        if exact and norm <= progress.tol:
            break
        # The check costs half a pass, missing it several steps: the drift must fit in too, unless it alone is too much.
        arrived = norm <= max(SAFETY * progress.tol - drift, 0.5 * SAFETY * progress.tol) or not moves.any()
        # The bound is cautious: near the goal the check that ends the descent comes soon, and may find all well.
        near = whole and norm <= NEAR * progress.tol and drift <= MAX_DRIFT_NEAR * norm
        if not arrived and (near or drift <= MAX_DRIFT * norm):
            continue
        moved[:] = 0
        # Tiles evaluated in float32 err a hundred times less than codes, and take a third of the time of float64.
        tile_drift = _drift(system.precision.tile_error, alpha)
        exact = arrived or tile_drift > MAX_TILE_DRIFT * norm
        base = 0.0 if exact else tile_drift
        G = system.residual(alpha, Y, exact=exact)
        progress.columns_used += system.n
        norm = infinity_norm(G)
        if exact:
            stuck, exact_norm = norm > 0.5 * exact_norm, norm
            if norm <= progress.tol or (stuck and not system.raise_precision()):
                break
        directions.minimise(alpha, G)
    return alpha, G if exact else system.residual(alpha, Y)


def _drift(value_error: float, moved: Float64Array) -> float:
    """Return about the largest error of K @ moved (n, q) whose kernel values carry this error."""
    return LARGEST_DEVIATION * value_error * float(np.sqrt(np.einsum("ij,ij->j", moved, moved).max()))
