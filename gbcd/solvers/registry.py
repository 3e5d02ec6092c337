"""Solver names, and `solve`, the one entrance to all of them."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import cast

import numpy as np
import numpy.typing as npt

from gbcd.checkpoint import Checkpoint
from gbcd.paper import Cyclic, Gradient, RandomSubset
from gbcd.paper.algorithm1 import BlockDescent
from gbcd.paper.smo import SMO
from gbcd.progress.limits import Limits
from gbcd.progress.result import Solution, SolveResult
from gbcd.progress.saved_coefficients import SavedCoefficients
from gbcd.progress.solve_run import SolveRun
from gbcd.progress.trace import Callback
from gbcd.solvers.auto import Auto
from gbcd.solvers.cg import ConjugateGradients, PreconditionedConjugateGradients
from gbcd.solvers.cholesky import Cholesky
from gbcd.solvers.coarse_descent import CoarseDescent
from gbcd.solvers.solver import Solver
from gbcd.system.protocol import LinearSystem
from gbcd.threads import blas_threads
from gbcd.validation import as_outputs, positive_integer, positive_number

DEFAULT_MAX_PASSES = 300.0
"""Passes over Kbar after which a solve stops short."""

DEFAULT_CHECKPOINT_SECONDS = 60.0
"""Seconds between two writings of a checkpoint."""


@dataclass(frozen=True)
class SolverOptions:
    """The options of `solve` that a solver may have.

    Attributes
    ----------
    block_size : int or None
    random_state : int, numpy.random.Generator or None
    """

    block_size: int | None = None
    random_state: int | np.random.Generator | None = None


SOLVERS: dict[str, Callable[[SolverOptions], Solver]] = {
    "auto": lambda options: Auto(options.block_size, options.random_state),
    "gbcd": lambda options: CoarseDescent(options.block_size, options.random_state),
    "gbcd-paper": lambda options: BlockDescent(RandomSubset(), options.block_size, options.random_state, "gbcd-paper"),
    "bcdc": lambda options: BlockDescent(Cyclic(), options.block_size, options.random_state, "bcdc"),
    "bcdg": lambda options: BlockDescent(Gradient(), options.block_size, options.random_state, "bcdg"),
    "smo": lambda _: SMO(),
    "cg": lambda _: ConjugateGradients(),
    "pcg": lambda options: PreconditionedConjugateGradients(options.random_state),
    "cholesky": lambda _: Cholesky(),
}
"""The solvers by name, made from the options of `solve`."""


def get_solver(name: str, options: SolverOptions | None = None) -> Solver:
    """Return the solver of this name, with these options or its own defaults.

    Raises
    ------
    ValueError
        If there is no such solver; the message names all solvers.
    """
    try:
        make = SOLVERS[name]
    except (KeyError, TypeError):
        raise ValueError(f"There is no solver {name!r}: choose from {', '.join(sorted(SOLVERS))}.") from None
    return make(SolverOptions() if options is None else options)


def _chosen(solver: str | Solver, options: SolverOptions) -> Solver:
    """Return the solver of this name, or the solver itself, which has its own options."""
    if isinstance(solver, str):
        return get_solver(solver, options)
    if options != SolverOptions():
        made = type(solver).__name__
        raise ValueError(f"block_size and random_state go with a solver's name: give them to {made}(...) instead.")
    return solver


def check_options(
    solver: str | Solver,
    tol: object,
    block_size: object,
    max_passes: object,
    max_time: object,
    checkpoint_seconds: object,
) -> None:
    """Refuse the options that `solve` refuses, for callers that do long work before they call it.

    Raises
    ------
    ValueError
        Naming the parameter.
    """
    if isinstance(solver, str) or not hasattr(solver, "solve"):
        get_solver(cast("str", solver))
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
    solver: str | Solver = "gbcd",
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
    """Solve Kbar @ alpha = Y by a coarse block of chosen columns, then preconditioned, conjugate full-vector steps.

    This minimises f(alpha) = 1/2 alpha' Kbar alpha - y' alpha for every column of Y. The columns of the coarse block
    are chosen by randomly pivoted Cholesky. Greedy blocks, the paper's steps, run only where full-vector steps do not
    pay. The default still belongs to the paper's family: it converges globally, by the argument of Theorem 2, and it
    chooses variables greedily, once for the coarse block instead of for each block. Other solvers are chosen by name.

    Parameters
    ----------
    system : KernelSystem
        The system to solve; another `LinearSystem` serves too.
    Y : array (n,) or (n, q)
    solver : str or Solver
        "gbcd" (a coarse block, then full-vector steps or greedy blocks), "gbcd-paper" (the paper's Algorithms 1 and
        2), "bcdc", "bcdg" (cyclic and gradient blocks), "smo" (pairs), "cg", "pcg" (with a randomly pivoted
        Cholesky preconditioner), "cholesky", or "auto": "gbcd" or "cholesky", whichever is forecast to be quicker. A
        solver made by its constructor, such as `gbcd.solvers.coarse_descent.CoarseDescent`, has its own block size
        and random state.
    tol : float
        Largest infinity norm of the float64 gradient Kbar @ alpha - Y of a solution.
    block_size : int, optional
        m, the number of variables in a greedy block; 500 by default, at most n.
    max_passes : float
        Stop, with a warning, after this many passes over Kbar: kernel evaluations / n^2, or columns used
        / n where that is more (K kept in memory).
    random_state : int, numpy.random.Generator, optional
    callback : callable, optional
        Gets a `TraceEntry` after each iteration; returning True stops.
    coef_init : array (n,) or (n, q), optional
        Coefficients to start from, zero by default. Zero also replaces a start with f(coef_init) > 0. A start costs one
        float64 residual; a start within the tolerance is returned as it is, after no iteration.
    max_time : float, optional
        Stop, with a warning, after the iteration in which these seconds are over. Does not limit "cholesky", which
        "auto" and "gbcd" may turn to.
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
        For an unknown solver, options beside a solver not given by name, Y of another length, without columns or
        with NaN, limits that are not positive, a coef_init of another shape or with NaN, a checkpoint that is damaged
        or of another system or Y, or a system whose X has been changed.

    Warns
    -----
    sklearn.exceptions.ConvergenceWarning
        Where the gradient norm stays above `tol`. The message gives the norm that was reached.
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
    chosen = _chosen(solver, SolverOptions(block_size, random_state))
    outputs = as_outputs(Y, system.n)
    system.require_unchanged()
    start = None if coef_init is None else as_outputs(coef_init, system.n, "coef_init")
    if start is not None and start.shape != outputs.shape:
        raise ValueError(f"coef_init must have the {outputs.shape[1]} columns of Y, not {start.shape[1]}.")
    saved = None if checkpoint is None else SavedCoefficients(checkpoint, checkpoint_seconds, system, outputs)
    if saved is not None and saved.found is not None:
        start = saved.found
    limits = Limits(max_passes, np.inf if max_time is None else max_time, callback)
    # Tiles run in parallel on this package's own threads. BLAS's threads wait by spinning, which stalls busy cores.
    with blas_threads(1):
        run = SolveRun(system, outputs, tol, limits, start, saved)
        if run.starts_solved:
            solution = Solution(np.zeros_like(outputs), -run.problem.Y)
        else:
            try:
                solution = chosen.solve(run)
            except KeyboardInterrupt:
                run.save()
                raise
    return run.finish(solution, chosen.name)
