"""The part of K that is kept in memory, and its form, within the memory budget."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from gbcd.system.kept_tiles import CODED, KeptTiles, half_bytes
from gbcd.system.precision import TilePrecision
from gbcd.types import FloatArray

WORKSPACE_BYTES = 32 << 20
"""Bytes set aside for tiles and selection before K may be kept."""

WORKSPACE_SHARE = 8
"""Memory budget over the largest workspace: the workspace takes at most an eighth of the budget."""


class KernelStorage:
    """The part of K that one system keeps: all of it, tiles of one half, or nothing.

    Parameters
    ----------
    shape : (n, d)
        Shape of the training inputs.
    budget : int
        Bytes.
    precision : TilePrecision
        Kept values are in its dtype, or codes where it allows them.

    Attributes
    ----------
    budget : int
        Bytes that may be held for kernel values, features and the workspace.
    matrix : array (n, n) or None
        K in tile precision, where all of it is kept.
    half : KeptTiles or None
        Tiles of one half, where a half is kept.
    """

    def __init__(self, shape: tuple[int, int], budget: int, precision: TilePrecision) -> None:
        self.budget = budget
        self.matrix: FloatArray | None = None
        self.half: KeptTiles | None = None
        self._n, self._d = shape
        self._precision = precision
        self._reserved = 0

    @property
    def workspace(self) -> int:
        """Bytes for tiles and selection."""
        return min(WORKSPACE_BYTES, self.budget // WORKSPACE_SHARE)

    @property
    def room(self) -> int:
        """Bytes of the memory budget that are left beside the features and the workspace."""
        features = 2 * self._n * (self._d + 2) * self._precision.dtype.itemsize
        return max(0, int(self.budget - features - self.workspace))

    @property
    def is_coded(self) -> bool:
        """Whether the half is kept as 16-bit codes."""
        return self.half is not None and self.half.dtype == CODED

    @property
    def code_error(self) -> float:
        """Standard deviation of the error of a kernel value kept as a code; the expected one, until there are codes."""
        measured = 0.0 if self.half is None else float(np.sqrt(self.half.code_variance))
        return measured or self._precision.code_error

    def keep_whole(self, fill: Callable[[FloatArray], None]) -> bool:
        """Keep all of K, written by `fill` to an array (n, n), if it fits; return whether it is kept."""
        dtype = self._precision.dtype
        if self.matrix is None and self._n**2 * dtype.itemsize <= self.room:
            self.half = None
            self.matrix = np.empty((self._n, self._n), dtype=dtype)
            fill(self.matrix)
        return self.matrix is not None

    def keep_half(self, reserved: int | None = None, coded: bool | None = None) -> KeptTiles:
        """Make room for as many tiles of one half as fit; products fill them.

        Parameters
        ----------
        reserved : int, optional
            Bytes of the budget to leave free; None leaves as many as the last call.
        coded : bool, optional
            See `LinearSystem.keep`.
        """
        if reserved is not None:
            self._reserved = reserved
        room = self.room - self._reserved
        dtype = self._precision.dtype
        if coded is None:
            coded = half_bytes(self._n, dtype) > room and self._precision.allows_codes
        self.matrix = None
        self.half = KeptTiles(self._n, CODED if coded else dtype, room)
        return self.half

    def release(self) -> None:
        """Give back the memory of all kept values."""
        self.matrix = self.half = None
