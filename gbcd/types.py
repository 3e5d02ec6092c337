"""The array types of the package. Types of one subject (`Callback`, `Pair`) stand with their subject."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.floating[Any]]
"""Floats in float32 or float64, as the caller or the system's tile precision decides."""

Float64Array = npt.NDArray[np.float64]
"""Floats in float64 alone: coefficients, gradients, inputs, and all values that must be exact."""

IntArray = npt.NDArray[np.intp]
"""Indices of rows or columns, and labels."""

CodeArray = npt.NDArray[np.uint16]
"""16-bit codes of kernel values."""
