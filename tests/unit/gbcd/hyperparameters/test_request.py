"""Hyperparameters of a regressor, found or given: its amplitude, against scikit-learn's constant kernel."""

import numpy as np
import pytest
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel

from gbcd import GBCDRegressor


def test_a_fitted_amplitude_scales_deviations_and_draws_and_not_the_mean(problem):
    X, Y, _, _ = problem(300, q=2)
    X, Y, new = X[:250], 3 + 10 * Y[:250], X[250:]
    model = GBCDRegressor(kernel="isotropic", input_scaling=None, solver="cholesky", random_state=0).fit(X, Y)
    assert model.amplitude_.shape == (2,)
    assert np.abs(np.log(model.amplitude_)).min() > 0.1
    mean, std = model.predict(new, return_std=True)
    observed = model.predict(new, return_std=True, include_noise=True)[1]
    for j, amplitude in enumerate(model.amplitude_):
        kernel = ConstantKernel(amplitude) * RBF(1 / np.sqrt(2 * model.kernel_.gamma))
        theirs = GaussianProcessRegressor(kernel, alpha=amplitude * model.noise_, optimizer=None, normalize_y=True)
        expected, deviation = theirs.fit(X, Y[:, j]).predict(new, return_std=True)
        np.testing.assert_allclose(mean[:, j], expected, rtol=1e-6)
        np.testing.assert_allclose(std[:, j], deviation, rtol=1e-6)
    np.testing.assert_allclose(observed**2, std**2 + model.noise_ * model.amplitude_ * model.y_scale_**2, rtol=1e-9)
    draws = model.sample_y(new, 2000, random_state=0)
    np.testing.assert_allclose(draws.std(axis=2) / std, 1, atol=0.08)
    # The same mean without an amplitude, and other deviations.
    unit = GBCDRegressor(kernel=model.kernel_, noise=model.noise_, input_scaling=None, solver="cholesky").fit(X, Y)
    np.testing.assert_array_equal(unit.amplitude_, 1)
    plain, unscaled = unit.predict(new, return_std=True)
    np.testing.assert_allclose(plain, mean, rtol=1e-9)
    np.testing.assert_allclose(std / unscaled, np.broadcast_to(np.sqrt(model.amplitude_), std.shape), rtol=1e-6)


def test_the_amplitude_is_part_of_the_state_and_missing_in_older_ones(data):
    X, Y = data
    model = GBCDRegressor(random_state=0).fit(X, Y)
    assert model.amplitude_[1] == 1  # of the constant output
    state = model.get_state()
    std = model.predict(X, return_std=True)[1]
    np.testing.assert_allclose(GBCDRegressor.from_state(state).predict(X, return_std=True)[1], std, rtol=1e-9)
    del state["amplitude"]
    older = GBCDRegressor.from_state(state)
    np.testing.assert_array_equal(older.amplitude_, np.ones(3))
    np.testing.assert_allclose(older.predict(X, return_std=True)[1] * np.sqrt(model.amplitude_), std, rtol=1e-9)


def test_a_smooth_function_is_predicted_as_well_as_with_scikit_learns_constant_kernel():
    rng = np.random.default_rng(0)
    X = rng.random((400, 6))
    y = 10 * np.sin(np.pi * X[:, 0] * X[:, 1]) + 20 * (X[:, 2] - 0.5) ** 2 + 10 * X[:, 3] + 5 * X[:, 4]
    noisy = y + rng.standard_normal(400)
    model = GBCDRegressor(random_state=0).fit(X[:200], noisy[:200])
    theirs = GaussianProcessRegressor(
        ConstantKernel(100, (1e-3, 1e7)) * RBF(np.full(6, 2.0), (1e-2, 1e3)) + WhiteKernel(0.1), normalize_y=True
    ).fit((X[:200] - 0.5) * np.sqrt(12), noisy[:200])
    ours = np.sqrt(np.mean((model.predict(X[200:]) - y[200:]) ** 2))
    reference = np.sqrt(np.mean((theirs.predict((X[200:] - 0.5) * np.sqrt(12)) - y[200:]) ** 2))
    assert ours < 1.05 * reference
    mean, std = model.predict(X[200:], return_std=True, include_noise=True)
    assert np.sqrt(np.mean(((mean - noisy[200:]) / std) ** 2)) == pytest.approx(1, abs=0.15)


def test_a_given_amplitude_is_taken_and_the_sum_of_kernels_is_scikit_learns(problem):
    X, Y, _, _ = problem(200, q=2)
    Y = (Y - Y.mean(axis=0)) / Y.std(axis=0)
    theirs = GaussianProcessRegressor(ConstantKernel(4.0) * RBF(3.0), alpha=0.2, optimizer=None).fit(X, Y[:, 0])
    expected, deviation = theirs.predict(X[:9] + 0.1, return_std=True)
    ours = GBCDRegressor(
        gamma=1 / 18, noise=0.05, amplitude=4.0, input_scaling=None, solver="cholesky", random_state=0
    ).fit(X, Y[:, 0])
    mean, std = ours.predict(X[:9] + 0.1, return_std=True)
    np.testing.assert_allclose(mean, expected, rtol=1e-8)
    np.testing.assert_allclose(std, deviation, rtol=1e-7)
    np.testing.assert_array_equal(ours.set_params(amplitude=[1.0, 2.0]).fit(X, Y).amplitude_, [1, 2])
    np.testing.assert_array_equal(GBCDRegressor(amplitude=3, random_state=0).fit(X, Y).amplitude_, [3, 3])
    for amplitude in (0, -1.0, np.nan, [1.0, 2.0, 3.0], "a", 1j):
        with pytest.raises(ValueError, match=r"amplitude must be a positive number, or 2|convert string|Complex"):
            ours.set_params(amplitude=amplitude).fit(X, Y)


def test_the_search_holds_a_given_amplitude_as_scikit_learns_does(problem):
    X, Y, _, _ = problem(200, q=1)
    y = Y[:, 0] + 0.3 * np.random.default_rng(0).standard_normal(len(Y))
    y = (y - y.mean()) / y.std()
    kernel = ConstantKernel(0.6, "fixed") * RBF(1.0) + WhiteKernel(0.1)
    theirs = GaussianProcessRegressor(kernel, random_state=0, n_restarts_optimizer=2).fit(X, y).kernel_
    ours = GBCDRegressor(kernel="isotropic", amplitude=0.6, input_scaling=None, subset=200, random_state=0).fit(X, y)
    assert ours.amplitude_ == 0.6
    assert 0.6 * ours.noise_ == pytest.approx(theirs.k2.noise_level, rel=0.02)
    assert 1 / np.sqrt(2 * ours.kernel_.gamma) == pytest.approx(theirs.k1.k2.length_scale, rel=0.02)
