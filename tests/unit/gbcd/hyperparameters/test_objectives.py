import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel

from gbcd import SquaredExponential, fit_hyperparameters, leave_group_out_score, log_marginal_likelihood
from gbcd.hyperparameters.objectives import held_out
from gbcd.hyperparameters.search import draw_subset

GROUPS = np.repeat(np.arange(9), 7)[:60]


@pytest.fixture
def small(problem):
    X, Y, _, _ = problem(60, q=2)
    return X[:, :4], Y


@pytest.mark.parametrize("gamma", [0.2, [0.1, 0.5, 0.02, 0.3]], ids=["isotropic", "ard"])
def test_the_marginal_likelihood_is_scikit_learns(small, gamma):
    X, Y = small
    value, gradient = log_marginal_likelihood(SquaredExponential(gamma), 0.05, X, Y)
    theirs = RBF(np.sqrt(0.5 / np.asarray(gamma))) + WhiteKernel(0.05)
    model = GaussianProcessRegressor(theirs, optimizer=None, alpha=0).fit(X, Y)
    expected, slope = model.log_marginal_likelihood(model.kernel_.theta, eval_gradient=True)
    assert value == pytest.approx(expected, rel=1e-10)
    # log gamma = -2 log length scale + const.
    np.testing.assert_allclose(gradient, np.append(slope[:-1] / -2, slope[-1]), rtol=1e-8)


@pytest.mark.parametrize("gamma", [0.2, [0.1, 0.5, 0.02, 0.3]], ids=["isotropic", "ard"])
@pytest.mark.parametrize("name", ["marginal", "profiled", "leave_group_out"])
def test_the_gradients_are_the_finite_differences(small, gamma, name):
    X, Y = small
    kernel = SquaredExponential(gamma)

    def objective(point):
        at = kernel.with_log_parameters(point[:-1]), float(np.exp(point[-1])), X, Y
        if name == "leave_group_out":
            return leave_group_out_score(*at, GROUPS)
        return log_marginal_likelihood(*at, profile=name == "profiled")

    theta = np.append(kernel.log_parameters, np.log(0.05))
    numeric = [(objective(theta + s)[0] - objective(theta - s)[0]) / 2e-5 for s in 1e-5 * np.eye(len(theta))]
    np.testing.assert_allclose(objective(theta)[1], numeric, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("gamma", [0.2, [0.1, 0.5, 0.02, 0.3]], ids=["isotropic", "ard"])
def test_the_profiled_likelihood_is_scikit_learns_at_the_best_amplitude(small, gamma):
    X, Y = small
    noise, value, gradient = 0.05, 0.0, 0.0
    for y in Y.T:
        amplitude = held_out(SquaredExponential(gamma), noise, X, y[:, None]).amplitude[0]
        theirs = ConstantKernel(amplitude) * RBF(np.sqrt(0.5 / np.asarray(gamma))) + WhiteKernel(amplitude * noise)
        model = GaussianProcessRegressor(theirs, optimizer=None, alpha=0).fit(X, y)
        expected, slope = model.log_marginal_likelihood(model.kernel_.theta, eval_gradient=True)
        value += expected
        # Of the amplitude with the noise in proportion: the best one is where that is none.
        assert slope[0] + slope[-1] == pytest.approx(0, abs=1e-9)
        gradient += np.append(slope[1:-1] / -2, slope[-1])
    ours, found = log_marginal_likelihood(SquaredExponential(gamma), noise, X, Y, profile=True)
    assert ours == pytest.approx(value, rel=1e-10)
    np.testing.assert_allclose(found, gradient, rtol=1e-8)
    with pytest.raises(ValueError, match="Output 1 is zero in all rows: it has no amplitude"):
        log_marginal_likelihood(SquaredExponential(gamma), noise, X, Y * [1, 0], profile=True)


def test_leave_group_out_predicts_every_group_from_the_others(small, dense):
    X, Y = small
    kernel, noise = SquaredExponential(0.1), 0.05
    Kbar = dense(X, kernel, noise)
    expected = 0.0
    for group in np.unique(GROUPS):
        held, rest = np.flatnonzero(group == GROUPS), np.flatnonzero(group != GROUPS)
        mean = Kbar[np.ix_(held, rest)] @ np.linalg.solve(Kbar[np.ix_(rest, rest)], Y[rest])
        expected -= 0.5 * np.square(Y[held] - mean).sum()
    assert leave_group_out_score(kernel, noise, X, Y, GROUPS)[0] == pytest.approx(expected, rel=1e-9)


def test_amplitudes_are_those_of_the_rows_held_out(small, dense):
    X, Y = small
    kernel, noise = SquaredExponential(0.1), 0.05
    Kbar = dense(X, kernel, noise)
    for labels in (None, GROUPS):
        groups = np.arange(60) if labels is None else labels
        residual, variance = np.empty_like(Y), np.empty(60)
        for group in np.unique(groups):
            held, rest = np.flatnonzero(group == groups), np.flatnonzero(group != groups)
            weights = np.linalg.solve(Kbar[np.ix_(rest, rest)], Kbar[np.ix_(rest, held)])
            residual[held] = Y[held] - weights.T @ Y[rest]
            variance[held] = np.diagonal(Kbar[np.ix_(held, held)] - Kbar[np.ix_(held, rest)] @ weights)
        found = held_out(kernel, noise, X, Y, labels)
        expected = np.mean(residual**2 / variance[:, None], axis=0)
        if labels is None:
            expected = [y @ np.linalg.solve(Kbar, y) / 60 for y in Y.T]
        np.testing.assert_allclose(found.amplitude, expected, rtol=1e-9)
        assert found.explained == pytest.approx(np.square(Y - residual).sum() / np.square(Y).sum(), rel=1e-9)


@pytest.mark.parametrize("ard", [False, True])
def test_the_fit_is_scikit_learns(ard):
    rng = np.random.default_rng(0)
    X = rng.uniform(-3, 3, (150, 2))
    y = np.sin(X[:, 0]) + 0.5 * X[:, 1] + 0.05 * rng.standard_normal(150)
    y = (y - y.mean()) / y.std()
    fit = fit_hyperparameters(X, y, "ard" if ard else "isotropic", tol=1e-7)
    theirs = ConstantKernel(1, (1e-5, 1e8)) * RBF([2.0, 2.0] if ard else 2.0, (1e-3, 1e5)) + WhiteKernel(
        0.1, (1e-9, 1e3)
    )
    model = GaussianProcessRegressor(theirs, random_state=0, alpha=0).fit(X, y)
    amplitude, noise = model.kernel_.k1.k1.constant_value, model.kernel_.k2.noise_level
    assert 150 * fit.value == pytest.approx(model.log_marginal_likelihood_value_, abs=1e-3)
    np.testing.assert_allclose(fit.kernel.gamma, 0.5 / np.square(model.kernel_.k1.k2.length_scale), rtol=0.02)
    assert fit.amplitude[0] == pytest.approx(amplitude, rel=0.1)
    assert fit.amplitude[0] > 2
    assert fit.amplitude[0] * fit.noise == pytest.approx(noise, rel=0.01)
    # With unit amplitude the same data are less likely, by 150 times this.
    unit = fit_hyperparameters(X, y, "ard" if ard else "isotropic", tol=1e-7, fit_amplitude=False)
    assert 150 * unit.value < 150 * fit.value - 2
    np.testing.assert_array_equal(unit.amplitude, 1)


def test_each_output_has_an_amplitude_of_its_own_and_a_constant_one_none():
    rng = np.random.default_rng(1)
    X = rng.uniform(-3, 3, (200, 1))
    draw = np.linalg.cholesky(np.exp(-0.5 * (X - X.T) ** 2) + 0.01 * np.eye(200)) @ rng.standard_normal((200, 3))
    rare = np.zeros((200, 1))
    fit = fit_hyperparameters(X, np.c_[draw * [1, 10, 100], np.full(200, 7.0), rare], "isotropic")
    ratio = fit.amplitude[1:3] / fit.amplitude[0]
    assert np.abs(np.log(ratio / [1e2, 1e4])).max() < 2
    np.testing.assert_array_equal(fit.amplitude[3:], 1)
    assert fit.noise == pytest.approx(0.01, rel=0.3)
    # An output that varies, but not in the rows that were drawn.
    rare[np.setdiff1d(np.arange(200), fit_hyperparameters(X, draw, subset=50, random_state=3).indices)[0]] = 5.0
    sparse = fit_hyperparameters(X, np.c_[draw, rare], subset=50, random_state=3)
    assert sparse.amplitude[3] == 1
    assert np.isfinite(sparse.value)


@pytest.mark.parametrize("kernel", ["ard", "isotropic"])
def test_the_fit_finds_the_noise_and_the_features_that_matter(kernel):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((400, 3))
    Y = np.c_[np.sin(2 * X[:, 0]), np.cos(2 * X[:, 0]) + X[:, 0]] + 0.2 * rng.standard_normal((400, 2))
    Y = np.c_[(Y - Y.mean(axis=0)) / Y.std(axis=0), np.full(400, 4.0)]
    fit = fit_hyperparameters(X, Y, kernel, random_state=0)
    if kernel == "ard":
        # Of the noise over the amplitude, and the amplitude.
        np.testing.assert_allclose(fit.amplitude[:2] * fit.noise, 0.04 / np.array([0.54, 1.25]), rtol=0.4)
        assert fit.kernel.gamma[0] > 20 * fit.kernel.gamma[1:].max()
    value, gradient = log_marginal_likelihood(fit.kernel, fit.noise, X, Y[:, :2], profile=True)
    assert fit.value == pytest.approx(value / 800)
    # At a maximum, but for parameters at their bounds.
    assert np.abs(gradient[[0, -1]]).max() / 800 < 5e-3
    np.testing.assert_array_equal(fit.indices, np.arange(400))
    assert 0 < fit.n_iter <= fit.n_evaluations
    assert fit.seconds > 0


def test_what_is_given_is_held(small):
    X, Y = small
    held = fit_hyperparameters(X, Y, noise=0.3)
    assert held.noise == 0.3
    np.testing.assert_array_equal(held.amplitude, 1)
    kernel = SquaredExponential(0.37)
    fit = fit_hyperparameters(X, Y, kernel, fit_kernel=False)
    assert fit.kernel.gamma == pytest.approx(0.37)
    assert fit.noise != 0.1


def test_constant_outputs_and_single_rows_leave_the_start(small):
    X, _ = small
    fit = fit_hyperparameters(X, np.ones(60))
    assert fit.n_iter == 0
    assert fit.kernel.gamma.shape == (4,)
    assert np.isfinite(fit_hyperparameters(X[:1], [1.0]).kernel.gamma).all()
    assert np.isfinite(fit_hyperparameters(np.ones((5, 2)), np.arange(5.0)).noise)


def test_holding_out_groups_sees_the_noise_that_near_duplicates_hide():
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(40), 10)
    centre = rng.uniform(-3, 3, 40)
    # Ten copies of 40 noisy outputs: by itself every copy predicts the others perfectly.
    X = np.repeat(centre, 10)[:, None] + 1e-3 * rng.standard_normal((400, 1))
    y = np.repeat(np.sin(centre) + 0.3 * rng.standard_normal(40), 10) + 1e-3 * rng.standard_normal(400)
    scale = y.std()
    y /= scale
    marginal = fit_hyperparameters(X, y, "isotropic", random_state=0)
    one_of_each = fit_hyperparameters(X, y, "isotropic", groups=groups, random_state=0)
    out = fit_hyperparameters(X, y, "isotropic", groups=groups, objective="leave_group_out")
    # Standard deviations fit what is held out: new groups, not new copies.
    new = rng.uniform(-3, 3, 200)
    K = np.exp(-out.kernel.gamma * (X - X.T) ** 2) + out.noise * np.eye(400)
    across = np.exp(-out.kernel.gamma * (new[:, None] - X.T) ** 2)
    error = (np.sin(new) + 0.3 * rng.standard_normal(200)) / scale - across @ np.linalg.solve(K, y)
    variance = 1 + out.noise - np.einsum("ij,ji->i", across, np.linalg.solve(K, across.T))
    assert 0.6 < np.sqrt(np.mean(error**2 / (out.amplitude * variance))) < 1.5
    assert marginal.noise < 0.01
    assert one_of_each.noise > 0.1
    assert out.noise > 0.1
    assert out.kernel.gamma < marginal.kernel.gamma


def test_the_subset_takes_one_row_of_each_group_at_most():
    rng = np.random.default_rng(0)
    labels = np.repeat([0, 1, 2, 3], [100, 5, 30, 65])
    assert np.bincount(labels[draw_subset(200, 50, labels, rng)]).tolist() == [1, 1, 1, 1]
    assert len(np.unique(labels[draw_subset(200, 3, labels, rng)])) == 3
    np.testing.assert_array_equal(draw_subset(30, 100, None, rng), np.arange(30))
    assert len(np.unique(draw_subset(300, 100, None, rng))) == 100


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"kernel": "matern"}, "'ard', 'isotropic' or a gbcd.Kernel, not 'matern'"),
        ({"objective": "loo"}, "not 'loo'"),
        ({"objective": "leave_group_out"}, "needs groups"),
        ({"objective": "leave_group_out", "groups": np.zeros(60, int)}, "at least two of them"),
        ({"groups": np.zeros(3)}, r"groups must have shape \(60,\)"),
        ({"subset": 0}, "subset must be at least 2, not 0"),
        ({"subset": 1}, "subset must be at least 2, not 1"),
        ({"kernel": "rbf"}, r"not 'rbf', e.g. gbcd.SquaredExponential\(gamma\)"),
        ({"kernel": SquaredExponential}, "not <class 'gbcd.kernels.squared_exponential.SquaredExponential'>, e.g."),
        ({"subset": 1.5}, "subset must be an integer, not 1.5"),
        ({"subset": "a"}, "subset must be an integer, not 'a'"),
        ({"noise": -1}, "noise must be a positive number, not -1"),
        ({"noise": np.nan}, "noise must be a positive number, not nan"),
        ({"noise": [0.1, 0.2]}, "noise must be a positive number, not"),
        (
            {"objective": "leave_group_out", "groups": np.arange(60) // 58, "subset": 2, "random_state": 0},
            "needs at least two groups, but the drawn subset of 2 rows holds only one: raise subset",
        ),
        ({"fit_kernel": False}, "needs a Kernel to hold"),
    ],
)
def test_impossible_requests_are_refused(small, arguments, message):
    with pytest.raises(ValueError, match=message):
        fit_hyperparameters(*small, **arguments)


@pytest.mark.parametrize("noise", [0, -1.0, np.nan, np.inf, [0.1, 0.2]])
def test_the_scores_refuse_a_noise_that_cannot_be(small, noise):
    X, Y = small
    with pytest.raises(ValueError, match="noise must be a positive number, not"):
        log_marginal_likelihood(SquaredExponential(1.0), noise, X, Y)
    with pytest.raises(ValueError, match="noise must be a positive number, not"):
        leave_group_out_score(SquaredExponential(1.0), noise, X, Y, np.arange(60) // 6)


def test_groups_far_apart_have_the_likelihood_of_groups_that_do_not_see_each_other(small):
    X, Y = small
    X = np.round(X * 2**20) / 2**20
    kernel = SquaredExponential([0.1, 0.5, 0.02, 0.3])
    value, gradient = log_marginal_likelihood(kernel, 0.05, np.r_[X, X + 2.0**26], np.r_[Y, Y])
    alone, slope = log_marginal_likelihood(kernel, 0.05, X, Y)
    assert value == pytest.approx(2 * alone, rel=1e-10)
    np.testing.assert_allclose(gradient, 2 * slope, rtol=1e-8)


@pytest.mark.parametrize("scale", [1e155, 1e300])
def test_inputs_too_large_to_start_from_are_refused_by_column(small, scale):
    X, Y = small
    with pytest.raises(ValueError, match=r"X reaches [\d.]+e\+\d+ in column 2, too much .* divide it first"):
        fit_hyperparameters(X * [1, 1, scale, 1], Y)


@pytest.mark.parametrize("kernel", ["ard", "isotropic"])
@pytest.mark.parametrize("objective", ["marginal", "leave_group_out"])
def test_a_search_that_ends_at_white_noise_says_so(kernel, objective):
    rng = np.random.default_rng(0)
    X, y, groups = rng.standard_normal((200, 2)), rng.standard_normal(200), np.arange(200) // 5
    with pytest.warns(ConvergenceWarning, match="ended at white noise .* in 200 rows .* predictions are the mean"):
        fit_hyperparameters(
            X, y, kernel, groups=groups if objective == "leave_group_out" else None, objective=objective
        )
