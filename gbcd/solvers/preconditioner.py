"""The preconditioner of full-vector steps, from the coarse block's factor K ~ L L'.

    P = L L' + sigma^2 I,    P^-1 g = (g - L (sigma^2 I + L' L)^-1 L' g) / sigma^2

(Diaz, Epperly, Frangella, Tropp & Webber 2023). The eigenvalues of P^-1/2 Kbar P^-1/2 lie between 1 and
1 + |K - L L'| / sigma^2.
"""

from __future__ import annotations

import numpy as np

from gbcd.linalg.cholesky import cholesky_in_place, cholesky_solve
from gbcd.solvers.column_factor import A, ColumnFactor

MIN_DIVISOR = 1e-30
"""Smallest sigma^2 of P, far below the rounding of K: a division by less may overflow."""


class Preconditioner:
    """P = L L' + sigma^2 I.

    Parameters
    ----------
    factor : ColumnFactor
        Its rank may be 0; P is then the noise alone.
    noise : float
        sigma^2.
    """

    def __init__(self, factor: ColumnFactor, noise: float) -> None:
        factor.compress()
        self._factor = factor
        self._noise = max(noise, MIN_DIVISOR)
        inner = factor.gram()
        inner.flat[:: factor.rank + 1] += self._noise
        # Factored in float64, since sigma^2 may be small beside the largest eigenvalue. Solves only read the factor.
        self._lower = (cholesky_in_place(inner) if factor.rank else inner).astype(factor.dtype)

    @property
    def bytes(self) -> int:
        """Bytes that the preconditioner takes, L included."""
        return self._factor.bytes + self._lower.nbytes

    def solve(self, G: A) -> A:
        """Return P^-1 G, (n, q), in the precision of G."""
        factor = self._factor
        solved = factor.subtract(cholesky_solve(self._lower, factor.products(G)), G) if factor.rank else G.copy()
        np.divide(solved, solved.dtype.type(self._noise), out=solved)
        return solved
