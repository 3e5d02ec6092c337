"""The axes of poses, and the rotation to axes whose y points up, as OpenSim expects."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from pose.series.pose_series import PoseSeries
from pose.types import FloatArray

#: Directions of x, y and z by the name of the axes, as files state them.
MEANING = {
    "camera": "x right, y down, z forward, as the camera sees it",
    "camera-y-up": "x right, y up, z towards the camera",
    "world": "z up",
    "world-y-up": "y up, x as in the world with z up",
}
#: Name of the axes with y up, by the name of the camera's or the world's own axes.
Y_UP = {"camera": "camera-y-up", "world": "world-y-up"}
#: Name of the camera's or the world's own axes, by the name of the axes with y up.
NATIVE = {twin: axes for axes, twin in Y_UP.items()}
# Rotations about x to y up: by 180 degrees (camera) and 90 degrees (world). Row i is new axis i in the old axes.
_TURNS = {
    "camera": np.array([[1.0, 0, 0], [0, -1, 0], [0, 0, -1]]),
    "world": np.array([[1.0, 0, 0], [0, 0, 1], [0, -1, 0]]),
}


def to_y_up(series: PoseSeries) -> PoseSeries:
    """The poses in axes with y up; a series that has y up already is returned unchanged."""
    if series.axes not in Y_UP:
        return series
    return _turned(series, _TURNS[series.axes], Y_UP[series.axes])


def to_native(series: PoseSeries) -> PoseSeries:
    """The poses in the camera's or the world's own axes: the inverse of `to_y_up`."""
    if series.axes not in NATIVE:
        return series
    return _turned(series, _TURNS[NATIVE[series.axes]].T, NATIVE[series.axes])


def _turned(series: PoseSeries, turn: FloatArray, axes: str) -> PoseSeries:
    # A rotation by 90 or 180 degrees permutes axes and flips signs. Standard deviations are only permuted.
    order = np.abs(turn).argmax(axis=1)
    signs = turn.sum(axis=1)
    joints = series.joints[..., order] * signs + 0.0  # no -0
    return replace(series, joints=joints, std=None if series.std is None else series.std[..., order], axes=axes)
