import numpy as np
import pytest

from gbcd import Kernel, SquaredExponential
from gbcd._tiles import kernel_matrix, kernel_product


def naive(gamma, A, B):
    return np.exp(-(((A[:, None, :] - B[None, :, :]) ** 2) * gamma).sum(axis=2))


@pytest.mark.parametrize("gamma", [0.3, [0.1, 0.5, 2.0]], ids=["isotropic", "ard"])
@pytest.mark.parametrize(("dtype", "accuracy"), [(np.float64, 1e-14), (np.float32, 2e-6)])
def test_tiles_are_the_definition_even_far_from_the_origin(gamma, dtype, accuracy):
    rng = np.random.default_rng(0)
    A, B = rng.standard_normal((1500, 3)) + 100, rng.standard_normal((7, 3)) + 100
    kernel = SquaredExponential(gamma)
    values = kernel_matrix(kernel, A, B, A.mean(axis=0), dtype)
    assert values.dtype == dtype
    np.testing.assert_allclose(values, naive(gamma, A, B), atol=accuracy)
    assert values.max() <= 1


def test_kernel_product_never_needs_the_matrix():
    rng = np.random.default_rng(1)
    A, B, V = rng.standard_normal((1100, 4)), rng.standard_normal((2300, 4)), rng.standard_normal((2300, 3))
    kernel = SquaredExponential(0.2)
    np.testing.assert_allclose(kernel_product(kernel, A, B, V, B.mean(axis=0)), naive(0.2, A, B) @ V, atol=1e-11)


@pytest.mark.parametrize("gamma", [0.3, [0.1, 0.5, 2.0]], ids=["isotropic", "ard"])
def test_parameter_gradient_is_the_finite_difference(gamma):
    rng = np.random.default_rng(2)
    X = rng.standard_normal((20, 3))
    weights = rng.standard_normal((20, 20))
    weights += weights.T
    kernel = SquaredExponential(gamma)
    theta = kernel.log_parameters

    def objective(point):
        return float((weights * naive(kernel.with_log_parameters(point).gamma, X, X)).sum())

    numeric = [(objective(theta + step) - objective(theta - step)) / 2e-6 for step in 1e-6 * np.eye(len(theta))]
    gradient = kernel.parameter_gradient(X, naive(kernel.gamma, X, X), weights)
    np.testing.assert_allclose(gradient, numeric, rtol=1e-6, atol=1e-7)


def test_it_is_a_kernel_and_says_what_it_is():
    assert isinstance(SquaredExponential(1.0), Kernel)
    assert repr(SquaredExponential(0.25)) == "SquaredExponential(gamma=0.25)"
    assert SquaredExponential([1.0, 2.0]).n_features == 2
    assert SquaredExponential(1.0).n_features is None


@pytest.mark.parametrize(
    ("gamma", "message"),
    [([1.0, -2.0], "entry 1 is -2"), (np.nan, "entry 0 is nan"), ([[1.0]], "not shape"), ([], "not shape")],
)
def test_impossible_gammas_are_refused(gamma, message):
    with pytest.raises(ValueError, match=message):
        SquaredExponential(gamma)


def test_another_number_of_columns_is_refused():
    with pytest.raises(ValueError, match="2 gammas, the inputs 3 columns"):
        SquaredExponential([1.0, 2.0]).row_features(np.ones((4, 3)), np.zeros(3), np.float64)
