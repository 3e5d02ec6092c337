"""Preconditioned steps of the whole coefficient vector, each conjugate to the last ones.

Conjugate gradients need one earlier direction in exact arithmetic. With a matrix whose values carry
rounding errors (16-bit codes, float32 tiles), and a gradient that is replaced by a more exact one now and then, they
lose conjugacy: on the arm (n = 10,000, rank 1,500) 39 iterations became 78. Kept conjugate to the last 20 directions
explicitly, 54.
"""

from __future__ import annotations

from collections import deque

import numpy as np

from gbcd._arrays import Float64Array, FloatArray
from gbcd.preconditioner import Preconditioner
from gbcd.solvers.block import SAFETY
from gbcd.solvers.result import Progress

MAX_DRIFT = 0.5
"""Of the running gradient: beyond it the gradient is evaluated afresh."""

MAX_TILE_DRIFT = 0.1
"""The same for a gradient that is to be evaluated in tile precision."""

MIN_CURVATURE = 1e-6
"""Of a direction's own, beside that of the others: less is rounding."""

LARGEST_DEVIATION = 4.0
"""The largest of many errors, in standard deviations."""


class Directions:
    """The last search directions D (n, k), scaled to D' Kbar D = I, and their products with Kbar.

    A step gives one direction for each output, and each output moves along all of them: on 4,656 HistoSC images
    (45 outputs, rank 1,000) 39 steps do what takes 54 with a direction of its own for each output.

    Parameters
    ----------
    size : int
        Steps whose directions are kept.
    """

    def __init__(self, size: int) -> None:
        self._kept: deque[tuple[FloatArray, FloatArray]] = deque(maxlen=size)

    def conjugate(self, step: Float64Array) -> Float64Array:
        """Return the step (n, q) without its components along the kept directions."""
        for directions, products in self._kept:
            step = step - directions @ (products.T @ step)
        return step

    def keep(self, directions: Float64Array, products: Float64Array) -> None:
        """Add the directions of a step, dropping the oldest ones."""
        self._kept.append((directions.astype(np.float32), products.astype(np.float32)))

    def minimise(self, alpha: Float64Array, G: Float64Array) -> None:
        """Move alpha and its gradient, in place, to the minimum of f along the directions of each step."""
        for directions, products in self._kept:
            lengths = -(directions.T @ G)
            alpha += directions @ lengths
            G += products @ lengths


def orthonormalising(curvature: Float64Array) -> Float64Array:
    """Return T (q, k), k <= q, with T' curvature T = I for a symmetric (q, q) matrix.

    Directions without curvature of their own in this precision are left out: those of outputs that have arrived,
    or that follow from the others'.
    """
    diagonal = np.diagonal(curvature)
    scale = np.divide(1.0, np.sqrt(np.abs(diagonal)), out=np.zeros(len(diagonal)), where=diagonal > 0)
    values, vectors = np.linalg.eigh(scale[:, None] * (curvature + curvature.T) / 2 * scale)
    own = values > MIN_CURVATURE
    scaled: Float64Array = scale[:, None] * vectors[:, own] / np.sqrt(values[own])
    return scaled


def conjugate_descent(
    progress: Progress, preconditioner: Preconditioner, window: int, max_steps: float = np.inf
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
    exact_norm = norm = system.gradient_norm(G)
    exact = True
    directions = Directions(window)
    moved = np.zeros_like(Y)
    base = 0.0  # drift of the gradient that the moves are counted from
    steps = 0
    while not (exact and norm <= progress.tol) and not progress.exhausted and steps < max_steps:
        steps += 1
        step = directions.conjugate(-preconditioner.solve(G))
        product = system.matmul(step)
        progress.columns_used += system.n
        basis = orthonormalising(step.T @ product)
        step, product = step @ basis, product @ basis
        lengths = -(step.T @ G)
        moves = step @ lengths
        alpha += moves
        moved += moves
        G += product @ lengths
        directions.keep(step, product)
        norm, exact = progress.record(alpha, G), False
        drift = base + _drift(system.product_error, moved)
        # The check costs half a pass, missing it several steps: the drift must fit in too, unless it alone is too much.
        arrived = norm <= max(SAFETY * progress.tol - drift, 0.5 * SAFETY * progress.tol) or not basis.size
        if not arrived and drift <= MAX_DRIFT * norm:
            continue
        moved[:] = 0
        # Tiles evaluated in float32 err a hundred times less than codes, and take a third of the time of float64.
        tile_drift = _drift(system.tile_error, alpha)
        exact = arrived or tile_drift > MAX_TILE_DRIFT * norm
        base = 0.0 if exact else tile_drift
        G = system.residual(alpha, Y) if exact else system.gradient(alpha, Y)
        progress.columns_used += system.n
        norm = system.gradient_norm(G)
        if exact:
            stuck, exact_norm = norm > 0.5 * exact_norm, norm
            if norm <= progress.tol or (stuck and not system.raise_precision()):
                break
        directions.minimise(alpha, G)
    return alpha, G if exact else system.residual(alpha, Y)


def _drift(value_error: float, moved: Float64Array) -> float:
    """Return about the largest error of K @ moved (n, q) whose kernel values carry this error."""
    return LARGEST_DEVIATION * value_error * float(np.sqrt(np.einsum("ij,ij->j", moved, moved).max()))
