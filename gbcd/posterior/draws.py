"""Draws from the posterior by pathwise conditioning: one linear solve for each draw, all draws together.

With a draw f of the prior over training and new points at once, and eps ~ N(0, sigma^2) (Matheron's rule; Wilson et al.
2020, "Efficiently sampling functions from Gaussian process posteriors"),

    f(X_new) - k(X_new, X) Kbar^-1 (f(X) + eps)

is a draw of the posterior about its mean.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.linalg

from gbcd.kernels.base import Kernel
from gbcd.kernels.squared_exponential import SquaredExponential
from gbcd.linalg.cholesky import cholesky_in_place
from gbcd.solvers import solve
from gbcd.system.kernel_matrix import kernel_matrix, kernel_product
from gbcd.system.protocol import LinearSystem
from gbcd.threads import blas_threads, parallel, spans
from gbcd.types import Float64Array
from gbcd.validation import as_columns, positive_integer

EXACT_POINTS = 4000
"""Largest number of training and new points at which the prior is drawn exactly, from a Cholesky factor."""

FEATURES = 8192
"""Number of random Fourier features for more points: the covariance of the draws errs by 1 / sqrt(8192), about 1 %."""

MAX_SPREAD = 1e10
"""Largest distance of a point from the centre, in length scales: farther out a phase errs by more than 1e-6."""

JITTER = 1e-10
"""First addition to the diagonal of the kernel matrix, over its largest entry; raised tenfold while a factor fails."""

ROWS = 512
"""Points whose Fourier features a thread evaluates at a time."""


def posterior_deviations(
    system: LinearSystem,
    X_new: npt.ArrayLike,
    n_draws: int,
    random_state: int | np.random.Generator | None = None,
    **solver_options: Any,
) -> Float64Array:
    """Return draws of the latent posterior at X_new about its mean, in units of the standardised outputs.

    Parameters
    ----------
    system : KernelSystem
        System over the training inputs; another `LinearSystem` serves too.
    X_new : array (t, d)
        Scaled as the training inputs were.
    n_draws : int
    random_state : int, numpy.random.Generator, optional
    **solver_options
        Passed on to `solve`.

    Returns
    -------
    array (t, n_draws)

    Raises
    ------
    ValueError
        For other columns than the training inputs', or more than 4,000 training and new points together and either
        a kernel other than `SquaredExponential` or inputs farther out than 1e10 length scales.

    Notes
    -----
    Beyond 4,000 points the prior is drawn by 8,192 random Fourier features, whose covariance errs by about 1 %.
    """
    points = as_columns(X_new, "X_new", system.X.shape[1])
    count = positive_integer(n_draws, "n_draws")
    rng = np.random.default_rng(random_state)
    everywhere = np.vstack([system.X, points])
    with blas_threads(1):
        prior = _prior_draws(system.kernel, everywhere, system.origin, count, rng)
    observed = prior[: system.n] + np.sqrt(system.noise) * rng.standard_normal((system.n, count))
    result = solve(system, observed, random_state=rng, **solver_options)
    return prior[system.n :] - kernel_product(system.kernel, points, system.X, result.coef, system.origin)


def _prior_draws(
    kernel: Kernel, X: Float64Array, origin: Float64Array, count: int, rng: np.random.Generator
) -> Float64Array:
    if len(X) <= EXACT_POINTS:
        return _exact_draws(kernel, X, origin, count, rng)
    if not isinstance(kernel, SquaredExponential):
        raise ValueError(
            f"Draws at more than {EXACT_POINTS} training and new points need a SquaredExponential kernel, not "
            f"{type(kernel).__name__}: {len(X)} were given."
        )
    if SquaredExponential(kernel.gamma).magnitude(X, origin) > MAX_SPREAD**2:
        raise ValueError(
            f"Draws at more than {EXACT_POINTS} training and new points need inputs within {MAX_SPREAD:.0e} length "
            f"scales of their mean: leave the farthest out, or draw at fewer points."
        )
    return _fourier_draws(kernel, X - origin, count, rng)


def _exact_draws(
    kernel: Kernel, X: Float64Array, origin: Float64Array, count: int, rng: np.random.Generator
) -> Float64Array:
    white = rng.standard_normal((len(X), count))
    jitter = JITTER * float(kernel.diagonal(X).max())
    while True:
        covariance = kernel_matrix(kernel, X, X, origin).astype(np.float64, copy=False)
        covariance.flat[:: len(X) + 1] += jitter
        try:
            lower = cholesky_in_place(covariance)
        except scipy.linalg.LinAlgError:
            jitter *= 10
            continue
        draws: Float64Array = np.tril(lower) @ white
        return draws


def _fourier_draws(kernel: SquaredExponential, X: Float64Array, count: int, rng: np.random.Generator) -> Float64Array:
    # exp(-gamma r^2) is the characteristic function of N(0, 2 gamma).
    scale = np.broadcast_to(np.sqrt(2 * kernel.gamma), X.shape[1])
    frequencies = rng.standard_normal((X.shape[1], FEATURES)) * scale[:, None]
    phases = rng.uniform(0, 2 * np.pi, FEATURES)
    weights = rng.standard_normal((FEATURES, count)) * np.sqrt(2 / FEATURES)
    draws = np.empty((len(X), count))

    def work(pieces: Iterator[slice]) -> None:
        for i in pieces:
            draws[i] = np.cos(X[i] @ frequencies + phases) @ weights

    parallel(work, spans(len(X), ROWS))
    return draws
