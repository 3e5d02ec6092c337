"""A block that grows by one index at a time, with its inverse and its step (eqs. 12 and 13)."""

from __future__ import annotations

import numpy as np

from gbcd._arrays import Float64Array


class GrowingBlock:
    """Kbar_BB^{-1} and the step Delta_B = -Kbar_BB^{-1} g_B while B grows by one index at a time.

    Parameters
    ----------
    capacity : int
        Largest size of B.
    n_outputs : int

    Attributes
    ----------
    size : int
    smallest_schur : float
        Smallest Schur complement met: the inverse is good to about 1e-16 over it.
    """

    def __init__(self, capacity: int, n_outputs: int) -> None:
        self.size = 0
        self.smallest_schur = np.inf
        self._inverse = np.zeros((capacity, capacity))
        self._step = np.zeros((capacity, n_outputs))

    @property
    def inverse(self) -> Float64Array:
        """Kbar_BB^{-1}, shape (size, size)."""
        return self._inverse[: self.size, : self.size]

    @property
    def step(self) -> Float64Array:
        """Delta_B, shape (size, q)."""
        return self._step[: self.size]

    def append(self, column: Float64Array, diagonal: float, gradient: Float64Array) -> bool:
        """Add an index s.

        Parameters
        ----------
        column : array (size,)
            Kbar[B, s].
        diagonal : float
            Kbar_ss, the noise included.
        gradient : array (q,)
            g_s.

        Returns
        -------
        bool
            False, with nothing changed, if s depends on B to rounding: the inverse could not hold it.
        """
        t = self.size
        b = self.inverse @ column
        schur = diagonal - float(column @ b)
        if schur <= np.finfo(np.float64).eps * diagonal * (t + 1):
            return False
        # eq. 12: the bordered inverse, with the Schur complement of s.
        self._inverse[:t, :t] += np.outer(b, b / schur)
        self._inverse[:t, t] = self._inverse[t, :t] = -b / schur
        self._inverse[t, t] = 1 / schur
        # eq. 13: s moves by minus its conditional residual over the Schur complement, B follows along b.
        move = -(gradient + column @ self.step) / schur
        self._step[:t] -= np.outer(b, move)
        self._step[t] = move
        self.size = t + 1
        self.smallest_schur = min(self.smallest_schur, schur)
        return True
