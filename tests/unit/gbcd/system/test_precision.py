import numpy as np
import pytest

from gbcd.system.precision import TilePrecision


def precision(asked="mixed", noise=0.1, n=1000, magnitude=1.0, largest=1.0):
    return TilePrecision(asked, noise, (n, 8), magnitude, largest)


@pytest.mark.parametrize(
    ("given", "dtype"),
    [
        ({}, np.float32),
        ({"asked": "float64"}, np.float64),
        ({"noise": 1e-6}, np.float64),
        ({"magnitude": 1e4}, np.float64),
        ({"magnitude": np.inf}, np.float64),
    ],
)
def test_float32_is_for_noise_and_spread_that_bear_it(given, dtype):
    assert precision(**given).dtype == dtype


def test_float64_is_the_end():
    rising = precision()
    error = rising.tile_error
    assert rising.raise_to_float64()
    assert rising.dtype == np.float64
    assert rising.tile_error == pytest.approx(error * 2.0**-29)
    assert not rising.raise_to_float64()


def test_codes_are_for_float32_and_noise_above_their_rounding():
    assert precision().allows_codes
    assert not precision(noise=1e-4).allows_codes
    assert not precision("float64").allows_codes
    forbidden = precision()
    forbidden.forbid_codes()
    assert not forbidden.allows_codes
    # Wigner: 2 sqrt(n) standard deviations.
    assert precision().code_rounding == pytest.approx(2 * np.sqrt(1000) * precision().code_error / 0.1)


def test_errors_grow_with_the_values_and_with_what_cancels():
    assert precision(largest=3.0).tile_error == pytest.approx(3 * precision().tile_error)
    assert precision(largest=3.0).code_error == pytest.approx(3 * precision().code_error)
    assert precision(magnitude=100.0).tile_error > precision(magnitude=1.0).tile_error > 2.0**-23 / np.sqrt(12)
