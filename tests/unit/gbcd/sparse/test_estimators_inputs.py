"""Inputs of the sparse estimators: what is refused, in which words, and hard ones that end well."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from gbcd import MatchingPursuitGP, SquaredExponential, SubsetOfData, SubsetOfRegressors

ALL = [SubsetOfData, SubsetOfRegressors, MatchingPursuitGP]
GIVEN = {"gamma": 0.02, "noise": 0.1, "random_state": 0}


@pytest.mark.parametrize("estimator", ALL)
@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_regressors": 0}, "n_regressors must be at least 1, not 0"),
        ({"n_regressors": 1.5}, r"n_regressors must be an integer, not 1\.5"),
        ({"noise": -1}, "noise must be a positive number, not -1"),
        ({"noise": np.nan}, "noise must be a positive number, not nan"),
        ({"kernel": "matern", "gamma": None}, "not 'matern'"),
        ({"kernel": SquaredExponential(1.0)}, "gamma must be None when a Kernel is given"),
        ({"input_scaling": "row"}, "'column', 'global' or None, not 'row'"),
        ({"gamma": [1.0, 2.0]}, "2 gammas, the inputs 10 columns"),
        ({"n_jobs": 0}, "n_jobs must be None or an integer other than 0"),
    ],
)
def test_impossible_parameters_are_refused(data, estimator, parameters, message):
    with pytest.raises(ValueError, match=message):
        estimator(**(GIVEN | parameters)).fit(*data)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_candidates": 1.5}, r"n_candidates must be an integer, not 1\.5"),
        ({"n_candidates": 0}, "n_candidates must be at least 1, not 0"),
        ({"criterion": "gain"}, "criterion must be 'line_search' or 'exact', not 'gain'"),
    ],
)
def test_impossible_pursuits_are_refused(data, parameters, message):
    with pytest.raises(ValueError, match=message):
        MatchingPursuitGP(**GIVEN, **parameters).fit(*data)


@pytest.mark.parametrize("estimator", ALL)
def test_bad_data_are_refused_in_words(data, estimator):
    X, Y = (a.copy() for a in data)
    model = estimator(**GIVEN, n_regressors=20)
    for call in (lambda: model.predict(X), model.get_state):
        with pytest.raises(NotFittedError, match="not fitted yet"):
            call()
    X[17, 3] = np.nan
    with pytest.raises(ValueError, match="X contains NaN at row 17, column 3"):
        model.fit(X, Y)
    X[17, 3], Y[5, 2] = 0, np.inf
    with pytest.raises(ValueError, match="y contains infinity at row 5, column 2"):
        model.fit(X, Y)
    Y[5, 2] = 0
    with pytest.raises(ValueError, match="sample_weight is not supported"):
        model.fit(X, Y, sample_weight=np.ones(300))
    with pytest.raises(TypeError, match=rf"{estimator.__name__}.fit\(\) got an unexpected keyword argument 'weights'"):
        model.fit(X, Y, weights=None)
    model.fit(X, Y)
    with pytest.raises(ValueError, match="expecting 10 features"):
        model.predict(X[:, :3])
    with pytest.raises(ValueError, match="X contains NaN at row 0, column 0"):
        model.predict(np.full((1, 10), np.nan))
    model.kernel_ = object()
    with pytest.raises(TypeError, match="Only a SquaredExponential kernel can be stored, not object"):
        model.get_state()


def hard_inputs():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((120, 3))
    y = np.sin(X @ [1.0, 2.0, 3.0]) + 0.1 * rng.standard_normal(120)
    given = {"gamma": 0.5, "noise": 0.1}
    return {
        "one row": (X[:1], y[:1], {}),
        "two rows": (X[:2], y[:2], {}),
        "every row twice": (np.r_[X, X], np.r_[y, y + 0.1], {}),
        "every row twice without noise to speak of": (np.r_[X, X], np.r_[y, y + 0.1], {"gamma": 0.5, "noise": 1e-8}),
        "no noise to speak of": (X, y, {"gamma": 0.5, "noise": 1e-8}),
        "only noise": (X, y, {"gamma": 0.5, "noise": 1e30}),
        "all rows the same": (np.ones((120, 3)), y, given),
        "integers": (np.rint(10 * X).astype(int), np.rint(10 * y).astype(int), {}),
        "truth values": (X > 0, y > 0, given),
        "every column in another unit": (X * [1e-200, 1, 1e200], np.c_[1e-200 * y, y, 1e200 * y], {}),
        "far apart": (1e25 * X, y, given | {"input_scaling": None}),
        "close together": (1e-200 * X, y, given | {"input_scaling": None}),
        "an outlier": (np.r_[1e200 * np.ones((1, 3)), X[1:]], np.r_[-1e200, y[1:]], {}),
        "large as can be": (5e306 * np.sign(X[:, :1]), 5e306 * np.sign(X[:, 0]), given),
        "a kernel that sees nothing": (X, y, {"gamma": 0.0, "noise": 0.1}),
        "a kernel that sees nothing but itself": (X, y, {"gamma": 1e150, "noise": 0.1}),
    }


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("model", [SubsetOfData(), SubsetOfRegressors(), MatchingPursuitGP(criterion="exact")])
@pytest.mark.parametrize("case", hard_inputs())
def test_hard_inputs_end_well(case, model):
    X, y, parameters = hard_inputs()[case]
    model = clone(model).set_params(random_state=0, n_regressors=100, **parameters).fit(X, y)
    for points in (X, np.full((2, X.shape[1]), 1e300)):
        mean, std = model.predict(points, return_std=True)
        assert np.isfinite(mean).all()
        assert np.isfinite(std).all()


@pytest.mark.parametrize("estimator", [SubsetOfData, SubsetOfRegressors, MatchingPursuitGP])
@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"kernel": "rbf"}, "kernel must be 'ard', 'isotropic' or a gbcd.Kernel, not 'rbf'"),
        ({"kernel": None}, "kernel must be 'ard'"),
        ({"hyperparameter_objective": "zz"}, "not 'zz'"),
        ({"subset": 0}, "subset must be at least 2, not 0"),
        ({"X": np.ones((5, 2)) + 1j}, "Complex data not supported: give the real part of X"),
        ({"y": [10**400] * 5}, "y holds an integer beyond 1.8e308"),
    ],
)
def test_what_no_fit_can_have_is_refused_though_all_is_given(estimator, parameters, message):
    data = {"X": np.ones((5, 2)), "y": np.arange(5.0)}
    data |= {name: parameters[name] for name in data if name in parameters}
    rest = {name: value for name, value in parameters.items() if name not in data}
    with pytest.raises(ValueError, match=message):
        estimator(gamma=1.0, noise=0.1, **rest).fit(**data)


@pytest.mark.parametrize("estimator", [SubsetOfData, SubsetOfRegressors, MatchingPursuitGP])
def test_groups_far_apart_are_two_processes(estimator, dense):
    near = np.linspace(0, 3, 33)[:, None]
    y = np.r_[np.sin(3 * near[:, 0]), np.cos(2 * near[:, 0])]
    model = estimator(gamma=0.3, noise=0.01, input_scaling=None, random_state=0).fit(np.r_[near, 1e7 + near], y)
    standard = (y - y.mean()) / y.std()
    K = dense(near, SquaredExponential(0.3), 0.0)
    expected = [K @ np.linalg.solve(K + 0.01 * np.eye(33), part) for part in (standard[:33], standard[33:])]
    mean, std = model.predict(np.r_[near, 1e7 + near], return_std=True)
    np.testing.assert_allclose(mean, np.concatenate(expected) * y.std() + y.mean(), atol=2e-6)
    np.testing.assert_allclose(std[:33], std[33:], rtol=1e-4)
