"""Predictive variance (eq. 2) of many test points at once."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from gbcd._arrays import Float64Array, as_columns
from gbcd._tiles import spans
from gbcd.solvers import CholeskyFactor, solve
from gbcd.system import WORKSPACE_BYTES, KernelSystem

CHUNK = 256
"""Test points whose systems are solved together: they share blocks and kernel tiles."""


def predictive_variance(
    system: KernelSystem,
    X_new: npt.ArrayLike,
    include_noise: bool = False,
    solver: str = "auto",
    tol: float = 1e-4,
    random_state: int | np.random.Generator | None = None,
    **solver_options: Any,
) -> Float64Array:
    """Return k(x, x) - k_*' Kbar^-1 k_* for each row x of X_new (eq. 2), in units of the standardised outputs.

    Parameters
    ----------
    system : KernelSystem
        Over the training inputs.
    X_new : array (t, d)
        Scaled as the training inputs were.
    include_noise : bool
        False (the convention here): the variance of the latent function. True adds sigma^2, the variance
        of a new observation.
    solver : str
        "auto" factors Kbar once where 8 n^2 bytes fit the memory budget and uses "gbcd" where they do
        not; or a name that `solve` knows.
    tol : float
        On the gradient of the iterative solves. The variance errs by its square: the quadratic form is evaluated at the
        minimum of f, where it is stationary.
    random_state : int, numpy.random.Generator, optional
    **solver_options
        Passed on to `solve`.

    Returns
    -------
    array (t,)
        Never negative.

    Raises
    ------
    ValueError
        If X_new has another number of columns than the training inputs.
    """
    points = as_columns(X_new, "X_new", system.X.shape[1])
    prior = system.kernel.diagonal(points)
    rng = np.random.default_rng(random_state)
    fits = 8 * system.n**2 + WORKSPACE_BYTES <= system.memory_budget
    factor = CholeskyFactor(system) if solver == "cholesky" or (solver == "auto" and fits) else None
    name = "gbcd" if solver == "auto" else solver
    explained = np.empty(len(points))
    for piece in spans(len(points), CHUNK):
        K_star = system.cross(points[piece])
        if factor is not None:
            explained[piece] = np.einsum("ij,ij->j", K_star, factor.solve(K_star))
            continue
        result = solve(system, K_star, name, tol=tol, random_state=rng, **solver_options)
        # -2 f(z) = 2 k'z - z' Kbar z = k'z - z'g, second order in the error of z.
        explained[piece] = np.einsum("ij,ij->j", result.coef, K_star - result.gradient)
    variance = np.maximum(prior - explained, 0)
    return variance + system.noise if include_noise else variance
