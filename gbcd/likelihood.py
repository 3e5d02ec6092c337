"""Hyperparameters: the log marginal likelihood and the leave-group-out score, with gradients, and their fit.

All outputs share one kernel and are independent given it. Everything here is dense on a subset of the
data; the solvers take over at full size.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt
import scipy.linalg
import scipy.optimize
import scipy.spatial.distance

from gbcd._arrays import (
    Float64Array,
    IntArray,
    as_matrix,
    as_outputs,
    centre,
    group_labels,
    positive_integer,
    positive_number,
)
from gbcd._dense import cholesky_in_place, inverse_from_cholesky, matmul
from gbcd._tiles import blas_threads, kernel_matrix
from gbcd.kernels import Kernel, SquaredExponential, require_kernel

logger = logging.getLogger(__name__)

NOISE_FLOOR = 1e-6
NOISE_CEILING = 10.0
NOISE_START = 0.1
GAMMA_RANGE = 1e5
"""Each gamma stays within this factor of its data-driven start."""

MAX_INPUT = 1e100
MAX_ITERATIONS = 100
MEDIAN_ROWS = 500

KERNELS = ("ard", "isotropic")

Score = Callable[[Kernel, float, Float64Array, Float64Array], "tuple[float, Float64Array]"]
Objective = Literal["marginal", "leave_group_out"]
Vector = np.ndarray[tuple[int], np.dtype[np.float64]]


def log_marginal_likelihood(
    kernel: Kernel, noise: float, X: npt.ArrayLike, Y: npt.ArrayLike
) -> tuple[float, Float64Array]:
    """Return the log marginal likelihood, summed over the outputs, and its gradient.

    sum_j -1/2 y_j' Kbar^-1 y_j - 1/2 log|Kbar| - n/2 log 2 pi, with
    d/dKbar = 1/2 (A A' - q Kbar^-1), A = Kbar^-1 Y (Rasmussen & Williams 2006, eq. 5.9).

    Parameters
    ----------
    kernel : Kernel
    noise : float
    X : array (n, d)
    Y : array (n,) or (n, q)

    Returns
    -------
    value : float
    gradient : array (p + 1,)
        With respect to the kernel's log parameters, then log noise.

    Raises
    ------
    ValueError
        For data that are not finite, or a noise that is not positive.
    numpy.linalg.LinAlgError
        If Kbar is not positive definite to rounding.
    """
    inputs, outputs = _checked(X, Y)
    noise = positive_number(noise, "noise")
    n, q = outputs.shape
    K, P, log_determinant = _inverse(kernel, noise, inputs)
    A = P @ outputs
    value = -0.5 * float(np.vdot(outputs, A)) - 0.5 * q * (log_determinant + n * np.log(2 * np.pi))
    slope = 0.5 * (matmul(A, A.T) - q * P)
    return value, _parameter_gradient(kernel, noise, inputs, K, slope)


def leave_group_out_score(
    kernel: Kernel, noise: float, X: npt.ArrayLike, Y: npt.ArrayLike, groups: npt.ArrayLike
) -> tuple[float, Float64Array]:
    """Return minus half the squared error of predicting every group from all others, and its gradient.

    Scores what prediction needs: rows whose near-duplicates (frames 1/60 s apart) are all held out. With
    P = Kbar^-1 and A = P Y, the residuals of group b are r_b = P_bb^-1 a_b: one inverse serves all groups.

    Parameters
    ----------
    kernel : Kernel
    noise : float
    X : array (n, d)
    Y : array (n,) or (n, q)
    groups : int array (n,)

    Returns
    -------
    value : float
        -1/2 sum_b |r_b|^2 over rows and outputs.
    gradient : array (p + 1,)
        With respect to the kernel's log parameters, then log noise.

    Notes
    -----
    S. Sundararajan and S. S. Keerthi, "Predictive approaches for choosing hyperparameters in Gaussian processes",
    Neural Computation 13 (2001), has it for groups of one row.
    """
    inputs, outputs = _checked(X, Y)
    noise = positive_number(noise, "noise")
    labels = group_labels(groups, len(inputs))
    K, P, _ = _inverse(kernel, noise, inputs)
    A = P @ outputs
    T = np.empty_like(A)  # P_bb^-1 r_b
    PM = np.empty_like(P)
    value = 0.0
    for rows in _members(labels):
        corner = scipy.linalg.cho_factor(P[np.ix_(rows, rows)], lower=True, check_finite=False)
        residual = scipy.linalg.cho_solve(corner, A[rows], check_finite=False)
        T[rows] = scipy.linalg.cho_solve(corner, residual, check_finite=False)
        value -= 0.5 * float(np.vdot(residual, residual))
        # dr = P_bb^-1 (da - dP_bb r), so d/dP_bb = 1/2 (t r' + r t') and d/da_b = -t.
        outer = T[rows] @ residual.T
        PM[:, rows] = matmul(P[:, rows], 0.5 * (outer + outer.T))
    # dKbar^-1 = -P dKbar P, and a = P y carries -T Y' into d/dP.
    through_mean = matmul(matmul(P, T), A.T)
    slope = 0.5 * (through_mean + through_mean.T) - matmul(PM, P)
    return value, _parameter_gradient(kernel, noise, inputs, K, slope)


@dataclass(frozen=True)
class HyperparameterFit:
    """What `fit_hyperparameters` found.

    Attributes
    ----------
    kernel : Kernel
    noise : float
    value : float
        The objective at the end, per row and output.
    n_iter : int
        L-BFGS iterations, all stages.
    indices : int array (s,)
        The rows used, sorted.
    seconds : float
    """

    kernel: Kernel
    noise: float
    value: float
    n_iter: int
    indices: IntArray
    seconds: float


def fit_hyperparameters(
    X: npt.ArrayLike,
    Y: npt.ArrayLike,
    kernel: str | Kernel = "ard",
    subset: int = 2000,
    groups: npt.ArrayLike | None = None,
    objective: Objective = "marginal",
    tol: float = 1e-4,
    random_state: int | np.random.Generator | None = None,
    noise: float | None = None,
    fit_kernel: bool = True,
) -> HyperparameterFit:
    """Maximise an objective over the kernel's parameters and the noise by L-BFGS on a random subset.

    Starts from gamma = 1 / median squared distance and noise 0.1; ARD goes on from the isotropic optimum.

    Parameters
    ----------
    X : array (n, d)
        Scaled as the kernel will see it.
    Y : array (n,) or (n, q)
        Standardised; constant columns are left out.
    kernel : {"ard", "isotropic"} or Kernel
        A `Kernel` is the start itself.
    subset : int
        Rows used, 2 at least and n at most.
    groups : int array (n,), optional
        Rows of one group are near-duplicates (e.g. a time block of a video). "marginal" then takes one row of
        each group at most, as near-duplicates drive the noise to zero.
    objective : {"marginal", "leave_group_out"}
        `log_marginal_likelihood` or `leave_group_out_score`.
    tol : float
        On the gradient of the objective per row and output.
    random_state : int, numpy.random.Generator, optional
    noise : float, optional
        Held at this value; fitted when None.
    fit_kernel : bool
        False holds the kernel (which must then be a `Kernel`) and fits the noise alone.

    Returns
    -------
    HyperparameterFit

    Raises
    ------
    ValueError
        For an unknown kernel or objective, missing groups, a subset below 2 or of a single group where two are needed,
        or a noise that is not positive.
    """
    started = time.perf_counter()
    inputs, outputs = _checked(X, Y)
    outputs = outputs[:, np.ptp(outputs, axis=0) > 0]
    rng = np.random.default_rng(random_state)
    labels = None if groups is None else group_labels(groups, len(inputs))
    _check_request(kernel, subset, labels, objective, fit_kernel)
    rows = draw_subset(len(inputs), subset, labels if objective == "marginal" else None, rng)
    if objective == "leave_group_out" and labels is not None and np.ptp(labels[rows]) == 0:
        raise ValueError(
            f"objective='leave_group_out' needs at least two groups, but the drawn subset of {len(rows)} rows holds "
            f"only one: raise subset."
        )
    inputs, outputs = inputs[rows], outputs[rows]
    found, *later = [kernel] if isinstance(kernel, Kernel) else _starts(kernel, inputs)
    level = NOISE_START if noise is None else positive_number(noise, "noise")
    value, iterations = np.nan, 0
    if outputs.shape[1]:
        score = _score(objective, None if labels is None else labels[rows])
        found, level, value, iterations = _maximise(score, found, level, inputs, outputs, tol, noise, fit_kernel)
        for stage in later:
            start = stage.with_log_parameters(_spread(found, stage))
            found, level, value, more = _maximise(score, start, level, inputs, outputs, tol, noise, fit_kernel)
            iterations += more
    elif later:
        found = later[-1]
    seconds = time.perf_counter() - started
    logger.info("hyperparameters on %d rows: %r, noise %.3g, %.1f s", len(rows), found, level, seconds)
    return HyperparameterFit(found, level, value, iterations, rows, seconds)


def draw_subset(n: int, subset: int, labels: IntArray | None, rng: np.random.Generator) -> IntArray:
    """Draw at most `subset` of n rows, sorted; one of each group at most where `labels` (n,) are given."""
    if labels is not None:
        rows = np.array([rng.choice(members) for members in _members(labels)], dtype=np.intp)
    else:
        rows = np.arange(n)
    if subset >= len(rows):
        if subset > len(rows):
            logger.info("the hyperparameter subset of %d is clipped to %d rows", subset, len(rows))
        return np.sort(rows)
    return np.sort(rng.choice(rows, subset, replace=False))


def check_names(kernel: object, subset: object, objective: object) -> None:
    """Refuse a kernel, subset or objective that no fit can have, whether one follows or not.

    Raises
    ------
    ValueError
        Naming the parameter.
    """
    require_kernel(kernel, KERNELS)
    positive_integer(subset, "subset", least=2)
    if objective not in get_args(Objective):
        raise ValueError(f"objective must be 'marginal' or 'leave_group_out', not {objective!r}.")


def _checked(X: npt.ArrayLike, Y: npt.ArrayLike) -> tuple[Float64Array, Float64Array]:
    inputs = as_matrix(X, "X")
    largest = np.abs(inputs).max(axis=0)
    if largest.max() > MAX_INPUT:
        column = int(np.argmax(largest))
        raise ValueError(
            f"X reaches {largest[column]:.3g} in column {column}, too much for the squared distances that the start "
            f"and the gradient need: divide it first (GBCDRegressor does, by default)."
        )
    return inputs, as_outputs(Y, len(inputs))


def _members(labels: IntArray) -> list[IntArray]:
    """Return the row indices of each group."""
    order = np.argsort(labels, kind="stable")
    edges = np.flatnonzero(np.diff(labels[order])) + 1
    return np.split(order, edges)


def _check_request(
    kernel: str | Kernel, subset: int, labels: IntArray | None, objective: str, fit_kernel: bool
) -> None:
    check_names(kernel, subset, objective)
    if not fit_kernel and not isinstance(kernel, Kernel):
        raise ValueError("fit_kernel=False needs a Kernel to hold.")
    if objective == "leave_group_out" and (labels is None or labels.max() < 1):
        raise ValueError("objective='leave_group_out' needs groups, at least two of them: one label for each row.")


def _inverse(kernel: Kernel, noise: float, X: Float64Array) -> tuple[Float64Array, Float64Array, float]:
    """Return K, Kbar^-1 and log|Kbar|."""
    K = kernel_matrix(kernel, X, X, centre(X)).astype(np.float64, copy=False)
    np.fill_diagonal(K, kernel.diagonal(X))
    lower = cholesky_in_place(K + noise * np.eye(len(X)))
    log_determinant = 2 * float(np.log(np.diagonal(lower)).sum())
    inverse = inverse_from_cholesky(lower)
    return K, inverse, log_determinant


def _parameter_gradient(
    kernel: Kernel, noise: float, X: Float64Array, K: Float64Array, slope: Float64Array
) -> Float64Array:
    exact = kernel.for_inputs(X, centre(X))
    return np.append(exact.parameter_gradient(X, K, slope), noise * np.trace(slope))


def _score(objective: Objective, labels: IntArray | None) -> Score:
    if objective == "marginal" or labels is None:
        return log_marginal_likelihood
    return lambda kernel, noise, X, Y: leave_group_out_score(kernel, noise, X, Y, labels)


def _starts(name: str, X: Float64Array) -> list[Kernel]:
    """Return the kernels to fit one after the other."""
    some = X[np.linspace(0, len(X) - 1, min(len(X), MEDIAN_ROWS)).astype(int)]
    apart = scipy.spatial.distance.pdist(some, "sqeuclidean")
    apart = apart[apart > np.finfo(np.float64).tiny]
    gamma = 1 / float(np.median(apart)) if len(apart) else 1.0
    isotropic = SquaredExponential(gamma)
    return [isotropic] if name == "isotropic" else [isotropic, SquaredExponential(np.full(X.shape[1], gamma))]


def _spread(found: Kernel, stage: Kernel) -> Float64Array:
    """Give every parameter of the next stage the value the previous one found."""
    return np.full(len(stage.log_parameters), found.log_parameters[0])


def _maximise(
    score: Score,
    start: Kernel,
    noise_start: float,
    X: Float64Array,
    Y: Float64Array,
    tol: float,
    noise: float | None,
    fit_kernel: bool,
) -> tuple[Kernel, float, float, int]:
    """Run L-BFGS-B from one start; return kernel, noise, value per row and output, iterations."""
    theta = np.append(start.log_parameters, np.log(noise_start))
    reach = np.log(GAMMA_RANGE) if fit_kernel else 0.0
    bounds = [(t - reach, t + reach) for t in theta[:-1]]
    bounds.append((np.log(NOISE_FLOOR), np.log(NOISE_CEILING)) if noise is None else (theta[-1], theta[-1]))

    def negative(point: Vector) -> tuple[float, Float64Array]:
        try:
            value, gradient = score(start.with_log_parameters(point[:-1]), float(np.exp(point[-1])), X, Y)
        except scipy.linalg.LinAlgError:
            # The line search steps back from where Kbar is singular to rounding.
            return 1e10, np.zeros_like(point)
        return -value / Y.size, -gradient / Y.size

    options: Any = {"gtol": tol, "ftol": 1e-2 * tol, "maxiter": MAX_ITERATIONS}
    with blas_threads(1):
        found = scipy.optimize.minimize(negative, theta, jac=True, method="L-BFGS-B", bounds=bounds, options=options)
    level = float(np.exp(found.x[-1])) if noise is None else noise
    return start.with_log_parameters(found.x[:-1]), level, -float(found.fun), int(found.nit)
