"""The axes that poses are given in, and the turn from each to its twin whose y points up, as OpenSim has it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from pose.series.pose_series import PoseSeries
from pose.types import FloatArray

#: What is written into files.
MEANING = {
    "camera": "x right, y down, z forward, as the camera sees it",
    "camera-y-up": "x right, y up, z towards the camera",
    "world": "z up",
    "world-y-up": "y up, x as in the world with z up",
}
#: The twin of each, by source.
Y_UP = {"camera": "camera-y-up", "world": "world-y-up"}
NATIVE = {twin: axes for axes, twin in Y_UP.items()}
# Half and quarter turns about x: rows are the new axes in the old ones.
_TURNS = {
    "camera": np.array([[1.0, 0, 0], [0, -1, 0], [0, 0, -1]]),
    "world": np.array([[1.0, 0, 0], [0, 0, 1], [0, -1, 0]]),
}


def to_y_up(series: PoseSeries) -> PoseSeries:
    """The same poses with y up; those that have it already are returned as they are."""
    if series.axes not in Y_UP:
        return series
    return _turned(series, _TURNS[series.axes], Y_UP[series.axes])


def to_native(series: PoseSeries) -> PoseSeries:
    """`to_y_up` undone: the camera's or the world's own axes."""
    if series.axes not in NATIVE:
        return series
    return _turned(series, _TURNS[NATIVE[series.axes]].T, NATIVE[series.axes])


def _turned(series: PoseSeries, turn: FloatArray, axes: str) -> PoseSeries:
    # Every turn exchanges axes only, so that standard deviations go with them, without their signs.
    order = np.abs(turn).argmax(axis=1)
    signs = turn.sum(axis=1)
    joints = series.joints[..., order] * signs + 0.0  # no -0
    return replace(series, joints=joints, std=None if series.std is None else series.std[..., order], axes=axes)
