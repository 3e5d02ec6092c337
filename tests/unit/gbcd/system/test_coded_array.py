import numpy as np
import pytest

from gbcd.kernels.compiled import exp_not_positive
from gbcd.system.coded_array import CodedArray
from gbcd.system.coded_loops import LARGEST_CODE

EPS = float(np.finfo(np.float32).eps)


def kernel_values(a, b, seed=0):
    """Values of a squared-exponential kernel: rows of very different spans."""
    rng = np.random.default_rng(seed)
    left, right = rng.standard_normal((a, 3)), rng.standard_normal((b, 3))
    squares = ((left[:, None] - right[None]) ** 2).sum(axis=2)
    return np.exp(-squares * rng.uniform(1e-6, 5, (a, 1))).astype(np.float32)


def decoded(coded):
    return coded.values(np.empty(coded.shape, dtype=np.float32))


def half_steps(values):
    """Half a level of each row, and the rounding of low + step * code itself."""
    wide = values.astype(np.float64)
    low, high = wide.min(axis=1, keepdims=True), wide.max(axis=1, keepdims=True)
    return (high - low) / LARGEST_CODE / 2 * 1.02 + 2 * EPS * np.abs(wide).max(axis=1, keepdims=True)


def test_the_exponential_is_that_of_float64():
    x = np.r_[-np.logspace(-30, np.log10(87), 100_000), np.linspace(-87, 0, 100_000)].astype(np.float32)
    values = x[None].copy()
    exp_not_positive(values)
    exact = np.exp(x.astype(np.float64))
    assert np.abs(values[0] - exact).max() < 1e-7
    assert np.abs(values[0] / exact - 1).max() < 3e-7
    # A kernel value above 1, or one that grows with the distance, would be a wrong one.
    assert values.max() == 1


def test_the_exponential_takes_any_argument():
    x = np.array([[0.0, -0.0, 1e-30, 1.0, 1e30, np.inf], [-1e-45, -87.0, -88.0, -1e4, -1e30, -np.inf]], np.float32)
    exp_not_positive(x)
    assert (x[0] == 1).all()
    assert x[1, 0] == 1
    assert (x[1, 1:] == x[1, 1]).all()
    assert 0 < x[1, 1] < 2e-38


@pytest.mark.parametrize("shape", [(1, 1), (1, 7), (5, 1), (3, 16), (37, 129), (512, 512)])
def test_codes_err_by_half_a_level_at_most(shape):
    values = kernel_values(*shape)
    coded = CodedArray(values)
    assert coded.shape == shape
    assert coded.nbytes == 2 * values.size + 8 * len(values)
    assert (np.abs(decoded(coded).astype(np.float64) - values) <= half_steps(values)).all()


def test_the_least_and_the_largest_value_of_a_row_are_kept():
    values = kernel_values(40, 300, seed=1)
    back = decoded(CodedArray(values))
    np.testing.assert_array_equal(back.min(axis=1), values.min(axis=1))
    np.testing.assert_allclose(back.max(axis=1), values.max(axis=1), rtol=3 * EPS)


def test_a_constant_row_is_exact():
    values = np.repeat(np.float32([[0.0], [1.0], [1e-38], [0.1], [-3.7e10]]), 20, axis=1)
    coded = CodedArray(values)
    np.testing.assert_array_equal(decoded(coded), values)
    assert coded.variance == 0


@pytest.mark.parametrize("span", [1e-38, 1e-36, 1e-30, 1e-10, 1e10])
def test_no_span_is_too_small_or_too_large(span):
    values = np.linspace(0, span, 50, dtype=np.float32)[None].copy()
    error = np.abs(decoded(CodedArray(values)).astype(np.float64) - values).max()
    # Spans whose levels float32 cannot express vanish beside anything in K.
    assert error <= max(half_steps(values).max(), 1e-33)


def test_the_variance_is_that_of_the_rounding():
    values = np.random.default_rng(2).random((200, 400)).astype(np.float32)
    coded = CodedArray(values)
    errors = decoded(coded).astype(np.float64) - values
    assert coded.variance == pytest.approx(errors.var(), rel=0.03)
    assert coded.variance == pytest.approx(1 / LARGEST_CODE**2 / 12, rel=0.03)


def test_rows_are_those_of_the_whole():
    values = kernel_values(50, 33, seed=3)
    coded = CodedArray(values)
    index = np.array([7, 0, 7, 49])
    np.testing.assert_array_equal(coded.rows(index), decoded(coded)[index])
    assert coded.rows(index[:0]).shape == (0, 33)


@pytest.mark.parametrize("shape", [(1, 1), (1, 40), (40, 1), (37, 129), (512, 300)])
def test_products_of_codes_are_those_of_the_decoded_values(shape):
    coded = CodedArray(kernel_values(*shape, seed=4))
    dense = decoded(coded).astype(np.float64)
    rng = np.random.default_rng(5)
    right, left = (rng.standard_normal(size).astype(np.float32) for size in shape[::-1])
    down, up = coded.both_products(right, left)
    accuracy = 1e-6 * max(shape)
    for product, exact in [
        (down, dense @ right),
        (up, dense.T @ left),
        (coded.product(right), dense @ right),
        (coded.transposed_product(left), dense.T @ left),
    ]:
        assert product.dtype == np.float32
        np.testing.assert_allclose(product, exact, rtol=0, atol=accuracy)
