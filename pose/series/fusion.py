"""One series of poses from those of several synchronised cameras, weighted by their inverse variances.

The cameras see one person at one instant, so their errors have causes in common: an arm that one silhouette hides is
often hidden in the others, and all models learnt from the same people. `VIEW_CORRELATION` is the resulting correlation.
Without it the fused standard deviations would be far too small.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from pose.body.camera import Camera
from pose.series.pose_series import PoseSeries, Quality
from pose.types import BoolArray, FloatArray, IntArray

VIEW_CORRELATION = 0.4
"""Correlation of two views' errors in one coordinate, measured on rendered motion capture: see ``docs/temporal.md``."""


def turn_to_world(series: PoseSeries, camera: Camera) -> PoseSeries:
    """A series in camera axes turned into the world's; a series in the world's axes stays as it is.

    Errors are taken as independent along the old axes; the standard deviations are those along the new axes.
    """
    if series.axes == "world":
        return series
    turned = camera.rotate_to_world(series.joints)
    # var(sum_i R_ij e_i) = sum_i R_ij^2 var(e_i)
    std = None if series.std is None else np.sqrt(series.std**2 @ camera.rotation**2)
    return PoseSeries(
        series.frame, series.time, turned, series.skeleton, "world", series.provenance, std, series.quality
    )


def inverse_variance_mean(
    values: ArrayLike, std: ArrayLike, correlation: float = VIEW_CORRELATION
) -> tuple[FloatArray, FloatArray]:
    """Mean of several measurements of each number, weighted by 1 / variance, and its standard deviation.

    Parameters
    ----------
    values, std : array-like of shape (v, ...)
        v measurements; NaN where there is none. A standard deviation of 0 makes a measurement exact.
    correlation : float
        Correlation of the errors of any two measurements of a number, 0 to 1. The mean of v measurements, of variance
        s^2 each, has the variance s^2 (1 + (v - 1) correlation) / v.

    Returns
    -------
    mean, std : ndarray of shape (...)
        NaN where there is no measurement.

    Raises
    ------
    ValueError
        If the shapes differ, the correlation is out of range, or a value has no standard deviation of 0 or more.

    Notes
    -----
    The weights stay those of independent errors: the best weights under a correlation that is only roughly known can
    become negative.
    """
    values, std = np.asarray(values, dtype=float), np.asarray(std, dtype=float)
    if values.shape != std.shape or values.ndim < 1:
        raise ValueError(f"values and std must have one shape (views, ...), found {values.shape} and {std.shape}")
    if not 0 <= correlation <= 1:
        raise ValueError(f"the correlation of the views must lie between 0 and 1, not {correlation}")
    seen = np.isfinite(values)
    if not (np.isfinite(std[seen]).all() and (std[seen] >= 0).all()):
        raise ValueError("every value needs a finite standard deviation that is not negative")
    exact = seen & (std == 0)
    use = np.where(exact.any(axis=0), exact, seen)  # exact measurements leave the others no weight
    spread = np.where(use & ~exact, std, 1.0)
    weights = np.where(use, 1 / spread**2, 0.0)
    total = weights.sum(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        weights = weights / total  # 0 / 0 gives NaN where nothing was measured
    mean = (weights * np.where(use, values, 0.0)).sum(axis=0)
    parts = weights * np.where(use, std, 0.0)
    # sum_ij p_i p_j c_ij with c = 1 on the diagonal and the correlation elsewhere
    variance = (1 - correlation) * (parts**2).sum(axis=0) + correlation * parts.sum(axis=0) ** 2
    return mean, np.sqrt(variance)


@dataclass(frozen=True)
class View:
    """What one camera saw.

    Parameters
    ----------
    series : PoseSeries
        Poses with standard deviations, in the camera's axes or the world's.
    camera : Camera
        The calibrated camera; not read where the series is in the world's axes.
    delay : float
        Seconds by which this camera's clock is ahead: an instant is at ``time - delay`` on the common clock.
    """

    series: PoseSeries
    camera: Camera
    delay: float = 0.0


def fuse(views: Sequence[View], *, correlation: float = VIEW_CORRELATION, tolerance: float | None = None) -> PoseSeries:
    """The series of one person seen by several cameras, in the world's axes, at the instants of the first camera.

    Parameters
    ----------
    views : sequence of View
        Two or more. A pose of another camera belongs to the nearest instant of the first.
    correlation : float
        See `inverse_variance_mean`.
    tolerance : float, optional
        Seconds by which the instants of two cameras may differ; by default half the first camera's usual step.

    Returns
    -------
    PoseSeries
        With the frames of the first camera and its times on the common clock. A frame where no camera found a person
        is NaN. Any other frame has the flags that are set by all cameras that found the person.

    Raises
    ------
    ValueError
        If there are fewer than two views, a view has no standard deviations or no frames, skeletons differ, or no
        frame of a camera belongs to an instant of the first.
    """
    if len(views) < 2:
        raise ValueError(f"fusing needs the series of at least two cameras, found {len(views)}")
    first = views[0].series
    faults = [
        f"{view.camera.name} has {what}"
        for view in views
        for what, wrong in (
            ("no standard deviations", view.series.std is None),
            ("another skeleton", view.series.skeleton != first.skeleton),
            ("no frames", len(view.series.frame) == 0),
        )
        if wrong
    ]
    if faults:
        raise ValueError(f"series cannot be fused: {'; '.join(faults)}")
    instants = first.time - views[0].delay
    reach = (
        tolerance
        if tolerance is not None
        else (0.5 * float(np.median(np.diff(instants))) if len(instants) > 1 else 0.0)
    )
    shape = (len(views), len(instants), len(first.skeleton), 3)
    joints, std = np.full(shape, np.nan), np.full(shape, np.nan)
    flags = np.full(shape[:2], int(Quality.NO_PERSON))
    for index, view in enumerate(views):
        series = turn_to_world(view.series, view.camera)
        rows, near = _nearest(series.time - view.delay, instants, reach)
        if not near.any():
            raise ValueError(
                f"series cannot be fused: no frame of {view.camera.name} is within {reach:.4g} s of one of "
                f"{views[0].camera.name}: do their clocks agree?"
            )
        assert series.std is not None
        joints[index, near], std[index, near] = series.joints[rows[near]], series.std[rows[near]]
        flags[index, near] = 0 if series.quality is None else series.quality[rows[near]]
    fused, spread = inverse_variance_mean(joints, std, correlation)
    return PoseSeries(
        first.frame, instants, fused, first.skeleton, "world", _provenance(views), spread, _flags(joints, flags)
    )


def _nearest(times: FloatArray, instants: FloatArray, reach: float) -> tuple[IntArray, BoolArray]:
    """The row of the time nearest to each instant, and whether the two are within `reach` seconds."""
    order = np.argsort(times, kind="stable")
    after = np.clip(np.searchsorted(times[order], instants), 1, max(len(times) - 1, 1))
    pair = np.stack([after - 1, np.minimum(after, len(times) - 1)])
    best = np.abs(times[order][pair] - instants).argmin(axis=0)
    rows = order[np.take_along_axis(pair, best[None], axis=0)[0]]
    # A little more than the reach, since instants half a step apart are rounded.
    return rows, np.abs(times[rows] - instants) <= reach * (1 + 1e-6) + 1e-9


def _flags(joints: FloatArray, flags: IntArray) -> IntArray:
    """Flags of each frame, (n,): those set by all cameras that found a person; if none did, those set by any."""
    found = np.isfinite(joints[:, :, 0, 0])
    common = np.bitwise_and.reduce(np.where(found, flags, -1), axis=0)
    any_says = np.bitwise_or.reduce(flags, axis=0)
    return np.asarray(np.where(found.any(axis=0), common, any_says), dtype=np.int64)


def _provenance(views: Sequence[View]) -> dict[str, str]:
    """The provenance of all views: a value that all share stands once, differing ones are listed."""
    merged: dict[str, str] = {}
    for key in dict.fromkeys(key for view in views for key in view.series.provenance):
        values = [view.series.provenance.get(key, "") for view in views]
        merged[key] = values[0] if len(set(values)) == 1 else ", ".join(values)
    return merged | {"fused": ", ".join(view.camera.name for view in views)}
