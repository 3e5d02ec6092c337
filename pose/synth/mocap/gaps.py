"""Gaps of a motion capture: where physical markers are lost."""

from __future__ import annotations

import numpy as np

from pose.types import BoolArray

#: Number of gaps in a trial.
_GAPS = 2
#: Length of a gap, mocap frames: at least the first value, less than the second.
_GAP_FRAMES = (8, 20)


def draw_gaps(labels: list[str], n_mocap: int, rng: np.random.Generator) -> BoolArray:
    """Where physical markers are lost, (n_mocap, markers): one gap in either half of the recording."""
    missing = np.zeros((n_mocap, len(labels)), dtype=bool)
    part = n_mocap // _GAPS
    for gap in range(_GAPS):
        length = min(int(rng.integers(*_GAP_FRAMES)), part // 4)
        start = gap * part + int(rng.integers(part // 4, part - length))
        missing[start : start + length, rng.integers(len(labels))] = True
    return missing
