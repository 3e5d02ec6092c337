from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from gbcd import SquaredExponential

Problem = tuple[np.ndarray, np.ndarray, SquaredExponential, float]


def friedman1(n: int, q: int = 1, noise: float = 0.1, seed: int = 0) -> Problem:
    """Friedman (1991), standardised; further outputs are other smooth functions, the third is constant."""
    rng = np.random.default_rng(seed)
    X = rng.random((n, 10))
    columns = [10 * np.sin(np.pi * X[:, 0] * X[:, 1]) + 20 * (X[:, 2] - 0.5) ** 2 + 10 * X[:, 3] + 5 * X[:, 4]]
    columns += [np.sin(X @ rng.standard_normal(10)) for _ in range(q - 1)]
    Y = np.stack(columns, axis=1)
    Y += 0.2 * Y.std(axis=0) * rng.standard_normal(Y.shape)
    Y = (Y - Y.mean(axis=0)) / np.maximum(Y.std(axis=0), 1e-300)
    if q > 2:
        Y[:, 2] = 0
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    gamma = np.array([0.05, 0.05, 0.05, 0.03, 0.02] + 5 * [0.005])
    return X, Y, SquaredExponential(gamma), noise


@pytest.fixture
def problem() -> Callable[..., Problem]:
    return friedman1


@pytest.fixture
def data(problem: Callable[..., Problem]) -> tuple[np.ndarray, np.ndarray]:
    """In units of their own: 300 rows, 3 outputs, of which the second is constant."""
    X, Y, _, _ = problem(300, q=4)
    return 5 + 3 * X, np.c_[100 * Y[:, 0] + 1000, np.full(300, 7.1), Y[:, 1]]


@pytest.fixture
def dense() -> Callable[..., np.ndarray]:
    """Kbar, from the definition."""

    def build(X: np.ndarray, kernel: SquaredExponential, noise: float) -> np.ndarray:
        difference = X[:, None, :] - X[None, :, :]
        return np.exp(-(difference**2 @ np.broadcast_to(kernel.gamma, X.shape[1]))) + noise * np.eye(len(X))

    return build
