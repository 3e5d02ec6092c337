"""Inputs of the regressor: what is refused, in which words, and hard ones that end well."""

import numpy as np
import pytest
import scipy.sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.gaussian_process.kernels import RBF

from gbcd import GBCDRegressor, SquaredExponential
from gbcd.solvers.coarse_descent import CoarseDescent


@pytest.mark.parametrize("noise", [0, -1.0, np.nan, np.inf, "a", [0.1, 0.2]])
def test_a_noise_that_cannot_be_is_refused(data, noise):
    with pytest.raises(ValueError, match="noise must be a positive number, not"):
        GBCDRegressor(noise=noise).fit(*data)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"kernel": "matern"}, "not 'matern'"),
        *[({"kernel": kernel, "gamma": 1.0, "noise": 0.1}, "kernel must be 'ard'") for kernel in ("rbf", None, 3)],
        ({"kernel": RBF(2.0), "noise": 0.1}, r"of scikit-learn is gbcd.SquaredExponential\(1 / \(2 \* length_scale"),
        ({"hyperparameter_objective": "zz", "gamma": 1.0, "noise": 0.1}, "'marginal' or 'leave_group_out', not 'zz'"),
        ({"subset": 0, "gamma": 1.0, "noise": 0.1}, "subset must be at least 2, not 0"),
        ({"subset": 1}, "subset must be at least 2, not 1"),
        ({"checkpoint_seconds": 0}, "checkpoint_seconds must be a positive number, not 0"),
        ({"memory_budget": True}, "number of bytes, not True"),
        ({"precision": "half"}, "precision must be"),
        ({"max_passes": "x"}, "max_passes must be a positive number, not x"),
        ({"tol": "x"}, "tol must be a positive number, not x"),
        ({"block_size": 2.5}, "block_size must be an integer, not 2.5"),
        ({"max_time": -1, "gamma": 1.0, "noise": 0.1}, "max_time must be a positive number"),
        ({"input_scaling": "row"}, "'column', 'global' or None, not 'row'"),
        ({"kernel": SquaredExponential(1.0), "gamma": 1.0}, "gamma must be None when a Kernel is given"),
        ({"solver": "newton", "gamma": 1.0, "noise": 0.1}, "no solver 'newton'"),
        ({"gamma": [1.0, 2.0], "noise": 0.1}, "2 gammas, the inputs 10 columns"),
    ],
)
def test_impossible_parameters_are_refused(data, parameters, message, monkeypatch):
    # Before the minutes that hyperparameters may take.
    monkeypatch.setattr("gbcd.hyperparameters.request.fit_hyperparameters", lambda *_, **__: pytest.fail("fitted"))
    with pytest.raises(ValueError, match=message):
        GBCDRegressor(**parameters).fit(*data)


def test_bad_values_are_named_by_row_and_column(data):
    X, Y = (a.copy() for a in data)
    model = GBCDRegressor(gamma=0.02, noise=0.1, tol=1e-8, random_state=0)
    X[17, 3] = np.nan
    with pytest.raises(ValueError, match="X contains NaN at row 17, column 3"):
        model.fit(X, Y)
    X[17, 3], Y[5, 2] = 0, np.inf
    with pytest.raises(ValueError, match="y contains infinity at row 5, column 2"):
        model.fit(X, Y)
    with pytest.raises(NotFittedError):
        clone(model).predict(X)


def hard_inputs():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((120, 3))
    y = np.sin(X @ [1.0, 2.0, 3.0]) + 0.1 * rng.standard_normal(120)
    given = {"gamma": 0.5, "block_size": 50, "max_passes": 30}
    signs = np.sign(X[:, 0])
    return {
        "one row": (X[:1], y[:1], {}),
        "two rows": (X[:2], y[:2], {}),
        "fewer rows than a block": (X[:7], y[:7], {}),
        "every row twice": (np.r_[X, X], np.r_[y, y + 0.1], {}),
        "every row twice, the same": (np.r_[X, X], np.r_[y, y], {}),
        "every row twice without noise to speak of": (np.r_[X, X], np.r_[y, y + 0.1], {**given, "noise": 1e-8}),
        "no noise to speak of": (X, y, {**given, "noise": 1e-8}),
        "no noise at all": (X, y, {**given, "noise": 1e-300}),
        "only noise": (X, y, {**given, "noise": 1e30}),
        "a constant feature": (np.c_[X, np.full(120, 1e6)], y, {}),
        "all rows the same": (np.ones((120, 3)), y, {}),
        "all rows the same, given": (np.ones((120, 3)), y, {**given, "noise": 1e-6}),
        "a constant output": (X, np.full(120, 3.3), {}),
        "zero outputs": (X, 0 * y, {}),
        "integers": (np.rint(10 * X).astype(int), np.rint(10 * y).astype(int), {}),
        "truth values": (X > 0, y > 0, {}),
        "every column in another unit": (X * [1e-200, 1, 1e200], np.c_[1e-200 * y, y, 1e200 * y], {}),
        "the same, one scale for all": (X * [1e-200, 1, 1e200], y, {"input_scaling": "global", "kernel": "isotropic"}),
        "far apart": (1e25 * X, y, {"input_scaling": None}),
        "close together": (1e-200 * X, y, {"input_scaling": None}),
        "below the smallest normal number": (1e-320 * X, 1e-320 * y, {}),
        "an outlier": (np.r_[1e200 * np.ones((1, 3)), X[1:]], np.r_[-1e200, y[1:]], {}),
        "large as can be": (5e306 * signs[:, None], 5e306 * signs, {}),
        "a kernel that sees nothing": (X, y, {"gamma": 0.0, "noise": 0.1}),
        "a kernel that sees nothing but itself": (X, y, {"gamma": 1e150, "noise": 0.1}),
    }


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("case", hard_inputs())
def test_hard_inputs_end_well(case):
    X, y, parameters = hard_inputs()[case]
    model = GBCDRegressor(random_state=0, **parameters).fit(X, y)
    for points in (X, np.full((2, X.shape[1]), 1e300)):
        mean, std = model.predict(points, return_std=True)
        assert np.isfinite(mean).all()
        assert np.isfinite(std).all()
    if "noise" not in parameters or parameters["noise"] >= 1e-6:
        assert model.solve_result_.converged


def test_where_it_cannot_converge_it_says_how_far_it_came():
    X, y, parameters = hard_inputs()["no noise to speak of"]
    with pytest.warns(ConvergenceWarning, match=r"gbcd: the gradient's infinity norm is [\d.e+-]+ after") as warned:
        model = GBCDRegressor(random_state=0, **parameters).fit(X, y)
    assert f"{model.solve_result_.gradient_norm:.3g}" in str(warned[0].message)


@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        (np.empty((0, 3)), np.empty(0), "0 sample"),
        (np.empty((5, 0)), np.ones(5), "0 feature"),
        (np.ones((5, 3)), np.empty((5, 0)), "0 feature"),
        (np.ones((5, 3)), np.ones((5, 2, 2)), "dim"),
        (np.ones((5, 3)), None, "requires y"),
        (np.ones((5, 3)), ["a"] * 5, "could not convert string to float"),
        (np.ones((5, 3)), np.array([1, 2, None, 4, 5], dtype=object), "y contains NaN at row 2, column 0"),
        (np.ones((5, 3)), [1, 2, 3, -1.7e308, 5], r"y reaches 1\.7e\+308"),
        (np.full((5, 3), 1.7e308), np.ones(5), r"X reaches 1\.7e\+308"),
        (np.ones((5, 3)), [1, 2, 3, np.inf, 5], "y contains infinity at row 3, column 0"),
        (np.ones((5, 3)) + 1j, np.ones(5), "Complex data not supported: give the real part of X"),
        (np.ones((5, 3)), np.ones(5) + 1j, "Complex data not supported: give the real part of y"),
        (np.ones((5, 3)), scipy.sparse.csr_matrix(np.ones((5, 1))), "y is sparse, and only dense arrays are taken"),
        (np.ones((5, 3)), [10**400] * 5, "y holds an integer beyond 1.8e308"),
        ([[10**400]] * 5, np.ones(5), "X holds an integer beyond 1.8e308"),
        ([[1, 2], [3, -np.inf]], [1, 2], "X contains infinity at row 1, column 1"),
    ],
)
def test_data_that_cannot_be_are_refused(X, y, message):
    with pytest.raises(ValueError, match=message):
        GBCDRegressor().fit(X, y)


@pytest.mark.parametrize("solver", ["gbcd", "cholesky"])
@pytest.mark.parametrize(
    ("apart", "parameters"),
    [(1e7, {"gamma": 0.3, "input_scaling": None}), (1e12, {"gamma": 0.3, "input_scaling": None}), (1e7, {})],
    ids=["1e7", "1e12", "scaled"],
)
def test_groups_far_apart_are_two_processes(dense, apart, parameters, solver):
    near = np.linspace(0, 3, 65)[:, None]
    y = np.r_[np.sin(3 * near[:, 0]), np.cos(2 * near[:, 0])]
    X = np.r_[near, apart + near]
    model = GBCDRegressor(noise=0.01, tol=1e-8, solver=solver, **{"gamma": 0.3 * X.var(), **parameters}).fit(X, y)
    assert model.solve_result_.converged
    standard = (y - y.mean()) / y.std()
    K = dense(near, SquaredExponential(0.3), 0.0)
    expected = [K @ np.linalg.solve(K + 0.01 * np.eye(65), part) for part in (standard[:65], standard[65:])]
    variance = 1 - np.einsum("ij,ji->i", K, np.linalg.solve(K + 0.01 * np.eye(65), K))
    mean, std = model.predict(X, return_std=True)
    accuracy = max(1e-6, apart * 1e-15)
    np.testing.assert_allclose(mean, np.concatenate(expected) * y.std() + y.mean(), atol=accuracy)
    np.testing.assert_allclose((std / y.std()) ** 2, np.r_[variance, variance], atol=10 * accuracy)


@pytest.mark.parametrize("solver", ["newton", None, 3, CoarseDescent()])
def test_a_solver_is_a_name_and_anything_else_is_refused_before_the_search(data, solver, monkeypatch):
    monkeypatch.setattr(
        "gbcd.hyperparameters.request.fit_hyperparameters", lambda *_, **__: pytest.fail("searched before")
    )
    with pytest.raises(ValueError, match="There is no solver"):
        GBCDRegressor(solver=solver).fit(*data)
