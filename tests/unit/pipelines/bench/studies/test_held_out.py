"""The dense process of comparisons: held-out errors by really leaving out, several inputs, and distances."""

import numpy as np
import pytest

from gbcd import GBCDRegressor, SquaredExponential
from gbcd.hyperparameters.objectives import leave_group_out_score
from pipelines.bench.studies.held_out import Input, _held_out_error, chi_square, manhattan, predict, squared


def data(n=60, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-2, 2, (n, 2))
    return X, np.column_stack([np.sin(X[:, 0]), X[:, 0] * X[:, 1], np.full(n, 7.0)])


def test_the_held_out_error_is_that_of_leaving_each_group_out():
    X, Y = data()
    Y = Y[:, :2]
    groups = np.arange(60) // 7
    K = np.exp(-0.5 * squared(X, X))
    total = 0.0
    for group in np.unique(groups):
        out = groups == group
        fitted = np.linalg.solve(K[~out][:, ~out] + 0.01 * np.eye((~out).sum()), Y[~out])
        total += ((Y[out] - K[out][:, ~out] @ fitted) ** 2).sum()
    members = [np.flatnonzero(groups == group) for group in np.unique(groups)]
    found = _held_out_error(K, 0.01, Y, members)
    assert found == pytest.approx(total / Y.size, rel=1e-8)
    score, _ = leave_group_out_score(SquaredExponential(0.5), 0.01, X, Y, groups)
    assert found == pytest.approx(-2 * score / Y.size, rel=1e-8)


@pytest.mark.parametrize("distance", [squared, manhattan])
@pytest.mark.parametrize("standardise", [True, False])
def test_a_smooth_function_is_learnt(distance, standardise):
    (X, Y), (new, true) = data(), data(30, seed=1)
    found = predict([Input(X, new, distance)], Y, np.arange(60), standardise=standardise)
    assert np.abs(found - true).mean() < 0.15 * np.abs(true[:, :2] - Y[:, :2].mean(axis=0)).mean()
    assert found[:, 2] == pytest.approx(np.full(30, 7.0))


def test_it_agrees_with_the_package():
    (X, Y), (new, _) = data(), data(30, seed=1)
    groups = np.arange(60)
    package = GBCDRegressor("isotropic", hyperparameter_objective="leave_group_out", input_scaling=None)
    package.fit(X, Y, groups=groups)
    assert np.abs(predict([Input(X, new)], Y, groups) - package.predict(new)).max() < 0.05


@pytest.mark.parametrize("join", ["product", "sum"])
def test_an_input_of_noise_does_little_harm_and_one_that_tells_helps(join):
    (X, _), (new, _) = data(), data(30, seed=1)
    Y, true = (np.column_stack([np.sin(x[:, 0]) + np.cos(x[:, 1]), np.sin(x[:, 0])]) for x in (X, new))
    rng = np.random.default_rng(2)
    noise = Input(rng.normal(size=(60, 3)), rng.normal(size=(30, 3)))
    first, second = Input(X[:, :1], new[:, :1]), Input(X[:, 1:], new[:, 1:])

    def error(*inputs):
        return np.abs(predict(inputs, Y, np.arange(60), join=join) - true).mean()

    assert error(first, second) < error(first)
    assert error(first, noise) < 1.5 * error(first)


def test_distances():
    a, b = np.array([[0.5, 0.5, 0.0]]), np.array([[0.5, 0.0, 0.5]])
    assert squared(a, b).item() == pytest.approx(0.5)
    assert manhattan(a, b).item() == pytest.approx(1.0)
    assert chi_square(a, b).item() == pytest.approx(0.5)
