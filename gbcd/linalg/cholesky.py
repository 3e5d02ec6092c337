"""Cholesky factorizations of dense matrices in float32 or float64, solves and inverses with them, and products.

The matrix is cut into blocks that the package's threads work on, with one BLAS thread each. OpenBLAS's own threads wait
by spinning: on two cores shared with other work they made a factorization of order 2,000 seventeen times slower, and
near 2^31 bytes they crash it. Blocks queued for plain threads do neither.

The size of the blocks depends on the cores of the machine, not on the threads that share a call. Rounding depends on
the blocks, and the number of threads must make no difference.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from gbcd.linalg.blas import F, divide, factor, subtract_product, subtract_square
from gbcd.threads import available_cores, blas_threads, parallel, spans
from gbcd.types import Float64Array

MAX_LAPACK_ORDER = 800
"""Largest order of a matrix that LAPACK factors on one thread: up to it blocks are no faster."""

MIN_BLOCK, MAX_BLOCK = 256, 1024
"""Least and largest order of a block. Larger blocks multiply faster: 9 % from 256 to 512, 6 % from 512 to 1,024."""

BLOCKS_PER_CORE = 5
"""Rows of blocks for each processor core: fewer leave threads idle at the end."""

MIN_ROWS = 64
"""Least number of rows that a thread multiplies at a time."""

MAX_DIVISOR = 64
"""Largest order of a triangle that BLAS solves with in one piece: a solve has a third of the speed of a product."""


def matmul(A: Float64Array, B: Float64Array) -> Float64Array:
    """Return A @ B, (a, k) by (k, b), its rows shared out among the threads."""
    product = np.empty((A.shape[0], B.shape[1]))

    def work(pieces: Iterator[slice]) -> None:
        for piece in pieces:
            np.matmul(A[piece], B, out=product[piece])

    parallel(work, spans(len(A), max(MIN_ROWS, -(-len(A) // (2 * available_cores())))))
    return product


class _Finished:
    """How many block columns of each block row are finished, for threads to wait on."""

    def __init__(self, blocks: int) -> None:
        self._columns = [0] * blocks
        self._changed = threading.Condition()
        self._failed = False

    def wait(self, rows: range, column: int) -> bool:
        """Return True once `rows` are finished in all columns before `column`, False where a thread has failed."""
        with self._changed:
            while not self._failed and min(self._columns[i] for i in rows) < column:
                self._changed.wait()
            return not self._failed

    def add(self, rows: range) -> None:
        """Note that one more column of `rows` is finished."""
        with self._changed:
            for i in rows:
                self._columns[i] += 1
            self._changed.notify_all()

    def fail(self) -> None:
        """Note that a thread has failed, and wake all that wait."""
        with self._changed:
            self._failed = True
            self._changed.notify_all()


def cholesky_in_place(matrix: npt.NDArray[F]) -> npt.NDArray[F]:
    """Overwrite the lower triangle of a C-ordered symmetric (n, n) with its Cholesky factor, and return it.

    The upper triangle is left as it was. Nothing of the size of the matrix is allocated.

    Raises
    ------
    scipy.linalg.LinAlgError
        If the matrix is not positive definite to rounding.
    """
    n = len(matrix)
    if n > MAX_LAPACK_ORDER:
        wanted = n // (BLOCKS_PER_CORE * available_cores())
        _factor_in_blocks(matrix, min(max(wanted, MIN_BLOCK), MAX_BLOCK))
    else:
        with blas_threads(1):
            factor(matrix)
    return matrix


def _factor_in_blocks(matrix: npt.NDArray[F], size: int) -> None:
    """Factor by the left-looking algorithm: each tile is written once, after one product over all columns before it."""
    blocks = spans(len(matrix), size)
    finished = _Finished(len(blocks))

    def work(tiles: Iterator[tuple[range, int]]) -> None:
        try:
            for rows, j in tiles:
                if not _finish_tile(matrix, blocks, finished, rows, j):
                    return
        except BaseException:
            finished.fail()
            raise

    # Column by column, so that a tile waits only for tiles before it in the queue: no two threads wait for each other.
    parallel(work, [(rows, j) for j in range(len(blocks)) for rows in _tiles_of_column(j, len(blocks))])


def _tiles_of_column(j: int, count: int) -> Iterator[range]:
    """Yield the block rows of each tile of column j: the diagonal, then pairs of rows while there is plenty of work."""
    yield range(j, j + 1)
    i = j + 1
    while i < count:
        height = 2 if count - i > 4 * available_cores() else 1
        yield range(i, i + height)
        i += height


def _finish_tile(matrix: npt.NDArray[F], blocks: list[slice], finished: _Finished, rows: range, j: int) -> bool:
    """Compute L[I, J]: subtract the product of all columns before J, then divide by L[J, J].

    Returns False where another thread has failed.
    """
    I = slice(blocks[rows[0]].start, blocks[rows[-1]].stop)  # noqa: E741 - the paper's index sets
    J = blocks[j]
    before = slice(0, J.start)
    corner = range(j, j + 1)
    if not (finished.wait(rows, j) and finished.wait(corner, j)):
        return False
    if rows == corner:
        subtract_square(matrix[J, J], matrix[J, before])
        factor(matrix[J, J])
    else:
        subtract_product(matrix[I, J], matrix[I, before], matrix[J, before])
        if not finished.wait(corner, j + 1):
            return False
        divide_in_halves(matrix[I, J], matrix[J, J])
    finished.add(rows)
    return True


def divide_in_halves(X: npt.NDArray[F], lower: npt.NDArray[F]) -> None:
    """Replace each row x (n,) of X by lower^-1 x, mostly by matrix products, on the calling thread."""
    n = len(lower)
    if n <= MAX_DIVISOR:
        divide(X, lower)
        return
    half = n // 2
    divide_in_halves(X[:, :half], lower[:half, :half])
    subtract_product(X[:, half:], X[:, :half], lower[half:, :half])
    divide_in_halves(X[:, half:], lower[half:, half:])


def cholesky_solve(lower: npt.NDArray[F], right: npt.NDArray[np.floating[Any]]) -> npt.NDArray[F]:
    """Return (L L')^{-1} right, (n, q), in the precision of L, of which only the lower triangle is read."""
    n, q = right.shape
    solution = np.empty((n, q), dtype=lower.dtype)

    def work(pieces: Iterator[slice]) -> None:
        for piece in pieces:
            columns = np.array(right[:, piece].T, dtype=lower.dtype, order="C")
            divide(columns, lower)
            divide(columns, lower, transposed=True)
            solution[:, piece] = columns.T

    # One piece for each core, since each piece reads all of L.
    parallel(work, spans(q, max(1, -(-q // available_cores()))))
    return solution


def inverse_from_cholesky(lower: Float64Array) -> Float64Array:
    """Return (L L')^{-1}, shape (n, n), reading only the lower triangle of `lower`."""
    n = len(lower)
    pieces = spans(n, MIN_BLOCK)
    half = np.zeros((n, n))
    inverse = np.empty((n, n))

    def invert(blocks: Iterator[slice]) -> None:
        for j in blocks:
            # Row block J of half is a column block of L^{-1} transposed, zero before J.
            half[j, j] = np.eye(j.stop - j.start)
            divide(half[j, j.start :], lower[j.start :, j.start :])

    def square(pairs: Iterator[tuple[slice, slice]]) -> None:
        for i, j in pairs:
            inverse[i, j] = half[i, i.start :] @ half[j, i.start :].T
            inverse[j, i] = inverse[i, j].T

    parallel(invert, pieces)
    parallel(square, [(i, j) for a, i in enumerate(pieces) for j in pieces[: a + 1]])
    return inverse
