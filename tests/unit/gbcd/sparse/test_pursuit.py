import numpy as np
import pytest

from gbcd import SquaredExponential
from gbcd.sparse.pursuit import MatchingPursuit, PursuitBasis


@pytest.fixture
def setting(problem, dense):
    X, Y, kernel, noise = problem(300, q=2)
    return X, Y, kernel, noise, dense(X, kernel, 0.0)


def solution(K, Y, noise, active):
    """The beta that minimises |Y - K_np b|^2 + noise b' K_pp b."""
    K_np = K[:, active]
    return np.linalg.solve(K_np.T @ K_np + noise * K[np.ix_(active, active)], K_np.T @ Y)


def objective(K, Y, noise, active, beta):
    residual = Y - K[:, active] @ beta
    return np.sum(residual**2) + noise * np.sum(beta * (K[np.ix_(active, active)] @ beta))


def minimum(K, Y, noise, active):
    return objective(K, Y, noise, active, solution(K, Y, noise, active)) if len(active) else np.sum(Y**2)


def grown(K, Y, noise, active, dtype=np.float32):
    """A basis of these regressors."""
    basis = PursuitBasis(Y, np.ones(len(Y)), noise, len(active) + 1, dtype)
    for row in np.reshape(active, (-1, 1)):
        basis.add(basis.directions(row, K[row].astype(dtype)), 0)
    return basis


@pytest.mark.parametrize("noise", [0.1, 1e-4])
@pytest.mark.parametrize("size", [0, 1, 30])
def test_the_exact_decrease_is_that_of_the_objective(setting, noise, size):
    _, Y, _, _, K = setting
    order = np.random.default_rng(1).permutation(300)
    active, candidates = order[:size], order[size : size + 12]
    basis = grown(K, Y, noise, active)
    decrease = basis.exact(basis.directions(candidates, K[candidates].astype(np.float32)))
    now = minimum(K, Y, noise, active)
    brute = np.array([now - minimum(K, Y, noise, [*active, c]) for c in candidates])
    np.testing.assert_allclose(decrease, brute, rtol=5e-3, atol=1e-3 * brute.max())
    assert np.argmax(decrease) == np.argmax(brute)


@pytest.mark.parametrize("noise", [0.1, 1e-4])
@pytest.mark.parametrize("size", [0, 1, 30])
def test_the_decrease_by_line_search_is_that_of_one_coefficient_alone(setting, noise, size):
    _, Y, _, _, K = setting
    order = np.random.default_rng(1).permutation(300)
    active, candidates = order[:size], order[size : size + 12]
    decrease = grown(K, Y, noise, active).line_search(candidates, K[candidates].astype(np.float32))
    beta = solution(K, Y, noise, active) if size else np.zeros((0, 2))
    now = minimum(K, Y, noise, active)
    brute = []
    for c in candidates:
        # A parabola in each output's new coefficient: three points tell its minimum.
        at = [
            np.sum((Y - K[:, active] @ beta - t * K[:, [c]]) ** 2, axis=0)
            + noise * (np.sum(beta * (K[np.ix_(active, active)] @ beta), axis=0) + 2 * t * K[c, active] @ beta + t**2)
            for t in (-1.0, 0.0, 1.0)
        ]
        slope, curvature = (at[2] - at[0]) / 2, at[2] - 2 * at[1] + at[0]
        brute.append(np.sum(slope**2 / (2 * curvature)))
        np.testing.assert_allclose(at[1].sum(), now)
    np.testing.assert_allclose(decrease, brute, rtol=5e-3, atol=1e-3 * np.max(brute))


def test_the_residual_is_that_of_the_best_coefficients(setting):
    _, Y, _, noise, K = setting
    active = np.random.default_rng(2).permutation(300)[:40]
    basis = grown(K, Y, noise, active)
    residual = Y - K[:, active] @ solution(K, Y, noise, active)
    np.testing.assert_allclose(basis.residual, residual, atol=1e-4)
    assert basis.size == 40
    K_np = K[:, active]
    schur = 1 - np.sum(K_np.T * np.linalg.solve(K[np.ix_(active, active)], K_np.T), axis=0)
    np.testing.assert_allclose(basis.schur, schur, atol=1e-5)


@pytest.mark.parametrize("criterion", ["line_search", "exact"])
def test_rows_that_nearly_repeat_do_not_make_rounding_errors_grow(dense, criterion):
    """Clusters in which each row is all but a combination of the others: float32 alone ends with a few regressors."""
    rng = np.random.default_rng(0)
    X = np.repeat(10 * rng.standard_normal((20, 3)), 30, axis=0) + 0.3 * rng.standard_normal((600, 3))
    y = np.sin(X.sum(axis=1))[:, None] + 0.1 * rng.standard_normal((600, 1))
    kernel = SquaredExponential(0.3)
    K = dense(X, kernel, 0.0)
    found = MatchingPursuit(kernel, 0.01, criterion=criterion).select(X, y, 300, random_state=0)
    assert len(found.active) == 300
    basis = grown(K, y, 0.01, found.active, np.float64)
    residual = y - K[:, found.active] @ solution(K, y, 0.01, found.active)
    np.testing.assert_allclose(basis.residual, residual, atol=1e-5)
    # The change to float64 evaluated the columns chosen before it once more.
    more = found.kernel_evaluations - sum(600 * min(59, 600) for _ in range(300))
    assert more % 600 == 0
    assert 0 < more // 600 < 300


@pytest.mark.parametrize("criterion", ["line_search", "exact"])
def test_each_regressor_is_the_best_of_its_candidates(setting, criterion):
    """With every row a candidate nothing is left to chance."""
    X, Y, kernel, noise, K = setting
    found = MatchingPursuit(kernel, noise, 300, criterion).select(X, Y, 8)
    active: list[int] = []
    for chosen in found.active:
        now = minimum(K, Y, noise, active)
        rows = np.setdiff1d(np.arange(300), active)
        if criterion == "exact":
            brute = {c: now - minimum(K, Y, noise, [*active, c]) for c in rows}
        else:
            residual, weighted = Y.copy(), np.zeros((300, 2))
            if active:
                beta = solution(K, Y, noise, active)
                residual, weighted = Y - K[:, active] @ beta, K[:, active] @ beta
            pull = K @ residual - noise * weighted
            brute = dict(enumerate(np.sum(pull**2, axis=1) / (np.sum(K**2, axis=1) + noise)))
        assert brute[chosen] >= 0.999 * max(brute[c] for c in rows)
        active.append(int(chosen))
    assert found.kernel_evaluations == sum(300 * (300 - step) for step in range(8))


@pytest.mark.parametrize("criterion", ["line_search", "exact"])
def test_pursuit_beats_random_regressors(setting, criterion):
    X, Y, kernel, noise, K = setting
    found = MatchingPursuit(kernel, noise, criterion=criterion).select(X, Y, 25, random_state=0)
    assert len(np.unique(found.active)) == 25
    assert found.kernel_evaluations == 25 * 59 * 300
    random = [minimum(K, Y, noise, np.random.default_rng(s).permutation(300)[:25]) for s in range(10)]
    assert minimum(K, Y, noise, found.active) < np.min(random)


@pytest.mark.parametrize("criterion", ["line_search", "exact"])
def test_copies_are_not_chosen_twice(criterion):
    X = np.repeat(np.random.default_rng(0).standard_normal((10, 2)), 5, axis=0)
    y = np.sin(X[:, :1])
    found = MatchingPursuit(SquaredExponential(1.0), 0.01, criterion=criterion).select(X, y, 50, random_state=0)
    assert len(found.active) == 10
    assert set(found.active // 5) == set(range(10))


def test_the_number_of_threads_changes_nothing(problem, monkeypatch):
    X, Y, kernel, noise = problem(3000, q=2)
    pursuit = MatchingPursuit(kernel, noise)
    some = pursuit.select(X, Y, 60, random_state=0).active
    monkeypatch.setattr("gbcd.threads.available_cores", lambda: 1)
    np.testing.assert_array_equal(pursuit.select(X, Y, 60, random_state=0).active, some)


def test_inputs_far_apart_are_chosen_from_in_double_precision():
    X = 1e3 * np.random.default_rng(0).standard_normal((50, 2))
    y = np.arange(50.0)[:, None]
    # Rows that see nothing of one another: the largest outputs come first.
    found = MatchingPursuit(SquaredExponential(1.0), 0.1, n_candidates=50).select(X, y, 10)
    np.testing.assert_array_equal(found.active, np.arange(49, 39, -1))
