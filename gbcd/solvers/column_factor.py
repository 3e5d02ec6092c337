"""The coarse block: a low-rank factor of K from columns chosen by randomly pivoted Cholesky.

Pivots are drawn in proportion to the Schur diagonal d, the part of K's diagonal that the columns so far do not explain
(Chen, Epperly, Tropp & Webber 2023, "Randomly pivoted Cholesky"). Many pivots are drawn at a time, and those that other
pivots of the draw make superfluous are rejected (Epperly, Tropp & Webber 2024).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeVar

import numpy as np

from gbcd.linalg.blas import divide
from gbcd.system.coded_array import CodedArray
from gbcd.system.kept_tiles import CODED
from gbcd.system.protocol import LinearSystem
from gbcd.threads import parallel, spans
from gbcd.types import Float64Array, FloatArray, IntArray

A = TypeVar("A", bound=FloatArray)

MAX_DRAWN_PIVOTS = 512
"""Largest number of pivots drawn between two updates of the factor; some of them are rejected."""

MIN_DRAWN_PIVOTS = 64
"""Least number of pivots drawn between two updates, however little memory there is for their columns."""

MIN_FACTOR_BYTES = 8 << 20
"""Bytes that a factor may take whatever the memory budget."""

COLUMN_ERROR = {4: 2e-7, 8: 4e-16}
"""Standard deviation of the rounding of an entry of L, by the bytes of its values."""

CODED_COLUMN_ERROR = 4.4e-6
"""Standard deviation of the rounding of an entry of L that is kept as a 16-bit code."""

MAX_COLUMN_ROUNDING = 0.03
"""Largest norm of the rounding errors of a column of L, over sqrt(noise). Pivots too small to keep to it are not taken.

With larger errors P is no longer below Kbar. The errors of many columns add up: on Friedman1 (n = 40,000) the descent
took 11 steps with columns that err by 0.3, and 7 without them."""

MAX_CODED_COLUMN_ROUNDING = 0.3
"""Value of `MAX_COLUMN_ROUNDING` for columns that are added after L was turned into codes."""

MAX_CODED_ROUNDING = 0.05
"""Largest norm of the rounding errors of L as codes, over sqrt(noise), at which L is turned into codes."""

EARLY_CODES_TRACE = 10.0
"""Mean Schur diagonal, over the smallest pivot that a coded L takes, above which L may be coded while it grows."""

MIN_PIVOT_ERRORS = 32.0
"""Smallest pivot, in standard deviations of the error of a kernel value: smaller pivots are mostly rounding."""

MIN_PIVOT_SHARE = 0.01
"""Smallest pivot over the largest one of the same draw."""

PIECE_ROWS = 1024
"""Rows of L that a thread works on at a time."""

MAX_LANES = 16
"""Largest number of partial sums of L' V that threads make side by side."""

LANES_BYTES = 8 << 20
"""Bytes that the partial sums of L' V may take together; there is at least one sum."""

EIGENVALUE_DECAY = 5.0
"""Exponent p - 1, where the k-th eigenvalue of K is assumed to fall as k^-p."""


def forecast_norm_left(n: int, rank: int, left: float) -> float:
    """Forecast |K - L L'| over the noise.

    Parameters
    ----------
    n, rank : int
    left : float
        Mean Schur diagonal over the noise.

    Notes
    -----
    Where the k-th eigenvalue falls as k^-p, the largest of the eigenvalues after the first `rank` is their sum times
    (p - 1) / rank.
    """
    return EIGENVALUE_DECAY * n * left / max(rank, 1)


class ColumnFactor:
    """L (n, rank) with K ~ L L', a column for each pivot, grown on demand, in the precision of the system's tiles.

    Parameters
    ----------
    system : LinearSystem
    rng : numpy.random.Generator

    Attributes
    ----------
    rank : int
    schur : array (n,)
        d, the diagonal of K - L L'.
    exhausted : bool
        Whether `grow` has found nothing left to add.
    """

    def __init__(self, system: LinearSystem, rng: np.random.Generator) -> None:
        self.rank = 0
        self.exhausted = False
        self.schur: Float64Array = system.diagonal(noise=False).copy()
        self._system = system
        self._dtype = system.dtype
        self._rng = rng
        spread = float(self.schur.max())
        self._root_noise = float(np.sqrt(system.noise / spread))
        # The smallest pivots whose columns keep to the limits of rounding: L as numbers, then L as codes.
        scale = spread * system.n / self._root_noise**2
        self._floor = max(
            scale * (COLUMN_ERROR[self._dtype.itemsize] / MAX_COLUMN_ROUNDING) ** 2,
            MIN_PIVOT_ERRORS * system.precision.tile_error,
        )
        self._coded_floor = scale * (CODED_COLUMN_ERROR / MAX_CODED_COLUMN_ROUNDING) ** 2
        self._pieces = spans(system.n, PIECE_ROWS)
        # One panel for each call of `grow`: the new columns, in pieces of rows.
        self._panels: list[list[FloatArray | CodedArray]] = []

    @property
    def dtype(self) -> np.dtype[np.floating]:
        """The precision of L before it is turned into codes."""
        return self._dtype

    @property
    def trace(self) -> float:
        """Mean of the Schur diagonal, which L leaves of K: between 0 and 1 for a kernel of unit amplitude."""
        return float(self.schur.mean())

    def grow(self, count: int) -> bool:
        """Add up to `count` pivots (some of the draws are rejected); return False once nothing is left to add."""
        weights = np.where(self.schur > self._floor, self.schur, 0.0)
        total = float(weights.sum())
        if total > 0:
            drawn = np.unique(self._rng.choice(len(weights), size=count, p=weights / total))
            pivots, corner = self._accept(drawn)
            if len(pivots):
                self._append(pivots, corner)
                return True
        self.exhausted = True
        return False

    @property
    def needs_float64(self) -> bool:
        """Whether float32 left more of K than the noise, as for a very smooth kernel, with its few large eigenvalues.

        On Friedman1 (n = 5,000) with long length scales and a noise of 1.7e-4 a factor in float32 ends at rank 59, and
        67 iterations of three kinds follow. In float64 it goes on to rank 632, and one step suffices.
        """
        left = len(self.schur) * self.trace
        return self.exhausted and self._dtype == np.float32 and left > self._system.noise

    @property
    def bytes(self) -> int:
        """Bytes that L takes."""
        return sum(piece.nbytes for panel in self._panels for piece in panel)

    @property
    def value_bytes(self) -> int:
        """Bytes of a value of L in the preconditioner: 2 for codes."""
        return CODED.itemsize if self._allows_codes else self._dtype.itemsize

    @property
    def leaves_much(self) -> bool:
        """Whether the mean Schur diagonal is far above the rounding of codes, so that L can be coded while it grows."""
        return self.trace > EARLY_CODES_TRACE * self._coded_floor

    def compress(self) -> None:
        """Turn L into 16-bit codes where rounding is small beside sqrt(noise). Reading L limits the speed of P^-1."""
        if not self._allows_codes:
            return
        self._floor = max(self._floor, self._coded_floor)
        for panel in self._panels:
            panel[:] = [piece if isinstance(piece, CodedArray) else CodedArray(piece) for piece in panel]

    def products(self, V: FloatArray) -> Float64Array:
        """Return L' V in float64, (rank, q)."""
        right = np.ascontiguousarray(V, dtype=self._dtype)
        starts = self._starts()
        # Each lane adds up consecutive pieces in order, so the result does not depend on the number of threads.
        count = int(np.clip(LANES_BYTES // max(8 * self.rank * V.shape[1], 1), 1, MAX_LANES))
        lanes = spans(len(self._pieces), max(1, -(-len(self._pieces) // count)))
        totals = np.zeros((len(lanes), self.rank, V.shape[1]))

        def work(parts: Iterator[tuple[int, int]]) -> None:
            room = self._room()
            for lane, k in parts:
                total = totals[lane, starts[k] : starts[k + 1]]
                for p in range(*lanes[lane].indices(len(self._pieces))):
                    total += _transposed_product(self._panels[k][p], right[self._pieces[p]], room)

        parallel(work, [(lane, k) for lane in range(len(lanes)) for k in range(len(self._panels))])
        total: Float64Array = totals.sum(axis=0)
        return total

    def subtract(self, W: FloatArray, G: A) -> A:
        """Return G - L W, (n, q), for W (rank, q), in the precision of G."""
        left = np.ascontiguousarray(W, dtype=self._dtype)
        starts = self._starts()
        result = G.copy()

        def work(pieces: Iterator[int]) -> None:
            room = self._room()
            for p in pieces:
                for panel, start, stop in zip(self._panels, starts, starts[1:], strict=False):
                    result[self._pieces[p]] -= _product(panel[p], left[start:stop], room)

        parallel(work, range(len(self._pieces)))
        return result

    def gram(self) -> Float64Array:
        """Return the lower triangle of L' L, (rank, rank), summed up in float64 over pieces of rows."""
        gram = np.zeros((self.rank, self.rank))
        starts = self._starts()

        def work(pairs: Iterator[tuple[int, int]]) -> None:
            first, second = self._room(), self._room()
            for a, b in pairs:
                target = gram[starts[a] : starts[a + 1], starts[b] : starts[b + 1]]
                for left, right in zip(self._panels[a], self._panels[b], strict=True):
                    target += _decoded(left, first).T @ _decoded(right, second)

        parallel(work, [(a, b) for a in range(len(self._panels)) for b in range(a + 1)])
        return gram

    def rows(self, index: IntArray) -> list[FloatArray]:
        """Return L[index] as one array (len(index), s) for each panel."""
        piece, within = np.divmod(index, PIECE_ROWS)
        result: list[FloatArray] = []
        for panel in self._panels:
            out = np.empty((len(index), panel[0].shape[1]), dtype=self._dtype)
            for p in np.unique(piece):
                here = piece == p
                source = panel[p]
                out[here] = source.rows(within[here]) if isinstance(source, CodedArray) else source[within[here]]
            result.append(out)
        return result

    @property
    def _allows_codes(self) -> bool:
        rounding = CODED_COLUMN_ERROR * (np.sqrt(len(self.schur)) + np.sqrt(self.rank))
        return self._dtype == np.float32 and bool(rounding <= MAX_CODED_ROUNDING * self._root_noise)

    def _starts(self) -> list[int]:
        return [0, *np.cumsum([panel[0].shape[1] for panel in self._panels]).tolist()]

    def _room(self) -> FloatArray:
        widest = max((panel[0].shape[1] for panel in self._panels), default=0)
        return np.empty(PIECE_ROWS * widest, dtype=self._dtype)

    def _accept(self, drawn: IntArray) -> tuple[IntArray, Float64Array]:
        """Return the draws that sequential sampling would have taken, and the Cholesky factor of their Schur block."""
        schur = self._system.block(drawn, drawn).astype(np.float64)
        for rows in self.rows(drawn):
            schur -= rows @ rows.T
        allowed = self.schur[drawn] * self._rng.random(len(drawn))
        factor = np.zeros_like(schur)
        taken: list[int] = []
        left = schur.diagonal().copy()
        for i in self._rng.permutation(len(drawn)):
            # The pivots taken since the draw have reduced the Schur complement of i from schur to left. So i is taken
            # with probability left / schur. A pivot that is small beside the others is refused: it explains little,
            # and dividing by its root amplifies rounding.
            if left[i] <= max(allowed[i], self._floor, MIN_PIVOT_SHARE * left.max()):
                continue
            t = len(taken)
            column = (schur[:, i] - factor[:, :t] @ factor[i, :t]) / np.sqrt(left[i])
            factor[:, t] = column
            left -= column**2
            taken.append(int(i))
        return drawn[taken], np.tril(factor[taken][:, : len(taken)])

    def _append(self, pivots: IntArray, corner: Float64Array) -> None:
        columns = self._system.columns(pivots).astype(self._dtype, copy=False)
        earlier = [rows.T.copy() for rows in self.rows(pivots)]
        lower = corner.astype(self._dtype)

        def work(pieces: Iterator[int]) -> None:
            room = self._room()
            for p in pieces:
                i = self._pieces[p]
                for old, at_pivots in zip(self._panels, earlier, strict=True):
                    columns[i] -= _decoded(old[p], room) @ at_pivots
                divide(columns[i], lower)
                # |L_i|^2 <= d_i in exact arithmetic. Enforced, since rounding errors would grow from pivot to pivot.
                squares = np.einsum("ij,ij->i", columns[i], columns[i], dtype=np.float64)
                allowed = np.minimum(1, np.sqrt(self.schur[i] / np.maximum(squares, np.finfo(np.float64).tiny)))
                columns[i] *= allowed[:, None].astype(self._dtype)
                self.schur[i] -= np.minimum(squares, self.schur[i])

        parallel(work, range(len(self._pieces)))
        self.schur[pivots] = 0
        self._panels.append([columns[i] for i in self._pieces])
        self.rank += len(pivots)


def _decoded(piece: FloatArray | CodedArray, room: FloatArray) -> FloatArray:
    if not isinstance(piece, CodedArray):
        return piece
    a, b = piece.shape
    return piece.values(room[: a * b].reshape(a, b))


def _product(piece: FloatArray | CodedArray, right: FloatArray, room: FloatArray) -> FloatArray:
    if isinstance(piece, CodedArray) and right.shape[1] == 1:
        return piece.product(right[:, 0])[:, None]
    product: FloatArray = _decoded(piece, room) @ right
    return product


def _transposed_product(piece: FloatArray | CodedArray, left: FloatArray, room: FloatArray) -> FloatArray:
    if isinstance(piece, CodedArray) and left.shape[1] == 1:
        return piece.transposed_product(left[:, 0])[:, None]
    product: FloatArray = _decoded(piece, room).T @ left
    return product
