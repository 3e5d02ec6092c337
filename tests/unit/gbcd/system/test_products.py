import numpy as np
import pytest

from gbcd import KernelSystem, SquaredExponential
from gbcd.system.kept_tiles import CODED, KeptTiles, half_bytes, tile_pairs
from gbcd.system.products import symmetric_product
from gbcd.threads import worker_limit

F32, F64 = np.dtype(np.float32), np.dtype(np.float64)
SIZES = [1, 2, 255, 256, 257, 512, 513, 1100]


def matrix(n, seed=0):
    X = np.random.default_rng(seed).standard_normal((n, 3))
    return np.exp(-0.2 * ((X[:, None] - X[None]) ** 2).sum(axis=2))


def filler(K):
    """Writes tiles of K, and remembers which."""
    filled = []

    def fill(pair, values):
        filled.append((pair[0].start, pair[1].start))
        values[...] = K[pair]

    return fill, filled


def count(pairs):
    return sum((i.stop - i.start) * (j.stop - j.start) for i, j in pairs)


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("q", [1, 3, 45])
@pytest.mark.parametrize(("dtype", "kept"), [(F32, None), (F32, F32), (F32, CODED), (F64, None), (F64, F64)], ids=str)
def test_the_product_is_the_dense_one(n, q, dtype, kept):
    K = matrix(n)
    V = np.random.default_rng(1).standard_normal((n, q))
    exact = K @ V
    accuracy = {F64: 1e-12, F32: 1e-6, CODED: 1e-5}[kept or dtype] * 4 * np.sqrt(n)
    pairs = tile_pairs(n, dtype)
    for part in (0.0, 0.5, 1.0) if kept else (1.0,):
        tiles = KeptTiles(n, kept, int(part * half_bytes(n, kept))) if kept else None
        fill, filled = filler(K)
        first, evaluations = symmetric_product(V, dtype, fill, tiles)
        np.testing.assert_allclose(first, exact, rtol=0, atol=accuracy)
        assert evaluations == count(pairs)
        assert len(filled) == len(set(filled)) == len(pairs)
        # What is kept is never evaluated again, and read as it was the first time.
        again, evaluations = symmetric_product(V, dtype, fill, tiles)
        missing = pairs if tiles is None else pairs[tiles.n_kept :]
        assert evaluations == count(missing)
        assert len(filled) == len(pairs) + len(missing)
        np.testing.assert_array_equal(again, first)


@pytest.mark.parametrize("q", [1, 3, 45])
@pytest.mark.parametrize("kept", [None, F32, CODED], ids=str)
def test_the_number_of_workers_makes_no_difference(q, kept):
    n = 2300
    X = np.random.default_rng(0).standard_normal((n, 3))
    V = np.random.default_rng(1).standard_normal((n, q))
    products = []
    for workers in (1, 2):
        system = KernelSystem(X, SquaredExponential(0.2), 0.1, 1 << 30)
        if kept is not None:
            system.keep("half", coded=kept == CODED)
        else:
            system.keep("half", reserved=system.storage.room)
        with worker_limit(workers):
            products.append(
                [system.matmul(V), system.matmul(V), system.residual(V, V), system.residual(V, V, exact=False)]
            )
    np.testing.assert_array_equal(*products)


@pytest.mark.parametrize("scale", [0.0, 2.0**-664, 2.0**664])  # beyond float32; a power of two changes no digit
def test_no_scale_is_lost_in_float32(scale):
    V = np.random.default_rng(1).standard_normal((300, 2))
    product, scaled = (symmetric_product(values, F32, filler(matrix(300))[0])[0] for values in (V, scale * V))
    np.testing.assert_array_equal(scaled, scale * product)


@pytest.mark.parametrize("order", [False, True])
@pytest.mark.parametrize("share", [0.4, 1.0])
@pytest.mark.parametrize("q", [1, 3])
def test_a_system_keeps_codes_in_any_order(monkeypatch, order, share, q):
    n = 1100
    X = np.random.default_rng(0).standard_normal((n, 3))
    noise = 0.1
    monkeypatch.setattr("gbcd.system.kernel_system.NEGLIGIBLE_ROUNDING", 0.0 if order else np.inf)
    system = KernelSystem(X, SquaredExponential(0.2), noise, 1 << 30)
    Kbar = system.dense()
    system.keep("half", reserved=system.storage.room - int(share * half_bytes(n, CODED)), coded=True)
    before = system.kernel_evaluations
    V, Y = np.random.default_rng(1).standard_normal((2, n, q))
    np.testing.assert_allclose(system.matmul(V), Kbar @ V, rtol=0, atol=1e-3)
    whole = system.kernel_evaluations - before
    assert whole == count(tile_pairs(n, CODED))
    np.testing.assert_allclose(system.matmul(V), Kbar @ V, rtol=0, atol=1e-3)
    again = system.kernel_evaluations - before - whole
    assert again == 0 if share == 1 else 0 < again < whole
    # Neither reads the codes.
    np.testing.assert_allclose(system.residual(V, Y), Kbar @ V - Y, rtol=0, atol=1e-11)
    np.testing.assert_allclose(system.residual(V, Y, exact=False), Kbar @ V - Y, rtol=0, atol=1e-4)


def test_codes_in_order_err_less_than_at_random(monkeypatch):
    n = 3000
    X = np.random.default_rng(0).standard_normal((n, 2))
    errors = []
    for threshold in (0.0, np.inf):
        monkeypatch.setattr("gbcd.system.kernel_system.NEGLIGIBLE_ROUNDING", threshold)
        system = KernelSystem(X, SquaredExponential(1.0), 1.0, 1 << 30)
        system.keep("half", coded=True)
        system.matmul(np.ones((n, 1)))
        errors.append(system.product_error)
    assert errors[0] < 0.85 * errors[1]
