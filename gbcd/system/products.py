"""Products of K with vectors: from tiles of one half, from the whole K in memory, or evaluated for many columns."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from gbcd.system.kept_tiles import CODED, TILE, KeptTiles, Pair, tile_pairs
from gbcd.system.tile_evaluator import TileEvaluator
from gbcd.threads import parallel, spans
from gbcd.types import Float64Array, FloatArray

MIN_LANES, MAX_LANES = 4, 16
"""Least and largest number of lanes. A lane is a fixed set of tiles whose products one thread sums up in order. Lanes
are added in order too, so the result does not depend on the number of threads."""

LANE_BYTES = 32 << 20
"""Approximate bytes of the sums of all lanes together; the sum of a lane is as large as the product."""

VECTOR = 16
"""Number of columns that BLAS multiplies together."""

MAX_PANEL_ROWS = 512
"""Rows of K that one thread reads or evaluates at a time."""

WIDE_TILE = (256, 1024)
"""Rows and columns of a tile of `wide_product`."""

FillTile = Callable[[Pair, FloatArray], None]
"""Writes the kernel values of a tile, in the precision of the array it is given."""


def padded(q: int) -> int:
    """Return the number of columns, at least q, that BLAS multiplies quickest.

    A product with 45 columns takes a third longer than one with 48.
    """
    return q if q < VECTOR // 2 else -(-q // VECTOR) * VECTOR


def symmetric_product(
    V: FloatArray,
    dtype: np.dtype[np.floating],
    fill: FillTile,
    kept: KeptTiles | None = None,
    fill_kept: FillTile | None = None,
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
        Tiles are read from here if they are held, and put here if there is room.
    fill_kept : callable, optional
        Evaluates a tile that is to be kept, in float64 where float32 tiles are kept; `fill` by default.
    """
    n, q = V.shape
    pairs = tile_pairs(n, dtype)
    # Scaled to 1 first, so that the cast to float32 neither overflows nor underflows.
    scale = float(np.abs(V).max(initial=0.0)) or 1.0
    right = np.zeros((n, padded(q)), dtype=dtype)
    right[:, :q] = V / scale
    missing = [index for index in range(len(pairs)) if kept is None or not kept.holds(index)]
    evaluations = sum((i.stop - i.start) * (j.stop - j.start) for i, j in (pairs[index] for index in missing))
    source = _TileSource(n, dtype, fill, kept, fill_kept or fill)
    single = q == 1 and kept is not None and kept.dtype == CODED

    def add_up(lane: int, product: Float64Array) -> None:
        workspace = source.workspace()
        for index in range(lane, len(pairs), lanes):
            i, j = pairs[index]
            if kept is not None and single and kept.keeps(index):
                source.keep(index, pairs[index], workspace)
                down, up = kept.both_products(index, right[j, 0], right[i, 0])
                product[i, 0] += down
                if i.start != j.start:
                    product[j, 0] += up
                continue
            tile = source.tile(index, pairs[index], workspace)
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


class _TileSource:
    """The tiles of a product: a kept tile is read, any other is evaluated, and kept where there is room.

    The parameters are those of `symmetric_product`.
    """

    def __init__(
        self, n: int, dtype: np.dtype[np.floating], fill: FillTile, kept: KeptTiles | None, fill_kept: FillTile
    ) -> None:
        self._largest = min(n, TILE[dtype.itemsize]) ** 2
        self._dtype, self._fill, self._kept, self._fill_kept = dtype, fill, kept, fill_kept

    def workspace(self) -> tuple[FloatArray, FloatArray]:
        """Return one thread's memory: for a tile, and for a float64 tile that is to be rounded."""
        room = np.empty(self._largest, dtype=self._dtype)
        return room, np.empty(self._largest) if self._kept is not None and self._dtype == np.float32 else room

    def tile(self, index: int, pair: Pair, workspace: tuple[FloatArray, FloatArray]) -> FloatArray:
        """Return the tile (a, b), which may lie in the workspace."""
        room = _shaped(workspace[0], pair)
        if self._kept is None or not self._kept.keeps(index):
            self._fill(pair, room)
            return room
        self.keep(index, pair, workspace)
        return self._kept.get(index, room)

    def keep(self, index: int, pair: Pair, workspace: tuple[FloatArray, FloatArray]) -> None:
        """Evaluate and keep a tile for which there is room, unless it is kept already."""
        if self._kept is None or self._kept.holds(index):
            return
        # Evaluated in float64 and rounded. At d = 300 a float32 tile errs by 3e-6, a rounded one by 3e-8. Kept values
        # are used so often that the difference shows as drift. Codes are coarser than either.
        values = _shaped(workspace[0] if self._kept.dtype == CODED else workspace[1], pair)
        self._fill_kept(pair, values)
        self._kept.put(index, values)


def _shaped(room: FloatArray, pair: Pair) -> FloatArray:
    """Return the first part of `room` in the shape (a, b) of a tile."""
    a, b = (span.stop - span.start for span in pair)
    return room[: a * b].reshape(a, b)


def whole_product(matrix: FloatArray, V: FloatArray) -> Float64Array:
    """Return K @ V in float64, (n, q), for a K (n, n) in memory."""
    # Scaled to 1 first, so that the cast to float32 neither overflows nor underflows.
    scale = float(np.abs(V).max(initial=0.0)) or 1.0
    right = (V / scale).astype(matrix.dtype)
    product = np.empty(V.shape)

    def work(pieces: Iterator[slice]) -> None:
        for piece in pieces:
            product[piece] = scale * (matrix[piece] @ right)

    parallel(work, spans(len(matrix), MAX_PANEL_ROWS))
    return product


def wide_product(tiles: TileEvaluator, V: FloatArray, noise: float) -> FloatArray:
    """Return (K + noise I) @ V, (n, q), evaluated and summed up in tile precision, which V has too.

    For many columns, whose product takes longer than the kernel values. Evaluating both halves of K is then quicker
    than the use of symmetry, with its partial sums in memory.
    """
    n = len(V)
    product = np.empty_like(V)
    columns = spans(n, WIDE_TILE[1])

    def work(pieces: Iterator[slice]) -> None:
        room = np.empty(WIDE_TILE[0] * WIDE_TILE[1], dtype=V.dtype)
        for i in pieces:
            total = V.dtype.type(noise) * V[i]
            for j in columns:
                tile = room[: (i.stop - i.start) * (j.stop - j.start)].reshape(i.stop - i.start, -1)
                total += tiles.evaluate(i, j, tile) @ V[j]
            product[i] = total

    parallel(work, spans(n, WIDE_TILE[0]))
    return product
