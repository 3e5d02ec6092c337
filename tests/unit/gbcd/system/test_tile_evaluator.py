import numpy as np
import pytest

from gbcd import SquaredExponential
from gbcd.system.tile_evaluator import TileEvaluator

N = 600


@pytest.fixture(params=[np.float32, np.float64])
def setting(request):
    X = np.random.default_rng(0).standard_normal((N, 3))
    K = np.exp(-0.2 * ((X[:, None] - X[None]) ** 2).sum(axis=2))
    dtype = np.dtype(request.param)
    tiles = TileEvaluator(X, SquaredExponential(0.2), X.mean(axis=0), np.ones(N), dtype)
    return tiles, K, {"rtol": 0, "atol": 1e-6 if dtype == np.float32 else 1e-14}


def test_tiles_and_rows_are_those_of_the_matrix(setting):
    tiles, K, close = setting
    i, j = slice(100, 350), slice(20, 90)
    out = np.empty((250, 70), dtype=tiles.rows.dtype)
    np.testing.assert_allclose(tiles.evaluate(i, j, out), K[i, j], **close)
    few = np.array([7, 3])
    np.testing.assert_allclose(tiles.few_rows(few, np.empty((2, N), dtype=tiles.rows.dtype)), K[few], **close)


def test_tiles_are_filled_in_the_order_of_near_rows(setting):
    tiles, K, close = setting
    pairs = [(slice(0, 300), slice(0, 300)), (slice(300, 600), slice(0, 300))]
    for sort in (False, True):
        if sort:
            tiles.sort()
        order = np.arange(N) if tiles.order is None else tiles.order
        for i, j in pairs:
            values = np.empty((300, 300), dtype=tiles.rows.dtype)
            tiles.fill((i, j), values)
            np.testing.assert_allclose(values, K[np.ix_(order[i], order[j])], **close)
            if i == j:
                np.testing.assert_array_equal(np.diagonal(values), 1)
    assert (np.sort(tiles.order) == np.arange(N)).all()
