"""Plain conjugate gradients, every output with its own step lengths: the classical rival."""

from __future__ import annotations

import numpy as np

from gbcd._arrays import Float64Array
from gbcd.solvers.block import SAFETY
from gbcd.solvers.result import Progress


def conjugate_gradients(progress: Progress) -> tuple[Float64Array, Float64Array]:
    """Run CG in tile precision, restarted from the float64 residual until that is within the tolerance.

    Returns
    -------
    alpha, gradient : array (n, q)
        The last coefficients and their exact float64 gradient.
    """
    system, Y = progress.system, progress.Y
    alpha = np.zeros_like(Y)
    G = -Y
    norm = system.gradient_norm(G)
    while norm > progress.tol and not progress.exhausted:
        _descend(progress, alpha, G)
        before = norm
        G = system.residual(alpha, Y)
        progress.columns_used += system.n
        norm = system.gradient_norm(G)
        # A restart that gains nothing is at the rounding of its tiles.
        if norm > 0.5 * before and not system.raise_precision():
            break
    return alpha, G


def _descend(progress: Progress, alpha: Float64Array, exact: Float64Array) -> None:
    """Lower the gradient from `exact` until its running value is within the tolerance; alpha changes in place."""
    system = progress.system
    G = exact.copy()
    direction = -G
    squares = np.einsum("ij,ij->j", G, G)
    while not progress.exhausted:
        product = system.matmul(direction)
        progress.columns_used += system.n
        curvature = np.einsum("ij,ij->j", direction, product)
        # An output that has arrived (or has no curvature left in this precision) stands still.
        moving = curvature > 0
        length = np.divide(squares, curvature, out=np.zeros_like(squares), where=moving)
        alpha += length * direction
        G += length * product
        if progress.record(alpha, G) <= SAFETY * progress.tol or not moving.any():
            return
        previous, squares = squares, np.einsum("ij,ij->j", G, G)
        ratio = np.divide(squares, previous, out=np.zeros_like(squares), where=previous > 0)
        direction = ratio * direction - G
