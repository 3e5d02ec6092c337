import numpy as np
import pytest

from gbcd import GBCDRegressor, LocalVariances, SquaredExponential
from gbcd.threads import worker_limit


@pytest.fixture
def histograms():
    """Walks through 60 mixtures of 40 words, 200 draws a histogram: many columns, neighbours along time."""
    rng = np.random.default_rng(0)
    mixtures = rng.dirichlet(np.full(40, 0.3), 61)
    at, part = rng.integers(0, 60, 900), rng.random((900, 1))
    X = rng.multinomial(200, (1 - part) * mixtures[at] + part * mixtures[at + 1]) / 200
    return X / X.std(), SquaredExponential(0.02)


def exact_variances(dense, kernel, train, test, noise):
    both = dense(np.vstack([train, test]), kernel, 0.0)
    K_star = both[: len(train), len(train) :]
    return 1 - np.einsum("ij,ij->j", K_star, np.linalg.solve(dense(train, kernel, noise), K_star))


def test_one_neighbour_by_hand():
    # k = exp(-1) at a distance of 1: the variance is 1 - exp(-2) / (1 + noise) from the nearer of two samples.
    local = LocalVariances([[0.0], [5.0]], SquaredExponential(1.0), 0.5, n_neighbours=1)
    np.testing.assert_allclose(local.bounds([[1.0]]), 1 - np.exp(-2) / 1.5, rtol=1e-6)


@pytest.mark.parametrize(("noise", "accuracy"), [(0.1, 1e-5), (1e-3, 1e-5), (1e-8, 1e-9)])
def test_with_all_samples_it_is_eq_2(problem, dense, noise, accuracy):
    X, _, kernel, _ = problem(300)
    exact = exact_variances(dense, kernel, X[:250], X[250:], noise)
    for n_neighbours in (250, 1000):
        local = LocalVariances(X[:250], kernel, noise, n_neighbours)
        assert local.n_neighbours == 250
        np.testing.assert_allclose(local.at(X[250:]), exact, atol=accuracy)
        np.testing.assert_array_equal(local.bounds(X[250:]), local.at(X[250:]))


@pytest.mark.parametrize("noise", [1e-1, 3e-3, 1e-6])
def test_bounds_are_never_below_the_variance_and_fall_with_the_neighbours(problem, dense, noise):
    X, _, kernel, _ = problem(400)
    points = np.vstack([X[300:], X[:20], 100 + X[:5]])  # new, on training inputs, far away
    before = exact_variances(dense, kernel, X[:300], points, noise)
    for n_neighbours in (300, 200, 64, 5, 1):
        bounds = LocalVariances(X[:300], kernel, noise, n_neighbours).bounds(points)
        assert (bounds >= before - 1e-5).all()
        before = bounds
    np.testing.assert_allclose(before[-5:], 1, atol=1e-6)


def test_duplicated_rows(problem, dense):
    X, _, kernel, _ = problem(300)
    train = np.vstack([X[:200], X[:200]])
    exact = exact_variances(dense, kernel, train, X[200:], 0.05)
    np.testing.assert_allclose(LocalVariances(train, kernel, 0.05, 400).at(X[200:]), exact, atol=1e-5)


def test_standard_deviations_of_histograms_are_within_a_tenth(histograms, dense):
    X, kernel = histograms
    exact = np.sqrt(exact_variances(dense, kernel, X[:700], X[700:], 5e-3))
    local = LocalVariances(X[:700], kernel, 5e-3, 200)
    estimated, bound = np.sqrt(local.at(X[700:])), np.sqrt(local.bounds(X[700:]))
    assert np.abs(estimated / exact - 1).max() < 0.1
    # What is expected from beyond the neighbours halves the error at least.
    assert np.median(np.abs(estimated / exact - 1)) < 0.6 * np.median(bound / exact - 1)
    assert (exact.max() - exact.min()) / exact.mean() > 0.3  # the points differ, so that a constant would not do


@pytest.mark.parametrize("noise", [5e-3, 1e-6])  # float32, float64
def test_a_point_stands_alone_whatever_the_batch_and_the_threads(histograms, noise):
    X, kernel = histograms
    local = LocalVariances(X[:700], kernel, noise, 100)
    together = local.at(X[700:750])
    with worker_limit(1):
        np.testing.assert_array_equal(local.at(X[700:750]), together)
    np.testing.assert_array_equal([local.at(X[i : i + 1])[0] for i in range(700, 750)], together)


def test_no_variance_is_negative_where_samples_pile_up(dense):
    X = np.zeros((600, 1))
    local = LocalVariances(X, SquaredExponential(1.0), 1e-3, 400)
    # n repetitions leave noise / (n + noise); 400 of them are seen, the rest is expected.
    assert 1e-3 / 1200 < local.at([[0.0]])[0] < local.bounds([[0.0]])[0]
    np.testing.assert_allclose(local.bounds([[0.0]]), 1e-3 / 400, rtol=0.05)


@pytest.mark.parametrize("n_neighbours", [1000, 120])
def test_leaving_groups_out_is_training_without_them(histograms, n_neighbours):
    X, kernel = histograms
    Y = np.column_stack([X[:, 0] + X[:, 1], X[:, 2] * X[:, 3]])
    groups = np.repeat([7, 3, 5], 300)
    rows = np.array([0, 299, 350, 899])
    mean, variance = LocalVariances(X, kernel, 5e-3, n_neighbours).leave_group_out(rows, groups, Y)
    for i, row in enumerate(rows):
        others = groups != groups[row]
        alone = LocalVariances(X[others], kernel, 5e-3, n_neighbours)
        np.testing.assert_allclose(variance[i], alone.at(X[row : row + 1])[0], rtol=2e-4)
        if n_neighbours > 600:  # the whole of eq. 1, then
            distances = ((X[others][:, None] - X[others]) ** 2).sum(-1)
            towards = np.exp(-0.02 * ((X[others] - X[row]) ** 2).sum(-1))
            weights = np.linalg.solve(np.exp(-0.02 * distances) + 5e-3 * np.eye(600), towards)
            np.testing.assert_allclose(mean[i], weights @ Y[others], atol=1e-3)


def test_a_regressor_gives_them_in_the_units_of_its_outputs(histograms):
    X, kernel = histograms
    Y = np.column_stack([3 * X[:, 0], np.full(900, 7.0)])
    model = GBCDRegressor(kernel, noise=5e-3, input_scaling=None, random_state=0).fit(X[:700], Y[:700])
    mean, std = model.predict(X[700:], return_std=True, variance="fast")
    np.testing.assert_array_equal(mean, model.predict(X[700:]))
    variance = LocalVariances(X[:700], kernel, model.noise_).at(X[700:])
    np.testing.assert_array_equal(std, np.column_stack([np.sqrt(variance) * model.y_scale_[0], np.zeros(200)]))
    exact = model.predict(X[700:], return_std=True)[1][:, 0]
    np.testing.assert_allclose(std[:, 0], exact, rtol=0.05)
    with_noise = model.predict(X[700:], return_std=True, include_noise=True, variance="fast")[1][:, 0]
    np.testing.assert_allclose(with_noise**2 - std[:, 0] ** 2, model.noise_ * model.y_scale_[0] ** 2)
    # A second fit forgets the first one's samples.
    model.fit(X[:50], Y[:50])
    assert (model.predict(X[700:], return_std=True, variance="fast")[1][:, 0] > std[:, 0]).mean() > 0.95


def test_impossible_requests_are_refused(problem):
    X, y, kernel, _ = problem(20)
    with pytest.raises(ValueError, match="n_neighbours must be at least 1, not 0"):
        LocalVariances(X, kernel, 0.1, 0)
    with pytest.raises(ValueError, match="noise must be a positive number, not 0"):
        LocalVariances(X, kernel, 0)
    with pytest.raises(ValueError, match="points has 3 columns, the training inputs 10"):
        LocalVariances(X, kernel, 0.1).at(X[:, :3])
    model = GBCDRegressor(kernel, noise=0.1).fit(X, y)
    with pytest.raises(ValueError, match="variance must be 'exact' or 'fast', not 'quick'"):
        model.predict(X, return_std=True, variance="quick")
    with pytest.raises(ValueError, match="needs two groups at least"):
        LocalVariances(X, kernel, 0.1).leave_group_out([0], np.zeros(20, dtype=int), y)
    with pytest.raises(ValueError, match="groups must have shape"):
        LocalVariances(X, kernel, 0.1).leave_group_out([0], [0, 1], y)
