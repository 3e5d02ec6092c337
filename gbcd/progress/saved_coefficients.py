"""The coefficients of an unfinished solve, kept in a checkpoint."""

from __future__ import annotations

import os
import time

from gbcd.checkpoint import Checkpoint, fingerprint
from gbcd.system.protocol import LinearSystem
from gbcd.types import Float64Array

SECTION = "solve"
"""Name of the section of the checkpoint."""


class SavedCoefficients:
    """The part of a checkpoint that belongs to one system and Y.

    Parameters
    ----------
    checkpoint : path-like or Checkpoint
    seconds : float
        Seconds from one saving to the next.
    system : LinearSystem
    Y : array (n, q)

    Attributes
    ----------
    found : array (n, q) or None
        Coefficients that an earlier solve left.

    Raises
    ------
    ValueError
        If the checkpoint is damaged or of another system or Y.
    """

    def __init__(
        self, checkpoint: str | os.PathLike[str] | Checkpoint, seconds: float, system: LinearSystem, Y: Float64Array
    ) -> None:
        self._seconds = float(seconds)
        self._file = checkpoint if isinstance(checkpoint, Checkpoint) else Checkpoint(checkpoint)
        kernel = system.kernel
        self._mark = fingerprint(
            system.X, type(kernel).__qualname__, kernel.n_features, kernel.log_parameters, system.noise, Y
        )
        held = self._file.load(SECTION, self._mark, {"alpha": Y.shape})
        self.found: Float64Array | None = None if held is None else held["alpha"]
        self._next = time.perf_counter() + self._seconds

    @property
    def due(self) -> bool:
        """Whether it is time to save."""
        return time.perf_counter() >= self._next

    def save(self, alpha: Float64Array) -> None:
        """Write alpha."""
        self._file.store(SECTION, self._mark, {"alpha": alpha})
        self._next = time.perf_counter() + self._seconds

    def remove(self) -> None:
        """Delete the file."""
        self._file.remove()
