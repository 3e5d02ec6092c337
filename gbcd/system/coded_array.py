"""Arrays of 16-bit codes: values rounded to 65,536 levels between the least and the largest value of their row.

Products with vectors are limited by memory, so half the bytes of float32 are half the time.
"""

from __future__ import annotations

import numpy as np

from gbcd.system.coded_loops import coded_product, coded_products, coded_transposed_product, decode, encode
from gbcd.types import CodeArray, FloatArray


class CodedArray:
    """A float32 array (a, b) in half the bytes.

    Parameters
    ----------
    values : float32 array (a, b)
    """

    def __init__(self, values: FloatArray) -> None:
        self._codes: CodeArray = np.empty(values.shape, dtype=np.uint16)
        self._lows: FloatArray = np.empty(len(values), dtype=np.float32)
        self._steps: FloatArray = np.empty(len(values), dtype=np.float32)
        encode(values, self._codes, self._lows, self._steps)

    @property
    def variance(self) -> float:
        """Mean square of the rounding errors, which are uniform over one level."""
        return float(np.mean(self._steps.astype(np.float64) ** 2)) / 12

    @property
    def nbytes(self) -> int:
        """Bytes that the array takes."""
        return self._codes.nbytes + self._lows.nbytes + self._steps.nbytes

    @property
    def shape(self) -> tuple[int, int]:
        """(a, b)."""
        a, b = self._codes.shape
        return a, b

    def values(self, out: FloatArray) -> FloatArray:
        """Write the decoded values to float32 `out` (a, b), and return it."""
        decode(self._codes, self._lows, self._steps, out)
        return out

    def rows(self, index: np.ndarray) -> FloatArray:
        """Return these rows, decoded, (len(index), b)."""
        out = np.empty((len(index), self.shape[1]), dtype=np.float32)
        decode(self._codes[index], self._lows[index], self._steps[index], out)
        return out

    def product(self, right: FloatArray) -> FloatArray:
        """Return T @ right, float32 (a,)."""
        out = np.empty(self.shape[0], dtype=np.float32)
        coded_product(self._codes, self._lows, self._steps, right, out)
        return out

    def transposed_product(self, left: FloatArray) -> FloatArray:
        """Return T' @ left, float32 (b,)."""
        out = np.empty(self.shape[1], dtype=np.float32)
        coded_transposed_product(self._codes, self._lows, self._steps, left, out)
        return out

    def both_products(self, right: FloatArray, left: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return T @ right (a,) and T' @ left (b,), reading T once."""
        down, up = np.empty(self.shape[0], dtype=np.float32), np.empty(self.shape[1], dtype=np.float32)
        coded_products(self._codes, self._lows, self._steps, right, left, down, up)
        return down, up
