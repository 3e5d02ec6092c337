"""Solver names, and `solve`, the one entrance to all of them."""

from __future__ import annotations

import os
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from gbcd.checkpoint import Checkpoint
from gbcd.paper import Cyclic, Gradient, RandomSubset, Selection
from gbcd.paper.algorithm1 import DEFAULT_BLOCK_SIZE, block_descent
from gbcd.paper.smo import smo
from gbcd.progress.result import Callback, Progress, SolveResult
from gbcd.progress.saved_coefficients import SavedCoefficients
from gbcd.solvers.auto import auto
from gbcd.solvers.cg import conjugate_gradients, preconditioned_conjugate_gradients
from gbcd.solvers.cholesky import cholesky
from gbcd.solvers.coarse_descent import greedy_descent
from gbcd.system.protocol import LinearSystem
from gbcd.threads import blas_threads
from gbcd.types import Float64Array
from gbcd.validation import as_outputs, positive_integer, positive_number

DEFAULT_MAX_PASSES = 300.0
DEFAULT_CHECKPOINT_SECONDS = 60.0


Solver = Callable[[Progress, int | None, np.random.Generator], tuple[Float64Array, Float64Array]]
"""Takes the problem, the block size asked for and a generator; returns alpha and its exact gradient, both (n, q)."""


def _blocks(selection: Callable[[], Selection]) -> Solver:
    """Return the block descent loop with this strategy, made anew for each solve."""

    def run(progress: Progress, block_size: int | None, rng: np.random.Generator) -> tuple[Float64Array, Float64Array]:
        m = min(block_size or DEFAULT_BLOCK_SIZE, progress.system.n)
        return block_descent(progress, selection(), m, rng)

    return run


def _whole(algorithm: Callable[[Progress], tuple[Float64Array, Float64Array]]) -> Solver:
    """Return an algorithm that has no block size and draws nothing."""

    def run(
        progress: Progress,
        block_size: int | None,  # noqa: ARG001 - one signature for all solvers
        rng: np.random.Generator,  # noqa: ARG001
    ) -> tuple[Float64Array, Float64Array]:
        return algorithm(progress)

    return run


SOLVERS: dict[str, Solver] = {
    "auto": auto,
    "gbcd": greedy_descent,
    "gbcd-paper": _blocks(RandomSubset),
    "bcdc": _blocks(Cyclic),
    "bcdg": _blocks(Gradient),
    "smo": _whole(smo),
    "cg": _whole(conjugate_gradients),
    "pcg": preconditioned_conjugate_gradients,
    "cholesky": _whole(cholesky),
}


def get_solver(name: str) -> Solver:
    """Return the solver of this name.

    Raises
    ------
    ValueError
        If there is none, naming those there are.
    """
    try:
        return SOLVERS[name]
    except (KeyError, TypeError):
        raise ValueError(f"There is no solver {name!r}: choose from {', '.join(sorted(SOLVERS))}.") from None


def check_options(
    solver: str, tol: object, block_size: object, max_passes: object, max_time: object, checkpoint_seconds: object
) -> None:
    """Refuse what `solve` refuses, for callers with something long to do before.

    Raises
    ------
    ValueError
        Naming the parameter.
    """
    get_solver(solver)
    positive_number(tol, "tol")
    positive_number(max_passes, "max_passes", infinite=True)
    positive_number(checkpoint_seconds, "checkpoint_seconds")
    if block_size is not None:
        positive_integer(block_size, "block_size")
    if max_time is not None:
        positive_number(max_time, "max_time")


def solve(
    system: LinearSystem,
    Y: npt.ArrayLike,
    solver: str = "gbcd",
    tol: float = 1e-4,
    block_size: int | None = None,
    max_passes: float = DEFAULT_MAX_PASSES,
    random_state: int | np.random.Generator | None = None,
    callback: Callback | None = None,
    coef_init: npt.ArrayLike | None = None,
    max_time: float | None = None,
    checkpoint: str | os.PathLike[str] | Checkpoint | None = None,
    checkpoint_seconds: float = DEFAULT_CHECKPOINT_SECONDS,
) -> SolveResult:
    """Solve Kbar @ alpha = Y: minimise f(alpha) = 1/2 alpha' Kbar alpha - y' alpha for every column of Y.

    Parameters
    ----------
    system : LinearSystem
    Y : array (n,) or (n, q)
    solver : str
        "gbcd" (a coarse block, then full-vector steps or greedy blocks), "gbcd-paper" (the paper's Algorithms 1 and
        2), "bcdc", "bcdg" (cyclic and gradient blocks), "smo" (pairs), "cg", "pcg" (with a randomly pivoted
        Cholesky preconditioner), "cholesky", or "auto": "gbcd" or "cholesky", whichever is forecast to be quicker.
    tol : float
        On the float64 infinity norm of the gradient Kbar @ alpha - Y.
    block_size : int, optional
        m; 500 by default, at most n.
    max_passes : float
        Stop, with a warning, after this many passes over Kbar: kernel evaluations / n^2, or columns used
        / n where that is more (K kept in memory).
    random_state : int, numpy.random.Generator, optional
    callback : callable, optional
        Gets a `TraceEntry` after each iteration; returning True stops.
    coef_init : array (n,) or (n, q), optional
        The start, zero by default, which also replaces a start with f(coef_init) > 0. It costs one float64 residual;
        one within the tolerance is returned as it is, after no iteration.
    max_time : float, optional
        Seconds; stop, with a warning, after the iteration in which they are over. Not for "cholesky", which "auto" and
        "gbcd" may turn to.
    checkpoint : path or gbcd.checkpoint.Checkpoint, optional
        An .npz file that alpha is written to every `checkpoint_seconds`, at an interrupt (Ctrl-C) and when the solve
        stops short. A later solve of the same system and Y, by whatever solver, starts from it (instead of
        `coef_init`) and deletes it on convergence.
    checkpoint_seconds : float

    Returns
    -------
    SolveResult

    Raises
    ------
    ValueError
        For an unknown solver, Y of another length, without columns or with NaN, limits that are not positive, a
        coef_init of another shape or with NaN, a checkpoint that is damaged or of another system or Y, or a system
        whose X has been changed.

    Warns
    -----
    sklearn.exceptions.ConvergenceWarning
        With the norm that was reached, where that is above `tol`.
    RuntimeWarning
        Where the checkpoint cannot be written (a full disk); the solve goes on.

    Notes
    -----
    All columns of Y share the kernel and the noise, and are solved for together.

    Examples
    --------
    >>> import numpy as np
    >>> from gbcd import KernelSystem, SquaredExponential, solve
    >>> X = np.linspace(0, 6, 200)[:, None]
    >>> system = KernelSystem(X, SquaredExponential(gamma=1.0), noise=0.01)
    >>> result = solve(system, np.sin(X[:, 0]), random_state=0)
    >>> result.converged, result.coef.shape
    (True, (200, 1))
    >>> result.gradient_norm <= 1e-4
    True
    >>> mean = system.cross(np.array([[1.5]])).T @ result.coef
    >>> bool(abs(mean[0, 0] - np.sin(1.5)) < 0.01)
    True
    """
    check_options(solver, tol, block_size, max_passes, max_time, checkpoint_seconds)
    chosen = get_solver(solver)
    outputs = as_outputs(Y, system.n)
    system.require_unchanged()
    start = None if coef_init is None else as_outputs(coef_init, system.n, "coef_init")
    if start is not None and start.shape != outputs.shape:
        raise ValueError(f"coef_init must have the {outputs.shape[1]} columns of Y, not {start.shape[1]}.")
    saved = None if checkpoint is None else SavedCoefficients(checkpoint, checkpoint_seconds, system, outputs)
    if saved is not None and saved.found is not None:
        start = saved.found
    # Parallel tiles are this package's own threads; BLAS's spin, and stall everything on busy cores.
    with blas_threads(1):
        progress = Progress(system, outputs, tol, max_passes, callback, start, max_time, saved)
        if progress.arrived:
            alpha, gradient = np.zeros_like(outputs), -progress.Y
        else:
            try:
                alpha, gradient = chosen(progress, block_size, np.random.default_rng(random_state))
            except KeyboardInterrupt:
                progress.save()
                raise
    return progress.finish(alpha, gradient, solver)
