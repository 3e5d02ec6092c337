"""The GP on given regressors: the subset-of-regressors system, factored for mean and variance."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import scipy.linalg
from sklearn.exceptions import ConvergenceWarning

from gbcd.kernels.base import Kernel
from gbcd.linalg.blas import subtract_product, subtract_square
from gbcd.linalg.cholesky import cholesky_in_place, cholesky_solve, divide_in_halves
from gbcd.scaling import centre
from gbcd.solvers.cholesky import NotPositiveDefiniteError
from gbcd.system.kernel_matrix import kernel_matrix
from gbcd.threads import blas_threads, parallel, spans
from gbcd.types import Float64Array, FloatArray, IntArray

PANEL_ROWS = 4096
"""Rows of K_np that are held at once, in 8 PANEL_ROWS p bytes."""

ROWS = 256
"""Rows of K_np that a thread evaluates and divides at a time."""

GRAM_BLOCK = 512
"""Rows and columns of V'V that a thread sums up at a time."""

JITTER = 1e-10
"""Addition to the diagonal of K_pp, over its largest entry: rows may nearly repeat."""

MAX_JITTER = 1e-2
"""Largest addition to a diagonal, over its largest entry: a matrix that needs more is taken for no kernel matrix."""


class RegressorFit(NamedTuple):
    """K_pn K_np + noise K_pp = R L L' R', and the coefficients it gives.

    R is the Cholesky factor of K_pp, and with V = K_np R^-T, L is that of V'V + noise I. The condition of L depends on
    the noise alone, whatever K_pp is.
    """

    coef: Float64Array
    """beta (p, q), the solution of (K_pn K_np + noise K_pp) beta = K_pn Y."""

    root: Float64Array
    """R (p, p); only the lower triangle counts."""

    factor: Float64Array
    """L (p, p); only the lower triangle counts."""

    kernel_evaluations: int


def fit_regressors(X: Float64Array, Y: Float64Array, active: IntArray, kernel: Kernel, noise: float) -> RegressorFit:
    """Solve for the coefficients of the regressors X[active] in float64: O(n p^2).

    Parameters
    ----------
    X : array (n, d)
    Y : array (n, q)
    active : int array (p,)
    kernel : Kernel
    noise : float

    Raises
    ------
    ValueError
        If the kernel's values are not those of a positive definite kernel.

    Warns
    -----
    sklearn.exceptions.ConvergenceWarning
        Where the noise is below the rounding of V'V. The message gives the noise that was used.
    """
    n, p = len(X), len(active)
    origin = centre(X)
    kernel = kernel.for_inputs(X[active], origin)
    K_pp = kernel_matrix(kernel, X[active], X[active], origin).astype(np.float64, copy=False)
    np.fill_diagonal(K_pp, kernel.diagonal(X[active]))
    root, _ = _jittered_cholesky(K_pp, JITTER * float(np.max(np.diagonal(K_pp))))
    columns = kernel.column_features(X[active], origin, np.float64)
    gram = np.zeros((p, p))
    right = np.zeros((p, Y.shape[1]))
    blocks = spans(p, GRAM_BLOCK)
    pairs = [(i, j) for a, i in enumerate(blocks) for j in blocks[: a + 1]]
    panel = np.empty((p, min(n, PANEL_ROWS)))
    for rows in spans(n, PANEL_ROWS):
        V = panel[:, : rows.stop - rows.start]

        def evaluate(pieces: Iterator[slice], rows: slice = rows, V: Float64Array = V) -> None:
            for piece in pieces:
                at = slice(rows.start + piece.start, rows.start + piece.stop)
                V[:, piece] = _tile(kernel, X[at], columns, origin, [root]).T

        def multiply(mine: Iterator[tuple[slice, slice]], V: Float64Array = V) -> None:
            for i, j in mine:
                if i == j:
                    subtract_square(gram[i, i], V[i])
                else:
                    subtract_product(gram[i, j], V[i], V[j])

        parallel(evaluate, spans(V.shape[1], ROWS))
        parallel(multiply, pairs)
        right += V @ Y[rows]
    factor = _factor_gram(-gram, noise)
    weights = cholesky_solve(factor, right)
    with blas_threads(1):
        coef = scipy.linalg.solve_triangular(root, weights, lower=True, trans="T", check_finite=False)
    return RegressorFit(coef, root, factor, (n + p) * p)


def divided_squares(
    kernel: Kernel,
    points: Float64Array,
    regressors: Float64Array,
    origin: Float64Array,
    factors: Sequence[Float64Array],
) -> Float64Array:
    """Return |... F_2^-1 F_1^-1 k_p|^2 (t,) at the points (t, d), with k_p (p,) the kernel with the regressors.

    Parameters
    ----------
    factors : arrays (p, p)
        Lower triangles F_1, F_2 and so on.
    """
    kernel = kernel.for_inputs(regressors, origin)
    columns = kernel.column_features(regressors, origin, np.float64)
    squares = np.empty(len(points))

    def work(pieces: Iterator[slice]) -> None:
        for piece in pieces:
            tile = _tile(kernel, points[piece], columns, origin, factors)
            squares[piece] = np.einsum("ij,ij->i", tile, tile)

    parallel(work, spans(len(points), ROWS))
    return squares


def _tile(
    kernel: Kernel, points: Float64Array, columns: FloatArray, origin: Float64Array, factors: Sequence[Float64Array]
) -> Float64Array:
    """Return the rows (... F_2^-1 F_1^-1 k_p)' of the points (t, d), given the regressors' features: (t, p)."""
    tile = kernel.tile(kernel.row_features(points, origin, np.float64), columns).astype(np.float64, copy=False)
    for factor in factors:
        divide_in_halves(tile, factor)
    return tile


def _factor_gram(gram: Float64Array, noise: float) -> Float64Array:
    """Return L of V'V + noise I, given the lower triangle of V'V, with more noise where rounding needs it."""
    p = len(gram)
    gram.flat[:: p + 1] += noise
    gram += np.tril(gram, -1).T  # the attempts below overwrite one half
    factor, jitter = _jittered_cholesky(gram, 0.0)
    if jitter:
        warnings.warn(
            f"The noise {noise:.3g} is below the rounding of {p} regressors in float64: {noise + jitter:.3g} was used. "
            f"Raise the noise or take fewer regressors.",
            ConvergenceWarning,
            stacklevel=2,
        )
    return factor


def _jittered_cholesky(matrix: Float64Array, jitter: float) -> tuple[Float64Array, float]:
    """Return the Cholesky factor of a symmetric matrix, and the jitter on its diagonal, raised tenfold as needed."""
    largest = float(np.max(np.diagonal(matrix)))
    while True:
        try:
            attempt = matrix.copy()
            attempt.flat[:: len(matrix) + 1] += jitter
            return cholesky_in_place(attempt), jitter
        except scipy.linalg.LinAlgError:
            jitter = 10 * jitter if jitter else len(matrix) * np.finfo(np.float64).eps * largest
            if not jitter <= MAX_JITTER * largest:
                raise NotPositiveDefiniteError(
                    f"The kernel matrix of {len(matrix)} regressors is not positive definite: is this a kernel?"
                ) from None
