"""Objectives for hyperparameters: the log marginal likelihood and the leave-group-out score, with gradients.

All outputs share one kernel, and are independent given the kernel. Matrices are dense here, since the search uses a
subset of the rows.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.linalg

from gbcd.kernels.base import Kernel
from gbcd.linalg.cholesky import cholesky_in_place, inverse_from_cholesky, matmul
from gbcd.scaling import centre
from gbcd.system.kernel_matrix import kernel_matrix
from gbcd.types import Float64Array, IntArray
from gbcd.validation import as_matrix, as_outputs, group_labels, positive_number

MAX_INPUT = 1e100
"""Largest input, in size: the start and the gradient need squared distances."""


def log_marginal_likelihood(
    kernel: Kernel, noise: float, X: npt.ArrayLike, Y: npt.ArrayLike, profile: bool = False
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
    profile : bool
        Give output j the covariance c_j^2 (K + noise I) with its best amplitude, c_j^2 = y_j' Kbar^-1 y_j / n, instead
        of 1. The value is then sum_j -n/2 log(2 pi e c_j^2) - 1/2 log|Kbar|, A has the columns Kbar^-1 y_j / c_j, and
        c_j^2 noise is the noise variance.

    Returns
    -------
    value : float
    gradient : array (p + 1,)
        With respect to the kernel's log parameters, then log noise.

    Raises
    ------
    ValueError
        For data that are not finite, a noise that is not positive, or, with `profile`, an output that is zero in all
        rows.
    numpy.linalg.LinAlgError
        If Kbar is not positive definite to rounding.
    """
    inputs, outputs = checked_data(X, Y)
    noise = positive_number(noise, "noise")
    n, q = outputs.shape
    K, P, log_determinant = _inverse(kernel, noise, inputs)
    A = P @ outputs
    squares = np.einsum("ij,ij->j", outputs, A)
    value = -0.5 * q * (log_determinant + n * np.log(2 * np.pi))
    if profile:
        if not (squares > 0).all():
            raise ValueError(f"Output {int(np.argmin(squares))} is zero in all rows: it has no amplitude.")
        value -= 0.5 * n * float((np.log(squares / n) + 1).sum())
        A /= np.sqrt(squares / n)
    else:
        value -= 0.5 * float(squares.sum())
    slope = 0.5 * (matmul(A, A.T) - q * P)
    return value, _parameter_gradient(kernel, noise, inputs, K, slope)


def leave_group_out_score(
    kernel: Kernel, noise: float, X: npt.ArrayLike, Y: npt.ArrayLike, groups: npt.ArrayLike
) -> tuple[float, Float64Array]:
    """Return minus half the squared error of predicting every group from all others, and its gradient.

    A row is predicted without its near-duplicates (frames 1/60 s apart), as new rows are. With P = Kbar^-1 and A = P Y,
    the residuals of group b are r_b = P_bb^-1 a_b: one inverse serves all groups.

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
    Neural Computation 13 (2001), give the score for groups of one row.
    """
    inputs, outputs = checked_data(X, Y)
    noise = positive_number(noise, "noise")
    labels = group_labels(groups, len(inputs))
    K, P, _ = _inverse(kernel, noise, inputs)
    A = P @ outputs
    T = np.empty_like(A)  # P_bb^-1 r_b
    PM = np.empty_like(P)
    value = 0.0
    for rows in members(labels):
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


def checked_data(X: npt.ArrayLike, Y: npt.ArrayLike) -> tuple[Float64Array, Float64Array]:
    """Return finite inputs (n, d), of moderate size, and outputs (n, q)."""
    inputs = as_matrix(X, "X")
    largest = np.abs(inputs).max(axis=0)
    if largest.max() > MAX_INPUT:
        column = int(np.argmax(largest))
        raise ValueError(
            f"X reaches {largest[column]:.3g} in column {column}, too much for the squared distances that the start "
            f"and the gradient need: divide it first (GBCDRegressor does, by default)."
        )
    return inputs, as_outputs(Y, len(inputs))


def members(labels: IntArray) -> list[IntArray]:
    """Return the row indices of each group."""
    order = np.argsort(labels, kind="stable")
    edges = np.flatnonzero(np.diff(labels[order])) + 1
    return np.split(order, edges)


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


class HeldOut(NamedTuple):
    """How well a kernel and a noise predict rows from the other rows."""

    amplitude: Float64Array
    """c_j^2 of each output (q,)."""

    explained: float
    """Sum of squares of the predictions, over that of the outputs: near zero where all predictions are the mean."""


def held_out(kernel: Kernel, noise: float, X: Float64Array, Y: Float64Array, labels: IntArray | None = None) -> HeldOut:
    """Predict every row from all others, or every group from all others.

    Without groups the amplitude is that of the profiled marginal likelihood. With groups it is the mean of r^2 / v: r
    are the residuals of the groups held out, v their variances by K + noise I. Near-duplicates are held out together,
    so that standard deviations suit points that are far from the training rows.

    Parameters
    ----------
    kernel : Kernel
    noise : float
    X : array (n, d)
    Y : array (n, q)
    labels : int array (n,), optional
    """
    _, P, _ = _inverse(kernel, noise, X)
    A = P @ Y
    residual = np.empty_like(Y)
    if labels is None:
        residual = A / np.diagonal(P)[:, None]
        amplitude = np.einsum("ij,ij->j", Y, A) / len(Y)
    else:
        variance = np.empty(len(Y))
        for rows in members(labels):
            corner = scipy.linalg.cho_factor(P[np.ix_(rows, rows)], lower=True, check_finite=False)
            residual[rows] = scipy.linalg.cho_solve(corner, A[rows], check_finite=False)
            variance[rows] = np.diagonal(scipy.linalg.cho_solve(corner, np.eye(len(rows)), check_finite=False))
        amplitude = np.mean(residual**2 / variance[:, None], axis=0)
    return HeldOut(amplitude, float(np.square(Y - residual).sum() / np.square(Y).sum()))
