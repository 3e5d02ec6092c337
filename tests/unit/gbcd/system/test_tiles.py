import numpy as np
import pytest

from gbcd import SquaredExponential
from gbcd.system.tiles import kernel_matrix, kernel_product, tile_rows
from gbcd.threads import worker_limit


def test_tiles_stay_in_cache_and_are_never_slivers():
    for columns in (0, 1, 100, 10**4, 10**7):
        assert 64 <= tile_rows(columns, np.float32) <= 1024
    assert tile_rows(1000, np.float32) * 1000 * 4 <= 1 << 20
    assert tile_rows(1000, np.float64) < tile_rows(1000, np.float32)


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
