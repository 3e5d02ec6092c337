import numpy as np
import pytest
import scipy.linalg

from gbcd._dense import BLOCK, cholesky_in_place, cholesky_solve, inverse_from_cholesky, matmul


@pytest.mark.parametrize("n", [1, 5, BLOCK, 601, 3 * BLOCK + 7])
def test_blocked_cholesky_and_inverse(n):
    rng = np.random.default_rng(n)
    A = rng.standard_normal((n, n))
    A = A @ A.T + n * np.eye(n)
    lower = cholesky_in_place(A.copy())
    np.testing.assert_allclose(np.tril(lower), np.linalg.cholesky(A), atol=1e-9 * n)
    Y = rng.standard_normal((n, 2))
    np.testing.assert_allclose(cholesky_solve(lower, Y), np.linalg.solve(A, Y), atol=1e-9)
    np.testing.assert_allclose(inverse_from_cholesky(lower), np.linalg.inv(A), atol=1e-9)
    np.testing.assert_allclose(matmul(A, Y), A @ Y, atol=1e-9 * n)


@pytest.mark.parametrize("n", [3, 700])
def test_an_indefinite_matrix_is_refused(n):
    matrix = np.eye(n)
    matrix[-1, -1] = -1
    with pytest.raises(scipy.linalg.LinAlgError):
        cholesky_in_place(matrix)
