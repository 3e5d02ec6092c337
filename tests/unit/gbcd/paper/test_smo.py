import numpy as np
import pytest
import scipy.linalg
from sklearn.exceptions import ConvergenceWarning

from gbcd import KernelSystem, MaximalViolatingPair, SquaredExponential, solve
from gbcd.paper.algorithm1 import block_descent
from gbcd.progress.limits import Limits
from gbcd.progress.solve_run import SolveRun

BUDGETS = pytest.mark.parametrize("budget", [0, 1 << 30], ids=["tiles", "kept"])


@BUDGETS
@pytest.mark.parametrize("q", [1, 3])
@pytest.mark.parametrize("copies", [1, 2])
def test_it_takes_the_steps_of_the_block_loop_over_maximal_violating_pairs(problem, budget, q, copies):
    X, Y, kernel, noise = problem(40, q=q)
    X = X[np.arange(40) // copies]
    Y = 0.75 * Y / np.abs(Y).max()  # between 1/2 and 1, where a solve does not rescale
    pairs = []

    def block_loop(entry):
        pairs.append(entry.active)
        return entry.iteration == 20

    run = SolveRun(KernelSystem(X, kernel, noise, budget, "float64"), Y, 1e-12, Limits(100, callback=block_loop))
    alpha, gradient = block_descent(run, MaximalViolatingPair(), 2, np.random.default_rng(0))
    # One entry of its trace is n / 2 pairs.
    with pytest.warns(ConvergenceWarning, match="the callback stopped it"):
        ours = solve(
            KernelSystem(X, kernel, noise, budget, "float64"), Y, "smo", tol=1e-12, callback=lambda entry: True
        )
    assert ours.n_iter == 1
    np.testing.assert_array_equal(ours.trace[0].active, np.unique(np.concatenate(pairs)))
    np.testing.assert_allclose(ours.coef, alpha, atol=1e-9)
    np.testing.assert_allclose(ours.gradient, gradient, atol=1e-9)


@BUDGETS
@pytest.mark.parametrize("precision", ["float64", "mixed"])
def test_it_equals_the_direct_solve_with_an_exact_gradient(problem, dense, budget, precision):
    X, Y, kernel, noise = problem(300, q=2, noise=0.3)
    Kbar = dense(X, kernel, noise)
    result = solve(KernelSystem(X, kernel, noise, budget, precision), Y, "smo", tol=1e-8)
    assert result.converged
    np.testing.assert_allclose(
        result.coef, scipy.linalg.cho_solve(scipy.linalg.cho_factor(Kbar), Y), atol=1e-8 * 300 / noise
    )
    np.testing.assert_allclose(result.gradient, Kbar @ result.coef - Y, atol=1e-12)


def test_a_pair_costs_two_columns(problem):
    X, Y, kernel, noise = problem(600)
    result = solve(KernelSystem(X, kernel, noise, 0, "float64"), Y, "smo", tol=1e-2)
    checks = result.kernel_evaluations - result.n_iter * 600 * 500
    assert checks > 0
    # What is left are whole symmetric float64 checks, in tiles of 384 rows.
    assert checks % (384**2 + 384 * 216 + 216**2) == 0


@BUDGETS
def test_passes_that_run_out_stop_it(problem, budget):
    X, Y, kernel, noise = problem(200)
    with pytest.warns(ConvergenceWarning, match="smo: the gradient's infinity norm is .* above the tolerance"):
        result = solve(KernelSystem(X, kernel, noise, budget), Y, "smo", max_passes=3, tol=1e-10)
    assert result.n_iter == 3
    assert np.isfinite(result.coef).all()


HARD = {
    "one row": (np.ones((1, 2)), np.ones((1, 2)), 0.1),
    "two rows alike": (np.ones((2, 2)), np.array([[1.0], [1.0]]), 1e-18),
    "two rows alike that disagree": (np.ones((2, 2)), np.array([[1.0], [-1.0]]), 1e-18),
    "all rows the same": (np.ones((51, 2)), np.random.default_rng(0).standard_normal((51, 2)), 1e-6),
    "nothing to fit": (np.random.default_rng(0).standard_normal((50, 2)), np.zeros((50, 1)), 0.1),
    "every row twice": (
        np.repeat(np.random.default_rng(0).standard_normal((50, 2)), 2, axis=0),
        np.random.default_rng(1).standard_normal((100, 1)),
        1e-2,
    ),
}


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("case", HARD)
@BUDGETS
def test_hard_inputs_end_and_end_without_nan(case, budget):
    X, Y, noise = HARD[case]
    result = solve(KernelSystem(X, SquaredExponential(0.5), noise, budget), Y, "smo", max_passes=50)
    assert np.isfinite(result.coef).all()
    assert np.isfinite(result.gradient_norm)
    assert result.objective <= 0
