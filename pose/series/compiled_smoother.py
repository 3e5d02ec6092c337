"""The compiled loops of the smoother: a Kalman filter forward, the fixed-interval smoother backward, column by column.

The state of a column is its position and derivatives, then the error that lasts from frame to frame, in units of the
frame's standard deviation. Each observation is one number, so that no matrix is ever inverted.
"""

from __future__ import annotations

from typing import NamedTuple

import numba
import numpy as np

from pose.types import FloatArray


class StateModel(NamedTuple):
    """Motion and observation of a column's state, d numbers, at n times."""

    F: FloatArray
    """(n, d, d) transition to each time from the time before; the first is not read."""
    noise: FloatArray
    """(n, d, d) covariance that the step to each time adds, for a process noise of 1; the first is not read."""
    prior: FloatArray
    """(d,) variances of the state at time 0."""
    share: float
    """Share of an observation's variance that lasts from frame to frame; the rest is new in each."""


@numba.njit(cache=True, nogil=True)
def _predict(F: FloatArray, noise: FloatArray, size: float, x: FloatArray, P: FloatArray, half: FloatArray) -> None:
    """Predict one step, in place: x (d,) to F x, P (d, d) to F P F' + Q. `size` scales Q, except for the last state."""
    d = x.shape[0]
    for i in range(d):
        half[i, 0] = 0.0
        for j in range(d):
            half[i, 0] += F[i, j] * x[j]
    for i in range(d):
        x[i] = half[i, 0]
    for i in range(d):
        for j in range(d):
            total = 0.0
            for k in range(d):
                total += F[i, k] * P[k, j]
            half[i, j] = total
    for i in range(d):
        for j in range(d):
            total = 0.0
            for k in range(d):
                total += half[i, k] * F[j, k]
            P[i, j] = total + noise[i, j] * (size if i < d - 1 else 1.0)


@numba.njit(cache=True, nogil=True)
def _gain(P: FloatArray, lasting: float, white: float, G: FloatArray) -> float:
    """Write G = P h (d,), with h = (1, 0, ..., lasting), and return the variance of the observation."""
    d = P.shape[0]
    for i in range(d):
        G[i] = P[i, 0] + P[i, d - 1] * lasting
    variance: float = G[0] + G[d - 1] * lasting + white
    return variance


@numba.njit(cache=True, nogil=True)
def _shrink(K: FloatArray, lasting: float, white: float, P: FloatArray, half: FloatArray) -> None:
    """Update P in place for an observation of gain K (d,), in Joseph's form: P - G G' / variance would lose digits."""
    d = P.shape[0]
    for j in range(d):
        seen = P[0, j] + lasting * P[d - 1, j]
        for i in range(d):
            half[i, j] = P[i, j] - K[i] * seen
    for i in range(d):
        seen = half[i, 0] + lasting * half[i, d - 1]
        for j in range(d):
            P[i, j] = half[i, j] - seen * K[j] + K[i] * white * K[j]


@numba.njit(cache=True, nogil=True)
def filter_column(
    model: StateModel, size: float, values: FloatArray, std: FloatArray, means: FloatArray, covariances: FloatArray
) -> float:
    """Filter one column of observations: write the predicted states, return the log-likelihood.

    Parameters
    ----------
    model : StateModel
    size : float
        Process noise.
    values, std : arrays (n,)
        Observations and their standard deviations; NaN where nothing was observed.
    means, covariances : arrays (n, d) and (n, d, d)
        Written: the state as predicted before each observation. Arrays of length 0 are left alone.
    """
    F, noise, share = model.F, model.noise, model.share
    n, d = F.shape[0], F.shape[1]
    keep = means.shape[0] == n
    x, G = np.zeros(d), np.zeros(d)
    P, half = np.zeros((d, d)), np.zeros((d, d))
    for i in range(d):
        P[i, i] = model.prior[i]
    log_likelihood = 0.0
    for k in range(n):
        if k > 0:
            _predict(F[k], noise[k], size, x, P, half)
        if keep:
            means[k] = x
            covariances[k] = P
        if np.isnan(values[k]):
            continue
        lasting = np.sqrt(share) * std[k]
        variance = _gain(P, lasting, (1.0 - share) * std[k] * std[k], G)
        surprise = values[k] - x[0] - lasting * x[d - 1]
        log_likelihood -= 0.5 * (surprise * surprise / variance + np.log(2.0 * np.pi * variance))
        for i in range(d):
            G[i] /= variance
            x[i] += G[i] * surprise
        _shrink(G, lasting, (1.0 - share) * std[k] * std[k], P, half)
    return log_likelihood


@numba.njit(cache=True, nogil=True)
def smooth_column(
    model: StateModel,
    values: FloatArray,
    std: FloatArray,
    means: FloatArray,
    covariances: FloatArray,
    out: FloatArray,
) -> None:
    """Write mean and variance of the position, given all observations, to `out` (n, 2), after `filter_column`.

    The recursion of Bierman (1973) for the fixed-interval smoother of Rauch, Tung and Striebel. It carries the first
    and second derivatives of the later observations' negative log-likelihood, `late` (d,) and `late_curvature` (d, d),
    and inverts no matrix.
    """
    F, share = model.F, model.share
    n, d = F.shape[0], F.shape[1]
    late, carried, G = np.zeros(d), np.zeros(d), np.zeros(d)
    late_curvature, carried_curvature, half = np.zeros((d, d)), np.zeros((d, d)), np.zeros((d, d))
    update = np.zeros((d, d))  # I - K h'
    x, P = np.zeros(d), np.zeros((d, d))
    for k in range(n - 1, -1, -1):
        x[:] = means[k]
        P[:] = covariances[k]
        carried[:] = late
        carried_curvature[:] = late_curvature
        if not np.isnan(values[k]):
            lasting, white = np.sqrt(share) * std[k], (1.0 - share) * std[k] * std[k]
            variance = _gain(P, lasting, white, G)
            surprise = values[k] - x[0] - lasting * x[d - 1]
            for i in range(d):
                G[i] /= variance
                x[i] += G[i] * surprise
                for j in range(d):
                    update[i, j] = 1.0 if i == j else 0.0
                update[i, 0] -= G[i]
                update[i, d - 1] -= G[i] * lasting
            _shrink(G, lasting, white, P, half)
            _through(update, late, late_curvature, carried, carried_curvature, half)
            carried[0] -= surprise / variance
            carried[d - 1] -= lasting * surprise / variance
            carried_curvature[0, 0] += 1.0 / variance
            carried_curvature[0, d - 1] += lasting / variance
            carried_curvature[d - 1, 0] += lasting / variance
            carried_curvature[d - 1, d - 1] += lasting * lasting / variance
        # The covariance after this observation is used, since the predicted one may be vast.
        out[k, 0], out[k, 1] = x[0], P[0, 0]
        for i in range(d):
            out[k, 0] -= P[0, i] * late[i]
            for j in range(d):
                out[k, 1] -= P[0, i] * late_curvature[i, j] * P[j, 0]
        out[k, 1] = max(out[k, 1], 0.0)
        if k > 0:
            _through(F[k], carried, carried_curvature, late, late_curvature, half)


@numba.njit(cache=True, nogil=True)
def _through(
    A: FloatArray,
    vector: FloatArray,
    matrix: FloatArray,
    to_vector: FloatArray,
    to_matrix: FloatArray,
    half: FloatArray,
) -> None:
    """Write A' v and A' M A to `to_vector` and `to_matrix`."""
    d = A.shape[0]
    for i in range(d):
        to_vector[i] = 0.0
        for j in range(d):
            to_vector[i] += A[j, i] * vector[j]
            total = 0.0
            for k in range(d):
                total += matrix[i, k] * A[k, j]
            half[i, j] = total
    for i in range(d):
        for j in range(d):
            total = 0.0
            for k in range(d):
                total += A[k, i] * half[k, j]
            to_matrix[i, j] = total
