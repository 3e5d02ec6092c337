import numpy as np
import pytest

from gbcd.system.kept_tiles import CODED, half_bytes
from gbcd.system.precision import TilePrecision
from gbcd.system.storage import KernelStorage

N, D = 1000, 5
FLOAT32 = np.dtype(np.float32)


def storage(budget, noise=0.1):
    return KernelStorage((N, D), budget, TilePrecision("mixed", noise, (N, D), 1.0, 1.0))


def test_the_room_is_what_features_and_workspace_leave():
    assert storage(0).room == 0
    assert storage(8 << 20).room == (8 << 20) - (1 << 20) - 2 * N * (D + 2) * 4
    assert storage(1 << 30).room == (1 << 30) - (32 << 20) - 2 * N * (D + 2) * 4


def test_the_whole_is_filled_once_and_only_where_it_fits():
    filled = []
    assert not storage(4 * N**2).keep_whole(filled.append)
    assert not filled
    ample = storage(1 << 30)
    assert ample.keep_whole(filled.append)
    assert ample.keep_whole(filled.append)
    assert len(filled) == 1
    assert ample.matrix is filled[0]
    assert (ample.matrix.shape, ample.matrix.dtype) == ((N, N), FLOAT32)
    ample.keep_half()
    assert ample.matrix is None
    ample.keep_whole(filled.append)
    assert ample.half is None
    ample.release()
    assert ample.matrix is None
    assert ample.half is None


def test_codes_are_taken_where_float32_does_not_fit_and_they_serve():
    half = half_bytes(N, FLOAT32)
    roomy, tight, noiseless = storage(1 << 30), storage(1 << 30), storage(1 << 30, noise=1e-4)
    assert roomy.keep_half().dtype == FLOAT32
    assert tight.keep_half(tight.room - half // 2 - 10**5).dtype == CODED
    assert tight.is_coded
    # Half of the float32 tiles is better than codes that are too coarse.
    assert noiseless.keep_half(noiseless.room - half // 2).dtype == FLOAT32
    assert noiseless.half is not None
    assert noiseless.half.share == pytest.approx(0.5, abs=0.2)


def test_what_is_reserved_stays_reserved():
    kept = storage(1 << 30)
    kept.keep_half(kept.room, coded=True)
    assert kept.half is not None
    assert kept.half.n_kept == 0
    assert kept.keep_half().n_kept == 0
    assert kept.keep_half(0).share == 1
