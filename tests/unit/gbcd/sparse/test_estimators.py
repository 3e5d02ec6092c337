import logging
import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from gbcd import GBCDRegressor, MatchingPursuitGP, SquaredExponential, SubsetOfData, SubsetOfRegressors
from gbcd.threads import n_workers

ALL = [SubsetOfData, SubsetOfRegressors, MatchingPursuitGP]
GIVEN = {"gamma": 0.02, "noise": 0.1, "random_state": 0}


# Many checks fit a handful of random numbers.
@pytest.mark.filterwarnings("ignore:The search for hyperparameters ended at white noise")
@parametrize_with_checks([estimator(random_state=0) for estimator in ALL] + [MatchingPursuitGP(criterion="exact")])
def test_it_is_a_scikit_learn_citizen(estimator, check):
    check(estimator)


def scaled(X, reference):
    return (X - reference.mean(axis=0)) / reference.std(axis=0)


def kernel(A, B, gamma=0.02):
    return np.exp(-gamma * np.sum((A[:, None] - B[None]) ** 2, axis=2))


def test_sd_is_the_exact_gp_on_its_rows(data):
    X, Y = data
    model = SubsetOfData(**GIVEN, n_regressors=60).fit(X[:200], Y[:200])
    rows = model.active_
    assert len(np.unique(rows)) == 60
    assert not np.array_equal(rows, np.arange(60))
    old, new, y = scaled(X[:200], X[:200])[rows], scaled(X[200:], X[:200]), scaled(Y[:200, [0, 2]], Y[:200, [0, 2]])
    system, k = kernel(old, old) + 0.1 * np.eye(60), kernel(new, old)
    mean, std = model.predict(X[200:], return_std=True)
    units = Y[:200, [0, 2]].std(axis=0)
    expected = k @ np.linalg.solve(system, y[rows]) * units + Y[:200, [0, 2]].mean(axis=0)
    variance = 1 - np.sum(k.T * np.linalg.solve(system, k.T), axis=0)
    np.testing.assert_allclose(mean[:, [0, 2]], expected, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(std[:, [0, 2]], np.sqrt(variance)[:, None] * units, rtol=1e-9)
    observed = model.predict(X[200:], return_std=True, include_noise=True)[1]
    np.testing.assert_allclose(observed[:, [0, 2]], np.sqrt(variance + 0.1)[:, None] * units, rtol=1e-9)
    np.testing.assert_array_equal(model.regressors_, old)
    assert model.kernel_evaluations_ <= 60**2


@pytest.mark.parametrize("estimator", [SubsetOfRegressors, MatchingPursuitGP])
def test_sr_and_mpgp_are_the_formulas_on_their_regressors(data, estimator):
    X, Y = data
    model = estimator(**GIVEN, n_regressors=60).fit(X[:200], Y[:200])
    every, new, y = scaled(X[:200], X[:200]), scaled(X[200:], X[:200]), scaled(Y[:200, [0, 2]], Y[:200, [0, 2]])
    basis = every[model.active_]
    assert len(np.unique(model.active_)) == 60
    K_np, k = kernel(every, basis), kernel(new, basis)
    system = K_np.T @ K_np + 0.1 * kernel(basis, basis)
    mean, std = model.predict(X[200:], return_std=True)
    units = Y[:200, [0, 2]].std(axis=0)
    expected = k @ np.linalg.solve(system, K_np.T @ y) * units + Y[:200, [0, 2]].mean(axis=0)
    variance = 0.1 * np.sum(k.T * np.linalg.solve(system, k.T), axis=0)
    np.testing.assert_allclose(mean[:, [0, 2]], expected, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(std[:, [0, 2]], np.sqrt(variance)[:, None] * units, rtol=1e-5)
    observed = model.predict(X[200:], return_std=True, include_noise=True)[1]
    np.testing.assert_allclose(observed[:, [0, 2]], np.sqrt(variance + 0.1)[:, None] * units, rtol=1e-5)
    candidates = 60 * 59 * 200 if estimator is MatchingPursuitGP else 0
    assert model.kernel_evaluations_ == candidates + (200 + 60) * 60


def test_sd_on_all_rows_is_the_exact_regressor(data):
    X, Y = data
    model = SubsetOfData(random_state=0).fit(X[:200], Y[:200])
    exact = GBCDRegressor(solver="cholesky", random_state=0).fit(X[:200], Y[:200])
    assert repr(model.kernel_) == repr(exact.kernel_)
    assert model.noise_ == exact.noise_
    np.testing.assert_array_equal(model.active_, np.arange(200))
    for ours, theirs in zip(
        model.predict(X[200:], return_std=True), exact.predict(X[200:], return_std=True), strict=True
    ):
        np.testing.assert_allclose(ours, theirs, rtol=1e-7)


@pytest.mark.parametrize("estimator", [SubsetOfRegressors, MatchingPursuitGP])
def test_with_every_row_a_regressor_the_gp_is_exact(data, estimator):
    """The mean everywhere, the variance at the training rows."""
    X, Y = data
    model = estimator(**GIVEN).fit(X, Y)
    exact = GBCDRegressor(solver="cholesky", **GIVEN).fit(X, Y)
    # Pursuit leaves out rows that copy others to single precision.
    rtol = 1e-6 if estimator is SubsetOfRegressors else 1e-4
    np.testing.assert_allclose(model.predict(X), exact.predict(X), rtol=rtol, atol=rtol)
    np.testing.assert_allclose(model.predict(X + 1), exact.predict(X + 1), rtol=10 * rtol, atol=10 * rtol)
    np.testing.assert_allclose(
        model.predict(X, return_std=True)[1], exact.predict(X, return_std=True)[1], rtol=1e-3, atol=1e-6
    )


def test_far_from_the_regressors_only_sds_variance_is_the_priors(data):
    X, Y = data
    far = np.full((1, 10), 1e3)
    for estimator, expected in zip(ALL, [1, 0, 0], strict=True):
        mean, std = estimator(**GIVEN, n_regressors=50).fit(X, Y[:, 0]).predict(far, return_std=True)
        assert mean[0] == pytest.approx(Y[:, 0].mean())
        assert std[0] == pytest.approx(expected * Y[:, 0].std())


@pytest.mark.parametrize("estimator", ALL)
def test_a_constant_output_is_exact(data, estimator):
    X, Y = data
    model = estimator(**GIVEN, n_regressors=40).fit(X, Y)
    for noise in (False, True):
        mean, std = model.predict(X + 1, return_std=True, include_noise=noise)
        np.testing.assert_array_equal(mean[:, 1], 7.1)
        np.testing.assert_array_equal(std[:, 1], 0)
    mean, std = estimator(random_state=0, n_regressors=40).fit(X, Y[:, 1]).predict(X, return_std=True)
    np.testing.assert_array_equal(mean, 7.1)
    np.testing.assert_array_equal(std, 0)
    # A constant input changes nothing.
    more = clone(model).fit(np.c_[X, np.full(300, 3.0)], Y)
    np.testing.assert_allclose(more.predict(np.c_[X, np.full(300, 3.0)]), model.predict(X), rtol=1e-4, atol=1e-3)


@pytest.mark.parametrize("estimator", ALL)
def test_hyperparameters_that_are_not_given_are_fitted(data, estimator):
    X, Y = data
    model = estimator(n_regressors=100, random_state=0).fit(X[:250], Y[:250])
    assert model.hyperparameters_.noise == model.noise_
    assert model.kernel_.gamma.shape == (10,)
    assert model.score(X[250:], Y[250:]) > 0.5
    assert estimator(noise=0.2, n_regressors=9).fit(X, Y).noise_ == 0.2
    grouped = estimator("isotropic", hyperparameter_objective="leave_group_out", random_state=0, n_regressors=9)
    assert grouped.fit(X, Y, groups=np.arange(300) // 20).kernel_.gamma.ndim == 0
    histograms = np.abs(X) / np.abs(X).sum(axis=1, keepdims=True)
    whole = estimator(**GIVEN, input_scaling="global", n_regressors=9).fit(histograms, Y)
    np.testing.assert_allclose(whole.regressors_, histograms[whole.active_] / histograms.std())
    plain = estimator(SquaredExponential(0.1), noise=0.1, input_scaling=None, n_regressors=9).fit(X, Y)
    np.testing.assert_array_equal(plain.regressors_, X[plain.active_])


@pytest.mark.parametrize("estimator", ALL)
def test_it_works_inside_scikit_learns_tools(data, estimator):
    X, Y = data
    pipeline = make_pipeline(StandardScaler(), estimator(**GIVEN, n_regressors=100))
    assert pipeline.fit(X[:200], Y[:200, 0]).score(X[200:], Y[200:, 0]) > 0.5
    assert (cross_val_score(pipeline, X, Y[:, 0], cv=3) > 0.5).all()
    grid = {"noise": [0.1, 10.0], "n_regressors": [2, 100]}
    search = GridSearchCV(estimator(gamma=0.02, random_state=0), grid, cv=2, n_jobs=2).fit(X, Y)
    assert search.best_params_ == {"noise": 0.1, "n_regressors": 100}
    assert search.best_estimator_.predict(X).shape == (300, 3)
    assert clone(search.best_estimator_).get_params() == search.best_estimator_.get_params()


@pytest.mark.parametrize("estimator", ALL)
@pytest.mark.parametrize("flat", [True, False])
def test_pickles_and_states_predict_the_same(data, estimator, flat):
    X, Y = data
    model = estimator(**GIVEN, n_regressors=40).fit(X, Y[:, 0] if flat else Y)
    expected = model.predict(X, return_std=True)
    with_std = {} if estimator is SubsetOfData else {"with_std": True}
    state = model.get_state(**with_std)
    assert all(isinstance(value, np.ndarray | float | bool) for value in state.values())
    for again in (pickle.loads(pickle.dumps(model)), estimator.from_state(state, n_jobs=1)):
        for ours, theirs in zip(again.predict(X, return_std=True), expected, strict=True):
            np.testing.assert_array_equal(ours, theirs)
            assert ours.ndim == (1 if flat else 2)


@pytest.mark.parametrize("estimator", [SubsetOfRegressors, MatchingPursuitGP])
def test_a_model_stored_without_deviations_says_so(data, estimator):
    X, Y = data
    again = estimator.from_state(estimator(**GIVEN, n_regressors=40).fit(X, Y).get_state())
    with pytest.raises(ValueError, match="stored without what standard deviations need"):
        again.predict(X, return_std=True)
    with pytest.raises(ValueError, match="itself stored without"):
        again.get_state(with_std=True)


def test_a_state_without_scaling_is_of_inputs_as_they_are(problem):
    X, Y, given, noise = problem(300, q=2)
    model = MatchingPursuitGP(given, noise=noise, input_scaling=None, n_regressors=40, random_state=0).fit(X, Y)
    older = {name: value for name, value in model.get_state().items() if not name.startswith("x_")}
    np.testing.assert_array_equal(MatchingPursuitGP.from_state(older).predict(X), model.predict(X))


@pytest.mark.parametrize("estimator", ALL)
def test_more_regressors_than_rows_are_clipped(data, estimator, caplog):
    X, Y = data
    with caplog.at_level(logging.INFO, logger="gbcd"):
        model = estimator(**GIVEN, n_regressors=301).fit(X, Y)
    assert f"{estimator.__name__}: 301 regressors are clipped to the 300 rows there are" in caplog.text
    assert len(model.active_) <= 300
    assert estimator().n_regressors == 2000
    single = estimator(**GIVEN).fit(X[:1], Y[:1, 0])
    assert single.predict(X[:1])[0] == Y[0, 0]


def test_the_default_candidates_are_those_of_the_literature():
    # 1 - 0.95^59 > 0.95: the best of so many is among the best 5 % with that probability.
    assert MatchingPursuitGP().n_candidates == 59 == int(np.ceil(np.log(0.05) / np.log(0.95)))


@pytest.mark.parametrize("estimator", ALL)
def test_a_refit_that_fails_leaves_the_model_as_it_was(problem, estimator):
    X, Y, given, noise = problem(300, q=2)
    model = estimator(given, noise=noise, n_regressors=20, random_state=0).fit(X, Y)
    before = model.predict(X, return_std=True)
    with pytest.raises(ValueError, match="10 gammas, the inputs 3 columns"):
        model.fit(X[:, :3], 100 * Y[:, 0])
    for ours, theirs in zip(model.predict(X, return_std=True), before, strict=True):
        np.testing.assert_array_equal(ours, theirs)
    # Nor does it carry anything of the old data into a fit that works.
    new = model.fit(X[:100] ** 2, 5 * Y[:100]).predict(X, return_std=True)
    for ours, theirs in zip(clone(model).fit(X[:100] ** 2, 5 * Y[:100]).predict(X, return_std=True), new, strict=True):
        np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize("estimator", ALL)
@pytest.mark.parametrize("factor", [1e-300, 1e-162, 1e154, 1e300])
def test_the_scale_of_the_outputs_does_not_matter(problem, estimator, factor):
    X, Y, given, noise = problem(300, q=2)
    model = estimator(given, noise=noise, n_regressors=40, random_state=0)
    plain = model.fit(X, Y / 100).predict(X, return_std=True)
    for ours, theirs in zip(clone(model).fit(X, Y / 100 * factor).predict(X, return_std=True), plain, strict=True):
        np.testing.assert_allclose(ours / factor, theirs, rtol=1e-3, atol=1e-6)  # chosen in float32


@pytest.mark.parametrize("estimator", ALL)
def test_the_threads_are_as_many_as_n_jobs_says(data, estimator):
    X, Y = data
    seen = []

    class Watched(SquaredExponential):
        def tile(self, rows, columns, out=None):
            seen.append(n_workers())
            return super().tile(rows, columns, out)

    model = estimator(Watched(0.02), noise=0.1, n_regressors=20, n_jobs=1, random_state=0).fit(X, Y)
    model.predict(X, return_std=True)
    assert set(seen) == {1}


@pytest.mark.parametrize("estimator", ALL)
def test_a_fitted_amplitude_scales_the_deviations(estimator, data):
    X, Y = data
    model = estimator(n_regressors=100, random_state=0).fit(X, Y)
    unit = estimator(model.kernel_, noise=model.noise_, n_regressors=100, random_state=0).fit(X, Y)
    assert model.amplitude_.shape == (3,)
    assert np.abs(np.log(model.amplitude_[[0, 2]])).min() > 0.1
    np.testing.assert_array_equal(unit.amplitude_, 1)
    # The regressors are drawn anew: on the same ones all else is the same.
    model.amplitude_, fitted = np.ones(3), model.amplitude_
    plain = model.predict(X, return_std=True)[1]
    observed = model.predict(X, return_std=True, include_noise=True)[1]
    model.amplitude_ = fitted
    np.testing.assert_allclose(model.predict(X, return_std=True)[1], plain * np.sqrt(fitted), rtol=1e-12)
    np.testing.assert_allclose(
        model.predict(X, return_std=True, include_noise=True)[1], observed * np.sqrt(fitted), rtol=1e-12
    )
    state = model.get_state(**({} if estimator is SubsetOfData else {"with_std": True}))
    again = estimator.from_state(state)
    np.testing.assert_allclose(again.predict(X, return_std=True)[1], plain * np.sqrt(fitted), rtol=1e-9)
    del state["amplitude"]
    np.testing.assert_allclose(estimator.from_state(state).predict(X, return_std=True)[1], plain, rtol=1e-9)


def test_matching_pursuit_tells_how_far_it_is(data):
    X, Y = data
    calls = []
    model = MatchingPursuitGP(**GIVEN, n_regressors=5, callback=lambda *counts: calls.append(counts)).fit(X, Y)
    assert calls == [(done, 5) for done in range(6)]
    assert clone(model).get_params()["callback"] is model.callback
