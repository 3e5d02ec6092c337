import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from gbcd import KernelSystem, SquaredExponential, predictive_variance
from gbcd.posterior.variance import RELATIVE_ERROR, Variances
from gbcd.threads import worker_limit


def exact_variances(dense, kernel, train, test, noise):
    both = dense(np.vstack([train, test]), kernel, 0.0)
    K_star = both[: len(train), len(train) :]
    return 1 - np.einsum("ij,ij->j", K_star, np.linalg.solve(dense(train, kernel, noise), K_star))


@pytest.mark.parametrize(
    ("solver", "budget", "accuracy"), [("auto", 1 << 30, 1e-10), ("cholesky", 0, 1e-10), ("auto", 0, 6e-5)]
)
def test_it_is_eq_2(problem, dense, solver, budget, accuracy):
    X, _, kernel, noise = problem(700)
    exact = exact_variances(dense, kernel, X[:400], X[400:], noise)
    system = KernelSystem(X[:400], kernel, noise, budget)
    latent = predictive_variance(system, X[400:], solver=solver, random_state=0)
    np.testing.assert_allclose(latent, exact, atol=accuracy)
    assert latent.shape == (300,)
    noisy = predictive_variance(system, X[400:403], include_noise=True, solver="cholesky")
    np.testing.assert_allclose(noisy, exact[:3] + noise, atol=1e-9)


@pytest.mark.parametrize("noise", [1e-1, 1e-2, 1e-3])
@pytest.mark.parametrize("budget", [0, 3_000_000, 200_000_000])
def test_descent_keeps_within_its_bound(problem, dense, noise, budget):
    X, _, kernel, _ = problem(900)
    points = np.vstack([X[600:800], X[:20], 100 + X[:5]])  # new, on training inputs, far away
    exact = exact_variances(dense, kernel, X[:600], points, noise)
    system = KernelSystem(X[:600], kernel, noise, budget)
    ours = predictive_variance(system, points, solver="gbcd", random_state=0)
    # Never below the variance but for rounding, and within the bound above it.
    assert (np.abs(ours - exact) <= 1.1 * RELATIVE_ERROR * exact + 2e-6).all()
    np.testing.assert_allclose(ours[-5:], 1, atol=1e-6)
    assert system.kernel_evaluations > 0


def test_duplicated_rows(problem, dense):
    X, _, kernel, _ = problem(300)
    train = np.vstack([X[:200], X[:200]])
    exact = exact_variances(dense, kernel, train, X[200:], 0.05)
    ours = predictive_variance(KernelSystem(train, kernel, 0.05, 0), X[200:], solver="gbcd", random_state=0)
    np.testing.assert_allclose(ours, exact, rtol=3e-3)


def test_it_does_not_depend_on_the_threads(problem):
    X, _, kernel, noise = problem(500)
    results = []
    for count in (1, 2):
        with worker_limit(count):
            system = KernelSystem(X[:400], kernel, noise, 0)
            results.append(predictive_variance(system, X[400:], solver="gbcd", random_state=0))
    np.testing.assert_array_equal(*results)


def test_what_is_prepared_serves_again(problem):
    X, _, kernel, noise = problem(500)
    system = KernelSystem(X[:400], kernel, noise, 10**9)
    variances = Variances(system, "cholesky")
    first = variances.at(X[400:])
    before = system.kernel_evaluations
    np.testing.assert_array_equal(variances.at(X[400:]), first)
    assert system.kernel_evaluations - before == 400 * 100  # k_* alone


def test_tiny_noise_is_solved_directly_or_said(problem, dense, monkeypatch):
    X, _, kernel, _ = problem(300)
    exact = exact_variances(dense, kernel, X[:200], X[200:], 1e-7)
    ours = predictive_variance(KernelSystem(X[:200], kernel, 1e-7, 0), X[200:])
    np.testing.assert_allclose(ours, exact, atol=1e-8)
    monkeypatch.setattr("gbcd.posterior.variance.available_memory", lambda: 0)
    with pytest.warns(ConvergenceWarning, match="variances are not within 0.002"):
        said = predictive_variance(KernelSystem(X[:200], kernel, 1e-7, 0), X[200:])
    assert np.isfinite(said).all()
    assert (said >= 0).all()


def test_no_points_give_no_variances_and_one_gives_one(problem):
    X, _, kernel, noise = problem(100)
    system = KernelSystem(X, kernel, noise, 0)
    assert predictive_variance(system, X[:1], solver="gbcd").shape == (1,)
    with pytest.raises(ValueError, match="X_new is empty"):
        predictive_variance(system, X[:0])


def test_impossible_requests_are_refused(problem):
    X, _, _, _ = problem(20)
    system = KernelSystem(X, SquaredExponential(1.0), 0.1)
    with pytest.raises(ValueError, match="X_new has 3 columns, the training inputs 10"):
        predictive_variance(system, X[:, :3])
    with pytest.raises(ValueError, match="must be 'auto', 'cholesky' or 'gbcd', not 'smo'"):
        predictive_variance(system, X, solver="smo")


def test_it_is_never_negative(problem):
    X, _, kernel, _ = problem(200)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert (predictive_variance(KernelSystem(X, kernel, 1e-10), X) >= 0).all()


def test_the_variance_of_a_very_smooth_kernel_takes_few_passes(problem):
    X, _, _, _ = problem(1500)
    kernel, noise = SquaredExponential([1e-3] * 5 + [1e-6] * 5), 1e-4
    system = KernelSystem(X[:1400], kernel, noise, 8 * 10**6)
    found = predictive_variance(system, X[1400:], solver="gbcd", random_state=0)
    exact = predictive_variance(KernelSystem(X[:1400], kernel, noise), X[1400:], solver="cholesky")
    np.testing.assert_allclose(found, exact, rtol=5e-3)
    assert system.kernel_evaluations <= 40 * 1400**2


@pytest.mark.parametrize("precision", ["mixed", "float64"])
def test_after_a_solve_in_float64_no_factor_is_taken_beyond_the_budget(problem, dense, monkeypatch, precision):
    X, _, kernel, noise = problem(900)
    monkeypatch.setattr("gbcd.posterior.variance.CholeskyFactor", lambda *_: pytest.fail("factored"))
    system = KernelSystem(X[:600], kernel, noise, 2_000_000, precision)
    system.raise_precision()
    assert system.dtype == np.float64
    latent = predictive_variance(system, X[600:], random_state=0)
    exact = exact_variances(dense, kernel, X[:600], X[600:], noise)
    np.testing.assert_allclose(latent, exact, rtol=RELATIVE_ERROR, atol=1e-9)
