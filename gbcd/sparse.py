"""A sparse rival: subset-of-regressors GP whose regressors are chosen by matching pursuit (MPGP)."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.linalg
from sklearn.exceptions import NotFittedError

from gbcd._arrays import (
    Float64Array,
    FloatArray,
    IntArray,
    as_columns,
    as_matrix,
    as_outputs,
    positive_integer,
    positive_number,
    standardisation,
)
from gbcd._dense import cholesky_in_place, cholesky_solve
from gbcd._tiles import blas_threads, kernel_matrix, kernel_product, parallel, spans
from gbcd.kernels import Kernel, SquaredExponential

logger = logging.getLogger(__name__)

N_CANDIDATES = 59
"""Keerthi & Chu: the best of 59 random points is among the best 5 % with probability 0.95."""

MIN_SCHUR = 1e-6
"""A candidate whose variance given the chosen regressors is below this is a copy of them in float32."""

SR_CHUNK = 2048
SCORE_COLUMNS = 2048
"""Columns of V and Q scored together by one thread."""

JITTER = 1e-10


class PursuitBasis:
    """The regressors chosen so far, orthogonalised, and the residual of the fit on them.

    With R the Cholesky factor of K_pp and V = K_np R^-T, the subset-of-regressors objective
    |Y - K_np beta|^2 + noise beta' K_pp beta is the ridge problem |Y - V w|^2 + noise |w|^2, that is least squares
    with the stacked matrix [V; sqrt(noise) I]. Its QR factorization grows by a column per regressor: Q holds the
    upper part of the orthonormal columns, `residual` = Y - V w. A candidate c would add the column
    v_c = u_c / sqrt(d_c), u_c = k_c - V V_c' (d_c = k_cc - |V_c|^2), and lower the objective by exactly

        |u_c' residual|^2 / (noise d_c + |u_c|^2 - |Q' u_c|^2),

    summed over the outputs. All candidates are scored by two matrix products; no n x n and no p x p
    factorization is ever repeated: O(n p (p + candidates)) in all.

    Parameters
    ----------
    Y : array (n, q)
    noise : float
    capacity : int
        Regressors there is room for: 8 n capacity bytes.
    dtype : dtype
        Of V and Q.

    Attributes
    ----------
    size : int
    """

    def __init__(self, Y: Float64Array, noise: float, capacity: int, dtype: npt.DTypeLike = np.float32) -> None:
        self.size = 0
        self.residual: FloatArray = Y.astype(dtype)
        self._noise = noise
        # Transposed, so that the first `size` rows are contiguous.
        self._V = np.empty((capacity, len(Y)), dtype=dtype)
        self._Q = np.empty((capacity, len(Y)), dtype=dtype)

    def score(
        self, candidates: IntArray, columns: FloatArray, diagonal: Float64Array
    ) -> tuple[Float64Array, FloatArray, Float64Array]:
        """Return the exact decrease of each candidate, and what `add` needs of it.

        Parameters
        ----------
        candidates : int array (c,)
        columns : array (c, n)
            Their kernel rows; overwritten.
        diagonal : array (c,)
            k_cc.

        Returns
        -------
        decrease : array (c,)
            -1 for a candidate that copies a regressor.
        directions : array (c, n)
            u_c.
        schur : array (c,)
            d_c.
        """
        t = self.size
        own = self._V[:t, candidates]
        schur = diagonal - np.einsum("ij,ij->j", own, own, dtype=np.float64)
        directions = columns
        q = self.residual.shape[1]

        def work(pieces: Iterator[slice]) -> FloatArray:
            # One row of sums per candidate: Q'u, u' residual, |u|^2.
            sums = np.zeros((len(candidates), t + q + 1))
            for piece in pieces:
                u = directions[:, piece]
                u -= own.T @ self._V[:t, piece]
                sums[:, :t] += u @ self._Q[:t, piece].T
                sums[:, t:-1] += u @ self.residual[piece]
                sums[:, -1] += np.einsum("ij,ij->i", u, u)
            return sums

        sums = np.add.reduce(parallel(work, spans(directions.shape[1], SCORE_COLUMNS)))
        overlap, pull, length = sums[:, :t], sums[:, t:-1], sums[:, -1]
        remainder = length - np.einsum("ij,ij->i", overlap, overlap)
        # |u|^2 - |Q' u|^2 is not negative but for rounding.
        norm = self._noise * schur + np.maximum(remainder, 0)
        usable = schur > MIN_SCHUR
        decrease = np.full(len(candidates), -1.0)
        np.divide(np.einsum("ij,ij->i", pull, pull), norm, out=decrease, where=usable)
        return decrease, directions, schur

    def add(self, direction: FloatArray, schur: float) -> None:
        """Add the regressor with this direction u_c (n,) and d_c."""
        t = self.size
        v = direction / self._V.dtype.type(np.sqrt(schur))
        overlap = self._Q[:t] @ v
        q = v - overlap @ self._Q[:t]
        squared = self._noise + float(v @ v) - float(overlap @ overlap)
        norm = np.sqrt(max(squared, self._noise))
        self._V[t] = v
        self._Q[t] = q / norm
        self.residual -= np.outer(self._Q[t], (v @ self.residual) / norm)
        self.size = t + 1


def select_regressors(
    X: Float64Array,
    Y: Float64Array,
    kernel: Kernel,
    noise: float,
    n_regressors: int,
    n_candidates: int = N_CANDIDATES,
    random_state: int | np.random.Generator | None = None,
) -> IntArray:
    """Choose regressors by matching pursuit (Keerthi & Chu, NIPS 2005).

    Each step draws `n_candidates` unchosen rows and takes the one that lowers the subset-of-regressors
    objective most (see `PursuitBasis`).

    Returns
    -------
    int array (p,)
        In the order chosen; fewer than asked for where the rest only copies them.
    """
    rng = np.random.default_rng(random_state)
    n = len(X)
    origin = X.mean(axis=0)
    rows = kernel.row_features(X, origin, np.float32)
    columns = kernel.column_features(X, origin, np.float32)
    diagonal = kernel.diagonal(X)
    basis = PursuitBasis(Y, noise, n_regressors)
    free = np.ones(n, dtype=bool)
    chosen: list[int] = []
    while len(chosen) < n_regressors:
        unchosen = np.flatnonzero(free)
        if not len(unchosen):
            logger.info("MPGP stops at %d regressors: the other rows copy them", len(chosen))
            break
        candidates = rng.choice(unchosen, min(n_candidates, len(unchosen)), replace=False)
        tile = candidate_columns(kernel, rows[candidates], columns)
        decrease, directions, schur = basis.score(candidates, tile, diagonal[candidates])
        # Copies stay copies: they are not drawn again.
        free[candidates[decrease < 0]] = False
        best = int(np.argmax(decrease))
        if decrease[best] < 0:
            continue
        basis.add(directions[best], float(schur[best]))
        free[candidates[best]] = False
        chosen.append(int(candidates[best]))
    return np.array(chosen, dtype=np.intp)


def candidate_columns(kernel: Kernel, candidates: FloatArray, features: FloatArray) -> FloatArray:
    """Return the kernel between candidates and all rows, given their features: shape (c, n)."""
    values = np.empty((len(candidates), len(features)), dtype=features.dtype)

    def work(pieces: Iterator[slice]) -> None:
        for piece in pieces:
            values[:, piece] = kernel.tile(candidates, features[piece])

    parallel(work, spans(len(features), SCORE_COLUMNS))
    return values


def fit_regressors(X: Float64Array, Y: Float64Array, active: IntArray, kernel: Kernel, noise: float) -> Float64Array:
    """Return beta (p, q) of the subset-of-regressors mean: (K_pn K_np + noise K_pp) beta = K_pn Y, in float64.

    Solved through V = K_np R^-T (K_pp = R R'), where the system V'V + noise I is never worse conditioned than the
    noise allows; K_pp gets a jitter of 1e-10, ten times more until it factors.
    """
    origin = X.mean(axis=0)
    basis = X[active]
    K_pp = kernel_matrix(kernel, basis, basis, origin).astype(np.float64, copy=False)
    lower = _jittered_cholesky(K_pp)

    def work(pieces: Iterator[slice]) -> FloatArray:
        # V' V and V' Y side by side.
        sums = np.zeros((len(active), len(active) + Y.shape[1]))
        rows = kernel.row_features(basis, origin, np.float64)
        for piece in pieces:
            K = kernel.tile(rows, kernel.column_features(X[piece], origin, np.float64))
            V = scipy.linalg.solve_triangular(lower, K, lower=True, check_finite=False)
            sums[:, : len(active)] += V @ V.T
            sums[:, len(active) :] += V @ Y[piece]
        return sums

    sums = np.add.reduce(parallel(work, spans(len(X), SR_CHUNK)))
    gram = sums[:, : len(active)] + noise * np.eye(len(active))
    weights = cholesky_solve(cholesky_in_place(gram), sums[:, len(active) :])
    beta: Float64Array = scipy.linalg.solve_triangular(lower, weights, lower=True, trans="T", check_finite=False)
    return beta


def _jittered_cholesky(matrix: Float64Array) -> Float64Array:
    jitter = JITTER
    while True:
        try:
            return cholesky_in_place(matrix + jitter * np.eye(len(matrix)))
        except scipy.linalg.LinAlgError:
            jitter *= 10


@dataclass
class MatchingPursuitGP:
    """Subset-of-regressors GP mean on regressors chosen by matching pursuit: the sparse baseline (MPGP).

    Parameters
    ----------
    kernel : Kernel
    noise : float
        sigma^2; kernel and noise are those of the exact GP.
    n_regressors : int
        p, clipped to the number of rows.
    n_candidates : int
        Random points scored at each step.
    random_state : int, optional

    Attributes
    ----------
    active_ : int array (p,)
        Rows of the training inputs that became regressors, in order.
    regressors_ : array (p, d)
    coef_ : array (p, q)
    y_mean_, y_scale_ : array (q,)
        Outputs are standardised inside; a constant column is predicted as its mean.

    Notes
    -----
    S. S. Keerthi and W. Chu, "A matching pursuit approach to sparse Gaussian process regression", NIPS 2005.
    Selection runs in float32; the coefficients are then solved for once in float64. X is taken as the
    kernel takes it: scale it first.
    """

    kernel: Kernel
    noise: float
    n_regressors: int = 2000
    n_candidates: int = N_CANDIDATES
    random_state: int | None = None

    def __post_init__(self) -> None:
        positive_number(self.noise, "noise")

    def fit(self, X: npt.ArrayLike, Y: npt.ArrayLike) -> MatchingPursuitGP:
        """Choose the regressors and solve for their coefficients.

        Parameters
        ----------
        X : array (n, d)
        Y : array (n,) or (n, q)

        Raises
        ------
        ValueError
            For empty or non-finite data, counts below 1, or a noise that is not positive. The model stays as it was.
        """
        inputs = as_matrix(X, "X")
        outputs = as_outputs(Y, len(inputs), "y")
        noise = positive_number(self.noise, "noise")
        candidates = positive_integer(self.n_candidates, "n_candidates")
        count = min(positive_integer(self.n_regressors, "n_regressors"), len(inputs))
        if count < self.n_regressors:
            logger.info("MPGP: %d regressors are clipped to the %d rows there are", self.n_regressors, count)
        mean, scale = standardisation(outputs)
        scaled = (outputs - mean) / scale
        with blas_threads(1):
            active = select_regressors(inputs, scaled, self.kernel, noise, count, candidates, self.random_state)
            coef = fit_regressors(inputs, scaled, active, self.kernel, noise)
        # Only now, so that a fit that fails leaves the model as it was.
        self._flat = np.ndim(Y) == 1
        self.y_mean_, self.y_scale_ = mean, scale
        self.active_, self.coef_ = active, coef
        self.regressors_ = inputs[active]
        self._origin = inputs.mean(axis=0)
        return self

    def predict(self, X: npt.ArrayLike) -> Float64Array:
        """Return the predictive mean, shape (n,) or (n, q) as the outputs had.

        Raises
        ------
        sklearn.exceptions.NotFittedError
            Before `fit`.
        ValueError
            For another number of columns than the training inputs had, or values that are not finite.
        """
        self._require_fitted()
        inputs = as_columns(X, "X", self.regressors_.shape[1])
        scaled = kernel_product(self.kernel, inputs, self.regressors_, self.coef_, self._origin)
        mean: Float64Array = scaled * self.y_scale_ + self.y_mean_
        return mean[:, 0] if self._flat else mean

    def get_state(self) -> dict[str, Any]:
        """Return the fitted model as plain arrays and numbers, for a file store."""
        self._require_fitted()
        if not isinstance(self.kernel, SquaredExponential):
            raise TypeError(f"Only a SquaredExponential kernel can be stored, not {type(self.kernel).__name__}.")
        return {
            "gamma": self.kernel.gamma,
            "noise": float(self.noise),
            "regressors": self.regressors_,
            "active": self.active_,
            "coef": self.coef_,
            "origin": self._origin,
            "y_mean": self.y_mean_,
            "y_scale": self.y_scale_,
            "flat": bool(self._flat),
        }

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> MatchingPursuitGP:
        """Rebuild a fitted model from `get_state`; its predictions are the same."""
        model = cls(
            SquaredExponential(state["gamma"]), float(state["noise"]), n_regressors=max(1, len(state["regressors"]))
        )
        model.regressors_ = np.asarray(state["regressors"], dtype=np.float64)
        model.active_ = np.asarray(state["active"], dtype=np.intp)
        model.coef_ = np.asarray(state["coef"], dtype=np.float64)
        model._origin = np.asarray(state["origin"], dtype=np.float64)
        model.y_mean_ = np.asarray(state["y_mean"], dtype=np.float64)
        model.y_scale_ = np.asarray(state["y_scale"], dtype=np.float64)
        model._flat = bool(state["flat"])
        return model

    def _require_fitted(self) -> None:
        if not hasattr(self, "coef_"):
            raise NotFittedError("This MatchingPursuitGP is not fitted yet: call fit first.")
