"""The smoother against conditioning one large Gaussian, and on series with gaps, exact coordinates and odd clocks."""

import numpy as np
import pytest
import scipy.linalg
from scipy.stats import multivariate_normal

from pose.body.skeleton import HUMANEVA_15
from pose.series.pose_series import PoseSeries, Quality
from pose.series.smoothing import (
    INDEPENDENT,
    VAGUE,
    PredictionError,
    fit_process_noise,
    kalman_smooth,
    log_likelihood,
    smooth,
)

IRREGULAR = np.array([0.0, 0.02, 0.02, 0.05, 0.11, 0.3, 0.31, 0.9])


def dense(time, values, std, q, error, order):
    """Mean, standard deviation and log-likelihood of one column, from the joint Gaussian of positions and errors.

    The covariance of the position is that of an integrated Wiener process from vague initial conditions, in closed
    form (Rasmussen & Williams 2006, eq. 6.28, for order 2; by its integral for order 3).
    """
    t = time - time[0]
    low, gap = np.minimum.outer(t, t), np.abs(np.subtract.outer(t, t))
    if order == 2:
        wiener = low**3 / 3 + gap * low**2 / 2
        basis = np.stack([np.ones_like(t), t])
    else:
        # The integral of (s - u)^2 (t - u)^2 / 4 over u from 0 to min(s, t).
        wiener = (low**5 / 5 + gap * low**4 / 2 + gap**2 * low**3 / 3) / 4
        basis = np.stack([np.ones_like(t), t, t**2 / 2])
    K = q * wiener + sum(v**2 * np.outer(b, b) for v, b in zip(VAGUE, basis, strict=False))
    rest = 1 - error.persistent - error.lasting
    E = error.lasting * np.exp(-gap / error.seconds) * np.outer(std, std) + np.diag(rest * std**2)
    seen = np.isfinite(values)
    C = (K + E)[np.ix_(seen, seen)]
    factor = scipy.linalg.cho_factor(C)
    cross = K[:, seen]
    mean = cross @ scipy.linalg.cho_solve(factor, values[seen])
    variance = np.diag(K - cross @ scipy.linalg.cho_solve(factor, cross.T)) + error.persistent * std**2
    return mean, np.sqrt(variance), multivariate_normal.logpdf(values[seen], cov=C)


@pytest.mark.parametrize("order", [2, 3])
@pytest.mark.parametrize("error", [INDEPENDENT, PredictionError(0.0, 0.7, 0.2), PredictionError(0.5, 0.4, 0.05)])
def test_the_smoother_is_the_conditional_gaussian(order, error):
    rng = np.random.default_rng(0)
    values = rng.normal(0, 100, (len(IRREGULAR), 2))
    values[[2, 5], 0] = np.nan
    std = rng.uniform(5, 50, values.shape)
    mean, spread = kalman_smooth(IRREGULAR, values, std, [1e5, 1e7], error=error, order=order)
    likelihood = log_likelihood(IRREGULAR, values, std, [1e5, 1e7], error=error, order=order)
    for column, q in enumerate((1e5, 1e7)):
        expected = dense(IRREGULAR, values[:, column], std[:, column], q, error, order)
        seen = np.isfinite(values[:, column])
        assert mean[:, column] == pytest.approx(expected[0], rel=1e-4, abs=1e-3)
        assert spread[seen, column] == pytest.approx(expected[1][seen], rel=1e-4)
        assert likelihood[column] == pytest.approx(expected[2], rel=1e-6)


def test_a_line_through_exact_observations_stays_and_a_gap_is_crossed_on_it():
    time = np.arange(10) / 60
    values = (3 + 50 * time)[:, None]
    values[4:7] = np.nan
    mean, std = kalman_smooth(time, values, np.full_like(values, 0.1), 1e-3, order=2)
    assert mean[:, 0] == pytest.approx(3 + 50 * time, abs=1e-3)
    assert (std[4:7, 0] < 0.1).all()


def test_equal_trust_and_no_motion_gives_the_mean():
    values = np.array([[1.0], [5.0], [6.0]])
    mean, std = kalman_smooth([0, 0, 0], values, np.full((3, 1), 2.0), 1.0)
    assert mean[:, 0] == pytest.approx([4.0] * 3, rel=1e-6)
    assert std[:, 0] == pytest.approx([2 / np.sqrt(3)] * 3, rel=1e-6)


def test_observations_weigh_by_their_own_variance():
    mean, std = kalman_smooth([0, 0], [[0.0], [10.0]], [[1.0], [3.0]], 1.0)
    assert mean[:, 0] == pytest.approx([1.0, 1.0], rel=1e-6)  # weights 9 : 1
    assert std[:, 0] == pytest.approx(np.full(2, np.sqrt(0.9)), rel=1e-6)


def test_an_error_that_all_but_lasts_is_not_averaged_away():
    time, values = np.arange(200) / 60, np.zeros((200, 1))
    std = np.full((200, 1), 10.0)
    _, averaged = kalman_smooth(time, values, std, 1e-6)
    _, lasting = kalman_smooth(time, values, std, 1e-6, error=PredictionError(0.0, 1.0, 1e6))
    _, persistent = kalman_smooth(time, values, std, 1e-6, error=PredictionError(0.9, 0.0))
    assert averaged[100, 0] < 1.5
    assert lasting[100, 0] == pytest.approx(10, rel=0.01)
    assert persistent[100, 0] == pytest.approx(np.sqrt(90 + 0.1 * averaged[100, 0] ** 2), rel=1e-6)


def test_nothing_observed_is_vague():
    mean, std = kalman_smooth([0.0, 1.0], np.full((2, 1), np.nan), np.full((2, 1), np.nan), 1.0)
    assert (mean == 0).all()
    assert (std >= VAGUE[0] * (1 - 1e-9)).all()


def test_hours_without_a_frame_leave_both_sides_alone():
    time = np.array([0, 1 / 60, 1e4, 1e4 + 1 / 60])
    values = np.array([[1.0], [1.0], [500.0], [500.0]])
    mean, std = kalman_smooth(time, values, np.full((4, 1), 1e-3), 1e9)
    assert mean[:, 0] == pytest.approx(values[:, 0], abs=1e-2)
    assert (std <= 1.1e-3).all()


@pytest.mark.parametrize("order", [2, 3])
def test_process_noise_is_found_again(order):
    rng = np.random.default_rng(1)
    time, dt, q = np.arange(400) / 60, 1 / 60, 1e8 if order == 3 else 1e6
    x = np.zeros((400, 8))
    state = np.zeros((order, 8))
    for k in range(1, 400):  # Euler steps, far finer than the frames
        for _ in range(20):
            state[:-1] += state[1:] * dt / 20
            state[-1] += rng.normal(0, np.sqrt(q * dt / 20), 8)
        x[k] = state[0]
    observed = x + rng.normal(0, 1, x.shape)
    found = fit_process_noise(time, observed, np.ones_like(x), order=order)
    assert np.log(found / q) == pytest.approx(0, abs=0.3)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"time": [0.0, 2.0, 1.0]}, "never go back: entry 2"),
        ({"time": [0.0, np.nan, 1.0]}, "finite"),
        ({"time": [0.0, 1.0]}, "found"),
        ({"std": np.zeros((3, 1))}, "3 observations have no positive standard deviation, first row 0, column 0"),
        ({"process_noise": 0.0}, "process noise"),
        ({"order": 4}, "order"),
    ],
)
def test_wrong_arguments_are_named(change, message):
    given = {"time": [0.0, 1.0, 2.0], "values": np.zeros((3, 1)), "std": np.ones((3, 1)), "process_noise": 1.0} | change
    order = given.pop("order", 3)
    with pytest.raises(ValueError, match=message):
        kalman_smooth(*given.values(), order=order)


@pytest.mark.parametrize("parts", [(1.0, 0.0, 0.1), (0.6, 0.6, 0.1), (-0.1, 0.5, 0.1), (0.5, 0.4, 0.0)])
def test_parts_of_the_error_must_make_sense(parts):
    with pytest.raises(ValueError, match=r"error|seconds"):
        PredictionError(*parts)


def series_of(joints, std, found, rate=60.0):
    n = len(found)
    joints, std = joints.copy(), std.copy()
    joints[~found], std[~found] = np.nan, np.nan
    quality = np.where(found, Quality.GOOD, Quality.NO_PERSON).astype(np.int64)
    return PoseSeries(np.arange(n), np.arange(n) / rate, joints, HUMANEVA_15, "camera", {"model": "m"}, std, quality)


def noisy_series(n=120, found=None):
    rng = np.random.default_rng(2)
    truth = 200 * np.sin(np.arange(n)[:, None, None] / 20 + rng.uniform(0, 6, (15, 3)))
    truth[:, 0] = 0
    std = np.full_like(truth, 30.0)
    std[:, 0] = 0
    joints = truth + rng.normal(size=truth.shape) * std
    return truth, series_of(joints, std, np.ones(n, bool) if found is None else found)


def test_a_noisy_series_comes_nearer_to_the_truth_and_knows_by_how_much():
    truth, series = noisy_series()
    result = smooth(series, error=INDEPENDENT, process_noise=1e7)
    error = (result.joints - truth)[:, 1:]
    assert np.abs(error).mean() < 0.6 * np.abs(series.joints - truth)[:, 1:].mean()
    assert (np.abs(error) < 1.645 * result.std[:, 1:]).mean() == pytest.approx(0.9, abs=0.04)
    assert (result.joints[:, 0] == 0).all()
    assert (result.std[:, 0] == 0).all()
    assert result.provenance == series.provenance
    assert result.axes == series.axes


def test_short_gaps_are_filled_and_long_ones_and_the_ends_stay():
    found = np.ones(120, bool)
    found[:3] = found[20:25] = found[60:90] = found[118:] = False
    truth, series = noisy_series(found=found)
    result = smooth(series, error=INDEPENDENT, process_noise=1e7, max_gap=0.25)
    expected = found.copy()
    expected[20:25] = True
    assert result.found.tolist() == expected.tolist()
    assert (np.isfinite(result.std).all(axis=(1, 2)) == expected).all()
    assert np.abs(result.joints[20:25] - truth[20:25]).max() < 60
    assert (result.std[22, 1:] > result.std[40, 1:]).all()
    assert (result.joints[20:25, 0] == 0).all()
    assert result.quality.tolist() == series.quality.tolist()


def test_a_series_without_a_person_stays_empty():
    _, series = noisy_series(found=np.zeros(120, bool))
    assert not smooth(series).found.any()


def test_without_standard_deviations_nothing_can_be_weighed():
    _, series = noisy_series()
    bare = PoseSeries(series.frame, series.time, series.joints, series.skeleton, series.axes)
    with pytest.raises(ValueError, match="needs the standard deviation"):
        smooth(bare)
