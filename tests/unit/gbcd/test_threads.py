import threading

import joblib
import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from gbcd.threads import available_cores, blas_threads, n_workers, parallel, spans, thread_count, worker_limit


def test_spans_cover_every_row_once():
    assert spans(0, 4) == []
    assert spans(10, 4) == [slice(0, 4), slice(4, 8), slice(8, 10)]
    assert spans(8, 4) == [slice(0, 4), slice(4, 8)]


@pytest.mark.parametrize("workers", [1, 2, None])
def test_every_item_is_worked_on_once(workers):
    done = np.zeros(1000, dtype=int)

    def work(items):
        count = 0
        for item in items:
            done[item] += 1
            count += 1
        return np.array(count)

    with worker_limit(workers):
        counts = parallel(work, range(1000))
    assert (done == 1).all()
    assert sum(int(count) for count in counts) == 1000
    assert len(counts) <= n_workers()


def test_what_returns_nothing_is_left_out():
    def work(items):
        for _ in items:
            pass

    assert parallel(work, range(5)) == []
    assert parallel(work, []) == []


def test_one_worker_is_the_calling_thread():
    seen = set()

    def work(items):
        seen.update(threading.current_thread() for _ in items)

    with worker_limit(1):
        parallel(work, range(10))
    assert seen == {threading.current_thread()}


def test_a_nested_call_runs():
    done = np.zeros((8, 50), dtype=int)

    def outer(items):
        for i in items:

            def inner(pieces, i=i):
                for j in pieces:
                    done[i, j] += 1

            parallel(inner, range(50))

    # Many times over: workers that waited for one another would wait for ever.
    for _ in range(20):
        parallel(outer, range(8))
    assert (done == 20).all()


class Broken(Exception):
    """Raised on purpose."""


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("where", [0, 3, 40])
def test_an_error_is_raised_and_ends_the_work_of_all(workers, where):
    taken = []

    def work(items):
        for item in items:
            taken.append(item)
            if item == where:
                raise Broken

    with worker_limit(workers), pytest.raises(Broken):
        parallel(work, range(10**6))
    # The others stop at once, and nothing is left for the next call.
    assert len(taken) < 10**6
    after = []
    parallel(lambda items: after.extend(items), range(5))
    assert sorted(after) == [0, 1, 2, 3, 4]


@pytest.mark.skipif(available_cores() < 2, reason="needs two cores")
def test_an_error_in_a_helper_is_raised_too():
    caller = threading.current_thread()
    failed = threading.Event()

    def work(items):
        for _ in items:
            if threading.current_thread() is not caller:
                failed.set()
                raise Broken
            failed.wait(10)

    with worker_limit(2), pytest.raises(Broken):
        parallel(work, range(100))


def test_the_limit_holds_inside_its_block_alone():
    before = n_workers()
    with worker_limit(1):
        assert n_workers() == 1
        with worker_limit(None):
            assert n_workers() == available_cores()
        assert n_workers() == 1
    assert n_workers() == before
    with pytest.raises(Broken), worker_limit(1):
        raise Broken
    assert n_workers() == before
    with worker_limit(10**6):
        assert n_workers() == available_cores()


def test_the_limit_is_that_of_the_calling_thread():
    seen = []
    with worker_limit(1):
        other = threading.Thread(target=lambda: seen.append(n_workers()))
        other.start()
        other.join()
    assert seen == [available_cores()]


def test_blas_uses_the_threads_it_is_told_and_those_of_before_afterwards():
    def used():
        return {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"}

    with threadpool_limits(2, user_api="blas"):
        with blas_threads(1):
            assert used() == {1}
            with blas_threads(1):
                assert used() == {1}
            assert used() == {1}
        assert used() == {2}


def test_as_scikit_learn_counts():
    cores = joblib.cpu_count()
    assert thread_count(3) == 3
    assert thread_count(-1) == thread_count(None) == cores
    assert thread_count(-2) == max(1, cores - 1)


@pytest.mark.parametrize("backend", ["threading", "loky"])
def test_a_worker_of_joblib_uses_one(backend):
    with joblib.Parallel(n_jobs=2, backend=backend) as workers:
        assert workers(joblib.delayed(thread_count)(n) for n in (None, None, 3)) == [1, 1, 3]


def test_what_joblib_is_told_holds():
    with joblib.parallel_config(backend="threading", n_jobs=5):
        assert thread_count(None) == 5


@pytest.mark.parametrize("n_jobs", [0, 1.5, "all", True])
def test_what_is_no_number_of_jobs_is_refused(n_jobs):
    with pytest.raises(ValueError, match="n_jobs must be None or an integer other than 0, not"):
        thread_count(n_jobs)
