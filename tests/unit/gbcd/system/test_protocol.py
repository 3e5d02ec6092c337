"""Solvers, selections and variances need `LinearSystem` and no more: another implementation serves them as well."""

import numpy as np
import pytest
import scipy.linalg

from gbcd import KernelSystem, predictive_variance, solve
from gbcd.system.kernel_matrix import kernel_matrix
from gbcd.system.precision import TilePrecision
from gbcd.system.storage import KernelStorage

N = 900


class DenseSystem:
    """Kbar as one float64 matrix, each operation in one line of NumPy."""

    def __init__(self, X, kernel, noise):
        inner = KernelSystem(X, kernel, noise, 0, "float64")
        self.X, self.kernel, self.noise, self.n, self.origin = X, inner.kernel, noise, len(X), inner.origin
        self.kernel_evaluations = 0
        self.precision = TilePrecision("float64", noise, X.shape, 0.0, 1.0)
        self.storage = KernelStorage(X.shape, 1 << 28, self.precision)
        self.dtype, self.product_error = np.dtype(np.float64), 1e-16
        self._K = inner.dense() - noise * np.eye(self.n)

    def diagonal(self, noise=True):
        return np.diagonal(self._K) + (self.noise if noise else 0.0)

    def block(self, I, J, exact=False):  # noqa: E741
        return self._K[np.ix_(I, J)]

    def columns(self, J):
        return self._K[:, J].copy()

    def rows(self, I, out=None):  # noqa: E741
        return self._K[I]

    def add_columns(self, B, D, G, known=None):
        G += self._K[:, B] @ D
        G[B] += self.noise * D

    def matmul(self, V, wide=False):
        return self._K @ V + self.noise * V

    def residual(self, alpha, Y, exact=True):
        return self.matmul(alpha) - Y

    def dense(self, dtype=np.float64):
        return (self._K + self.noise * np.eye(self.n)).astype(dtype)

    def cross(self, X_new, dtype=np.float64):
        return kernel_matrix(self.kernel, self.X, X_new, self.origin, dtype)

    def keep(self, part, reserved=0, coded=None):
        return True

    def raise_precision(self):
        return False

    def require_unchanged(self):
        pass


@pytest.fixture
def setting(problem, dense):
    X, Y, kernel, noise = problem(N, q=2)
    return DenseSystem(X, kernel, noise), Y, dense(X, kernel, noise)


@pytest.mark.parametrize("solver", ["gbcd", "gbcd-paper", "bcdc", "bcdg", "smo", "cg", "pcg", "cholesky", "auto"])
def test_every_solver_solves_another_implementation(setting, solver):
    system, Y, Kbar = setting
    result = solve(system, Y, solver, tol=1e-3, random_state=0)
    assert result.converged
    assert np.abs(Kbar @ result.coef - Y).max() <= 1.01e-3


def test_greedy_blocks_do_too(setting):
    system, Y, Kbar = setting
    result = solve(system, Y, block_size=100, tol=1e-3, random_state=0)
    assert np.abs(Kbar @ result.coef - Y).max() <= 1.01e-3


@pytest.mark.parametrize("solver", ["cholesky", "gbcd"])
def test_variances_do_too(setting, solver):
    system, _, Kbar = setting
    points = system.X[:20] + 0.3
    cross = kernel_matrix(system.kernel, system.X, points, system.origin)
    exact = 1 - (cross * scipy.linalg.solve(Kbar, cross)).sum(axis=0)
    np.testing.assert_allclose(predictive_variance(system, points, solver=solver, random_state=0), exact, rtol=3e-3)
