"""Poses with the bones of one person: predicted directions are kept, lengths are set.

A predicted pose is a mean over all poses that a silhouette could show, which shortens every bone whose direction is
uncertain. It is also a mean over the training subjects, who are larger or smaller than this one.
"""

from __future__ import annotations

import dataclasses

import numpy as np
from numpy.typing import ArrayLike

from pose.body.skeleton import HUMANEVA_15, Skeleton
from pose.series.pose_series import PoseSeries
from pose.types import FloatArray


def bone_lengths(joints: ArrayLike, skeleton: Skeleton = HUMANEVA_15) -> FloatArray:
    """Bone lengths (..., b) of poses (..., J, 3), in the order of `skeleton.bones`."""
    joints = np.asarray(joints, dtype=float)
    parents, children = np.array(skeleton.bones).T
    return np.asarray(np.linalg.norm(joints[..., children, :] - joints[..., parents, :], axis=-1))


def set_bone_lengths(
    joints: ArrayLike, lengths: ArrayLike, skeleton: Skeleton = HUMANEVA_15, strength: float = 1.0
) -> FloatArray:
    """Poses whose bones have the given lengths and their own directions, from the root outwards.

    Parameters
    ----------
    joints : array-like of shape (..., J, 3)
        mm; the root stays where it is. NaN stays.
    lengths : array-like of shape (b,)
        mm, in the order of `skeleton.bones`: measured on the person, or the mean of `bone_lengths` over a training set.
    skeleton : Skeleton
    strength : float
        Weight of the given lengths against the predicted ones: 1 sets the given, 0 keeps the predicted. One half is
        best for lengths that are not the person's own.

    Returns
    -------
    ndarray of shape (..., J, 3)
        A bone of length 0 has no direction and keeps its length.

    Raises
    ------
    ValueError
        If the shapes do not fit, a length is not positive, or the strength is not between 0 and 1.
    """
    joints = np.asarray(joints, dtype=float)
    wanted = np.asarray(lengths, dtype=float)
    if joints.ndim < 2 or joints.shape[-2:] != (len(skeleton), 3):
        raise ValueError(f"expected poses of shape (..., {len(skeleton)}, 3), found {joints.shape}")
    if wanted.shape != (len(skeleton.bones),):
        raise ValueError(f"expected the lengths of {len(skeleton.bones)} bones, found the shape {wanted.shape}")
    wrong = [
        f"{skeleton.names[parent]}-{skeleton.names[child]} {length}"
        for (parent, child), length in zip(skeleton.bones, wanted, strict=True)
        if not (np.isfinite(length) and length > 0)
    ]
    if wrong:
        raise ValueError(f"bones need positive lengths: {', '.join(wrong)}")
    if not 0 <= strength <= 1:
        raise ValueError(f"the strength must lie between 0 and 1, not {strength}")
    present = bone_lengths(joints, skeleton)
    target = (1 - strength) * present + strength * wanted
    factor = np.divide(target, present, out=np.zeros_like(present), where=present > 0)
    result = np.full_like(joints, np.nan)
    result[..., skeleton.root, :] = joints[..., skeleton.root, :]
    for bone in _outwards(skeleton):
        parent, child = skeleton.bones[bone]
        offset = joints[..., child, :] - joints[..., parent, :]
        result[..., child, :] = result[..., parent, :] + factor[..., bone, None] * offset
    return result


def with_bone_lengths(series: PoseSeries, lengths: ArrayLike, strength: float = 1.0) -> PoseSeries:
    """A series with `set_bone_lengths` applied to every pose.

    Standard deviations stay as they are, since the error in direction stays: see ``docs/temporal.md``.

    Parameters and errors are those of `set_bone_lengths`.
    """
    joints = set_bone_lengths(series.joints, lengths, series.skeleton, strength)
    return dataclasses.replace(series, joints=joints)


def _outwards(skeleton: Skeleton) -> list[int]:
    """Indices of the bones, from the root outwards."""
    placed = {skeleton.root}
    order: list[int] = []
    while len(order) < len(skeleton.bones):
        for bone, (parent, child) in enumerate(skeleton.bones):
            if parent in placed and child not in placed:
                placed.add(child)
                order.append(bone)
    return order
