"""The single frame rate that TRC and C3D need: computed from the times, or made by interpolation on request."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from pose.errors import DataError
from pose.series.pose_series import PoseSeries, Quality
from pose.types import FloatArray

#: Rounding error of an interval in CSV and TRC, s: a microsecond at either end.
_MICROSECOND = 2e-6
#: Rounding error of an interval in containers such as Matroska, s: half a millisecond at either end.
_TICK = 1e-3
#: Longest gap that is interpolated, s: half a step of walking. Poses in a longer gap would be invented.
_LONGEST_GAP = 0.25
#: Smallest and largest frame rate, frames/s: files keep times to the microsecond.
RATES = (1e-3, 1e5)
#: Largest number of frames that `resample` makes: about a day at 60 frames/s.
_MAX_FRAMES = 5_000_000
#: Share of an interval within which a new frame is a copy of an old one, not interpolated.
_SAME_INSTANT = 1e-6


def regular_rate(where: object, series: PoseSeries) -> float:
    """Frames per second of a series whose frames are evenly spaced.

    Raises
    ------
    DataError
        If the frames are not evenly spaced, or are too few to tell; the message says what to do.
    """
    n = len(series.frame)
    if n == 0:
        raise DataError(f"{where}: holds no frames, and its format cannot do without")
    if n == 1:
        raise DataError(f"{where}: holds a single frame, which tells no frame rate: name one (--rate)")
    measured = (n - 1) / (series.time[-1] - series.time[0]) if series.time[-1] > series.time[0] else 0.0
    steps, since = np.diff(series.frame), series.time - series.time[0]

    def largest(rate: float) -> float:
        return float(np.abs(since - np.arange(n) / rate).max())

    whole = max(round(measured), 1)
    nominal = min((whole, whole * 1000 / 1001), key=largest)
    if measured > 0 and (steps == steps[0]).all():
        # The nominal rate is tried first: rounded times distort the measured one.
        for tolerance in (_MICROSECOND, _TICK / 2, _TICK):
            for rate in (nominal, measured):
                if largest(rate) <= tolerance:
                    return float(rate)
    intervals = np.diff(series.time)
    usual = float(np.median(intervals))
    worst = int(np.abs(intervals - usual).argmax()) + 1
    raise DataError(
        f"{where}: its format has one frame rate, but the frames do not follow evenly (frame {series.frame[worst]} "
        f"comes {1e3 * intervals[worst - 1]:.1f} ms after the one before it, {1e3 * usual:.1f} ms are usual): "
        "name a rate to interpolate to (--rate)"
    )


def resample(series: PoseSeries, rate: float) -> PoseSeries:
    """Interpolate a series linearly to `rate` frames per second, from its first time on; frames count from 0.

    A new frame takes the flags of both old frames beside it. It has no pose where one of those shows nobody, or where
    they are more than a quarter of a second apart. Standard deviations are interpolated linearly too. This is never
    too small: the standard deviation of a mean is at most the mean of the standard deviations.

    Raises
    ------
    ValueError
        If the rate is not within `RATES`.
    DataError
        If the times do not ascend, or there would be too many frames.
    """
    if not RATES[0] <= rate <= RATES[1]:
        raise ValueError(f"frames per second must be {RATES[0]:g} to {RATES[1]:g}, found {rate:g}")
    old, n = series.time, len(series.time)
    if (np.diff(old) <= 0).any():
        row = int(np.flatnonzero(np.diff(old) <= 0)[0]) + 1
        raise DataError(f"frame {series.frame[row]} has no later time than the one before it: cannot be resampled")
    if n == 0:
        return series
    if (old[-1] - old[0]) * rate > _MAX_FRAMES:
        raise DataError(
            f"{old[-1] - old[0]:.4g} s at {rate:g} frames/s are more than {_MAX_FRAMES} frames: lower the rate"
        )
    new = old[0] + np.arange(int((old[-1] - old[0]) * rate + _SAME_INSTANT) + 1) / rate
    after = np.clip(np.searchsorted(old, new - _SAME_INSTANT / rate), 0, n - 1)
    before = np.maximum(after - 1, 0)
    gap = old[after] - old[before]
    weight = np.clip(np.divide(new - old[before], gap, out=np.ones(len(new)), where=gap > 0), 0, 1)
    met_before, met_after = weight < _SAME_INSTANT, weight > 1 - _SAME_INSTANT
    between = ~(met_before | met_after)
    invented = between & (gap > _LONGEST_GAP)

    def mixed(values: FloatArray) -> FloatArray:
        w = weight[:, None, None]
        result: FloatArray = np.where(w < 0.5, values[before], values[after])
        result[between] = ((1 - w) * values[before] + w * values[after])[between]
        result[invented] = np.nan
        return result

    joints = mixed(series.joints)
    quality = None
    if series.quality is not None:
        flags = np.where(met_before, series.quality[before], series.quality[after])
        flags = np.where(between, series.quality[before] | series.quality[after], flags)
        quality = np.where(invented, int(Quality.NO_PERSON), flags).astype(np.int64)
    std = None if series.std is None else mixed(series.std)
    return replace(series, frame=np.arange(len(new), dtype=np.int64), time=new, joints=joints, std=std, quality=quality)
