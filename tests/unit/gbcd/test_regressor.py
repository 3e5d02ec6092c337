import subprocess
import sys

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.utils.estimator_checks import parametrize_with_checks

from gbcd import GBCDRegressor, SquaredExponential


@parametrize_with_checks([GBCDRegressor(random_state=0)])
def test_it_is_a_scikit_learn_citizen(estimator, check):
    check(estimator)


@pytest.fixture
def data(problem):
    X, Y, _, _ = problem(300, q=4)
    return 5 + 3 * X, np.c_[100 * Y[:, 0] + 1000, np.full(300, 7.1), Y[:, 1]]


def test_it_learns_and_a_constant_output_is_exact(data):
    X, Y = data
    model = GBCDRegressor(random_state=0).fit(X[:200], Y[:200])
    mean, std = model.predict(X[200:], return_std=True)
    assert mean.shape == std.shape == (100, 3)
    np.testing.assert_array_equal(mean[:, 1], 7.1)
    np.testing.assert_array_equal(std[:, 1], 0)
    assert np.corrcoef(mean[:, 0], Y[200:, 0])[0, 1] > 0.8
    # In each output's own units.
    assert std[0, 0] / std[0, 2] == pytest.approx(Y[:200, 0].std() / Y[:200, 2].std())
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


def test_what_it_prints_and_calls(data, capsys):
    X, Y = data
    entries = []
    GBCDRegressor(gamma=0.02, noise=0.1, verbose=True, callback=entries.append).fit(X, Y)
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == len(entries) >= 1
    assert lines[0].startswith("iteration 1: gradient ")


@pytest.mark.parametrize("noise", [0, -1.0, np.nan, np.inf, "a", [0.1, 0.2]])
def test_a_noise_that_cannot_be_is_refused(data, noise):
    with pytest.raises(ValueError, match="noise must be a positive number, not"):
        GBCDRegressor(noise=noise).fit(*data)


def test_stopping_short_warns(data):
    X, Y = data
    with pytest.warns(ConvergenceWarning, match="infinity norm"):
        GBCDRegressor(gamma=0.02, noise=1e-3, block_size=10, max_passes=0.5).fit(X, Y)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"kernel": "matern"}, "not 'matern'"),
        ({"input_scaling": "row"}, "'column', 'global' or None, not 'row'"),
        ({"kernel": SquaredExponential(1.0), "gamma": 1.0}, "gamma must be None when a Kernel is given"),
        ({"solver": "newton", "gamma": 1.0, "noise": 0.1}, "no solver 'newton'"),
        ({"gamma": [1.0, 2.0], "noise": 0.1}, "2 gammas, the inputs 10 columns"),
    ],
)
def test_impossible_parameters_are_refused(data, parameters, message):
    with pytest.raises(ValueError, match=message):
        GBCDRegressor(**parameters).fit(*data)


def test_bad_values_are_named_by_row_and_column(data):
    X, Y = (a.copy() for a in data)
    model = GBCDRegressor(gamma=0.02, noise=0.1)
    X[17, 3] = np.nan
    with pytest.raises(ValueError, match="X contains NaN at row 17, column 3"):
        model.fit(X, Y)
    X[17, 3], Y[5, 2] = 0, np.inf
    with pytest.raises(ValueError, match="y contains infinity at row 5, column 2"):
        model.fit(X, Y)
    with pytest.raises(NotFittedError):
        clone(model).predict(X)


def test_the_package_knows_no_images_files_or_command_lines():
    others = ["cv2", "h5py", "typer", "av", "pydantic", "matplotlib", "rich", "pose"]
    code = f"import sys, gbcd; print([m for m in {others} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
