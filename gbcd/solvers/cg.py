"""The classical rivals: conjugate gradients, plain and preconditioned, with step lengths for each output."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from gbcd.progress.restarts import descend_with_restarts
from gbcd.progress.result import Solution
from gbcd.progress.solve_run import SolveRun
from gbcd.solvers.column_factor import MAX_DRAWN_PIVOTS, ColumnFactor
from gbcd.solvers.preconditioner import Preconditioner
from gbcd.system.protocol import LinearSystem
from gbcd.types import Float64Array

Precondition = Callable[[Float64Array], Float64Array]
"""Applies P^-1 to a gradient (n, q)."""


@dataclass(frozen=True)
class ConjugateGradients:
    """CG in tile precision, restarted from the float64 residual until the residual is within the tolerance."""

    name: ClassVar[str] = "cg"

    def solve(self, run: SolveRun) -> Solution:
        """Return the last coefficients and their exact gradient."""
        return _conjugate_gradients(run, np.copy)


@dataclass(frozen=True)
class PreconditionedConjugateGradients:
    """CG with a randomly pivoted Cholesky preconditioner, whose rank the memory budget may limit.

    Parameters
    ----------
    random_state : int, numpy.random.Generator, optional
    rank_over_root_n : float
        Rank of the preconditioner divided by sqrt(n): 1,000 at n = 10,000, as its authors use. At most n / 2.

    References
    ----------
    Diaz, Epperly, Frangella, Tropp & Webber (2023), "Robust, randomized preconditioning for kernel ridge regression".
    """

    random_state: int | np.random.Generator | None = None
    rank_over_root_n: float = 10.0
    name: ClassVar[str] = "pcg"

    def solve(self, run: SolveRun) -> Solution:
        """Return the last coefficients and their exact gradient."""
        system = run.problem.system
        factor = ColumnFactor(system, np.random.default_rng(self.random_state))
        wanted = min(self.rank_over_root_n * np.sqrt(system.n), system.n // 2)
        while factor.rank < wanted and _has_room(system, factor) and factor.grow(MAX_DRAWN_PIVOTS):
            pass
        preconditioner = Preconditioner(factor, system.noise)
        system.keep("half", reserved=preconditioner.bytes)
        return _conjugate_gradients(run, preconditioner.solve)


def _has_room(system: LinearSystem, factor: ColumnFactor) -> bool:
    """Whether the memory budget holds the columns of another draw."""
    return factor.bytes + system.dtype.itemsize * MAX_DRAWN_PIVOTS * system.n <= system.storage.room


def _conjugate_gradients(run: SolveRun, precondition: Precondition) -> Solution:
    """Run CG, restarted from the exact gradient until it is within the tolerance."""

    def descend(run: SolveRun, alpha: Float64Array, exact: Float64Array) -> None:
        _descend(run, alpha, exact, precondition)

    return descend_with_restarts(run, descend)


def _descend(run: SolveRun, alpha: Float64Array, exact: Float64Array, precondition: Precondition) -> None:
    """Lower the gradient from `exact` until its running value is within the tolerance; alpha changes in place."""
    system = run.problem.system
    G = exact.copy()
    Z = precondition(G)
    direction = -Z
    squares = np.einsum("ij,ij->j", G, Z)
    while not run.exhausted:
        product = system.matmul(direction)
        run.count_columns(system.n)
        curvature = np.einsum("ij,ij->j", direction, product)
        # An output that has converged (or has no curvature left in this precision) does not move.
        moving = curvature > 0
        length = np.divide(squares, curvature, out=np.zeros_like(squares), where=moving)
        alpha += length * direction
        G += length * product
        if run.record(alpha, G) <= run.problem.tolerance.running or not moving.any():
            return
        Z = precondition(G)
        previous, squares = squares, np.einsum("ij,ij->j", G, Z)
        ratio = np.divide(squares, previous, out=np.zeros_like(squares), where=previous > 0)
        direction = ratio * direction - Z
