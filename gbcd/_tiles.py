"""Tiles of the kernel matrix, evaluated and used while they are in cache, and the threads that do it.

numpy and scipy each bring an OpenBLAS pool. Small factorizations with two of its threads run 10 to
100 times slower than with one, so the rule is: one BLAS thread inside parallel tiles and for small
factorizations. The threads that work on tiles are this module's own, and are kept: starting one takes longer
than a small tile.
"""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from typing import TypeVar

import numpy as np
import numpy.typing as npt
import scipy.linalg  # noqa: F401 - loads scipy's BLAS, which the controller below must find
from threadpoolctl import ThreadpoolController

from gbcd._arrays import Float64Array, FloatArray
from gbcd.kernels import Kernel

T = TypeVar("T")

TILE_BYTES = 1 << 20
"""A tile of kernel values this size stays in a second-level cache beside its features."""

MAX_TILE_ROWS = 1024
MIN_TILE_ROWS = 64


class _Threads(threading.local):
    """What the current thread may do."""

    worker = False  # it is one of ours: a nested `parallel` runs in it alone, or all could wait for one another
    limit: int | None = None
    blas: int | None = None


_here = _Threads()


@cache
def _controller() -> ThreadpoolController:
    # Finding the loaded libraries is slow, so once.
    return ThreadpoolController()


@cache
def _pool() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(max(1, available_cores() - 1), thread_name_prefix="gbcd", initializer=_mark_worker)


def _mark_worker() -> None:
    _here.worker = True


# A forked child has the pool's object but not its threads.
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_pool.cache_clear)


@contextmanager
def blas_threads(count: int) -> Iterator[None]:
    """Limit every BLAS pool to `count` threads inside the block."""
    if _here.blas == count or _here.worker:  # asking the libraries takes longer than a small tile
        yield
        return
    before, _here.blas = _here.blas, count
    try:
        with _controller().limit(limits=count, user_api="blas"):
            yield
    finally:
        _here.blas = before


def available_cores() -> int:
    """Return the number of processor cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return max(1, len(os.sched_getaffinity(0)))
    return max(1, os.cpu_count() or 1)


def n_workers() -> int:
    """Return the number of threads that share a call of `parallel` made now."""
    return available_cores() if _here.limit is None else min(_here.limit, available_cores())


@contextmanager
def worker_limit(count: int | None) -> Iterator[None]:
    """Let at most `count` threads work on tiles inside the block (None: no limit); never more than there are cores."""
    before, _here.limit = _here.limit, count
    try:
        yield
    finally:
        _here.limit = before


def tile_rows(columns: int, dtype: npt.DTypeLike) -> int:
    """Return how many rows a tile with `columns` columns should have to stay in cache."""
    rows = TILE_BYTES // (max(1, columns) * np.dtype(dtype).itemsize)
    return int(np.clip(rows, MIN_TILE_ROWS, MAX_TILE_ROWS))


def spans(n: int, step: int) -> list[slice]:
    """Return the slices that cut range(n) into pieces of `step`."""
    return [slice(start, min(start + step, n)) for start in range(0, n, step)]


def _drain(work: deque[T]) -> Iterator[T]:
    # deque.popleft is thread-safe, so workers share one queue and a slow core takes fewer tiles.
    while True:
        try:
            yield work.popleft()
        except IndexError:
            return


def parallel(task: Callable[[Iterator[T]], FloatArray | None], items: Iterable[T]) -> list[FloatArray]:
    """Run `task` once per worker over one shared queue of items, with one BLAS thread each.

    The calling thread is one of the workers. Whatever interrupts one of them empties the queue for all.

    Parameters
    ----------
    task : callable
        Takes an iterator of items, makes its own workspace, and may return an array to be combined.
    items : iterable

    Returns
    -------
    list of arrays
        What the workers returned, without None.
    """
    work = deque(items)
    helpers = 0 if _here.worker else min(n_workers(), len(work)) - 1
    with blas_threads(1):
        futures: list[Future[FloatArray | None]] = [_pool().submit(_take_part, task, work) for _ in range(helpers)]
        try:
            results = [_take_part(task, work)]
        finally:
            work.clear()
            # Even after an interruption the workspace must not be freed under a helper's feet.
            failures = [future.exception() for future in futures]
    for failure in failures:
        if failure is not None:
            raise failure
    results += [future.result() for future in futures]
    return [result for result in results if result is not None]


def _take_part(task: Callable[[Iterator[T]], FloatArray | None], work: deque[T]) -> FloatArray | None:
    try:
        return task(_drain(work))
    except BaseException:
        # At once, and by whoever fails: the others would go through all the rest first.
        work.clear()
        raise


def kernel_matrix(
    kernel: Kernel, A: FloatArray, B: FloatArray, origin: Float64Array, dtype: npt.DTypeLike = np.float64
) -> FloatArray:
    """Return k(A, B), shape (a, b), computed in parallel row tiles."""
    kernel = kernel.for_inputs(B, origin)
    rows = kernel.row_features(A, origin, dtype)
    columns = kernel.column_features(B, origin, dtype)
    values = np.empty((len(A), len(B)), dtype=dtype)

    def work(pieces: Iterator[slice]) -> None:
        for piece in pieces:
            kernel.tile(rows[piece], columns, out=values[piece])

    parallel(work, spans(len(A), tile_rows(len(B), dtype)))
    return values


def kernel_product(kernel: Kernel, A: FloatArray, B: FloatArray, V: FloatArray, origin: Float64Array) -> Float64Array:
    """Return k(A, B) @ V in float64, shape (a, q), never holding more than a tile of k(A, B) per worker."""
    kernel = kernel.for_inputs(B, origin)
    columns = kernel.column_features(B, origin, np.float64)
    product = np.zeros((len(A), V.shape[1]))
    width = 2048

    def work(pieces: Iterator[slice]) -> None:
        for piece in pieces:
            rows = kernel.row_features(A[piece], origin, np.float64)
            for cut in spans(len(B), width):
                product[piece] += kernel.tile(rows, columns[cut]) @ V[cut]

    parallel(work, spans(len(A), tile_rows(min(width, len(B)), np.float64)))
    return product
