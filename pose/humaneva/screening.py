"""Frames whose bones have an impossible length: wrongly placed markers that the validity rule lets through."""

from __future__ import annotations

import warnings

import numpy as np
from numpy.typing import ArrayLike

from pose.body.skeleton import HUMANEVA_15, Skeleton
from pose.series.bone_lengths import bone_lengths
from pose.types import BoolArray, FloatArray

#: Largest deviation of a bone's length from its median, as a share of the median.
LENGTH_TOLERANCE = 0.25
#: Pairs of joints of `HUMANEVA_15` that no bone joins but whose distance varies little: pelvis and head. The head's own
#: bone starts at its pivot, so a head that is turned the wrong way has the right length.
HEAD_SPAN = ((0, 14),)

Pairs = tuple[tuple[int, int], ...]


def screened_lengths(joints: ArrayLike, skeleton: Skeleton = HUMANEVA_15, spans: Pairs = ()) -> FloatArray:
    """Lengths (n, n_bones), mm, of poses (n, J, 3), in the order of ``skeleton.bones``, then of `spans`."""
    joints = np.asarray(joints, dtype=float)
    lengths = bone_lengths(joints, skeleton)
    if not spans:
        return lengths
    first, second = np.array(spans).T
    return np.concatenate([lengths, np.linalg.norm(joints[:, second] - joints[:, first], axis=2)], axis=1)


def median_lengths(joints: ArrayLike, skeleton: Skeleton = HUMANEVA_15, spans: Pairs = ()) -> FloatArray:
    """Median length (n_bones,), mm, of every bone and span over the frames that have it; NaN if no frame has it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # a bone that no frame has gets NaN
        return np.asarray(np.nanmedian(screened_lengths(joints, skeleton, spans), axis=0))


def plausible_bones(
    joints: ArrayLike,
    skeleton: Skeleton = HUMANEVA_15,
    *,
    tolerance: float = LENGTH_TOLERANCE,
    reference: FloatArray | None = None,
    spans: Pairs = (),
) -> BoolArray:
    """Which bones have a length near their median.

    HumanEva-I's S3 Walking 1 has a wrongly placed head in most frames, though their markers make them valid. Where most
    frames of a trial are wrong, so is its median: give the subject's median over all trials as `reference`.

    Parameters
    ----------
    joints : array_like of shape (n, J, 3)
        mm; no bone is plausible in a frame of NaN.
    skeleton : Skeleton
    tolerance : float
        Largest deviation, as a share of the reference.
    reference : ndarray of shape (n_bones,), optional
        Lengths in mm; the median of these frames by default. A bone whose reference is below 1 mm or NaN is not judged:
        limb ends that meet in one point have no length.
    spans : tuple of (int, int)
        Further pairs of joints to judge like bones, as `HEAD_SPAN`.

    Returns
    -------
    ndarray of bool, shape (n, n_bones)
    """
    lengths = screened_lengths(joints, skeleton, spans)
    expected = median_lengths(joints, skeleton, spans) if reference is None else np.asarray(reference, dtype=float)
    if expected.shape != lengths.shape[1:]:
        raise ValueError(f"expected {lengths.shape[1]} reference lengths, found the shape {expected.shape}")
    judged = np.isfinite(expected) & (expected >= 1.0)
    within = np.abs(lengths - expected) <= tolerance * expected
    plausible: BoolArray = (within | ~judged) & np.isfinite(lengths)
    return plausible
