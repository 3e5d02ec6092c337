"""Array types of the package."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.floating[Any]]


Float64Array = npt.NDArray[np.float64]


IntArray = npt.NDArray[np.intp]
