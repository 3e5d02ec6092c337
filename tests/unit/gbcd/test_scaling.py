import numpy as np
import pytest

from gbcd.scaling import input_scale, require_moderate, scaled


def test_columns_become_standard_and_a_constant_one_zero():
    X = np.c_[np.arange(5.0), np.full(5, 7.0), 1e200 * np.arange(5.0)]
    Z = scaled(X, *input_scale(X, "column"))
    np.testing.assert_allclose(Z.mean(axis=0), 0, atol=1e-15)
    np.testing.assert_allclose(Z.std(axis=0), [1, 0, 1])


def test_one_number_divides_all_columns_and_none_none():
    X = np.array([[1.0, 10.0], [3.0, 20.0]])
    offset, scale = input_scale(X, "global")
    np.testing.assert_array_equal(offset, 0)
    np.testing.assert_allclose(scale, X.std())
    np.testing.assert_array_equal(scaled(X, *input_scale(X, None)), X)


def test_what_has_no_squared_distance_is_refused_or_far():
    X = np.array([[0.0], [1e200]])
    with pytest.raises(ValueError, match=r"X exceeds 1e\+30 after input_scaling=None"):
        input_scale(X, None)
    offset, scale = input_scale(np.array([[0.0], [1e-200]]), "column")
    far = scaled(np.array([[1e300], [-1e300]]), offset, scale)
    assert np.isfinite(far**2).all()
    assert (np.abs(far) > 1e30).all()
    with pytest.raises(ValueError, match=r"y reaches 1\.5e\+308, too close to the largest number"):
        require_moderate(np.array([0.0, -1.5e308]), "y")
    with pytest.raises(ValueError, match="not 'row'"):
        input_scale(X, "row")
