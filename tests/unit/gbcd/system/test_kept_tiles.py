import numpy as np
import pytest

from gbcd.system.kept_tiles import CODED, TILE, KeptTiles, half_bytes, tile_pairs

F32, F64 = np.dtype(np.float32), np.dtype(np.float64)
DTYPES = [F32, F64, CODED]
SIZES = [1, 2, 255, 256, 257, 511, 512, 513, 1100]


def tile_bytes(i, j, dtype):
    """Codes have a least level and a step, float32, for each row."""
    rows, columns = i.stop - i.start, j.stop - j.start
    return rows * columns * dtype.itemsize + (rows * 8 if dtype == CODED else 0)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("n", SIZES)
def test_the_tiles_cover_one_half_and_the_diagonal(n, dtype):
    covered = np.zeros((n, n), dtype=int)
    for i, j in tile_pairs(n, dtype):
        assert max(i.stop - i.start, j.stop - j.start) <= TILE[dtype.itemsize]
        covered[i, j] += 1
        if i.start != j.start:
            covered[j, i] += 1
    assert (covered == 1).all()


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("n", SIZES)
def test_the_bytes_of_a_half_are_those_of_its_tiles(n, dtype):
    whole = half_bytes(n, dtype)
    assert whole == sum(tile_bytes(i, j, dtype) for i, j in tile_pairs(n, dtype))
    kept = KeptTiles(n, dtype, whole)
    assert kept.share == 1
    assert kept.n_kept == len(tile_pairs(n, dtype))


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("n", [1, 300, 1100])
@pytest.mark.parametrize("part", [-1.0, 0.0, 0.2, 0.5, 0.99, 1.0, 2.0])
def test_as_many_tiles_are_kept_as_fit(n, dtype, part):
    pairs = tile_pairs(n, dtype)
    sizes = [tile_bytes(i, j, dtype) for i, j in pairs]
    values = [(i.stop - i.start) * (j.stop - j.start) for i, j in pairs]
    budget = int(part * sum(sizes))
    kept = KeptTiles(n, dtype, budget)
    size = sum(sizes[: kept.n_kept])
    assert size <= max(budget, 0)
    if kept.n_kept < len(sizes):
        assert size + sizes[kept.n_kept] > budget
    assert kept.share == pytest.approx(sum(values[: kept.n_kept]) / sum(values), abs=1e-15)
    assert [kept.keeps(index) for index in range(len(sizes))] == [index < kept.n_kept for index in range(len(sizes))]
    assert not any(kept.holds(index) for index in range(len(sizes)))


@pytest.mark.parametrize(("dtype", "accuracy"), [(F32, 3e-8), (F64, 0), (CODED, 1e-5)], ids=str)
def test_what_is_put_is_held_in_the_precision_asked_for(dtype, accuracy):
    kept = KeptTiles(400, dtype, 1 << 30)
    i, j = tile_pairs(400, dtype)[0]
    given = np.random.default_rng(0).random((i.stop, j.stop)).astype(np.float32 if dtype == CODED else np.float64)
    tile, room = given.copy(), np.empty(given.shape, dtype=np.float32)
    assert not kept.holds(0)
    kept.put(0, tile)
    assert kept.holds(0)
    tile[:] = 7  # it is the caller's again
    back = kept.get(0, room)
    np.testing.assert_allclose(back, given, rtol=0, atol=accuracy)
    assert back.dtype == (np.float32 if dtype == CODED else dtype)


def test_the_variance_of_codes_is_that_of_the_tiles_held():
    kept = KeptTiles(1100, CODED, 1 << 30)
    assert kept.code_variance == 0
    rng = np.random.default_rng(1)
    kept.put(0, rng.random((512, 512)).astype(np.float32))
    kept.put(1, np.ones((512, 512), dtype=np.float32))
    assert kept.code_variance == pytest.approx(1 / 65535**2 / 12 / 2, rel=0.05)
    assert KeptTiles(1100, np.dtype(np.float32), 1 << 30).code_variance == 0
