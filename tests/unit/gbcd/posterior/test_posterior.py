"""The prepared posterior: the regressor's predictions, from training features that are made once."""

import pickle

import numpy as np
import pytest

from gbcd import GBCDRegressor, LocalVariances, SquaredExponential


class Counting(SquaredExponential):
    """Notes for how many inputs features are made, and in which precision."""

    def __init__(self, gamma):
        super().__init__(gamma)
        self.made = []

    def row_features(self, X, origin, dtype):
        self.made.append((len(X), np.dtype(dtype).name, "rows"))
        return super().row_features(X, origin, dtype)

    def column_features(self, X, origin, dtype):
        self.made.append((len(X), np.dtype(dtype).name, "columns"))
        return super().column_features(X, origin, dtype)


@pytest.fixture
def model(data):
    X, Y = data
    return GBCDRegressor(Counting(0.02), noise=0.1, random_state=0).fit(X, Y)


def test_the_features_of_the_training_inputs_are_made_once(model, data):
    X, _ = data
    made = model.kernel_.made
    made.clear()
    for _ in range(3):
        model.predict(X[:7])
        model.predict(X[:7], return_std=True, variance="fast")
        model.posterior_.neighbours.leave_group_out([0], np.arange(300) // 20, data[1])
    of_training = [kind for kind in made if kind[0] == 300]
    assert len(of_training) == len(set(of_training))
    assert {dtype for _, dtype, _ in of_training} == {"float32", "float64"}


def test_variances_are_those_of_standardised_outputs(model, data):
    X, Y = data
    points = X[:9] + 0.5
    posterior = model.posterior_
    np.testing.assert_array_equal(posterior.mean(points), model.predict(points))
    for variance, found in (("fast", posterior.neighbour_variances), ("exact", posterior.exact_variances)):
        std = model.predict(points, return_std=True, variance=variance)[1]
        np.testing.assert_allclose(np.sqrt(found(points)), std[:, 0] / Y[:, 0].std(), rtol=1e-12)
    scaled = (X - X.mean(axis=0)) / X.std(axis=0)
    local = LocalVariances(scaled, SquaredExponential(0.02), 0.1)
    np.testing.assert_array_equal(posterior.neighbour_variances(points), local.at(model.scale_inputs(points)))


def test_a_pickle_holds_the_arrays_once(data):
    X, Y = data
    model = GBCDRegressor(gamma=0.02, noise=0.1, random_state=0).fit(X, Y)
    before = len(pickle.dumps(model))
    expected = model.predict(X[:7], return_std=True, variance="fast")
    assert len(pickle.dumps(model)) == before
    again = pickle.loads(pickle.dumps(model))
    for ours, theirs in zip(again.predict(X[:7], return_std=True, variance="fast"), expected, strict=True):
        np.testing.assert_array_equal(ours, theirs)
