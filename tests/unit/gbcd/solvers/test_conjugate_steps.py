import numpy as np
import pytest

from gbcd import KernelSystem
from gbcd.progress.limits import Limits
from gbcd.progress.result import Solution
from gbcd.progress.solve_run import SolveRun
from gbcd.solvers.column_factor import ColumnFactor
from gbcd.solvers.conjugate_steps import Directions, conjugate_descent, orthonormalising
from gbcd.solvers.preconditioner import Preconditioner

MB = 1 << 20


def symmetric(size, seed=0):
    A = np.random.default_rng(seed).standard_normal((size, size + 3))
    return A @ A.T


@pytest.mark.parametrize("size", [1, 2, 45])
@pytest.mark.parametrize("scale", [1e-12, 1.0, 1e12])
def test_a_basis_makes_the_curvature_one(size, scale):
    C = scale * symmetric(size)
    T = orthonormalising(C)
    assert T.shape == (size, size)
    np.testing.assert_allclose(T.T @ C @ T, np.eye(size), atol=1e-9)


def test_directions_without_curvature_of_their_own_are_left_out():
    C = symmetric(3)
    # An output that has arrived, one that is another's copy, one whose curvature is rounding below zero.
    W = np.array([[1.0, 0, 0, 0, 1, 0], [0, 1, 0, 0, 0, 0], [0, 0, 1, 0, 0, 0]])
    T = orthonormalising(W.T @ C @ W - 1e-20 * np.diag([0, 0, 0, 0, 0, 1]))
    used = T.any(axis=0)
    assert used.sum() == 3
    np.testing.assert_allclose(T.T @ W.T @ C @ W @ T, np.diag(used.astype(float)), atol=1e-9)
    assert not T[3].any()
    assert not T[5].any()
    for nothing in (np.zeros((2, 2)), np.full((1, 1), -1.0)):
        np.testing.assert_array_equal(orthonormalising(nothing), np.zeros_like(nothing))


def test_directions_are_conjugate_and_minimise():
    n = 30
    K, rng = symmetric(n), np.random.default_rng(1)
    directions = Directions(2, 3)
    Y = rng.standard_normal((n, 3))
    alpha, G = np.zeros((n, 3)), -Y
    kept = []
    for _ in range(3):
        step = rng.standard_normal((n, 3))
        directions.conjugate(step)
        alpha += directions.add(step, K @ step, G)
        kept.append(step)
    np.testing.assert_allclose(G, K @ alpha - Y, atol=1e-4)
    # The oldest is dropped.
    D = np.concatenate(kept[1:], axis=1)
    np.testing.assert_allclose(D.T @ K @ D, np.eye(6), atol=1e-5)
    free = rng.standard_normal((n, 3))
    directions.conjugate(free)
    assert np.abs(D.T @ K @ free).max() <= 1e-4 * np.abs(K @ free).max()
    # From another start, to the minimum along what is kept, and not out of its span.
    alpha, G = np.zeros((n, 3)), -Y
    directions.minimise(alpha, G)
    np.testing.assert_allclose(G, K @ alpha - Y, atol=1e-4)
    assert np.abs(D.T @ G).max() <= 1e-4
    assert np.linalg.matrix_rank(np.c_[D, alpha], tol=1e-5) == 6


@pytest.mark.parametrize("window", [1, 20])
@pytest.mark.parametrize("rank", [0, 64])
def test_steps_end_at_the_minimum(problem, dense, window, rank):
    X, Y, kernel, noise = problem(400, q=2)
    system = KernelSystem(X, kernel, noise, 200 * MB)
    factor = ColumnFactor(system, np.random.default_rng(0))
    while factor.rank < rank:
        assert factor.grow(64)
    run = SolveRun(system, Y, 1e-6, Limits(1e4))
    result = run.finish(Solution(*conjugate_descent(run, Preconditioner(factor, noise), window)), "steps")
    assert result.converged
    direct = np.linalg.solve(dense(X, kernel, noise), Y)
    np.testing.assert_allclose(result.coef, direct, atol=1e-4)


def test_as_many_steps_as_allowed_are_made(problem):
    X, Y, kernel, noise = problem(400)
    system = KernelSystem(X, kernel, noise, 0)
    run = SolveRun(system, Y, 1e-12, Limits(1e4))
    alpha, G = conjugate_descent(run, Preconditioner(ColumnFactor(system, np.random.default_rng(0)), noise), 5, 4)
    assert len(run.trace) == 4
    np.testing.assert_allclose(G, system.residual(alpha, run.problem.Y), atol=1e-12)


def test_the_gradient_that_is_returned_is_exact_wherever_the_descent_stops(problem):
    # 1e-6 needs float64 here: a gradient is evaluated on the way, and the descent goes on from it.
    X, Y, kernel, _ = problem(300)
    noise = 0.01
    for steps in range(1, 20):
        system = KernelSystem(X, kernel, noise, 200 * MB)
        run = SolveRun(system, Y, 1e-6, Limits(1e4))
        factor = ColumnFactor(system, np.random.default_rng(0))
        while factor.rank < 64:
            assert factor.grow(64)
        alpha, G = conjugate_descent(run, Preconditioner(factor, noise), 20, steps)
        # Sums of 300 products of about 10 in float64 err by 1e-13; stored float32 products by 1e-10.
        np.testing.assert_allclose(G, system.residual(alpha, run.problem.Y), rtol=0, atol=1e-12)
