"""The poses that the page's 3D view plays."""

from __future__ import annotations

import base64
from typing import Any

import numpy as np

from pipelines.evaluation.evaluate import Evaluation
from pose.types import FloatArray

_MOST_FRAMES = 4000
"""Frames of all tracks together that the page holds, about a megabyte."""
_COLUMNS = ("subject", "action", "trial", "camera")
"""What tells the videos of an evaluation apart."""


def viewer_data(evaluation: Evaluation) -> dict[str, Any]:
    """Skeleton and tracks, one a video; x right, y up, z towards the viewer; whole mm, 16 bits, base64.

    Of long evaluations every k-th frame is kept.
    """
    samples, skeleton = evaluation.samples, evaluation.skeleton
    every = max(-(-len(samples) // _MOST_FRAMES), 1)
    keys = list(zip(*(getattr(samples, column).tolist() for column in _COLUMNS), strict=True))
    errors = evaluation.errors["gbcd"].poses("absolute")
    tracks = []
    for key in dict.fromkeys(keys):
        rows = np.array([row for row, other in enumerate(keys) if other == key])
        rows = rows[np.argsort(samples.frame[rows], kind="stable")][::every]
        subject, action, trial, camera = key
        tracks.append(
            {
                "name": f"{subject} {action} {trial}, {camera}",
                "frames": samples.frame[rows].tolist(),
                "errors": np.round(errors[rows], 1).tolist(),
                "true": _packed(_upright(samples.poses[rows], evaluation.axes)),
                "predicted": _packed(_upright(evaluation.predictions["gbcd"][rows], evaluation.axes)),
            }
        )
    return {
        "bones": [list(bone) for bone in skeleton.bones],
        "sides": [skeleton.side(joint) for joint in range(len(skeleton))],
        "every": every,
        "tracks": tracks,
    }


def _upright(poses: FloatArray, axes: str) -> FloatArray:
    """In the axes of the view."""
    if axes == "world":
        return np.stack([poses[..., 0], poses[..., 2], -poses[..., 1]], axis=-1)
    return poses * [1, -1, -1]


def _packed(poses: FloatArray) -> str:
    limits = np.iinfo("<i2")
    whole = np.clip(np.round(poses), limits.min, limits.max).astype("<i2")
    return base64.b64encode(whole.tobytes()).decode("ascii")
