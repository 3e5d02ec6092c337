"""Errors of predicted poses, in the units of the poses (mm)."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

FloatArray = NDArray[np.float64]


def joint_errors(predicted: ArrayLike, true: ArrayLike) -> FloatArray:
    """Euclidean distance of every joint, (..., J), of poses (..., J, 3)."""
    predicted, true = np.asarray(predicted, dtype=float), np.asarray(true, dtype=float)
    if predicted.shape != true.shape or predicted.shape[-1] != 3:
        raise ValueError(f"poses must have one shape (..., joints, 3), found {predicted.shape} and {true.shape}")
    return np.asarray(np.linalg.norm(predicted - true, axis=-1))


def mean_joint_error(predicted: ArrayLike, true: ArrayLike) -> float:
    """Mean over frames and all joints of the distance: the HumanEva measure.

    Of root-relative poses the root's own zero counts too (the convention of Bo & Sminchisescu 2008), so over 15
    joints it is 14/15 of `mean_joint_error_without_root`.

    References
    ----------
    Sigal, Balan & Black (2010), "HumanEva: Synchronized Video and Motion Capture Dataset and Baseline Algorithm for
    Evaluation of Articulated Human Motion", IJCV 87, section 5.
    """
    return float(joint_errors(predicted, true).mean())


def mean_joint_error_without_root(predicted: ArrayLike, true: ArrayLike, root: int = 0) -> float:
    """Mean over frames and the joints other than the root."""
    return float(np.delete(joint_errors(predicted, true), root, axis=-1).mean())
