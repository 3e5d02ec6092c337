"""Types of the arrays that the package's modules hand to each other: one name for one kind.

A type says what the numbers are; shape and unit stand with each argument.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

FloatArray = NDArray[np.float64]
"""Real numbers in double precision."""
Float32Array = NDArray[np.float32]
"""Real numbers in single precision: descriptors, and values kept for every pixel."""
IntArray = NDArray[np.int64]
"""Whole numbers: indices, frames, flags."""
Int32Array = NDArray[np.int32]
"""Whole numbers of four bytes: pixel coordinates as OpenCV has them, words of a codebook."""
BoolArray = NDArray[np.bool_]
"""True or false for each entry; a mask that `pose.as_mask` has read."""
Image = NDArray[np.uint8]
"""A picture in grey levels 0 to 255: (h, w, 3) blue, green, red, or (h, w) grey."""
Mask = NDArray[np.uint8]
"""A silhouette (h, w): 0 is the background, any other value (255 where we make it) is the person."""
ShapeLike = ArrayLike | tuple[ArrayLike, ArrayLike]
"""What a shape is read from: a mask, points (k, 2), or a pair of points and their tangents, (k, 2) each."""
