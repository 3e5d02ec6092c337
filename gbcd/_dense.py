"""Dense float64 factorizations in blocks, run by our own threads with one BLAS thread each.

OpenBLAS's own threads wait by spinning: on two cores shared with other work they made a Cholesky
factorization of order 2,000 seventeen times slower, and near 2^31 bytes they crash it. Blocks queued for
plain threads do neither.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import scipy.linalg

from gbcd._arrays import Float64Array
from gbcd._tiles import blas_threads, n_workers, parallel, spans

BLOCK = 256
SMALL = 600
"""Below this order LAPACK on one thread is at least as fast."""


def matmul(A: Float64Array, B: Float64Array) -> Float64Array:
    """Return A @ B, (a, k) by (k, b), its rows shared out among the threads."""
    product = np.empty((A.shape[0], B.shape[1]))

    def work(pieces: Iterator[slice]) -> None:
        for piece in pieces:
            np.matmul(A[piece], B, out=product[piece])

    parallel(work, spans(len(A), max(64, -(-len(A) // (2 * n_workers())))))
    return product


def cholesky_in_place(matrix: Float64Array) -> Float64Array:
    """Overwrite the lower triangle of a C-ordered symmetric (n, n) with its Cholesky factor, and return it.

    The upper triangle is left as it was.

    Raises
    ------
    scipy.linalg.LinAlgError
        If the matrix is not positive definite to rounding.
    """
    n = len(matrix)
    step = n if n <= SMALL else BLOCK
    for start in range(0, n, step):
        stop = min(start + step, n)
        with blas_threads(1):
            corner = scipy.linalg.cholesky(matrix[start:stop, start:stop], lower=True, check_finite=False)
        matrix[start:stop, start:stop] = corner
        below = [slice(a + stop, min(a + stop + BLOCK, n)) for a in range(0, n - stop, BLOCK)]
        panel = matrix[:, start:stop]

        def eliminate(pieces: Iterator[slice], corner: Float64Array = corner, panel: Float64Array = panel) -> None:
            for i in pieces:
                panel[i] = scipy.linalg.solve_triangular(corner, panel[i].T, lower=True, check_finite=False).T

        def update(pieces: Iterator[slice], first: int = stop, panel: Float64Array = panel) -> None:
            for i in pieces:
                matrix[i, first : i.stop] -= panel[i] @ panel[first : i.stop].T

        parallel(eliminate, below)
        # The longest rows first, so that no thread is left with one at the end.
        parallel(update, below[::-1])
    return matrix


def cholesky_solve(lower: Float64Array, right: Float64Array) -> Float64Array:
    """Return (L L')^{-1} right, (n, q), reading only the lower triangle of `lower`."""
    with blas_threads(1):
        solution: Float64Array = scipy.linalg.cho_solve((lower, True), right, check_finite=False)
    return solution


def inverse_from_cholesky(lower: Float64Array) -> Float64Array:
    """Return (L L')^{-1}, shape (n, n), reading only the lower triangle of `lower`."""
    n = len(lower)
    pieces = spans(n, BLOCK)
    half = np.zeros((n, n))
    inverse = np.empty((n, n))

    def invert(blocks: Iterator[slice]) -> None:
        for j in blocks:
            # A column block of L^{-1} is zero above its diagonal; forward substitution by blocks of rows.
            for i in pieces[j.start // BLOCK :]:
                known = slice(j.start, i.start)
                right = -(lower[i, known] @ half[known, j])
                if i.start == j.start:
                    right = np.eye(j.stop - j.start)
                half[i, j] = scipy.linalg.solve_triangular(lower[i, i], right, lower=True, check_finite=False)

    def square(pairs: Iterator[tuple[slice, slice]]) -> None:
        for i, j in pairs:
            inverse[i, j] = half[i.start :, i].T @ half[i.start :, j]
            inverse[j, i] = inverse[i, j].T

    parallel(invert, pieces)
    parallel(square, [(i, j) for a, i in enumerate(pieces) for j in pieces[: a + 1]])
    return inverse
