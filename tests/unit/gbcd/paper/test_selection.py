import numpy as np
import pytest

from gbcd import (
    Cyclic,
    Exhaustive,
    Gradient,
    GreedyPool,
    KernelSystem,
    MaximalViolatingPair,
    Prefit,
    RandomSubset,
    SquaredExponential,
    solve,
)
from gbcd.paper import GrowingBlock, PoolFactor
from gbcd.paper.algorithm1 import solve_block
from gbcd.paper.gradient_draws import steepest

GREEDY = [RandomSubset(7), Prefit(7), Prefit(None), Exhaustive(), GreedyPool(3, 4)]


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


def decrease(Kbar, G, B):
    """By how much f falls when it is minimised over B: 1/2 g_B' Kbar_BB^{-1} g_B, summed over the outputs."""
    return 0.5 * np.sum(G[B] * np.linalg.solve(Kbar[np.ix_(B, B)], G[B]))


def greedy_by_definition(Kbar, G, m, exact):
    """Pick by eq. 10, or by the exact decrease (eq. 7), from the definitions."""
    B = []
    for _ in range(m):
        e = G + Kbar[:, B] @ -np.linalg.solve(Kbar[np.ix_(B, B)], G[B]) if B else G
        score = (e**2).sum(axis=1) / (2 * np.diagonal(Kbar))
        if exact and B:
            score = np.array([decrease(Kbar, G, [*B, i]) if i not in B else 0 for i in range(len(G))])
        score[B] = -1
        B.append(int(np.argmax(score)))
    return B


@pytest.mark.parametrize(("d", "q", "noise"), [(1, 1, 0.3), (3, 2, 1e-2), (8, 5, 1e-3), (2, 1, 5.0)])
@pytest.mark.parametrize("copies", [1, 2])
@pytest.mark.parametrize(
    ("strategy", "exact"),
    [
        # With every free index a candidate, the random ones are deterministic too.
        (RandomSubset(60), False),
        (Exhaustive(), False),
        (Prefit(60), True),
        (Prefit(None), True),
    ],
    ids=["RandomSubset", "Exhaustive", "Prefit", "Prefit-all"],
)
def test_one_at_a_time_selections_pick_by_their_definition(dense, strategy, exact, d, q, noise, copies):
    rng = np.random.default_rng(d)
    X = np.repeat(rng.standard_normal((60 // copies, d)), copies, axis=0)
    G = rng.standard_normal((60, q))
    kernel = SquaredExponential(0.3)
    Kbar = dense(X, kernel, noise)
    chosen = strategy.select(KernelSystem(X, kernel, noise, 0, "float64"), G, 12, rng)
    B = greedy_by_definition(Kbar, G, 12, exact)
    assert chosen.indices.tolist() == B
    np.testing.assert_allclose(chosen.step, -np.linalg.solve(Kbar[np.ix_(B, B)], G[B]), rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("precision", ["float64", "mixed"])
@pytest.mark.parametrize("strategy", [Exhaustive(), Prefit(None)], ids=["Exhaustive", "Prefit"])
def test_selections_over_all_hand_their_columns_on(problem, dense, strategy, precision):
    X, Y, kernel, noise = problem(300, q=2)
    system = KernelSystem(X, kernel, noise, 0, precision)
    chosen = strategy.select(system, -Y, 30, np.random.default_rng(0))
    # One column a pick, and the upper triangle of the block in float64.
    assert system.kernel_evaluations == 300 * 30 + 30 * 29 // 2
    K = dense(X, kernel, 0.0)
    np.testing.assert_array_equal(chosen.known.rows, np.arange(300))
    np.testing.assert_allclose(chosen.known.values, K[:, chosen.indices], atol=1e-6)
    before = system.kernel_evaluations
    G = -Y
    system.add_columns(chosen.indices, chosen.step, G, known=chosen.known)
    assert system.kernel_evaluations == before
    np.testing.assert_allclose(G[chosen.indices], 0, atol=1e-4)


@pytest.mark.parametrize("budget", [0, 1 << 30], ids=["tiles", "kept"])
@pytest.mark.parametrize("strategy", GREEDY, ids=repr)
def test_greedy_selections_start_with_the_steepest_of_all_and_pick_distinct_indices(problem, strategy, budget):
    X, Y, kernel, noise = problem(200, q=3)
    system = KernelSystem(X, kernel, noise, budget)
    G = -Y
    for m in (1, 2, 30, 200):
        chosen = strategy.select(system, G, m, np.random.default_rng(m))
        assert len(np.unique(chosen.indices)) == m == len(chosen.indices)
        if m < 200:
            assert chosen.indices[0] == steepest(system, G)


@pytest.mark.parametrize("strategy", [*GREEDY, MaximalViolatingPair()], ids=repr)
def test_a_system_of_one_variable(strategy):
    system = KernelSystem(np.zeros((1, 2)), SquaredExponential(1.0), 0.1)
    chosen = strategy.select(system, np.ones((1, 3)), 5 if isinstance(strategy, MaximalViolatingPair) else 1, None)
    assert chosen.indices.tolist() == [0]


@pytest.mark.parametrize("strategy", GREEDY, ids=repr)
@pytest.mark.parametrize("noise", [1e-3, 1e-14])
def test_rows_that_repeat_leave_a_block_that_can_be_solved(dense, strategy, noise):
    rng = np.random.default_rng(0)
    X = np.repeat(rng.standard_normal((10, 2)), 4, axis=0)
    G = rng.standard_normal((40, 2))
    kernel = SquaredExponential(0.5)
    Kbar = dense(X, kernel, noise)
    chosen = strategy.select(KernelSystem(X, kernel, noise, 0, "float64"), G, 30, rng)
    B = chosen.indices
    assert 10 <= len(B) == len(np.unique(B)) <= 30
    step = solve_block(Kbar[np.ix_(B, B)], G[B]) if chosen.step is None else chosen.step
    assert np.isfinite(step).all()
    assert np.sum(G[B] * step) + 0.5 * np.sum(step * (Kbar[np.ix_(B, B)] @ step)) < -0.5 * np.max((G**2).sum(axis=1))


def test_the_pair_is_the_largest_and_the_smallest_gradient(setting):
    system, G, _ = setting
    one = G[:, :1]
    pair = MaximalViolatingPair().select(system, one, 500, None).indices
    assert sorted(pair) == sorted([np.argmax(one), np.argmin(one)])
    first, second = MaximalViolatingPair().select(system, G, 500, None).indices
    assert first == steepest(system, G)
    assert all(G[second] @ G[first] <= g @ G[first] for g in G)


def test_a_gradient_that_is_the_same_everywhere_leaves_one_of_the_pair(setting):
    system, _, _ = setting
    for value in (0.0, 2.0, -2.0):
        assert len(MaximalViolatingPair().select(system, np.full((400, 2), value), 2, None).indices) == 1


@pytest.mark.parametrize("precision", ["float64", "mixed"])
def test_the_pool_score_is_the_exact_decrease(setting, problem, precision):
    _, G, Kbar = setting
    X, _, kernel, noise = problem(400, q=3, noise=0.01)
    system = KernelSystem(X, kernel, noise, 0, precision)
    pool = np.random.default_rng(1).permutation(system.n)[:120]
    factor = PoolFactor(system, pool, G[pool], 40)

    for count in (1, 7, 20):
        factor.extend(count, factor.most_promising(4 * count))
        B = pool[factor.picks]
        gain = factor.gain
        exact = [decrease(Kbar, G, np.append(B, i)) - decrease(Kbar, G, B) if i not in B else -1 for i in pool]
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


def test_cyclic_takes_each_once_a_sweep_and_gradient_the_largest(setting):
    system, G, _ = setting
    rng = np.random.default_rng(0)
    cyclic = Cyclic()
    blocks = [cyclic.select(system, G, 150, rng).indices for _ in range(6)]
    assert [len(block) for block in blocks] == [150, 150, 100] * 2
    sweeps = [np.concatenate(blocks[:3]), np.concatenate(blocks[3:])]
    for sweep in sweeps:
        np.testing.assert_array_equal(np.sort(sweep), np.arange(400))
    assert (sweeps[0] != sweeps[1]).any()
    picked = Gradient().select(system, G, 10, rng).indices
    norms = (G**2).sum(axis=1)
    assert norms[picked].min() >= np.delete(norms, picked).max()


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("seed", range(5))
def test_rows_that_nearly_repeat_do_not_make_the_pool_overflow(seed):
    # 200 points of a line have far fewer than 163 independent rows in float32: the last pivots are rounding.
    rng = np.random.default_rng(seed)
    X, Y = rng.standard_normal((200, 1)), rng.standard_normal((200, 1))
    system = KernelSystem(X, SquaredExponential(1.0), 1e-5, 0)
    G = -Y
    chosen = GreedyPool().select(system, G, 163, rng)
    assert len(np.unique(chosen.indices)) == 163
    assert chosen.known is not None
    assert np.isfinite(chosen.known.values).all()
    norms = []
    result = solve(
        system, Y, block_size=163, random_state=seed, max_passes=20, callback=lambda e: norms.append(e.gradient_norm)
    )
    assert np.isfinite(norms).all()
    assert np.isfinite(result.coef).all()
