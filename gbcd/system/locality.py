"""An order of the rows in which near ones are together, so that the values of a tile span a small range."""

from __future__ import annotations

from collections import deque

import numpy as np

from gbcd.types import FloatArray, IntArray

SMALLEST_PART = 256
"""Rows of a part that is not halved any more: half a tile."""

MAX_SQUARED = 1e10
"""Largest feature whose squares can be summed up in float32 without overflow."""


def locality_order(features: FloatArray) -> IntArray:
    """Return an order of the rows (n, p) in which near ones are mostly close together, (n,).

    Halves each part at the median of its projection on its direction of largest variance. Then most tiles of K
    span a small range, and so do their rounding errors as codes: half of those in random order (arm8, n = 16,000).
    """
    largest = float(np.abs(features).max(initial=0.0))
    if largest > MAX_SQUARED:
        features = features / features.dtype.type(largest)
    order = np.arange(len(features))
    parts = deque([(0, len(features))])
    while parts:
        start, stop = parts.popleft()
        if stop - start <= SMALLEST_PART:
            continue
        rows = order[start:stop]
        centred = features[rows] - features[rows].mean(axis=0)
        axis = np.linalg.eigh(centred.T @ centred)[1][:, -1]
        # Whole tiles on the left, so that tiles do not straddle the cut.
        middle = start + min(-(-(stop - start) // (2 * SMALLEST_PART)) * SMALLEST_PART, stop - start - 1)
        order[start:stop] = rows[np.argpartition(centred @ axis, middle - start)]
        parts.extend([(start, middle), (middle, stop)])
    return order
