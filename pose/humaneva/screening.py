"""Frames whose bones have an impossible length: wrongly placed markers that the validity rule lets through."""

from __future__ import annotations

import warnings

import numpy as np
from numpy.typing import ArrayLike

from pose.body.skeleton import HUMANEVA_15, Skeleton
from pose.series.bone_lengths import bone_lengths
from pose.types import BoolArray, FloatArray

#: Largest deviation from the median length, as a share of it.
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
    """Median of every bone and span (n_bones,) over the frames that have it; NaN for one that none has."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # of a bone without any frame, whose median is NaN
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

    HumanEva-I's S3 Walking 1 has a wrongly placed head in most frames, which are valid by their markers. Where most
    frames of a trial are wrong its own median is too: give the subject's median over all trials as `reference`.

    Parameters
    ----------
    joints : array_like of shape (n, J, 3)
        mm; frames of NaN are plausible in no bone.
    skeleton : Skeleton
    tolerance : float
        Largest deviation, as a share of the reference.
    reference : ndarray of shape (n_bones,), optional
        Lengths in mm; the median of these frames by default. A bone shorter than 1 mm, or without a reference, is
        not judged: limb ends that meet in one point have no length.
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
