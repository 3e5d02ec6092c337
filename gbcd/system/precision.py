"""The precision in which kernel values are evaluated (float32 or float64), their errors, and whether codes serve."""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np

MAX_FLOAT32_MAGNITUDE = 2e3
"""Largest |z|^2 of scaled, centred inputs for float32 tiles: above it they err by more than about 1e-4 in k."""

MIN_FLOAT32_NOISE = 1e-5
"""Smallest noise for float32 tiles: below it their rounding can make Kbar indefinite."""

CODE_ERROR = 2.5e-6
"""Standard deviation of the rounding error of a 16-bit code, for values up to 1, as assumed before there are codes.
Measured: 2.0e-6 to 2.3e-6."""

MAX_CODE_ROUNDING = 0.35
"""Largest norm of the codes' rounding errors, over the noise: above it restarts from an exact gradient take more steps
than codes save."""

CANCELLATION = 1 / 80
"""Error of evaluated values by cancellation, in roundings, for each unit of |z|^2 sqrt(d); measured at d = 8, 300."""

Precision = Literal["mixed", "float64"]


def check_precision(precision: object) -> None:
    """Refuse a precision that `KernelSystem` does not know.

    Raises
    ------
    ValueError
        Naming it.
    """
    if precision not in get_args(Precision):
        raise ValueError(f"precision must be 'mixed' or 'float64', not {precision!r}.")


class TilePrecision:
    """The precision of one system's kernel values.

    Parameters
    ----------
    precision : {"mixed", "float64"}
        "mixed" is float32 where the noise and the spread of the inputs allow.
    noise : float
    shape : (n, d)
        Shape of the training inputs.
    magnitude : float
        Largest term that cancels in a tile, `Kernel.magnitude`.
    largest : float
        Largest k(x, x).

    Attributes
    ----------
    dtype : dtype
        float32 or float64.
    beyond_float32 : bool
        Whether the noise is too small, or the spread of the inputs too large, for float32.
    """

    def __init__(
        self, precision: Precision, noise: float, shape: tuple[int, int], magnitude: float, largest: float
    ) -> None:
        self.beyond_float32 = noise < MIN_FLOAT32_NOISE or magnitude > MAX_FLOAT32_MAGNITUDE
        exact = precision == "float64" or self.beyond_float32
        self.dtype: np.dtype[np.floating] = np.dtype(np.float64 if exact else np.float32)
        self._noise = noise
        self._n, d = shape
        self._largest = largest
        # Error of a value in roundings of one value: cancellation loses further digits.
        self._lost = 1.0 + CANCELLATION * magnitude * float(np.sqrt(d))
        self._codes_failed = False

    @property
    def tile_error(self) -> float:
        """Approximate standard deviation of the error of a kernel value evaluated in tile precision."""
        return float(np.finfo(self.dtype).eps) * self._largest * self._lost / float(np.sqrt(12))

    @property
    def code_error(self) -> float:
        """Standard deviation of the error of a value kept as a 16-bit code, as expected before there are codes."""
        return CODE_ERROR * self._largest

    @property
    def code_rounding(self) -> float:
        """Norm of the matrix of the codes' rounding errors, over the noise.

        The norm of a symmetric random matrix is 2 sqrt(n) standard deviations of its entries (Wigner).
        """
        return float(2 * np.sqrt(self._n) * CODE_ERROR * self._largest / self._noise)

    @property
    def allows_codes(self) -> bool:
        """Whether K may be kept as 16-bit codes."""
        return self.dtype == np.float32 and not self._codes_failed and self.code_rounding <= MAX_CODE_ROUNDING

    def forbid_codes(self) -> None:
        """Allow no codes from now on, since their rounding has stopped a solver."""
        self._codes_failed = True

    def raise_to_float64(self) -> bool:
        """Use float64 tiles from now on; return False if they are in use already."""
        if self.dtype.itemsize == 8:
            return False
        self.dtype = np.dtype(np.float64)
        return True
