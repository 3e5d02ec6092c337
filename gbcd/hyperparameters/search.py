"""The search for hyperparameters: L-BFGS on a random subset of the data."""

from __future__ import annotations

import logging
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
import numpy.typing as npt
import scipy.linalg
import scipy.optimize
import scipy.spatial.distance
from sklearn.exceptions import ConvergenceWarning

from gbcd.hyperparameters.objectives import (
    checked_data,
    held_out,
    leave_group_out_score,
    log_marginal_likelihood,
    members,
)
from gbcd.kernels.base import Kernel, require_kernel
from gbcd.kernels.squared_exponential import SquaredExponential
from gbcd.threads import blas_threads
from gbcd.types import Float64Array, IntArray
from gbcd.validation import group_labels, positive_integer, positive_number

logger = logging.getLogger(__name__)

NOISE_FLOOR = 1e-6
"""Least noise of the search."""

NOISE_CEILING = 10.0
"""Largest noise of the search, for outputs of unit amplitude."""

NOISE_RATIO_CEILING = 1e4
"""Largest noise of the search, in units of the amplitude, where the amplitudes are fitted too."""

NOISE_START = 0.1
"""Noise the search starts from."""

GAMMA_RANGE = 1e5
"""Largest factor between a gamma and its start, which the data give."""

MAX_ITERATIONS = 100
"""Largest number of L-BFGS iterations of a stage."""

MEDIAN_ROWS = 500
"""Number of evenly spaced rows whose median squared distance gives the start."""

WHITE_NOISE_EXPLAINED = 1e-3
"""Sum of squares of the predictions of left-out rows, over that of the outputs, below which all count as the mean."""

MIN_ROWS_TO_WARN = 10
"""Least number of rows at which the search warns of white noise: with fewer rows nothing else can be expected."""

KERNELS = ("ard", "isotropic")
"""Names of the kernels that can be fitted."""

Score = Callable[[Kernel, float, Float64Array, Float64Array], "tuple[float, Float64Array]"]
Objective = Literal["marginal", "leave_group_out"]
Vector = np.ndarray[tuple[int], np.dtype[np.float64]]


@dataclass(frozen=True)
class HyperparameterFit:
    """What `fit_hyperparameters` found.

    Attributes
    ----------
    kernel : Kernel
    noise : float
        Noise variance over the amplitude: output j has the covariance amplitude_j (K + noise I).
    value : float
        The objective at the end, per row and output; 0 where no output varies.
    n_iter : int
        L-BFGS iterations, all stages.
    indices : int array (s,)
        The rows used, sorted.
    seconds : float
    amplitude : array (q,)
        c_j^2 of each output; 1 where it was not fitted.
    n_evaluations : int
        Evaluations of the objective and its gradient.
    """

    kernel: Kernel
    noise: float
    value: float
    n_iter: int
    indices: IntArray = field(repr=False)
    seconds: float
    amplitude: Float64Array = field(repr=False)
    n_evaluations: int


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
    fit_amplitude: bool = True,
) -> HyperparameterFit:
    """Maximise an objective over the kernel's parameters and the noise by L-BFGS on a random subset.

    The search starts from gamma = 1 / median squared distance and noise 0.1; ARD starts from the isotropic optimum. All
    outputs share one gamma (or one for each input, ARD) and one noise; each has an amplitude of its own.

    Parameters
    ----------
    X : array (n, d)
        Inputs, scaled for the kernel.
    Y : array (n,) or (n, q)
        Standardised outputs. Columns that are constant on the subset are left out.
    kernel : {"ard", "isotropic"} or Kernel
        A `Kernel` is itself the start.
    subset : int
        Number of rows used, at least 2 and at most n.
    groups : int array (n,), optional
        Rows of one group are near-duplicates (e.g. a time block of a video). "marginal" then takes one row of
        each group at most, as near-duplicates drive the noise to zero.
    objective : {"marginal", "leave_group_out"}
        `log_marginal_likelihood` or `leave_group_out_score`.
    tol : float
        Largest gradient of the objective, per row and output, at which the search stops.
    random_state : int, numpy.random.Generator, optional
    noise : float, optional
        Noise that is held, with the amplitude held at 1; fitted when None.
    fit_kernel : bool
        False holds the kernel (which must then be a `Kernel`) and fits the noise alone.
    fit_amplitude : bool
        Give output j the covariance c_j^2 (K + noise I). Its mean needs only K and the noise; c_j^2 scales the
        variance, and the noise variance is c_j^2 noise. "marginal" takes the best c_j^2 for every K and noise.
        "leave_group_out" does not depend on c_j^2, and afterwards takes the mean square of residuals over their
        predicted standard deviations. False: unit amplitude, as in Bo & Sminchisescu (2008).

    Returns
    -------
    HyperparameterFit

    Raises
    ------
    ValueError
        For an unknown kernel or objective, missing groups, a subset below 2 or of a single group where two are needed,
        or a noise that is not positive.

    Warns
    -----
    sklearn.exceptions.ConvergenceWarning
        Where the search ends at white noise: all predictions are then the mean.
    """
    started = time.perf_counter()
    inputs, outputs = checked_data(X, Y)
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
    amplitude = np.ones(outputs.shape[1])
    varied = np.ptp(outputs, axis=0) > 0
    outputs = outputs[:, varied]
    first, *later = [kernel] if isinstance(kernel, Kernel) else _starts(kernel, inputs)
    found = _Found(first, NOISE_START if noise is None else positive_number(noise, "noise"))
    left_out = labels[rows] if objective == "leave_group_out" and labels is not None else None
    with_amplitude = fit_amplitude and noise is None
    if outputs.shape[1]:
        limits = _Limits(tol, noise, NOISE_RATIO_CEILING if with_amplitude else NOISE_CEILING, fit_kernel)
        score = _score(left_out, profile=with_amplitude)
        found = _maximise(score, found, inputs, outputs, limits)
        for stage in later:
            start = found._replace(kernel=stage.with_log_parameters(_spread(found.kernel, stage)))
            found = _maximise(score, start, inputs, outputs, limits)
        amplitude[varied] = _amplitudes(found, inputs, outputs, left_out, with_amplitude)
    elif later:
        found = found._replace(kernel=later[-1])
    seconds = time.perf_counter() - started
    logger.info("hyperparameters on %d rows: %r, noise %.3g, %.1f s", len(rows), found.kernel, found.noise, seconds)
    return HyperparameterFit(
        found.kernel, found.noise, found.value, found.n_iter, rows, seconds, amplitude, found.n_evaluations
    )


def draw_subset(n: int, subset: int, labels: IntArray | None, rng: np.random.Generator) -> IntArray:
    """Draw at most `subset` of n rows, sorted; one of each group at most where `labels` (n,) are given."""
    if labels is not None:
        rows = np.array([rng.choice(of_group) for of_group in members(labels)], dtype=np.intp)
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


def _check_request(
    kernel: str | Kernel, subset: int, labels: IntArray | None, objective: str, fit_kernel: bool
) -> None:
    check_names(kernel, subset, objective)
    if not fit_kernel and not isinstance(kernel, Kernel):
        raise ValueError("fit_kernel=False needs a Kernel to hold.")
    if objective == "leave_group_out" and (labels is None or labels.max() < 1):
        raise ValueError("objective='leave_group_out' needs groups, at least two of them: one label for each row.")


class _Found(NamedTuple):
    """The best point so far, and the work it took."""

    kernel: Kernel
    noise: float
    value: float = 0.0
    n_iter: int = 0
    n_evaluations: int = 0


class _Limits(NamedTuple):
    """When the search stops, and what it holds fixed."""

    tol: float
    """Largest gradient at the end, per row and output."""

    noise: float | None
    """The noise, where it is given."""

    ceiling: float
    """Largest noise."""

    fit_kernel: bool


def _score(left_out: IntArray | None, profile: bool) -> Score:
    """Return the leave-group-out score where `left_out` labels the rows (s,), else the log marginal likelihood."""
    if left_out is None:
        return lambda kernel, noise, X, Y: log_marginal_likelihood(kernel, noise, X, Y, profile)
    return lambda kernel, noise, X, Y: leave_group_out_score(kernel, noise, X, Y, left_out)


def _starts(name: str, X: Float64Array) -> list[Kernel]:
    """Return the kernels at which the stages start: isotropic, then ARD if it is asked for."""
    some = X[np.linspace(0, len(X) - 1, min(len(X), MEDIAN_ROWS)).astype(int)]
    apart = scipy.spatial.distance.pdist(some, "sqeuclidean")
    apart = apart[apart > np.finfo(np.float64).tiny]
    gamma = 1 / float(np.median(apart)) if len(apart) else 1.0
    isotropic = SquaredExponential(gamma)
    return [isotropic] if name == "isotropic" else [isotropic, SquaredExponential(np.full(X.shape[1], gamma))]


def _spread(found: Kernel, stage: Kernel) -> Float64Array:
    """Give every parameter of the next stage the value the previous one found."""
    return np.full(len(stage.log_parameters), found.log_parameters[0])


def _maximise(score: Score, start: _Found, X: Float64Array, Y: Float64Array, limits: _Limits) -> _Found:
    """Run L-BFGS-B from one start; the value is per row and output."""
    theta = np.append(start.kernel.log_parameters, np.log(start.noise))
    reach = np.log(GAMMA_RANGE) if limits.fit_kernel else 0.0
    bounds = [(t - reach, t + reach) for t in theta[:-1]]
    bounds.append((np.log(NOISE_FLOOR), np.log(limits.ceiling)) if limits.noise is None else (theta[-1], theta[-1]))

    def negative(point: Vector) -> tuple[float, Float64Array]:
        try:
            value, gradient = score(start.kernel.with_log_parameters(point[:-1]), float(np.exp(point[-1])), X, Y)
        except scipy.linalg.LinAlgError:
            # Kbar is singular to rounding there: the line search steps back.
            return 1e10, np.zeros_like(point)
        return -value / Y.size, -gradient / Y.size

    options: Any = {"gtol": limits.tol, "ftol": 1e-2 * limits.tol, "maxiter": MAX_ITERATIONS}
    with blas_threads(1):
        found = scipy.optimize.minimize(negative, theta, jac=True, method="L-BFGS-B", bounds=bounds, options=options)
    return _Found(
        start.kernel.with_log_parameters(found.x[:-1]),
        float(np.exp(found.x[-1])) if limits.noise is None else limits.noise,
        -float(found.fun),
        start.n_iter + int(found.nit),
        start.n_evaluations + int(found.nfev),
    )


def _amplitudes(
    found: _Found, X: Float64Array, Y: Float64Array, left_out: IntArray | None, with_amplitude: bool
) -> Float64Array:
    """Return the amplitudes (q,), and warn where all predictions are the mean."""
    try:
        with blas_threads(1):
            result = held_out(found.kernel, found.noise, X, Y, left_out)
    except scipy.linalg.LinAlgError:
        return np.ones(Y.shape[1])
    if result.explained < WHITE_NOISE_EXPLAINED and len(X) >= MIN_ROWS_TO_WARN:
        warnings.warn(
            f"The search for hyperparameters ended at white noise ({found.kernel!r}, noise {found.noise:.3g}): in "
            f"{len(X)} rows the outputs do not depend on the inputs, and predictions are the mean. Take a larger "
            f"subset, or give gamma and noise.",
            ConvergenceWarning,
            stacklevel=3,
        )
    return result.amplitude if with_amplitude else np.ones(Y.shape[1])
