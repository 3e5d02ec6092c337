"""A block that grows by one index at a time, with its inverse and its step (eqs. 12 and 13)."""

from __future__ import annotations

import numpy as np

from gbcd.types import Float64Array

MIN_RELATIVE_SCHUR = 1e-6
"""Smallest Schur complement, over the diagonal, with which the step is used. A smaller one costs the inverse so many
digits that the step must be solved for anew."""


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
    """

    def __init__(self, capacity: int, n_outputs: int) -> None:
        self.size = 0
        self._smallest_schur = np.inf
        self._smallest_diagonal = np.inf
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

    def sound_step(self) -> Float64Array | None:
        """Return a copy of Delta_B, or None where B nearly repeats itself: the step must then be solved for anew.

        The relative error of inverse and step is about 1e-16 over the smallest Schur complement met.
        """
        sound = self._smallest_schur >= MIN_RELATIVE_SCHUR * self._smallest_diagonal
        return self.step.copy() if sound else None

    @property
    def last_direction(self) -> Float64Array:
        """How B moves when its last index s moves by 1, shape (size,): -Kbar_BB^{-1} Kbar_Bs for the others, 1 for s.

        Kbar_iB times this is the covariance of i and s given the others, Kbar_is - Kbar_iB Kbar_BB^{-1} Kbar_Bs.
        """
        last = self.inverse[:, -1]
        direction: Float64Array = last / last[-1]
        return direction

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
            False, with nothing changed, if s depends on B to rounding: there is no inverse with s.
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
        self._smallest_schur = min(self._smallest_schur, schur)
        self._smallest_diagonal = min(self._smallest_diagonal, diagonal)
        return True
