import numpy as np
import pytest

from gbcd.system.locality import locality_order


@pytest.mark.parametrize("n", [1, 2, 256, 257, 512, 513, 1100, 5000])
def test_the_order_is_a_permutation(n):
    features = np.random.default_rng(0).standard_normal((n, 5)).astype(np.float32)
    order = locality_order(features)
    np.testing.assert_array_equal(np.sort(order), np.arange(n))


@pytest.mark.parametrize("features", [np.ones((2000, 3)), np.arange(4000.0).reshape(-1, 1) // 1500])
def test_rows_that_repeat_are_ordered_too(features):
    order = locality_order(features.astype(np.float32))
    np.testing.assert_array_equal(np.sort(order), np.arange(len(features)))


def test_near_rows_are_close_together():
    line = np.random.default_rng(0).permutation(2048).astype(np.float32)[:, None]
    pieces = line[locality_order(line), 0].reshape(-1, 256)
    # On a line the parts are the intervals.
    np.testing.assert_array_equal(np.ptp(pieces, axis=1), 255)
