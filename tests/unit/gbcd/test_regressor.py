import doctest
import pickle
import subprocess
import sys

import joblib
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from gbcd import GBCDRegressor, SquaredExponential, solve, threads


# Many checks fit a handful of random numbers.
@pytest.mark.filterwarnings("ignore:The search for hyperparameters ended at white noise")
@parametrize_with_checks([GBCDRegressor(random_state=0)])
def test_it_is_a_scikit_learn_citizen(estimator, check):
    check(estimator)


def test_it_learns_and_a_constant_output_is_exact(data):
    X, Y = data
    model = GBCDRegressor(random_state=0).fit(X[:200], Y[:200])
    mean, std = model.predict(X[200:], return_std=True)
    assert mean.shape == std.shape == (100, 3)
    np.testing.assert_array_equal(mean[:, 1], 7.1)
    np.testing.assert_array_equal(std[:, 1], 0)
    assert np.corrcoef(mean[:, 0], Y[200:, 0])[0, 1] > 0.8
    # In each output's own units.
    units = np.sqrt(model.amplitude_) * Y[:200].std(axis=0)
    assert std[0, 0] / std[0, 2] == pytest.approx(units[0] / units[2])
    assert model.solve_result_.gradient_norm <= 1e-4
    assert model.hyperparameters_.noise == model.noise_
    assert not model.coef_[:, 1].any()


def test_the_mean_is_the_direct_gp(data, dense):
    X, Y = data
    model = GBCDRegressor(gamma=0.02, noise=0.1, random_state=0, block_size=50).fit(X, Y[:, 0])
    scaled = (X - X.mean(axis=0)) / X.std(axis=0)
    K = dense(scaled, SquaredExponential(0.02), 0.0)
    y = (Y[:, 0] - Y[:, 0].mean()) / Y[:, 0].std()
    direct = K @ np.linalg.solve(K + 0.1 * np.eye(300), y) * Y[:, 0].std() + Y[:, 0].mean()
    assert model.hyperparameters_ is None
    assert np.abs(model.predict(X) - direct).max() <= 1e-3 * Y[:, 0].std()
    exact = GBCDRegressor(gamma=0.02, noise=0.1, solver="cholesky").fit(X, Y[:, 0])
    np.testing.assert_allclose(exact.predict(X), direct, rtol=1e-10)


@pytest.mark.parametrize("flat", [True, False])
def test_the_state_rebuilds_the_model(data, flat):
    X, Y = data
    model = GBCDRegressor(random_state=0).fit(X, Y[:, 0] if flat else Y)
    state = model.get_state()
    assert all(isinstance(value, np.ndarray | float | bool) for value in state.values())
    again = GBCDRegressor.from_state(state, memory_budget=10**8)
    for ours, theirs in zip(model.predict(X, return_std=True), again.predict(X, return_std=True), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-12)
        assert ours.ndim == (1 if flat else 2)


def test_input_scalings(data):
    X, Y = data
    histograms = np.abs(X) / np.abs(X).sum(axis=1, keepdims=True)
    model = GBCDRegressor(kernel="isotropic", input_scaling="global", random_state=0).fit(histograms, Y)
    assert len(np.unique(model.x_scale_)) == 1
    np.testing.assert_allclose(model.scale_inputs(histograms), histograms / histograms.std())
    assert model.kernel_.gamma.ndim == 0
    plain = GBCDRegressor(kernel=SquaredExponential(0.1), noise=0.1, input_scaling=None).fit(X, Y)
    np.testing.assert_array_equal(plain.X_train_, X)


def test_parts_may_be_given_and_the_rest_is_fitted(data):
    X, Y = data
    assert GBCDRegressor(noise=0.2).fit(X, Y).noise_ == 0.2
    assert GBCDRegressor(gamma=0.01).fit(X, Y).kernel_.gamma == pytest.approx(0.01)
    grouped = GBCDRegressor(hyperparameter_objective="leave_group_out", kernel="isotropic", random_state=0)
    assert grouped.fit(X, Y, groups=np.arange(300) // 20).noise_ > 0


@pytest.mark.parametrize("factor", [1e-300, 1e-162, 1e154, 1e300])
@pytest.mark.parametrize("scaling", ["column", "global"])
def test_the_scale_of_the_data_does_not_matter(data, factor, scaling):
    X, Y = data
    # Well inside the range even after the factor: |X| < 100 and |Y| < 2000 there.
    X, Y = X / 100, Y / 2000
    for given in ({}, {"gamma": 0.02, "noise": 0.1}):
        model = GBCDRegressor("isotropic", input_scaling=scaling, solver="cholesky", random_state=0).set_params(**given)
        plain = model.fit(X, Y).predict(X, return_std=True)
        inputs = clone(model).fit(X * factor, Y).predict(X * factor)
        outputs = clone(model).fit(X, Y * factor).predict(X, return_std=True)
        np.testing.assert_allclose(inputs, plain[0], rtol=1e-6)
        np.testing.assert_allclose(outputs[0], plain[0] * factor, rtol=1e-6)
        np.testing.assert_allclose(outputs[1], plain[1] * factor, rtol=1e-5)


@pytest.mark.parametrize("change", [{"groups": [1, 2]}, {"parameters": {"solver": "newton"}}, {"y": np.ones(3)}])
def test_a_refit_that_fails_leaves_the_model_as_it_was(data, change):
    X, Y = data
    model = GBCDRegressor(gamma=0.02, noise=0.1, random_state=0).fit(X, Y)
    before, state = model.predict(X), dict(vars(model))
    model.set_params(**change.get("parameters", {}))
    with pytest.raises(ValueError, match=r"groups must have shape \(300,\)|no solver|inconsistent numbers"):
        model.fit(7 * X[:, :4] + 1, change.get("y", 2 * Y[:, 0]), change.get("groups"))
    np.testing.assert_array_equal(model.predict(X), before)
    assert {name: id(value) for name, value in vars(model).items() if name != "solver"} == {
        name: id(value) for name, value in state.items() if name != "solver"
    }
    fresh = clone(model)
    with pytest.raises(ValueError, match=r"groups must have shape|no solver|inconsistent"):
        fresh.fit(X, change.get("y", Y), change.get("groups"))
    with pytest.raises(NotFittedError):
        fresh.predict(X)


def test_a_refit_that_is_interrupted_leaves_the_model_as_it_was(data):
    X, Y = data
    model = GBCDRegressor(gamma=0.02, noise=0.1, block_size=20, random_state=0).fit(X, Y)
    before = dict(vars(model))

    def interrupt(entry):
        raise KeyboardInterrupt

    model.set_params(callback=interrupt)
    with pytest.raises(KeyboardInterrupt):
        model.fit(7 * X[:, :4] + 1, 2 * Y[:, 0])
    assert {name: id(value) for name, value in vars(model).items()} == {
        name: id(value) for name, value in (before | {"callback": interrupt}).items()
    }


def test_all_parameters_but_the_kernel_are_given_by_name():
    assert GBCDRegressor("isotropic").kernel == "isotropic"
    with pytest.raises(TypeError, match="positional argument"):
        GBCDRegressor("isotropic", 0.1)


@pytest.mark.parametrize("solver", ["gbcd", "cholesky"])
def test_mean_and_deviation_are_scikit_learns(problem, solver):
    X, Y, _, noise = problem(300, q=2)
    gamma = np.linspace(0.01, 0.1, 10)
    theirs = GaussianProcessRegressor(RBF(1 / np.sqrt(2 * gamma)), alpha=noise, optimizer=None).fit(X[:250], Y[:250])
    ours = GBCDRegressor(gamma=gamma, noise=noise, input_scaling=None, solver=solver, tol=1e-8, block_size=60)
    # Standardised once more: other means and scales of the outputs, which the reference has not.
    plain = (Y - Y[:250].mean(axis=0)) / Y[:250].std(axis=0)
    expected, deviation = theirs.fit(X[:250], plain[:250]).predict(X[250:], return_std=True)
    mean, std = ours.fit(X[:250], 10 * plain[:250] + 3).predict(X[250:], return_std=True)
    np.testing.assert_allclose(mean, 10 * expected + 3, atol=1e-6)
    np.testing.assert_allclose(std, 10 * deviation, rtol=1e-6)
    np.testing.assert_allclose(
        ours.predict(X[250:], return_std=True, include_noise=True)[1], 10 * np.sqrt(deviation**2 + noise), rtol=1e-6
    )


def test_the_noise_of_new_observations_is_none_for_a_constant_output(data):
    X, Y = data
    model = GBCDRegressor(gamma=0.02, noise=0.1).fit(X, Y)
    latent, observed = (model.predict(X, return_std=True, include_noise=noise)[1] for noise in (False, True))
    np.testing.assert_allclose(
        observed[:, [0, 2]] ** 2 - latent[:, [0, 2]] ** 2, 0.1 * model.y_scale_[[0, 2]] ** 2 + 0 * latent[:, [0, 2]]
    )
    np.testing.assert_array_equal(observed[:, 1], 0)


def test_a_warm_start_goes_on_from_the_last_fit(data):
    X, Y = data
    model = GBCDRegressor(gamma=0.02, noise=0.1, block_size=30, warm_start=True, random_state=0).fit(X, Y)
    assert model.solve_result_.n_iter > 0
    before = model.coef_
    model.fit(X, Y)
    assert model.solve_result_.n_iter == 0
    np.testing.assert_array_equal(model.coef_, before)
    # Other shapes start anew.
    assert model.fit(X, Y[:, 0]).solve_result_.n_iter > 0
    assert model.fit(X[:200], Y[:200, 0]).solve_result_.n_iter > 0
    cold = model.set_params(warm_start=False).fit(X[:200], Y[:200, 0])
    assert cold.solve_result_.n_iter > 0
    again = GBCDRegressor.from_state(cold.get_state(), warm_start=True, gamma=0.02, noise=0.1, tol=1e-3)
    assert again.fit(X[:200], Y[:200, 0]).solve_result_.n_iter == 0


def test_it_works_inside_scikit_learns_tools(data):
    X, Y = data
    pipeline = make_pipeline(StandardScaler(), GBCDRegressor(gamma=0.02, noise=0.1))
    assert pipeline.fit(X[:200], Y[:200, 0]).score(X[200:], Y[200:, 0]) > 0.7
    scores = cross_val_score(pipeline, X, Y[:, 0], cv=3)
    assert (scores > 0.7).all()
    grid = {"noise": [0.1, 10.0], "solver": ["gbcd", "cg"]}
    search = GridSearchCV(GBCDRegressor(gamma=0.02), grid, cv=2, n_jobs=2).fit(X, Y)
    assert search.best_params_["noise"] == 0.1
    assert search.best_estimator_.predict(X).shape == (300, 3)


def test_a_pickle_predicts_the_same(data):
    X, Y = data
    model = GBCDRegressor(random_state=0).fit(X, Y)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).predict(X), model.predict(X))


def test_single_precision_and_objects_are_taken(data):
    X, Y = data
    model = GBCDRegressor(gamma=0.02, noise=0.1, tol=1e-8, random_state=0)
    expected = model.fit(X, Y).predict(X)
    np.testing.assert_allclose(model.fit(X.astype(np.float32), Y.astype(np.float32)).predict(X), expected, rtol=1e-4)
    np.testing.assert_array_equal(model.fit(X, Y.astype(object)).predict(X), expected)
    np.testing.assert_array_equal(model.fit(X.tolist(), Y.tolist()).predict(X.tolist()), expected)


def test_the_threads_are_as_many_as_n_jobs_says(data):
    X, Y = data
    seen = []
    model = GBCDRegressor(
        gamma=0.02, noise=0.1, n_jobs=2, random_state=0, callback=lambda _: seen.append(threads.n_workers())
    )
    model.fit(X, Y)
    assert set(seen) == {min(2, joblib.cpu_count())}
    one = model.set_params(n_jobs=1).fit(X, Y).predict(X, return_std=True)
    assert seen[-1] == 1
    for ours, theirs in zip(one, model.set_params(n_jobs=-1).fit(X, Y).predict(X, return_std=True), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-9)
    assert seen[-1] == joblib.cpu_count()
    with pytest.raises(ValueError, match="n_jobs must be None or an integer other than 0, not 0"):
        model.set_params(n_jobs=0).fit(X, Y)


def test_sample_weights_are_refused_in_words(data):
    X, Y = data
    pipeline = make_pipeline(GBCDRegressor(gamma=0.02, noise=0.1))
    with pytest.raises(ValueError, match="sample_weight is not supported: the noise is the same in all rows"):
        pipeline.fit(X, Y, gbcdregressor__sample_weight=np.ones(300))
    pipeline.fit(X, Y, gbcdregressor__sample_weight=None)
    with pytest.raises(TypeError, match="unexpected keyword argument 'sample_wieght'"):
        GBCDRegressor().fit(X, Y, sample_wieght=None)


def test_stopping_short_warns(data):
    X, Y = data
    with pytest.warns(ConvergenceWarning, match="infinity norm"):
        GBCDRegressor(gamma=0.02, noise=1e-3, block_size=10, max_passes=0.5).fit(X, Y)
    with pytest.warns(ConvergenceWarning, match="ran out"):
        model = GBCDRegressor(gamma=0.02, noise=1e-3, block_size=10, max_time=1e-9).fit(X, Y)
    assert np.isfinite(model.predict(X)).all()


def test_the_package_knows_no_images_files_or_command_lines():
    others = ["cv2", "h5py", "typer", "av", "pydantic", "matplotlib", "rich", "pose"]
    code = f"import sys, gbcd; print([m for m in {others} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("thing", [solve, GBCDRegressor])
def test_the_examples_of_the_help_run(thing):
    tests = doctest.DocTestFinder(recurse=False).find(thing, globs={})
    assert sum(len(test.examples) for test in tests) > 3
    for test in tests:
        assert doctest.DocTestRunner().run(test).failed == 0


def test_what_is_found_is_shown_in_a_line(data):
    model = GBCDRegressor(random_state=0).fit(*data)
    for result in (model.solve_result_, model.hyperparameters_, model.solve_result_.trace[0]):
        assert len(repr(result)) < 500
        assert "array" not in repr(result)
    assert repr(model.solve_result_).startswith("SolveResult(gradient_norm=")
