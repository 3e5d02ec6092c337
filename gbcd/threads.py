"""The package's own threads, how many of them work (`n_jobs`), and how many threads BLAS may use beside them.

`parallel` shares a queue of work among the threads of one pool. The threads are started once and kept, since starting
one takes longer than a small tile. `worker_limit` limits how many take part; `thread_count` says what `n_jobs` means.

NumPy and SciPy each bring an OpenBLAS with threads of its own. Small factorizations with two BLAS threads run 10 to 100
times slower than with one. So BLAS uses one thread inside `parallel` and for small factorizations: `blas_threads`.
"""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from numbers import Integral
from typing import TypeVar

import joblib
import scipy.linalg  # noqa: F401 - loads scipy's BLAS, which the controller below must find
from joblib.parallel import get_active_backend
from threadpoolctl import ThreadpoolController

from gbcd.types import FloatArray

T = TypeVar("T")


class _Threads(threading.local):
    """What the current thread may do.

    Attributes
    ----------
    worker : bool
        Whether the thread belongs to the pool. A `parallel` that it calls runs in it alone; otherwise all threads of
        the pool could wait for one another.
    limit : int or None
        Threads that may take part in a `parallel` that this thread calls.
    blas : int or None
        Threads to which BLAS has been limited.
    """

    worker = False
    limit: int | None = None
    blas: int | None = None


_here = _Threads()


@cache
def _controller() -> ThreadpoolController:
    # Cached, since finding the loaded libraries is slow.
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
    if _here.blas == count or _here.worker:  # setting the limit takes longer than a small tile
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

    The calling thread is one of the workers. An exception in one worker empties the queue for all.

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
            # Wait for all helpers, even after an interruption: they may still use the arrays of the caller.
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
        # The worker that fails empties the queue at once. Otherwise the others would work through the rest first.
        work.clear()
        raise


def thread_count(n_jobs: object) -> int:
    """Return how many threads `n_jobs` stands for.

    Parameters
    ----------
    n_jobs : int or None
        -1 is all cores this process may use, -2 all but one. None is all cores too, as for BLAS and OpenMP. Inside
        joblib (a worker of GridSearchCV, ``joblib.parallel_config``) joblib decides what None is, since its workers
        share the cores.

    Raises
    ------
    ValueError
        If it is zero or no integer.
    """
    if n_jobs is not None and (isinstance(n_jobs, bool) or not isinstance(n_jobs, Integral) or n_jobs == 0):
        raise ValueError(f"n_jobs must be None or an integer other than 0, not {n_jobs!r}.")
    backend, configured = get_active_backend()
    if n_jobs is None and configured is None and not backend.nesting_level:
        n_jobs = -1
    return int(joblib.effective_n_jobs(n_jobs))
