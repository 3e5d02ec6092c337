import numpy as np
import pytest

from gbcd import Kernel, SquaredExponential
from gbcd.scaling import centre
from gbcd.system.kernel_matrix import kernel_matrix, kernel_product


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


def two_groups(apart, rows=60, d=3, seed=0):
    """Rows in two groups `apart` from one another; in each of them the kernel has all sorts of values."""
    # A multiple of 2^-20: rows of the second group are then not rounded, and the same kernel values are right.
    near = np.round(np.random.default_rng(seed).standard_normal((rows, d)) * 2**20) / 2**20
    return near, np.r_[near, near + apart]


@pytest.mark.parametrize("apart", [2.0**7, 2.0**24, 2.0**30])
@pytest.mark.parametrize("gamma", [0.3, [0.1, 0.5, 0.0]], ids=["isotropic", "ard"])
@pytest.mark.parametrize(("dtype", "accuracy"), [(np.float64, 1e-11), (np.float32, 1e-7)])
def test_values_are_exact_however_far_apart_the_inputs_are(apart, gamma, dtype, accuracy):
    near, X = two_groups(apart)
    kernel, origin = SquaredExponential(gamma), X.mean(axis=0)
    values = kernel_matrix(kernel, X, X, origin, dtype)
    one = naive(kernel.gamma, near, near)
    expected = np.kron(np.eye(2), one)
    assert values.dtype == dtype
    if dtype == np.float64 or apart > 1e3:
        np.testing.assert_allclose(values, expected, rtol=0, atol=accuracy)
    if apart > 1e3:
        np.testing.assert_array_equal(np.diagonal(values), 1)
    V = np.random.default_rng(1).standard_normal((len(X), 2))
    np.testing.assert_allclose(kernel_product(kernel, X, X, V, origin), expected @ V, atol=1e-9)


def test_one_point_far_out_is_far_and_its_neighbours_are_near():
    near, X = two_groups(2.0**40)
    kernel, origin = SquaredExponential(0.3), near.mean(axis=0)
    # Training inputs close together, new ones far out: and the other way round.
    for A, B in ((X, near), (near, X)):
        values = kernel_matrix(kernel, A, B, origin)
        np.testing.assert_allclose(values, naive(0.3, A, B), rtol=0, atol=1e-13)


@pytest.mark.filterwarnings("error")
def test_distances_that_overflow_are_kernel_values_of_zero():
    X = np.array([[1e308, 0.0], [-1e308, 0.0], [1e308, 1.0]])
    for gamma, last in ((1.0, np.exp(-1)), ([1.0, 0.0], 1.0)):
        kernel = SquaredExponential(gamma)
        expected = [[1, 0, last], [0, 1, 0], [last, 0, 1]]
        np.testing.assert_allclose(kernel_matrix(kernel, X, X, centre(X)), expected, rtol=1e-15)
    np.testing.assert_array_equal(kernel_matrix(SquaredExponential([0.0, 0.0]), X, X, centre(X)), np.ones((3, 3)))


@pytest.mark.parametrize("gamma", [0.3, [0.1, 0.5, 2.0]], ids=["isotropic", "ard"])
def test_the_gradient_of_groups_far_apart_is_that_of_the_groups(gamma):
    near, X = two_groups(2.0**26, rows=90)
    kernel = SquaredExponential(gamma)
    weights = np.random.default_rng(2).standard_normal((180, 180))
    weights += weights.T
    K = kernel_matrix(kernel, X, X, X.mean(axis=0))
    found = kernel.for_inputs(X, X.mean(axis=0)).parameter_gradient(X, K, weights)
    one = naive(kernel.gamma, near, near)
    expected = sum(kernel.parameter_gradient(near, one, weights[i, i]) for i in (slice(90), slice(90, 180)))
    np.testing.assert_allclose(found, expected, rtol=1e-10)


def test_inputs_of_the_usual_spread_are_taken_as_products():
    rng = np.random.default_rng(0)
    kernel = SquaredExponential(1.0)
    assert kernel.for_inputs(50 * rng.uniform(-1, 1, (100, 1)), np.zeros(1)) is kernel
    assert kernel.for_inputs(1e3 * rng.uniform(-1, 1, (100, 1)), np.zeros(1)) is not kernel
