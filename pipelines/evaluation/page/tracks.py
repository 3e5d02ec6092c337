"""The poses that the page's 3D view plays."""

from __future__ import annotations

import base64
from typing import Any

import numpy as np

from pipelines.evaluation.evaluate import Evaluation
from pose.types import FloatArray

_MAX_FRAMES = 4000
"""Largest number of frames on the page, over all tracks: about a megabyte."""
_COLUMNS = ("subject", "action", "trial", "camera")
"""Columns of the samples that together identify a video."""


def viewer_data(evaluation: Evaluation) -> dict[str, Any]:
    """The skeleton, and one track of poses per video; of long evaluations every k-th frame is kept.

    Axes are x right, y up, z towards the viewer; coordinates are whole mm as 16-bit integers in base64.
    """
    samples, skeleton = evaluation.samples, evaluation.skeleton
    every = max(-(-len(samples) // _MAX_FRAMES), 1)
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
    """Turn poses into the axes of the 3D view."""
    if axes == "world":
        return np.stack([poses[..., 0], poses[..., 2], -poses[..., 1]], axis=-1)
    return poses * [1, -1, -1]


def _packed(poses: FloatArray) -> str:
    limits = np.iinfo("<i2")
    whole = np.clip(np.round(poses), limits.min, limits.max).astype("<i2")
    return base64.b64encode(whole.tobytes()).decode("ascii")
