"""Intervals of known coverage: draws of a Gaussian process, with Gaussian errors that differ from output to output."""

import numpy as np
import pytest

from gbcd import GBCDRegressor, SquaredExponential
from pipelines.model.error_bars import Calibration, half_width
from pipelines.training.calibration import calibrate

NOISE = 0.05
UNITS = np.array([0.0, 1.0, 30.0, 4.0])


@pytest.fixture(scope="module")
def draws():
    """1,400 inputs in 8 dimensions; 4 outputs: one constant, three draws with noise in units of their own."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1400, 8))
    kernel = SquaredExponential(0.1)
    covariance = np.exp(-0.1 * ((X[:, None] - X) ** 2).sum(-1)) + 1e-9 * np.eye(1400)
    functions = np.linalg.cholesky(covariance) @ rng.normal(size=(1400, 4))
    Y = 500 + UNITS * (functions + np.sqrt(NOISE) * rng.normal(size=(1400, 4)))
    gp = GBCDRegressor(kernel, noise=NOISE, input_scaling=None, random_state=0).fit(X[:700], Y[:700])
    blocks = np.arange(700) // 10
    return X, Y, gp, calibrate(gp, Y[:700], blocks)


def test_half_widths_of_the_gaussian():
    assert [half_width(level) for level in (0.5, 0.9, 0.95)] == pytest.approx([0.6745, 1.6449, 1.9600], abs=1e-4)


def test_each_factor_is_the_unit_of_its_output(draws):
    *_, calibration = draws
    assert calibration.factors[0] == 0
    # The quantile of 700 errors is within 10 % of its own, about two standard errors.
    np.testing.assert_allclose(calibration.factors[1:], UNITS[1:], rtol=0.1)


@pytest.mark.parametrize("level", [0.5, 0.9, 0.95])
def test_intervals_hold_what_they_say_of_new_observations(draws, level):
    X, Y, gp, calibration = draws
    mean, latent = gp.predict(X[700:], return_std=True, variance="fast")
    std = calibration.std((latent[:, 1] / gp.y_scale_[1]) ** 2)
    assert (std[:, 0] == 0).all()
    within = np.abs(Y[700:, 1:] - mean[:, 1:]) <= half_width(level) * std[:, 1:]
    # 700 samples: three standard errors of a share, and what the factor may be off.
    assert within.mean(axis=0) == pytest.approx(np.full(3, level), abs=3 * np.sqrt(level * (1 - level) / 700) + 0.03)
    assert std[:, 1].max() > 1.1 * std[:, 1].min()


def test_an_output_with_larger_errors_than_the_process_thinks_gets_wider_intervals(draws):
    _, Y, gp, calibration = draws
    rough = Y[:700] + [0, 0, 60, 0] * np.random.default_rng(1).normal(size=(700, 4))
    again = calibrate(gp, rough, np.arange(700) // 10)
    assert again.factors[2] > 2 * calibration.factors[2]
    np.testing.assert_array_equal(again.factors[[0, 1, 3]], calibration.factors[[0, 1, 3]])


def test_about_one_held_out_image_in_a_hundred_is_unlike_the_others(draws):
    X, _, gp, calibration = draws
    variance = gp.predict(X[700:], return_std=True, variance="fast")[1][:, 1] ** 2 / gp.y_scale_[1] ** 2
    assert 0 < calibration.unlike_training(variance).mean() < 0.04
    assert calibration.unlike_training(np.array([1.0])).all()  # the prior: nothing like it was seen


def test_standard_deviations_by_hand():
    calibration = Calibration(np.array([0.0, 10.0]), noise=0.04, unlike_above=0.5)
    np.testing.assert_allclose(calibration.std(np.array([0.05, 0.96])), [[0, 3], [0, 10]])
    np.testing.assert_array_equal(calibration.unlike_training(np.array([0.5, 0.51])), [False, True])
