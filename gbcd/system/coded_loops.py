"""The compiled loops of 16-bit codes: encoding, decoding, and products of a coded tile with a vector.

BLAS has no product with 16-bit integers. NumPy would first write the decoded tile to memory, and so lose the time that
codes save.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy import float32

from gbcd.compiling import FAST, FAST_SUMS
from gbcd.types import CodeArray, FloatArray

LARGEST_CODE = 65535
"""Code of the largest value of a row; the code of the least value is 0."""


@njit(**FAST)
def encode(values: FloatArray, codes: CodeArray, lows: FloatArray, steps: FloatArray) -> None:
    """Write the nearest code of each float32 value (a, b), and each row's levels: value ~ lows[i] + steps[i] * code."""
    for i in range(values.shape[0]):
        row, out = values[i], codes[i]
        low = row[0]
        high = row[0]
        for j in range(values.shape[1]):
            low = min(low, row[j])
            high = max(high, row[j])
        step = (high - low) / float32(LARGEST_CODE)
        inverse = float32(1.0) / step if step > float32(0.0) else float32(0.0)
        for j in range(values.shape[1]):
            out[j] = np.uint16((row[j] - low) * inverse + float32(0.5))
        lows[i] = low
        steps[i] = step


@njit(**FAST)
def decode(codes: CodeArray, lows: FloatArray, steps: FloatArray, values: FloatArray) -> None:
    """Write lows[i] + steps[i] * code to float32 `values` (a, b)."""
    for i in range(codes.shape[0]):
        row, out, low, step = codes[i], values[i], lows[i], steps[i]
        for j in range(codes.shape[1]):
            out[j] = low + step * float32(row[j])


@njit(**FAST_SUMS)
def coded_products(
    codes: CodeArray,
    lows: FloatArray,
    steps: FloatArray,
    right: FloatArray,
    left: FloatArray,
    down: FloatArray,
    up: FloatArray,
) -> None:
    """Set down = T @ right (a,) and up = T' @ left (b,), float32 vectors, reading the coded tile T (a, b) once."""
    offset = float32(0.0)
    total = float32(0.0)
    for j in range(codes.shape[1]):
        up[j] = float32(0.0)
        total += right[j]
    for i in range(codes.shape[0]):
        row = codes[i]
        weight = steps[i] * left[i]
        offset += lows[i] * left[i]
        sum_row = float32(0.0)
        for j in range(codes.shape[1]):
            code = float32(row[j])
            sum_row += code * right[j]
            up[j] += code * weight
        down[i] = lows[i] * total + steps[i] * sum_row
    for j in range(codes.shape[1]):
        up[j] += offset


@njit(**FAST_SUMS)
def coded_product(codes: CodeArray, lows: FloatArray, steps: FloatArray, right: FloatArray, out: FloatArray) -> None:
    """Set out = T @ right, float32 (a,), for the coded tile T (a, b)."""
    total = float32(0.0)
    for j in range(codes.shape[1]):
        total += right[j]
    for i in range(codes.shape[0]):
        row = codes[i]
        sum_row = float32(0.0)
        for j in range(codes.shape[1]):
            sum_row += float32(row[j]) * right[j]
        out[i] = lows[i] * total + steps[i] * sum_row


@njit(**FAST_SUMS)
def coded_transposed_product(
    codes: CodeArray, lows: FloatArray, steps: FloatArray, left: FloatArray, out: FloatArray
) -> None:
    """Set out = T' @ left, float32 (b,), for the coded tile T (a, b)."""
    offset = float32(0.0)
    for j in range(codes.shape[1]):
        out[j] = float32(0.0)
    for i in range(codes.shape[0]):
        row = codes[i]
        weight = steps[i] * left[i]
        offset += lows[i] * left[i]
        for j in range(codes.shape[1]):
            out[j] += float32(row[j]) * weight
    for j in range(codes.shape[1]):
        out[j] += offset
