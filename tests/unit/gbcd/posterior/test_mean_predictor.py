"""Means for a stream of small batches against the regressor's own."""

import numpy as np
import pytest

from gbcd import GBCDRegressor, MeanPredictor


@pytest.fixture(scope="module")
def model():
    rng = np.random.default_rng(0)
    X = rng.normal(5, 3, (400, 6))
    Y = np.c_[100 * np.sin(X[:, 0] / 3) + 1000, np.full(400, 7.1), X[:, 1] ** 2] + 0.1 * rng.normal(size=(400, 3))
    Y[:, 1] = 7.1
    return GBCDRegressor(kernel="isotropic", gamma=0.1, noise=0.01, random_state=0).fit(X, Y)


def test_the_means_are_those_of_the_regressor(model):
    predictor = MeanPredictor(model)
    assert predictor.dtype == np.float32
    new = np.random.default_rng(1).normal(5, 3, (130, 6))
    expected = model.predict(new)
    whole = predictor.predict(new)
    np.testing.assert_allclose((whole - expected) / model.y_scale_, 0, atol=1e-4)
    np.testing.assert_array_equal(whole[:, 1], 7.1)


@pytest.mark.parametrize("tolerance", [1e-3, 1e-12])  # float32, float64
@pytest.mark.parametrize("outputs", [slice(None), 0])
def test_a_row_has_the_same_mean_in_every_batch(model, monkeypatch, tolerance, outputs):
    monkeypatch.setattr("gbcd.posterior.mean_predictor.TOLERANCE", tolerance)
    rng = np.random.default_rng(2)
    X, new = rng.normal(5, 3, (1100, 6)), rng.normal(5, 3, (130, 6))
    Y = np.sin(X[:, :3])[:, outputs]
    predictor = MeanPredictor(GBCDRegressor("isotropic", gamma=0.1, noise=0.01, random_state=0).fit(X, Y))
    whole = predictor.predict(new)
    for size in (1, 7, 16, 64):
        batches = [predictor.predict(new[start : start + size]) for start in range(0, len(new), size)]
        np.testing.assert_array_equal(np.concatenate(batches), whole)


def test_where_float32_is_not_good_enough_it_is_not_used(model, monkeypatch):
    monkeypatch.setattr("gbcd.posterior.mean_predictor.TOLERANCE", 1e-12)
    predictor = MeanPredictor(model)
    assert predictor.dtype == np.float64
    new = np.random.default_rng(1).normal(5, 3, (20, 6))
    np.testing.assert_allclose(predictor.predict(new), model.predict(new), rtol=1e-12)


def test_inputs_of_another_width_are_refused(model):
    with pytest.raises(ValueError, match=r"X must have the shape \(t, 6\), not \(3, 5\)"):
        MeanPredictor(model).predict(np.zeros((3, 5)))
