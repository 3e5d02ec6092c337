import threading

import numpy as np
import pytest
import scipy.linalg

from gbcd.linalg import cholesky as _dense
from gbcd.linalg.blas import divide_vector
from gbcd.linalg.cholesky import MAX_LAPACK_ORDER, cholesky_in_place, cholesky_solve, inverse_from_cholesky, matmul
from gbcd.threads import worker_limit

SIZE = 32
PRECISIONS = [(np.float32, 2e-4), (np.float64, 1e-12)]


def positive_definite(n, dtype=np.float64, rng=None):
    A = (rng or np.random.default_rng(n)).standard_normal((n, n))
    return (A @ A.T / n + np.eye(n)).astype(dtype)


@pytest.mark.parametrize("n", [1, 5, MAX_LAPACK_ORDER, MAX_LAPACK_ORDER + 1, 1543])
def test_cholesky_and_inverse(n):
    rng = np.random.default_rng(n)
    A = positive_definite(n)
    lower = cholesky_in_place(A.copy())
    np.testing.assert_allclose(np.tril(lower), np.linalg.cholesky(A), atol=1e-12)
    np.testing.assert_array_equal(np.triu(lower, 1), np.triu(A, 1))
    Y = rng.standard_normal((n, 2))
    np.testing.assert_allclose(inverse_from_cholesky(lower), np.linalg.inv(A), atol=1e-11)
    np.testing.assert_allclose(matmul(A, Y), A @ Y, atol=1e-12 * n)


@pytest.mark.parametrize(("dtype", "accuracy"), PRECISIONS)
@pytest.mark.parametrize("workers", [1, 2, 5])
@pytest.mark.parametrize("n", [1, 2, SIZE - 1, SIZE, SIZE + 1, 3 * SIZE + 7, 20 * SIZE + 1])
def test_blocks_of_any_number_give_the_factor(monkeypatch, n, workers, dtype, accuracy):
    monkeypatch.setattr(_dense, "available_cores", lambda: workers)
    monkeypatch.setattr("gbcd.threads.n_workers", lambda: workers)
    A = positive_definite(n, dtype)
    lower = A.copy()
    _dense._factor_in_blocks(lower, SIZE)
    assert lower.dtype == dtype
    np.testing.assert_allclose(np.tril(lower), scipy.linalg.cholesky(A.astype(np.float64), lower=True), atol=accuracy)
    np.testing.assert_array_equal(np.triu(lower, 1), np.triu(A, 1))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_number_of_threads_makes_no_difference(dtype):
    A = positive_definite(MAX_LAPACK_ORDER + 200, dtype)
    right = np.random.default_rng(0).standard_normal((len(A), 45))
    results = []
    for threads in (1, 2):
        with worker_limit(threads):
            lower = cholesky_in_place(A.copy())
            results.append((lower, cholesky_solve(lower, right), matmul(A, right)))
    for alone, together in zip(*results, strict=True):
        np.testing.assert_array_equal(alone, together)


def test_blocks_wider_than_one_triangular_solve():
    A = positive_definite(1600)
    lower = A.copy()
    _dense._factor_in_blocks(lower, 700)
    np.testing.assert_allclose(np.tril(lower), np.linalg.cholesky(A), atol=1e-12)


@pytest.mark.parametrize(("dtype", "accuracy"), PRECISIONS)
@pytest.mark.parametrize("q", [1, 2, 45, 1000])
@pytest.mark.parametrize("n", [1, 2, 301])
def test_many_right_hand_sides(n, q, dtype, accuracy):
    A = positive_definite(n, dtype)
    lower = cholesky_in_place(A.copy())
    lower[np.triu_indices(n, 1)] = np.nan  # never read
    right = np.random.default_rng(q).standard_normal((n, q))
    kept = right.copy()
    solution = cholesky_solve(lower, right)
    assert solution.dtype == dtype
    np.testing.assert_allclose(solution, np.linalg.solve(A.astype(np.float64), right), atol=10 * accuracy)
    np.testing.assert_array_equal(right, kept)
    np.testing.assert_array_equal(cholesky_solve(lower, np.asfortranarray(right)), solution)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n", [3, MAX_LAPACK_ORDER + 100])
@pytest.mark.parametrize("at", [0, 2, -1])
def test_an_indefinite_matrix_is_refused(n, at, dtype):
    matrix = np.eye(n, dtype=dtype)
    matrix[at, at] = -1
    with pytest.raises(scipy.linalg.LinAlgError, match="not positive definite"):
        cholesky_in_place(matrix)


def test_no_thread_waits_for_one_that_failed(monkeypatch):
    monkeypatch.setattr("gbcd.threads.n_workers", lambda: 4)
    matrix = np.eye(10 * SIZE)
    matrix[3 * SIZE, 3 * SIZE] = np.nan
    before = threading.active_count()
    with pytest.raises(scipy.linalg.LinAlgError):
        _dense._factor_in_blocks(matrix, SIZE)
    assert threading.active_count() == before


@pytest.mark.parametrize("matrix", [np.eye(4)[:, ::2][:2], np.asfortranarray(np.eye(4)), np.eye(4, dtype=np.float16)])
def test_memory_that_blas_would_misread_is_refused(matrix):
    with pytest.raises(ValueError, match="Rows must be contiguous float32 or float64"):
        cholesky_in_place(matrix)


@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("n", [1, 2, 90])
@pytest.mark.parametrize(("dtype", "rtol"), PRECISIONS)
def test_a_vector_and_rows_are_divided_by_a_triangle_in_a_wider_matrix(n, transposed, dtype, rtol):
    whole = positive_definite(n + 5, dtype)
    right = np.random.default_rng(0).standard_normal((4, n)).astype(dtype)
    triangle = np.tril(whole[:n, :n]).astype(np.float64)
    expected = np.linalg.solve(triangle.T if transposed else triangle, right.T).T
    vector = right[0].copy()
    divide_vector(vector, whole[:n, :n], transposed)
    np.testing.assert_allclose(vector, expected[0], rtol=rtol, atol=rtol)
    if not transposed:
        _dense.divide_in_halves(right, whole[:n, :n])
        np.testing.assert_allclose(right, expected, rtol=rtol, atol=rtol)
