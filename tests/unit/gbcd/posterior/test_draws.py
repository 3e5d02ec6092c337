import numpy as np
import pytest

from gbcd import GBCDRegressor, KernelSystem, SquaredExponential, posterior_deviations
from gbcd.posterior import draws as sampling


@pytest.mark.parametrize("exact_points", [4000, 0])
def test_draws_have_the_covariance_of_the_posterior(problem, dense, monkeypatch, exact_points):
    monkeypatch.setattr(sampling, "EXACT_POINTS", exact_points)
    X, _, kernel, noise = problem(120)
    train, points = X[:100], X[100:]
    both = dense(X, kernel, 0.0)
    expected = both[100:, 100:] - both[100:, :100] @ np.linalg.solve(dense(train, kernel, noise), both[:100, 100:])
    count = 4_000
    draws = posterior_deviations(KernelSystem(train, kernel, noise), points, count, random_state=0, tol=1e-6)
    assert draws.shape == (20, count)
    variances = np.diagonal(expected)
    assert (np.abs(draws.mean(axis=1)) < 4.5 * np.sqrt(variances / count)).all()
    # The standard error of a covariance estimate of normal draws; random features add their own.
    error = np.sqrt((np.outer(variances, variances) + expected**2) / count)
    features = 0 if exact_points else 4 / np.sqrt(sampling.FEATURES)
    assert (np.abs(draws @ draws.T / count - expected) < 4.5 * error + features).all()


def test_another_kernel_is_drawn_exactly_or_refused(problem, monkeypatch):
    X, _, _, noise = problem(40)

    class Other(SquaredExponential):
        pass

    monkeypatch.setattr(sampling, "EXACT_POINTS", 30)
    monkeypatch.setattr(sampling, "SquaredExponential", type("Nothing", (), {}))
    with pytest.raises(ValueError, match="more than 30 training and new points need a SquaredExponential kernel"):
        posterior_deviations(KernelSystem(X[:30], Other(0.1), noise), X[30:], 2)


def test_sample_y_has_the_shapes_and_units_of_predict(problem):
    X, Y, _, _ = problem(150, q=3)
    Y = Y * [100.0, 1.0, 1.0] + [500.0, 0.0, 7.0]  # the last output is constant
    model = GBCDRegressor(gamma=0.02, noise=0.1, random_state=0).fit(X[:100], Y[:100])
    draws = model.sample_y(X[100:], n_samples=400, random_state=1)
    assert draws.shape == (50, 3, 400)
    mean, std = model.predict(X[100:], return_std=True)
    assert (np.abs(draws.mean(axis=2) - mean) <= 5 * std / 20 + 1e-9).all()
    np.testing.assert_allclose(draws.std(axis=2)[:, :2], std[:, :2], rtol=0.25)
    np.testing.assert_array_equal(draws[:, 2], 7.0)
    np.testing.assert_array_equal(draws, model.sample_y(X[100:], n_samples=400, random_state=1))
    single = GBCDRegressor(gamma=0.02, noise=0.1, random_state=0).fit(X[:100], Y[:100, 0])
    assert single.sample_y(X[100:], n_samples=2).shape == (50, 2)
    with pytest.raises(ValueError, match="n_samples must be at least 1, not 0"):
        single.sample_y(X[100:], n_samples=0)


def test_many_draws_of_inputs_out_of_reach_of_a_phase_are_refused():
    X = np.linspace(0, 1e14, 4100)[:, None]
    with pytest.raises(ValueError, match=r"within 1e\+10 length scales of their mean: leave the farthest out"):
        posterior_deviations(KernelSystem(X, SquaredExponential(1.0), 0.1), X[:2], 1)
