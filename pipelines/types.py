"""Arrays that several rooms pass to each other."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Histograms = NDArray[np.float64]
"""HistoSC histograms, (n, words), or (n, cameras * words) of all views side by side."""

Poses = NDArray[np.float64]
"""Joints, (n, 15, 3), mm, relative to the root."""

Mask = NDArray[np.uint8]
"""The silhouette of a frame, (height, width), 0 or 255."""
