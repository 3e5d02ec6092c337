"""Tiles in float64, with features for all rows at once and for each tile."""

import numpy as np
import pytest

from gbcd import SquaredExponential
from gbcd.system.exact_tiles import ExactTiles


@pytest.mark.parametrize("room", [0, 10**6])
@pytest.mark.parametrize("ordered", [False, True])
def test_tiles_are_blocks_of_the_dense_matrix(dense, room, ordered):
    X = np.random.default_rng(0).standard_normal((90, 3)) + 5
    order = np.random.default_rng(1).permutation(90) if ordered else None
    kernel = SquaredExponential([0.2, 0.5, 1.0])
    own = np.full(90, 1.0)
    own[order[3] if ordered else 3] = 7.0
    tiles = ExactTiles(X, kernel, X.mean(axis=0), own, order, room)
    K = dense(X, kernel, 0.0)
    if ordered:
        K = K[np.ix_(order, order)]
    across, along = np.empty((40, 30)), np.empty((40, 40))
    tiles.fill((slice(50, 90), slice(0, 30)), across)
    np.testing.assert_allclose(across, K[50:90, :30], rtol=1e-13)
    tiles.fill((slice(0, 40), slice(0, 40)), along)
    assert along[3, 3] == 7.0
    along[3, 3] = 1.0
    np.testing.assert_allclose(along, K[:40, :40], rtol=1e-13)
