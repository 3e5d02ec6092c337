"""Poses smoothed over time, by a Kalman filter and its fixed-interval smoother, with each frame's own error.

Every coordinate of every joint moves by itself, its velocity (or acceleration) driven by white noise. The value that a
frame gives errs by that frame's standard deviation. A part of that error is new in each frame, the rest lasts: poses
predicted from silhouettes stay wrong in the same way as long as the silhouettes look alike. Taking all of the error as
new in each frame would trust the average of many frames far too much.

References
----------
Rauch, Tung & Striebel, "Maximum likelihood estimates of linear dynamic systems", AIAA Journal 3(8), 1965.
Bierman, "Fixed interval smoothing with discrete measurements", International Journal of Control 18(1), 1973.
Bar-Shalom, Li & Kirubarajan, "Estimation with Applications to Tracking and Navigation", 2001, section 6.2.
"""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass

import numpy as np
import scipy.optimize
from numpy.typing import ArrayLike

from pose.series.compiled_smoother import StateModel, filter_column, smooth_column
from pose.series.pose_series import PoseSeries
from pose.types import BoolArray, FloatArray

VAGUE = (1e4, 1e5, 1e6)
"""Standard deviations of position, velocity and acceleration before anything is seen: mm, mm/s, mm/s^2."""
ORDERS = (2, 3)
"""Orders of the motion model: 2 for constant velocity, 3 for constant acceleration."""
PROCESS_NOISE = 1e9
"""Process noise, mm^2/s^5: 1.3e9 is likeliest for people who walk, jog, box and gesture (motion capture, order 3)."""
LONGEST_STEP = 10.0
"""Longest step between frames, seconds. A longer one is taken as this: nothing is known of the motion after such a
step, and float64 does not overflow."""
_LOG_NOISE = np.arange(-40.0, 41.0, 4.0)
"""Natural logarithms of the process noises that the search tries first."""


@dataclass(frozen=True)
class PredictionError:
    """How the errors of predicted poses last from frame to frame. The parts of their variance sum to 1.

    Parameters
    ----------
    persistent : float
        Part that stays for seconds, so that smoothing cannot reduce it.
    lasting : float
        Part that fades within `seconds`. The remainder is new in each frame.
    seconds : float
        Seconds in which the correlation of the lasting part falls to 1/e.

    Notes
    -----
    The defaults are those of Gaussian processes on silhouettes at 60 frames/s: measured on rendered motion capture, see
    ``docs/temporal.md``.
    """

    persistent: float = 0.65
    lasting: float = 0.33
    seconds: float = 0.1

    def __post_init__(self) -> None:
        parts = {"persistent": self.persistent, "lasting": self.lasting}
        wrong = [f"{name} {part}" for name, part in parts.items() if not 0 <= part <= 1]
        if wrong or self.persistent + self.lasting > 1 or self.persistent == 1:
            raise ValueError(
                "the persistent and the lasting part of the error must be 0 to 1, and 1 at most together (persistent "
                f"alone less), not {self.persistent} and {self.lasting}"
            )
        if not (np.isfinite(self.seconds) and self.seconds > 0):
            raise ValueError(f"the seconds that errors last must be positive, not {self.seconds}")


INDEPENDENT = PredictionError(0.0, 0.0, 1.0)
"""Errors that are new in each frame, as the textbook has them."""


def smooth(
    series: PoseSeries,
    *,
    process_noise: ArrayLike = PROCESS_NOISE,
    error: PredictionError | None = None,
    order: int = 3,
    max_gap: float = 0.25,
) -> PoseSeries:
    """A series smoothed over time, its gaps filled, with the standard deviations of the result.

    Parameters
    ----------
    series : PoseSeries
        With standard deviations; a coordinate whose standard deviation is 0 throughout, such as the root's, is kept.
    process_noise : array-like of shape () or (J, 3)
        See `kalman_smooth`.
    error : PredictionError, optional
        By default ``PredictionError()``.
    order : {2, 3}
        See `kalman_smooth`.
    max_gap : float
        Seconds. A gap without a person is filled in where the frames before and after it are at most this far apart.
        Longer gaps stay NaN.

    Returns
    -------
    PoseSeries
        With the frames, flags and provenance of `series`.

    Raises
    ------
    ValueError
        If the series has no standard deviations, or `kalman_smooth` refuses an argument.
    """
    if series.std is None:
        raise ValueError("smoothing needs the standard deviation of every coordinate: this series has none")
    n, n_joints = len(series.frame), len(series.skeleton)
    found = series.found
    values = np.where(found[:, None], series.joints.reshape(n, -1), np.nan)
    std = series.std.reshape(n, -1)
    size = np.broadcast_to(np.asarray(process_noise, dtype=float), (n_joints, 3)).ravel()
    joints, deviations = np.full_like(values, np.nan), np.full_like(values, np.nan)
    exact = (std[found] == 0).all(axis=0)
    kept = found | _within_gaps(series.time, found, max_gap)
    if found.any():
        mean, spread = kalman_smooth(
            series.time, values[:, ~exact], std[:, ~exact], size[~exact], error=error or PredictionError(), order=order
        )
        joints[np.ix_(kept, ~exact)], deviations[np.ix_(kept, ~exact)] = mean[kept], spread[kept]
        for column in np.flatnonzero(exact):
            joints[kept, column] = np.interp(series.time[kept], series.time[found], values[found, column])
            deviations[kept, column] = 0.0
    shape = (n, n_joints, 3)
    return dataclasses.replace(series, joints=joints.reshape(shape), std=deviations.reshape(shape))


def kalman_smooth(
    time: ArrayLike,
    values: ArrayLike,
    std: ArrayLike,
    process_noise: ArrayLike,
    *,
    error: PredictionError = INDEPENDENT,
    order: int = 3,
) -> tuple[FloatArray, FloatArray]:
    """Mean and standard deviation of coordinates at all times, given all observations.

    Parameters
    ----------
    time : array-like of shape (n,)
        Seconds, never decreasing; steps may differ.
    values, std : array-like of shape (n, m)
        m columns, each smoothed by itself, and their standard deviations, positive; NaN where nothing was observed.
    process_noise : array-like of shape () or (m,)
        Spectral density of the white noise that drives the velocity (mm^2/s^3, `order` 2) or the acceleration
        (mm^2/s^5, `order` 3).
    error : PredictionError
    order : {2, 3}
        2 for constant velocity, 3 for constant acceleration, apart from the process noise.

    Returns
    -------
    mean, std : ndarray of shape (n, m)
        A column without observations has the mean 0 and at least the first standard deviation of `VAGUE`. The
        persistent part of the error, interpolated between observations, is included.

    Raises
    ------
    ValueError
        If shapes do not fit, time goes back or is not finite, an observation has no positive standard deviation, or
        a parameter is out of range.
    """
    problem = _Problem.of(time, values, std, error, order)
    n, m = problem.values.shape
    size = _sizes(process_noise, m)
    means, covariances = np.empty((n, order + 1)), np.empty((n, order + 1, order + 1))
    result = np.empty((m, n, 2))
    for column in range(m):
        y, s = problem.column(column)
        filter_column(problem.model, size[column], y, s, means, covariances)
        smooth_column(problem.model, y, s, means, covariances, result[column])
        result[column, :, 1] += problem.persistent_variance(column)
    return result[..., 0].T.copy(), np.sqrt(result[..., 1].T)


def log_likelihood(
    time: ArrayLike,
    values: ArrayLike,
    std: ArrayLike,
    process_noise: ArrayLike,
    *,
    error: PredictionError = INDEPENDENT,
    order: int = 3,
) -> FloatArray:
    """Log density (m,) of each column's observations, without the persistent part of their error.

    Parameters and errors are those of `kalman_smooth`.
    """
    problem = _Problem.of(time, values, std, error, order)
    return problem.log_likelihoods(_sizes(process_noise, problem.values.shape[1]))


def fit_process_noise(
    time: ArrayLike, values: ArrayLike, std: ArrayLike, *, error: PredictionError = INDEPENDENT, order: int = 3
) -> float:
    """The process noise, one for all columns, under which the observations are likeliest.

    The fit is meant for motion capture, whose error is small and new in each frame. For predictions the fitted noise
    is too small: a slow error and a slow movement look alike.

    Parameters and errors are those of `kalman_smooth`.
    """
    problem = _Problem.of(time, values, std, error, order)
    n_columns = problem.values.shape[1]

    def unlikely(log_noise: float) -> float:
        return -float(problem.log_likelihoods(np.full(n_columns, math.exp(log_noise))).sum())

    # A coarse search first, since the likelihood is flat far from the maximum.
    best = _LOG_NOISE[int(np.argmin([unlikely(value) for value in _LOG_NOISE]))]
    found = scipy.optimize.minimize_scalar(
        unlikely, bounds=(best - 4, best + 4), method="bounded", options={"xatol": 0.02}
    )
    return math.exp(float(found.x))


def _sizes(process_noise: ArrayLike, n_columns: int) -> FloatArray:
    size = np.broadcast_to(np.asarray(process_noise, dtype=float), (n_columns,))
    if not (np.isfinite(size) & (size > 0)).all():
        raise ValueError("the process noise must be positive")
    return size


def _within_gaps(time: FloatArray, found: BoolArray, max_gap: float) -> BoolArray:
    """Flags (n,) of frames without a person in gaps of at most `max_gap` seconds."""
    index = np.arange(len(found))
    before = np.maximum.accumulate(np.where(found, index, -1))
    after = np.minimum.accumulate(np.where(found, index, len(found))[::-1])[::-1]
    inside = ~found & (before >= 0) & (after < len(found))
    short = np.zeros(len(found), dtype=bool)
    short[inside] = time[after[inside]] - time[before[inside]] <= max_gap
    return short


@dataclass(frozen=True, eq=False)
class _Problem:
    """Checked observations, and the model at their times for a process noise of 1."""

    values: FloatArray  # (n, m)
    std: FloatArray  # (n, m)
    time: FloatArray  # (n,)
    model: StateModel
    persistent: float  # the part of the variance that smoothing cannot reduce

    @classmethod
    def of(cls, time: ArrayLike, values: ArrayLike, std: ArrayLike, error: PredictionError, order: int) -> _Problem:
        if order not in ORDERS:
            raise ValueError(f"order must be one of {ORDERS}, not {order}")
        times, y, s = (np.asarray(array, dtype=float) for array in (time, values, std))
        if times.ndim != 1 or y.ndim != 2 or y.shape != s.shape or len(y) != len(times):
            raise ValueError(f"expected time (n,), values and std (n, m), found {times.shape}, {y.shape} and {s.shape}")
        steps = np.diff(times, prepend=times[:1])
        if not (np.isfinite(times).all() and (steps >= 0).all()):
            wrong = int(np.flatnonzero(~(np.isfinite(times) & (steps >= 0)))[0])
            raise ValueError(f"time must be finite and never go back: entry {wrong} is {times[wrong]}")
        bad = np.isfinite(y) & ~(np.isfinite(s) & (s > 0))
        if bad.any():
            row, column = (int(index) for index in np.argwhere(bad)[0])
            raise ValueError(
                f"{int(bad.sum())} observations have no positive standard deviation, first row {row}, column {column}: "
                f"{s[row, column]}"
            )
        transition, noise = _motion(np.minimum(steps, LONGEST_STEP), order, error.seconds)
        prior = np.array([*(deviation**2 for deviation in VAGUE[:order]), 1.0])
        share = error.lasting / (1 - error.persistent)
        return cls(y, s, times, StateModel(transition, noise, prior, share), error.persistent)

    def column(self, index: int) -> tuple[FloatArray, FloatArray]:
        """Observations (NaN where missing) of one column, and standard deviations without the persistent part."""
        y = np.where(np.isfinite(self.values[:, index]), self.values[:, index], np.nan)
        return y, np.ascontiguousarray(self.std[:, index]) * math.sqrt(1 - self.persistent)

    def persistent_variance(self, index: int) -> FloatArray | float:
        """The persistent part of one column's variance at all times, interpolated between observations."""
        seen = np.isfinite(self.values[:, index])
        if not seen.any():
            return 0.0
        between = np.interp(self.time, self.time[seen], self.std[seen, index] ** 2)
        return self.persistent * np.where(seen, self.std[:, index] ** 2, between)

    def log_likelihoods(self, size: FloatArray) -> FloatArray:
        d = len(self.model.prior)
        no_states = np.empty((0, d)), np.empty((0, d, d))
        columns = range(self.values.shape[1])
        return np.array([filter_column(self.model, size[k], *self.column(k), *no_states) for k in columns])


def _motion(steps: FloatArray, order: int, seconds: float) -> tuple[FloatArray, FloatArray]:
    """Transitions (n, d, d) over steps (n,), and the covariances that unit white noise adds; d = order + 1."""
    transition = np.zeros((len(steps), order + 1, order + 1))
    noise = np.zeros_like(transition)
    for i in range(order):
        for j in range(order):
            if j >= i:
                transition[:, i, j] = steps ** (j - i) / math.factorial(j - i)
            power = 2 * order - 1 - i - j
            noise[:, i, j] = steps**power / (power * math.factorial(order - 1 - i) * math.factorial(order - 1 - j))
    transition[:, order, order] = np.exp(-steps / seconds)
    noise[:, order, order] = -np.expm1(-2 * steps / seconds)
    return transition, noise
