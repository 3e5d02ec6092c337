import numpy as np
import pytest

from gbcd import Cyclic, Gradient, GreedyPool, KernelSystem, RandomSubset
from gbcd.selection import GrowingBlock, PoolFactor


@pytest.fixture
def setting(problem, dense):
    X, Y, kernel, noise = problem(400, q=3, noise=0.01)
    return KernelSystem(X, kernel, noise, 0, "float64"), -Y, dense(X, kernel, noise)


def test_eq_12_and_eq_13_equal_the_direct_solve_at_every_t(setting):
    system, G, Kbar = setting
    order = np.random.default_rng(0).permutation(system.n)[:80]
    block = GrowingBlock(80, G.shape[1])
    for t, s in enumerate(order):
        B = order[:t]
        assert block.append(Kbar[B, s], Kbar[s, s], G[s])
        B = order[: t + 1]
        np.testing.assert_allclose(block.inverse, np.linalg.inv(Kbar[np.ix_(B, B)]), atol=1e-9)
        np.testing.assert_allclose(block.step, -np.linalg.solve(Kbar[np.ix_(B, B)], G[B]), atol=1e-9)


def test_an_index_that_depends_on_the_block_is_refused_and_changes_nothing():
    block = GrowingBlock(2, 1)
    block.append(np.empty(0), 1.0, np.ones(1))
    before = block.inverse.copy()
    assert not block.append(np.ones(1), 1.0, np.ones(1))
    assert block.size == 1
    np.testing.assert_array_equal(block.inverse, before)


def test_algorithm_2_picks_the_steepest_of_all_first_then_the_best_of_its_candidates_by_eq_10(setting):
    system, G, Kbar = setting
    # With every free index a candidate, Algorithm 2 is deterministic: replay it by its definition.
    chosen = RandomSubset(n_candidates=system.n).select(system, G, 12, np.random.default_rng(0))
    B = [int(np.argmax((G**2).sum(axis=1) / np.diagonal(Kbar)))]
    while len(B) < 12:
        e = G - Kbar[:, B] @ np.linalg.solve(Kbar[np.ix_(B, B)], G[B])
        score = (e**2).sum(axis=1) / (2 * np.diagonal(Kbar))
        score[B] = -1
        B.append(int(np.argmax(score)))
    assert chosen.indices.tolist() == B
    np.testing.assert_allclose(chosen.step, -np.linalg.solve(Kbar[np.ix_(B, B)], G[B]), atol=1e-9)


@pytest.mark.parametrize("kappa", [5, 60])
def test_algorithm_2_picks_distinct_indices(setting, kappa):
    system, G, _ = setting
    for m in (1, 100, system.n):
        chosen = RandomSubset(kappa).select(system, G, m, np.random.default_rng(0))
        assert len(np.unique(chosen.indices)) == m == len(chosen.step)


@pytest.mark.parametrize("precision", ["float64", "mixed"])
def test_the_pool_score_is_the_exact_decrease(setting, problem, precision):
    _, G, Kbar = setting
    X, _, kernel, noise = problem(400, q=3, noise=0.01)
    system = KernelSystem(X, kernel, noise, 0, precision)
    pool = np.random.default_rng(1).permutation(system.n)[:120]
    factor = PoolFactor(system, pool, G[pool], 40)

    def decrease(B):
        return 0.5 * np.sum(G[B] * np.linalg.solve(Kbar[np.ix_(B, B)], G[B]))

    for count in (1, 7, 20):
        factor.extend(count, factor.most_promising(4 * count))
        B = pool[factor.picks]
        gain = factor.gain
        exact = [decrease(np.append(B, i)) - decrease(B) if i not in B else -1 for i in pool]
        np.testing.assert_allclose(gain, exact, rtol=1e-3 if precision == "mixed" else 1e-8, atol=1e-3 * np.max(exact))
    # The hand-over to the gradient update.
    np.testing.assert_allclose(factor.panel, (Kbar - noise * np.eye(400))[np.ix_(pool, B)], atol=1e-6)


def test_the_pool_is_exactly_greedy_when_all_of_it_is_promising(setting):
    system, G, Kbar = setting
    pool = np.arange(100)
    factor = PoolFactor(system, pool, G[pool], 10)
    factor.extend(10, pool)
    B: list[int] = []
    for _ in range(10):
        trial = [
            np.sum(G[[*B, i]] * np.linalg.solve(Kbar[np.ix_([*B, i], [*B, i])], G[[*B, i]])) if i not in B else -1
            for i in pool
        ]
        B.append(int(np.argmax(trial)))
    assert factor.picks.tolist() == B


def test_the_pool_always_starts_with_the_steepest_of_all(setting):
    system, G, _ = setting
    for seed in range(5):
        chosen = GreedyPool().select(system, G, 20, np.random.default_rng(seed))
        assert chosen.indices[0] == system.steepest(G)
        assert len(np.unique(chosen.indices)) == 20


def test_cyclic_goes_round_and_gradient_takes_the_largest(setting):
    system, G, _ = setting
    rng = np.random.default_rng(0)
    cyclic = Cyclic()
    visits = np.concatenate([cyclic.select(system, G, 150, rng).indices for _ in range(8)])
    np.testing.assert_array_equal(visits, np.arange(1200) % 400)
    picked = Gradient().select(system, G, 10, rng).indices
    norms = (G**2).sum(axis=1)
    assert norms[picked].min() >= np.delete(norms, picked).max()
