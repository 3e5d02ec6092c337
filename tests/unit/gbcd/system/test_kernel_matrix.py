import numpy as np
import pytest

from gbcd import SquaredExponential
from gbcd.system.kernel_matrix import POINTS, kernel_matrix, kernel_product, point_tile
from gbcd.threads import worker_limit


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n", [1, 45, 700, 1531])
def test_the_kernel_values_of_a_point_do_not_depend_on_the_points_beside_it(n, dtype):
    rng = np.random.default_rng(0)
    X, kernel, origin = rng.standard_normal((n + POINTS, 12)), SquaredExponential(0.1), np.zeros(12)
    rows, points = kernel.row_features(X[:n], origin, dtype), kernel.column_features(X[n:], origin, dtype)
    together = point_tile(kernel, rows, points)
    np.testing.assert_allclose(together, np.exp(-0.1 * ((X[:n, None] - X[n:]) ** 2).sum(axis=2)), atol=1e-5)
    for i in range(POINTS):
        np.testing.assert_array_equal(point_tile(kernel, rows, points[i : i + 1])[:, 0], together[:, i])


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
