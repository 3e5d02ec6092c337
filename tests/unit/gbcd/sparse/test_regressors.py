import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from gbcd.sparse import regressors
from gbcd.sparse.regressors import divided_squares, fit_regressors


@pytest.fixture
def setting(problem, dense):
    X, Y, kernel, noise = problem(300, q=2)
    return X, Y, kernel, noise, dense(X, kernel, 0.0)


@pytest.mark.parametrize("panel", [4096, 64])
def test_the_coefficients_solve_the_dense_system(setting, monkeypatch, panel):
    X, Y, kernel, noise, K = setting
    monkeypatch.setattr(regressors, "PANEL_ROWS", panel)
    monkeypatch.setattr(regressors, "GRAM_BLOCK", 16)
    active = np.random.default_rng(0).permutation(300)[:40]
    fit = fit_regressors(X, Y, active, kernel, noise)
    K_np, K_pp = K[:, active], K[np.ix_(active, active)]
    system = K_np.T @ K_np + noise * K_pp
    np.testing.assert_allclose(fit.coef, np.linalg.solve(system, K_np.T @ Y), rtol=1e-5, atol=1e-6)
    whole = np.tril(fit.root) @ np.tril(fit.factor)
    np.testing.assert_allclose(whole @ whole.T, system, rtol=1e-8, atol=1e-8)
    assert fit.kernel_evaluations == 340 * 40


@pytest.mark.parametrize("t", [1, 7, 600])
def test_squares_through_factors(setting, t):
    X, _, kernel, _, _ = setting
    rng = np.random.default_rng(0)
    points = rng.standard_normal((t, 10))
    factors = [np.tril(rng.random((50, 50))) + 5 * np.eye(50) for _ in range(2)]
    k = np.exp(-((points[:, None] - X[None, :50]) ** 2 @ kernel.gamma))
    expected = np.linalg.solve(factors[1], np.linalg.solve(factors[0], k.T))
    squares = divided_squares(kernel, points, X[:50], X.mean(axis=0), factors)
    np.testing.assert_allclose(squares, np.sum(expected**2, axis=0), rtol=1e-9)


def test_a_noise_below_rounding_is_raised_and_said(setting):
    X, Y, kernel, _, K = setting
    X, Y = np.repeat(X[:20], 3, axis=0), np.repeat(Y[:20], 3, axis=0)
    with pytest.warns(ConvergenceWarning, match=r"noise 1e-300 is below the rounding of 60 regressors .* was used"):
        fit = fit_regressors(X, Y, np.arange(60), kernel, 1e-300)
    np.testing.assert_allclose(K[:20, np.repeat(np.arange(20), 3)] @ fit.coef, Y[::3], atol=1e-4)


def test_what_is_no_kernel_is_refused(setting):
    X, Y, kernel, noise, _ = setting

    class Wrong(type(kernel)):
        def diagonal(self, X):
            return np.full(len(X), np.nan)

    with pytest.raises(ValueError, match="kernel matrix of 20 regressors is not positive definite"):
        fit_regressors(X, Y, np.arange(20), Wrong(kernel.gamma), noise)
