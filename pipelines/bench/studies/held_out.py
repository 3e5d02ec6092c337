"""Small dense Gaussian processes with any distance, their widths and noise fitted on held-out groups.

They serve to compare kernels and inputs on some thousands of samples; `gbcd` has one kernel and takes all samples.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import scipy.linalg
import scipy.optimize
from numpy.typing import NDArray
from scipy.spatial.distance import cdist
from threadpoolctl import threadpool_limits

from pose.descriptor.matching import chi_square_costs
from pose.types import FloatArray, IntArray

Distance = Callable[[FloatArray, FloatArray], FloatArray]

_EVALUATIONS = 20
"""Number of evaluations of the held-out error per parameter."""
_FIRST_STEPS = (1.2, -1.5)
"""First steps of the simplex method in the logarithms of widths and weights, and of the noise."""


def squared(first: FloatArray, second: FloatArray) -> FloatArray:
    """Squared Euclidean distances (n, m)."""
    squares = (first**2).sum(axis=1)[:, None] + (second**2).sum(axis=1) - 2 * first @ second.T
    return np.asarray(np.maximum(squares, 0))


def manhattan(first: FloatArray, second: FloatArray) -> FloatArray:
    """Sums of absolute differences (n, m)."""
    return np.asarray(cdist(first, second, "cityblock"))


def chi_square(first: FloatArray, second: FloatArray) -> FloatArray:
    """Chi-square distances of histograms (n, m)."""
    return chi_square_costs(first, second)


@dataclass(frozen=True, eq=False)
class Input:
    """One kind of input, with a kernel k = exp(-gamma distance) of its own.

    Parameters
    ----------
    train, test : ndarray of shape (n, d) and (m, d)
    distance : callable
    """

    train: FloatArray
    test: FloatArray
    distance: Distance = squared


def predict(
    inputs: Sequence[Input],
    outputs: FloatArray,
    groups: IntArray,
    *,
    join: Literal["product", "sum"] = "product",
    subset: int = 1000,
    standardise: bool = True,
    random_state: int = 0,
) -> FloatArray:
    """Predict the outputs (m, q) of the test inputs.

    Parameters
    ----------
    inputs : sequence of Input
    outputs : ndarray of shape (n, q)
    groups : ndarray of int, shape (n,)
        Samples of one group are held out together while the parameters are fitted.
    join : {"product", "sum"}
        How the kernels of several inputs are combined; the weights of a sum are fitted too.
    subset : int
        Number of samples that the parameters are fitted on.
    standardise : bool
        Divide each output by its own standard deviation; otherwise divide all by the mean standard deviation.
    """
    mean, scale = outputs.mean(axis=0), outputs.std(axis=0)
    alive = scale > 1e-9
    scale = np.where(alive, scale if standardise else scale[alive].mean(), 1.0)
    targets = (outputs - mean) / scale
    rng = np.random.default_rng(random_state)
    rows = np.sort(rng.choice(len(targets), min(subset, len(targets)), replace=False))
    kernel = _Kernel.of(inputs, rows, join)
    theta = _fit(
        kernel, [kernel.distances(k, rows, rows) for k in range(len(inputs))], targets[rows][:, alive], groups[rows]
    )
    everything = np.arange(len(targets))
    K = kernel.values([kernel.distances(k, everything, everything) for k in range(len(inputs))], theta)
    K[np.diag_indices(len(K))] += np.exp(theta[-1])
    factor = scipy.linalg.cho_factor(K, lower=True, overwrite_a=True, check_finite=False)
    coefficients = scipy.linalg.cho_solve(factor, targets)
    del K, factor
    cross = kernel.values([one.distance(one.test, one.train) for one in inputs], theta)
    return np.asarray(cross @ coefficients * scale + mean)


@dataclass(frozen=True, eq=False)
class _Kernel:
    """A kernel of several inputs, by a vector of logarithms.

    They are those of gamma x median distance for each input, of the weights but the first for a sum, and of the noise.
    """

    inputs: Sequence[Input]
    medians: FloatArray
    join: str

    @classmethod
    def of(cls, inputs: Sequence[Input], rows: IntArray, join: str) -> _Kernel:
        some = rows[:: max(1, len(rows) // 500)]
        medians = []
        for one in inputs:
            apart = one.distance(one.train[some], one.train[some])
            medians.append(float(np.median(apart[apart > 1e-12])))
        return cls(inputs, np.array(medians), join)

    @property
    def start(self) -> FloatArray:
        widths = np.zeros(len(self.inputs))
        weights = np.zeros(len(self.inputs) - 1 if self.join == "sum" else 0)
        return np.concatenate([widths, weights, [-4.0]])

    def distances(self, index: int, first: IntArray, second: IntArray) -> FloatArray:
        one = self.inputs[index]
        return one.distance(one.train[first], one.train[second])

    def values(self, distances: Sequence[FloatArray], theta: FloatArray) -> FloatArray:
        gammas = np.exp(theta[: len(distances)]) / self.medians
        if self.join == "product":
            return np.asarray(np.exp(-sum(gamma * D for gamma, D in zip(gammas, distances, strict=True))))
        weights = np.exp(np.concatenate([[0.0], theta[len(distances) : -1]]))
        weights /= weights.sum()
        return np.asarray(
            sum(weight * np.exp(-gamma * D) for weight, gamma, D in zip(weights, gammas, distances, strict=True))
        )


def _fit(kernel: _Kernel, distances: Sequence[FloatArray], targets: FloatArray, groups: IntArray) -> FloatArray:
    """The parameters with the least squared error on held-out groups, by the Nelder-Mead simplex method."""
    members = [np.flatnonzero(groups == group) for group in np.unique(groups)]

    def error(theta: FloatArray) -> float:
        try:
            return _held_out_error(kernel.values(distances, theta), float(np.exp(theta[-1])), targets, members)
        except np.linalg.LinAlgError:
            return np.inf

    start = kernel.start
    steps = np.full(len(start), _FIRST_STEPS[0])
    steps[-1] = _FIRST_STEPS[1]
    options: Any = {
        "initial_simplex": np.vstack([start, start + np.diag(steps)]),
        "maxfev": _EVALUATIONS * len(start),
        "xatol": 0.05,
        "fatol": 1e-4,
    }
    with threadpool_limits(limits=1):  # for matrices this small, threads cost more than they gain
        found = scipy.optimize.minimize(error, start, method="Nelder-Mead", options=options)
    return np.asarray(found.x)


def _held_out_error(K: FloatArray, noise: float, targets: FloatArray, members: Sequence[NDArray[np.intp]]) -> float:
    """Mean squared error of each group predicted from all others: residuals P_bb^-1 (P y)_b with P = Kbar^-1."""
    lower = scipy.linalg.cholesky(K + noise * np.eye(len(K)), lower=True, check_finite=False)
    P, _ = scipy.linalg.lapack.dpotri(lower, lower=1)
    P = np.tril(P) + np.tril(P, -1).T
    solved = P @ targets
    residuals = [scipy.linalg.solve(P[np.ix_(rows, rows)], solved[rows], assume_a="pos") for rows in members]
    return float(sum((residual**2).sum() for residual in residuals)) / targets.size
