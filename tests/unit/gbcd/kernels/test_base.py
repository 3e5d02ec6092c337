"""A kernel written by the steps of `gbcd.kernels.base` is all that the package needs of one."""

import numpy as np
import pytest
from scipy.linalg import cho_factor, cho_solve

from gbcd import Kernel, KernelSystem, fit_hyperparameters, predictive_variance, solve


class Quadratic:
    """k(x, x') = (1 + weight x . x')^2: neither stationary nor of unit diagonal."""

    n_features = None

    def __init__(self, weight):
        self.weight = float(weight)

    def diagonal(self, X):
        return (1 + self.weight * (X**2).sum(axis=1)) ** 2

    def row_features(self, X, origin, dtype):
        return np.c_[np.sqrt(self.weight) * X, np.ones(len(X))].astype(dtype)

    column_features = row_features

    def tile(self, rows, columns, out=None):
        values = np.matmul(rows, columns.T, out=out)
        return np.square(values, out=values)

    def magnitude(self, X, origin):
        return 0.0

    def for_inputs(self, X, origin):
        return self

    @property
    def log_parameters(self):
        return np.log([self.weight])

    def with_log_parameters(self, theta):
        return Quadratic(np.exp(theta[0]))

    def parameter_gradient(self, X, K, dK):
        # dK/d(log weight) = 2 sqrt(K) (sqrt(K) - 1).
        root = 1 + self.weight * X @ X.T
        return np.array([(dK * 2 * root * (root - 1)).sum()])


@pytest.fixture
def setting():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((700, 4))
    y = X[:, 0] * X[:, 1] - X[:, 2] ** 2 + 0.1 * rng.standard_normal(700)
    return X, (y - y.mean()) / y.std(), Quadratic(0.1)


def test_it_is_a_kernel(setting):
    assert isinstance(setting[2], Kernel)


@pytest.mark.parametrize("solver", ["gbcd", "gbcd-paper", "smo", "cg", "pcg", "cholesky", "auto"])
@pytest.mark.parametrize("budget", [0, 1 << 28])
def test_every_solver_takes_it(setting, solver, budget):
    X, y, kernel = setting
    Kbar = (1 + 0.1 * X @ X.T) ** 2 + 0.1 * np.eye(len(X))
    result = solve(KernelSystem(X, kernel, 0.1, budget), y, solver, tol=1e-3, random_state=0)
    assert result.converged
    assert np.abs(Kbar @ result.coef[:, 0] - y).max() <= 1.01e-3


@pytest.mark.parametrize("solver", ["cholesky", "gbcd"])
def test_variances_take_it(setting, solver):
    X, _, kernel = setting
    points = np.random.default_rng(1).standard_normal((30, 4))
    factor = cho_factor((1 + 0.1 * X @ X.T) ** 2 + 0.1 * np.eye(len(X)))
    cross = (1 + 0.1 * X @ points.T) ** 2
    exact = kernel.diagonal(points) - (cross * cho_solve(factor, cross)).sum(axis=0)
    variance = predictive_variance(KernelSystem(X, kernel, 0.1), points, solver=solver, random_state=0)
    np.testing.assert_allclose(variance, exact, rtol=3e-3, atol=1e-6)


def test_its_parameters_are_fitted(setting):
    X, y, kernel = setting
    fit = fit_hyperparameters(X, y, kernel=kernel, noise=0.1, random_state=0)
    assert isinstance(fit.kernel, Quadratic)
    assert fit.n_iter > 1
    assert fit.kernel.weight != kernel.weight
