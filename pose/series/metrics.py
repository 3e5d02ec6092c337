"""Errors of predicted poses, in the units of the poses (mm).

Five measures. Each averages Euclidean distances over the joints of a pose, then over poses:

=======================  =======  ==========================================  =======================================
name                     joints   of poses                                    as reported by
=======================  =======  ==========================================  =======================================
``absolute``             all      in the world or camera                      HumanEva (Sigal et al. 2010), section 5
``absolute_no_root``     but one  as above, root left out                     --
``relative``             all      minus their root, which counts with its 0   Bo & Sminchisescu 2008 and 2010 (TGP)
``relative_no_root``     but one  as above, root left out                     --
``aligned``              all      moved, turned and scaled onto the true one  Martinez et al. 2017: "P-MPJPE"
=======================  =======  ==========================================  =======================================

``relative`` is (J - 1) / J times ``relative_no_root``: 14/15 for the 15 joints of HumanEva. Papers rarely say which of
the two they report: compare like with like. That the paper of 2008 reports ``relative`` follows only from its 45
outputs.

References
----------
Sigal, Balan & Black, "HumanEva: Synchronized Video and Motion Capture Dataset and Baseline Algorithm for Evaluation of
Articulated Human Motion", IJCV 87, 2010.
Bo & Sminchisescu, "Greedy Block Coordinate Descent for Large Scale Gaussian Process Regression", UAI 2008; "Twin
Gaussian Processes for Structured Prediction", IJCV 87, 2010.
Martinez, Hossain, Romero & Little, "A Simple yet Effective Baseline for 3D Human Pose Estimation", ICCV 2017.
Umeyama, "Least-Squares Estimation of Transformation Parameters Between Two Point Patterns", IEEE PAMI 13(4), 1991.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pose.body.skeleton import HUMANEVA_15, HUMANEVA_20, POINTS_OF_JOINT, Skeleton, root_relative
from pose.types import FloatArray

MEASURES = ("absolute", "absolute_no_root", "relative", "relative_no_root", "aligned")
"""Names of the measures, as in the table above."""


def joint_errors(predicted: ArrayLike, true: ArrayLike) -> FloatArray:
    """Euclidean distance of every joint, (..., J), of poses (..., J, 3); NaN where a coordinate is NaN."""
    predicted, true = np.asarray(predicted, dtype=float), np.asarray(true, dtype=float)
    if predicted.shape != true.shape or predicted.ndim < 2 or predicted.shape[-1] != 3:
        raise ValueError(f"poses must have one shape (..., joints, 3), found {predicted.shape} and {true.shape}")
    return np.asarray(np.linalg.norm(predicted - true, axis=-1))


def mean_joint_error(predicted: ArrayLike, true: ArrayLike, *, relative: bool = False, root: int = 0) -> float:
    """Mean distance over poses and all joints: the HumanEva measure.

    Parameters
    ----------
    predicted, true : array-like of shape (..., J, 3)
    relative : bool
        Subtract each pose's root first. The root's own distance, 0, counts too, as in Bo & Sminchisescu (2008), so that
        over 15 joints the result is 14/15 of `mean_joint_error_without_root`. Poses that are already relative are not
        changed.
    root : int
        Index of the root joint.

    Raises
    ------
    ValueError
        If shapes differ, there is no pose, or a pose holds NaN: leave out invalid frames first.

    References
    ----------
    Sigal, Balan & Black (2010), section 5: the mean over the joints of a frame, then over frames.
    """
    return float(_known(_errors(predicted, true, relative, root)).mean())


def mean_joint_error_without_root(
    predicted: ArrayLike, true: ArrayLike, root: int = 0, *, relative: bool = False
) -> float:
    """Mean distance over poses and the joints other than the root, which a root-relative pose does not predict.

    Parameters and errors are those of `mean_joint_error`.
    """
    return float(np.delete(_known(_errors(predicted, true, relative, root)), root, axis=-1).mean())


def aligned_joint_error(predicted: ArrayLike, true: ArrayLike) -> float:
    """P-MPJPE: mean over poses and all joints after each predicted pose was moved, turned and scaled onto the true one.

    Errors are those of `mean_joint_error`.

    References
    ----------
    Martinez, Hossain, Romero & Little (2017), where it is "Protocol 2".
    """
    return float(_known(joint_errors(align(predicted, true), true)).mean())


def align(predicted: ArrayLike, true: ArrayLike) -> FloatArray:
    """Each predicted pose moved, turned and scaled onto the true one, by least squares.

    Parameters
    ----------
    predicted, true : array-like of shape (..., J, 3)

    Returns
    -------
    ndarray of shape (..., J, 3)
        ``s R x + t`` with a rotation R, which never mirrors. A prediction whose joints all coincide has no size or
        direction and is moved to the mean of the true joints.

    References
    ----------
    Umeyama (1991).
    """
    predicted, true = np.asarray(predicted, dtype=float), np.asarray(true, dtype=float)
    joint_errors(predicted, true)  # checks the shapes
    unknown = ~(np.isfinite(predicted) & np.isfinite(true)).all(axis=(-2, -1))
    source, target = (np.where(unknown[..., None, None], 0.0, poses) for poses in (predicted, true))
    centre = target.mean(axis=-2, keepdims=True)
    source, target = source - source.mean(axis=-2, keepdims=True), target - centre
    u, singular, vt = np.linalg.svd(np.swapaxes(target, -2, -1) @ source)
    signs = np.ones_like(singular)
    signs[..., -1] = np.where(np.linalg.det(u) * np.linalg.det(vt) < 0, -1.0, 1.0)
    rotation = (u * signs[..., None, :]) @ vt
    size = (source**2).sum(axis=(-2, -1))
    scale = np.divide((singular * signs).sum(axis=-1), size, out=np.zeros_like(size), where=size > 0)
    aligned: FloatArray = scale[..., None, None] * (source @ np.swapaxes(rotation, -2, -1)) + centre
    aligned[unknown] = np.nan
    return aligned


def toolkit_joint_errors(predicted: ArrayLike, true: ArrayLike, *, relative: bool = False) -> FloatArray:
    """Joint errors of poses of 20 points, as HumanEva's own toolkit takes them.

    Where a joint is made of two limb ends (thorax, elbows, knees) the toolkit averages the two errors and not the two
    positions. Its error is never less than that of the averaged joint, which `mean_joint_error` measures.

    Parameters
    ----------
    predicted, true : array-like of shape (..., 20, 3)
        In the order of `pose.body.skeleton.HUMANEVA_20`.
    relative : bool
        Subtract ``torsoDistal`` first; the pelvis, then 0, is left out. The toolkit's relative measure exchanges the
        two ends of the head: ``headDistal`` counts half in the thorax and ``headProximal`` is the head. The exchange
        is kept, since published numbers were made with it.

    Returns
    -------
    ndarray of shape (..., 15), or (..., 14) where `relative`
        In the order of `pose.body.skeleton.HUMANEVA_15`; the toolkit reports the mean over the joints of a frame.

    References
    ----------
    Sigal, Balan & Black (2010), section 5, and the toolkit that came with it (v1.1).
    """
    root = HUMANEVA_20.root
    errors = _errors(predicted, true, relative, root)
    if errors.shape[-1] != len(HUMANEVA_20):
        raise ValueError(f"the toolkit measures poses of 20 points, found {errors.shape[-1]}")
    if relative:
        head = [HUMANEVA_20.names.index(name) for name in ("headProximal", "headDistal")]
        errors[..., head] = errors[..., head[::-1]]
    joints: FloatArray = np.stack([errors[..., list(ends)].mean(axis=-1) for ends in POINTS_OF_JOINT], axis=-1)
    return joints[..., 1:] if relative else joints


@dataclass(frozen=True, eq=False)
class PoseErrors:
    """All measures of some predicted poses, over all poses and by group.

    Parameters
    ----------
    predicted, true : ndarray of shape (n, J, 3)
        mm, finite: first leave out frames whose true pose is not valid.
    groups : mapping of str to array-like of str, shape (n,)
        What each pose belongs to, e.g. ``{"subject": ..., "action": ..., "camera": ...}``.
    skeleton : Skeleton

    Raises
    ------
    ValueError
        If the shapes do not fit, there is no pose, or a pose holds NaN.

    Notes
    -----
    Every mean is over poses. In the mean over all poses a group weighs by the number of its poses, see `counts`.
    """

    predicted: FloatArray
    true: FloatArray
    groups: Mapping[str, ArrayLike]
    skeleton: Skeleton = HUMANEVA_15

    def __post_init__(self) -> None:
        errors = _known(joint_errors(self.predicted, self.true))
        if errors.ndim != 2 or errors.shape[1] != len(self.skeleton):
            raise ValueError(f"expected poses of shape (n, {len(self.skeleton)}, 3), found {self.predicted.shape}")
        for name, values in self.groups.items():
            if np.shape(values) != (len(errors),):
                raise ValueError(f"group {name!r} has the shape {np.shape(values)}, expected ({len(errors)},)")

    def __len__(self) -> int:
        return len(self.predicted)

    @cached_property
    def joints(self) -> dict[str, FloatArray]:
        """The error of every pose and joint, (n, J): ``absolute``, ``relative``, ``aligned``."""
        root = self.skeleton.root
        return {
            "absolute": joint_errors(self.predicted, self.true),
            "relative": joint_errors(root_relative(self.predicted, root), root_relative(self.true, root)),
            "aligned": joint_errors(align(self.predicted, self.true), self.true),
        }

    def poses(self, measure: str) -> FloatArray:
        """One of `MEASURES` for every pose, (n,)."""
        if measure not in MEASURES:
            raise ValueError(f"there is no measure {measure!r}: {', '.join(MEASURES)}")
        errors = self.joints[measure.removesuffix("_no_root")]
        if measure.endswith("_no_root"):
            errors = np.delete(errors, self.skeleton.root, axis=1)
        return np.asarray(errors.mean(axis=1))

    def means(self) -> dict[str, float]:
        """Mean of each of `MEASURES` over all poses."""
        return {measure: float(self.poses(measure).mean()) for measure in MEASURES}

    def by(self, group: str) -> dict[str, dict[str, float]]:
        """Mean of each of `MEASURES` for each value of a group, in alphabetical order of the values."""
        values = self._values(group)
        measured = {measure: self.poses(measure) for measure in MEASURES}
        return {
            str(value): {measure: float(errors[values == value].mean()) for measure, errors in measured.items()}
            for value in np.unique(values)
        }

    def counts(self, group: str) -> dict[str, int]:
        """How many poses share each value of a group."""
        values, counts = np.unique(self._values(group), return_counts=True)
        return {str(value): int(count) for value, count in zip(values, counts, strict=True)}

    def by_joint(self) -> dict[str, dict[str, float]]:
        """Mean error of each joint over all poses: ``absolute``, ``relative`` and ``aligned``."""
        return {
            name: {measure: float(errors[:, joint].mean()) for measure, errors in self.joints.items()}
            for joint, name in enumerate(self.skeleton.names)
        }

    def _values(self, group: str) -> NDArray[np.str_]:
        if group not in self.groups:
            raise ValueError(f"poses are not grouped by {group!r}, but by {', '.join(self.groups) or 'nothing'}")
        return np.asarray(self.groups[group], dtype=np.str_)


def _errors(predicted: ArrayLike, true: ArrayLike, relative: bool, root: int) -> FloatArray:
    if relative:
        predicted, true = root_relative(predicted, root), root_relative(true, root)
    return joint_errors(predicted, true)


def _known(errors: FloatArray) -> FloatArray:
    """The errors, if there are any and their mean is finite; ValueError otherwise."""
    if errors.size == 0:
        raise ValueError("there is no pose to measure")
    unknown = np.flatnonzero(~np.isfinite(errors).all(axis=-1))
    if len(unknown):
        raise ValueError(
            f"{len(unknown)} of {errors[..., 0].size} poses hold NaN, first pose {unknown[0]} (from 0): "
            "leave out frames that are not valid"
        )
    return errors
