"""A function applied to many items by a few threads, in order, with few items in memory."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import TypeVar

import cv2
import joblib
from threadpoolctl import threadpool_limits

T = TypeVar("T")
R = TypeVar("R")


def ordered_map(pool: ThreadPoolExecutor, function: Callable[[T], R], items: Iterable[T], most: int) -> Iterator[R]:
    """``map(function, items)`` by the threads of a pool, at most `most` items under way.

    The next item is fetched while the threads work on earlier ones.
    """
    waiting: deque[Future[R]] = deque()
    try:
        for item in items:
            waiting.append(pool.submit(function, item))
            if len(waiting) >= most:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        for future in waiting:
            future.cancel()


@contextmanager
def worker_pool() -> Iterator[ThreadPoolExecutor]:
    """A pool with one thread per core; inside it, OpenCV and BLAS use one thread per call."""
    before = cv2.getNumThreads()
    cv2.setNumThreads(1)
    try:
        with threadpool_limits(limits=1, user_api="blas"), ThreadPoolExecutor(n_cores()) as pool:
            yield pool
    finally:
        cv2.setNumThreads(before)


def n_cores() -> int:
    """Cores that this process may use."""
    return int(joblib.cpu_count())
