import numpy as np
import pytest

from gbcd import KernelSystem
from gbcd.paper.gradient_draws import draw_by_gradient, largest_rows, steepest

N = 700


def test_where_the_gradient_is_large(problem):
    X, _, kernel, noise = problem(N)
    system = KernelSystem(X, kernel, noise, 0)
    G = np.zeros((N, 2))
    G[[5, 9, 300]] = [[1, 1], [-3, 0], [0.5, 0.1]]
    assert steepest(system, G) == 9
    assert largest_rows(G, 3).tolist() == [9, 5, 300]
    assert len(draw_by_gradient(G, N + 5, np.random.default_rng(0))) == N


def test_draws_follow_the_gradient_and_leave_nobody_out():
    G = np.zeros((N, 1))
    G[[5, 9]] = [[1.0], [2.0]]
    draws = [draw_by_gradient(G, 1, np.random.default_rng(seed))[0] for seed in range(2000)]
    counts = np.bincount(draws, minlength=N)
    # A row's chance is |g|^2 plus a tenth of the mean, of 1.1 sums: 4 / 5.5 and 1 / 5.5, the others 0.5 / 5.5 together.
    assert counts[9] / 2000 == pytest.approx(4 / 5.5, abs=0.04)
    assert counts[5] / 2000 == pytest.approx(1 / 5.5, abs=0.04)
    others = np.delete(counts, [5, 9])
    assert others.sum() / 2000 == pytest.approx(0.5 / 5.5, abs=0.03)
    assert (others > 0).sum() > 100
    distinct = draw_by_gradient(G, 50, np.random.default_rng(0))
    assert len(np.unique(distinct)) == 50
    assert {5, 9} <= set(distinct)
