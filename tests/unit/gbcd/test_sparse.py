import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from gbcd import MatchingPursuitGP, SquaredExponential
from gbcd.sparse import PursuitBasis, fit_regressors, select_regressors


@pytest.fixture
def setting(problem, dense):
    X, Y, kernel, noise = problem(300, q=2)
    return X, Y, kernel, noise, dense(X, kernel, 0.0)


def objective(K, Y, noise, active):
    """The minimum of |Y - K_np b|^2 + noise b' K_pp b, over b."""
    K_np, K_pp = K[:, active], K[np.ix_(active, active)]
    return np.sum(Y**2) - np.sum((K_np.T @ Y) * np.linalg.solve(K_np.T @ K_np + noise * K_pp, K_np.T @ Y))


def test_the_coefficients_solve_the_dense_system(setting):
    X, Y, kernel, noise, K = setting
    active = np.random.default_rng(0).permutation(300)[:40]
    beta = fit_regressors(X, Y, active, kernel, noise)
    K_np, K_pp = K[:, active], K[np.ix_(active, active)]
    np.testing.assert_allclose(beta, np.linalg.solve(K_np.T @ K_np + noise * K_pp, K_np.T @ Y), rtol=1e-5, atol=1e-6)


def test_a_step_is_the_largest_true_decrease_among_its_candidates(setting):
    _, Y, _, noise, K = setting
    basis = PursuitBasis(Y, noise, 30)
    rng = np.random.default_rng(0)
    active: list[int] = []
    for _ in range(30):
        candidates = rng.choice(np.setdiff1d(np.arange(300), active), 12, replace=False)
        decrease, directions, schur = basis.score(candidates, K[candidates].astype(np.float32), np.ones(12))
        now = objective(K, Y, noise, active) if active else np.sum(Y**2)
        exact = np.array([now - objective(K, Y, noise, [*active, c]) for c in candidates])
        np.testing.assert_allclose(decrease, exact, rtol=2e-3, atol=1e-4 * exact.max())
        best = int(np.argmax(decrease))
        basis.add(directions[best], schur[best])
        active.append(int(candidates[best]))


def test_pursuit_beats_random_regressors(setting):
    X, Y, kernel, noise, K = setting
    chosen = select_regressors(X, Y, kernel, noise, 25, random_state=0)
    assert len(np.unique(chosen)) == 25
    random = [objective(K, Y, noise, np.random.default_rng(s).permutation(300)[:25]) for s in range(10)]
    assert objective(K, Y, noise, chosen) < np.min(random)


def test_all_regressors_give_the_exact_mean(setting):
    X, Y, kernel, noise, K = setting
    model = MatchingPursuitGP(kernel, noise, n_regressors=5000, random_state=0).fit(X, Y)
    Ys = (Y - Y.mean(axis=0)) / Y.std(axis=0)
    exact = K @ np.linalg.solve(K + noise * np.eye(300), Ys) * Y.std(axis=0) + Y.mean(axis=0)
    np.testing.assert_allclose(model.predict(X), exact, atol=2e-3)


def test_copies_are_not_chosen_twice():
    rng = np.random.default_rng(0)
    X = np.repeat(rng.standard_normal((10, 2)), 5, axis=0)
    y = np.sin(X[:, 0])
    model = MatchingPursuitGP(SquaredExponential(1.0), 0.01, n_regressors=50, random_state=0).fit(X, y)
    assert len(model.active_) == 10
    assert model.predict(X).shape == (50,)


def test_constant_outputs_are_predicted_exactly_and_the_state_comes_back(setting):
    X, Y, kernel, noise, _ = setting
    Y = np.c_[Y, np.full(300, 0.1)]
    model = MatchingPursuitGP(kernel, noise, 40, random_state=0).fit(X, Y)
    np.testing.assert_array_equal(model.predict(X)[:, 2], 0.1)
    again = MatchingPursuitGP.from_state(model.get_state())
    np.testing.assert_array_equal(again.predict(X[:9]), model.predict(X[:9]))
    single = MatchingPursuitGP(kernel, noise, 5).fit(X[:1], Y[:1, 0])
    assert single.predict(X[:1])[0] == Y[0, 0]


def test_impossible_requests_are_refused(setting):
    X, Y, kernel, noise, _ = setting
    with pytest.raises(ValueError, match="n_regressors must be at least 1, not 0"):
        MatchingPursuitGP(kernel, noise, 0).fit(X, Y)
    with pytest.raises(ValueError, match=r"n_candidates must be an integer, not 1\.5"):
        MatchingPursuitGP(kernel, noise, 5, 1.5).fit(X, Y)
    for bad in (-1, np.nan, [0.1, 0.2]):
        with pytest.raises(ValueError, match="noise must be a positive number, not"):
            MatchingPursuitGP(kernel, bad)
    model = MatchingPursuitGP(SquaredExponential(1.0), noise, 5, random_state=0)
    with pytest.raises(NotFittedError, match="not fitted yet"):
        model.predict(X)
    with pytest.raises(NotFittedError, match="not fitted yet"):
        model.get_state()
    with pytest.raises(ValueError, match="X has 3 columns, the training inputs 10"):
        model.fit(X, Y).predict(X[:, :3])
    with pytest.raises(ValueError, match="y contains NaN at row 1"):
        MatchingPursuitGP(kernel, noise).fit(X[:2], [0, np.nan])


def test_a_refit_that_fails_leaves_the_model_as_it_was(setting):
    X, Y, _, noise, _ = setting
    model = MatchingPursuitGP(SquaredExponential(np.full(10, 0.05)), noise, 20, random_state=0).fit(X, Y)
    before = model.predict(X)
    with pytest.raises(ValueError, match="10 gammas, the inputs 3 columns"):
        model.fit(X[:, :3], 100 * Y[:, 0])
    np.testing.assert_array_equal(model.predict(X), before)


@pytest.mark.parametrize("factor", [1e-300, 1e-162, 1e154, 1e300])
def test_the_scale_of_the_outputs_does_not_matter(setting, factor):
    X, Y, kernel, noise, _ = setting
    plain = MatchingPursuitGP(kernel, noise, 40, random_state=0).fit(X, Y).predict(X)
    scaled = MatchingPursuitGP(kernel, noise, 40, random_state=0).fit(X, Y * factor).predict(X)
    np.testing.assert_allclose(scaled / factor, plain, rtol=1e-3, atol=1e-4)  # chosen in float32
