"""Conjugate gradients, plain and preconditioned, every output with its own step lengths: the classical rivals."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from gbcd.linalg.norms import infinity_norm
from gbcd.paper.algorithm1 import SAFETY
from gbcd.progress.result import Progress
from gbcd.solvers.preconditioner import DRAWS, ColumnFactor, Preconditioner
from gbcd.types import Float64Array

RANK_FACTOR = 10.0
"""Rank of "pcg" over sqrt(n): 1,000 at n = 10,000, as its authors use."""

Precondition = Callable[[Float64Array], Float64Array]


def conjugate_gradients(
    progress: Progress, precondition: Precondition | None = None
) -> tuple[Float64Array, Float64Array]:
    """Run CG in tile precision, restarted from the float64 residual until that is within the tolerance.

    Parameters
    ----------
    progress : Progress
    precondition : callable, optional
        P^-1, for a gradient (n, q).

    Returns
    -------
    alpha, gradient : array (n, q)
        The last coefficients and their exact float64 gradient.
    """
    system, Y = progress.system, progress.Y
    alpha = np.zeros_like(Y)
    G = -Y
    norm = infinity_norm(G)
    while norm > progress.tol and not progress.exhausted:
        _descend(progress, alpha, G, precondition or np.copy)
        before = norm
        G = system.residual(alpha, Y)
        progress.columns_used += system.n
        norm = infinity_norm(G)
        # A restart that gains nothing is at the rounding of its tiles.
        if norm > 0.5 * before and not system.raise_precision():
            break
    return alpha, G


def preconditioned_conjugate_gradients(
    progress: Progress,
    block_size: int | None,  # noqa: ARG001 - one signature for all solvers
    rng: np.random.Generator,
) -> tuple[Float64Array, Float64Array]:
    """Run CG with a randomly pivoted Cholesky preconditioner of rank 10 sqrt(n), less where the budget holds less.

    References
    ----------
    Diaz, Epperly, Frangella, Tropp & Webber (2023), "Robust, randomized preconditioning for kernel ridge regression".
    """
    system = progress.system
    factor = ColumnFactor(system, rng)
    wanted = min(RANK_FACTOR * np.sqrt(system.n), system.n // 2)
    while (
        factor.rank < wanted
        and factor.bytes + system.dtype.itemsize * DRAWS * system.n <= system.storage.room
        and factor.grow(DRAWS)
    ):
        pass
    preconditioner = Preconditioner(factor, system.noise)
    system.keep("half", reserved=preconditioner.bytes)
    return conjugate_gradients(progress, preconditioner.solve)


def _descend(progress: Progress, alpha: Float64Array, exact: Float64Array, precondition: Precondition) -> None:
    """Lower the gradient from `exact` until its running value is within the tolerance; alpha changes in place."""
    system = progress.system
    G = exact.copy()
    Z = precondition(G)
    direction = -Z
    squares = np.einsum("ij,ij->j", G, Z)
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
        Z = precondition(G)
        previous, squares = squares, np.einsum("ij,ij->j", G, Z)
        ratio = np.divide(squares, previous, out=np.zeros_like(squares), where=previous > 0)
        direction = ratio * direction - Z
