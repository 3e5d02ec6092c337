import threading

import numpy as np
import pytest

from gbcd import SquaredExponential
from gbcd.system.tiles import kernel_matrix, kernel_product, tile_rows
from gbcd.threads import available_cores, blas_threads, n_workers, parallel, spans, worker_limit


def test_spans_cover_every_row_once():
    assert spans(0, 4) == []
    assert spans(10, 4) == [slice(0, 4), slice(4, 8), slice(8, 10)]
    assert spans(8, 4) == [slice(0, 4), slice(4, 8)]


def test_tiles_stay_in_cache_and_are_never_slivers():
    for columns in (0, 1, 100, 10**4, 10**7):
        assert 64 <= tile_rows(columns, np.float32) <= 1024
    assert tile_rows(1000, np.float32) * 1000 * 4 <= 1 << 20
    assert tile_rows(1000, np.float64) < tile_rows(1000, np.float32)


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


def test_blas_threads_nest():
    with blas_threads(1), blas_threads(1):
        assert np.allclose(np.ones((50, 50)) @ np.ones((50, 50)), 50)


@pytest.mark.parametrize("shape", [(1, 1), (3, 2100), (2100, 3), (700, 500)])
def test_kernel_matrices_and_products_are_those_of_the_definition(shape):
    rng = np.random.default_rng(0)
    A, B = (rng.standard_normal((size, 4)) for size in shape)
    V, kernel, origin = rng.standard_normal((shape[1], 3)), SquaredExponential([0.3, 0.1, 0.0, 0.2]), A.mean(axis=0)
    exact = np.exp(-((A[:, None] - B[None]) ** 2 @ kernel.gamma))
    np.testing.assert_allclose(kernel_matrix(kernel, A, B, origin), exact, atol=1e-13)
    np.testing.assert_allclose(kernel_matrix(kernel, A, B, origin, np.float32), exact, atol=3e-6)
    np.testing.assert_allclose(kernel_product(kernel, A, B, V, origin), exact @ V, atol=1e-11)
    results = []
    for workers in (1, 2):
        with worker_limit(workers):
            results.append(kernel_product(kernel, A, B, V, origin))
    np.testing.assert_array_equal(*results)
