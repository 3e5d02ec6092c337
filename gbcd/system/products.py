"""Products of the whole symmetric K with vectors, each tile evaluated or read once for both of its halves."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator

import numpy as np

from gbcd.system.kept_tiles import CODED, TILE, KeptTiles, Pair, tile_pairs
from gbcd.threads import parallel
from gbcd.types import Float64Array, FloatArray, IntArray

MAX_LANES = 16
MIN_LANES = 4
LANE_BYTES = 32 << 20
"""The tiles are dealt out to lanes, each summed up in order by one thread, and the lanes are added in order: the
result does not depend on the number of threads. Each lane has a whole product; all together take about this much."""

SMALLEST_PART = 256
"""Rows that lie near each other: half a tile."""

VECTOR = 16

MAX_SQUARED = 1e10
"""Squares of larger features may overflow when summed up in float32."""

FillTile = Callable[[Pair, FloatArray], None]
"""Writes the kernel values of a tile, in the precision of the array it is given."""


def padded(q: int) -> int:
    """Return the number of columns, at least q, that BLAS multiplies quickest.

    A product with 45 columns takes a third longer than one with 48.
    """
    return q if q < VECTOR // 2 else -(-q // VECTOR) * VECTOR


def symmetric_product(
    V: Float64Array, dtype: np.dtype[np.floating], fill: FillTile, kept: KeptTiles | None = None
) -> tuple[Float64Array, int]:
    """Return K @ V in float64, (n, q), and the number of kernel values evaluated for it.

    Parameters
    ----------
    V : array (n, q)
    dtype : dtype
        Precision of the tiles; they are summed up in float64.
    fill : callable
        Evaluates a tile.
    kept : KeptTiles, optional
        Read where it holds a tile, and given those it has room for.
    """
    n, q = V.shape
    pairs = tile_pairs(n, dtype)
    # Scaled to 1 first, so that the cast to float32 neither overflows nor underflows.
    scale = float(np.abs(V).max(initial=0.0)) or 1.0
    right = np.zeros((n, padded(q)), dtype=dtype)
    right[:, :q] = V / scale
    missing = [index for index in range(len(pairs)) if kept is None or not kept.holds(index)]
    evaluations = sum((i.stop - i.start) * (j.stop - j.start) for i, j in (pairs[index] for index in missing))
    single = q == 1 and kept is not None and kept.dtype == CODED

    def add_up(lane: int, product: Float64Array) -> None:
        room = np.empty(min(n, TILE[dtype.itemsize]) ** 2, dtype=dtype)
        exact = np.empty(room.shape) if kept is not None and dtype == np.float32 else room
        for index in range(lane, len(pairs), lanes):
            i, j = pairs[index]
            shape = (i.stop - i.start, j.stop - j.start)
            tile = room[: shape[0] * shape[1]].reshape(shape)
            if kept is None or not kept.keeps(index):
                fill((i, j), tile)
            else:
                if not kept.holds(index):
                    # In float64 and rounded: a float32 tile errs by 3e-6 at d = 300, rounding by 3e-8, and what is
                    # kept is used so often that the difference shows as drift. Codes are coarser than both.
                    full = tile if kept.dtype == CODED else exact[: tile.size].reshape(shape)
                    fill((i, j), full)
                    kept.put(index, full)
                if single:
                    down, up = kept.both_products(index, right[j, 0], right[i, 0])
                    product[i, 0] += down
                    if i.start != j.start:
                        product[j, 0] += up
                    continue
                tile = kept.get(index, tile)
            product[i] += (tile @ right[j])[:, :q]
            if i.start != j.start:
                product[j] += (tile.T @ right[i])[:, :q]

    lanes = min(len(pairs), int(np.clip(LANE_BYTES // V.nbytes, MIN_LANES, MAX_LANES)))
    products = np.zeros((lanes, *V.shape))

    def work(mine: Iterator[int]) -> None:
        for lane in mine:
            add_up(lane, products[lane])

    parallel(work, range(lanes))
    total = products[0]
    for product in products[1:]:
        total += product
    return scale * total, evaluations


def locality_order(features: FloatArray) -> IntArray:
    """Return an order of the rows (n, p) in which near ones are mostly close together, (n,).

    Halves each part at the median of its projection on its direction of largest variance. Then most tiles of K
    span a small range, and so do their rounding errors as codes: half of those in random order (arm8, n = 16,000).
    """
    largest = float(np.abs(features).max(initial=0.0))
    if largest > MAX_SQUARED:
        features = features / features.dtype.type(largest)
    order = np.arange(len(features))
    parts = deque([(0, len(features))])
    while parts:
        start, stop = parts.popleft()
        if stop - start <= SMALLEST_PART:
            continue
        rows = order[start:stop]
        centred = features[rows] - features[rows].mean(axis=0)
        axis = np.linalg.eigh(centred.T @ centred)[1][:, -1]
        # Whole tiles on the left, so that tiles do not straddle the cut.
        middle = start + min(-(-(stop - start) // (2 * SMALLEST_PART)) * SMALLEST_PART, stop - start - 1)
        order[start:stop] = rows[np.argpartition(centred @ axis, middle - start)]
        parts.extend([(start, middle), (middle, stop)])
    return order
