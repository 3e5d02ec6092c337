import math

from gbcd.progress.tolerance import Tolerance, has_stalled


def test_it_is_met_up_to_itself_and_never_by_what_is_no_number():
    tolerance = Tolerance(1e-4)
    assert tolerance.is_met(1e-4)
    assert not tolerance.is_missed(1e-4)
    assert tolerance.is_missed(1.0001e-4)
    assert not tolerance.is_met(math.nan)
    assert not tolerance.is_missed(math.nan), "a solve would go on for ever"


def test_a_running_gradient_must_be_smaller_than_an_exact_one():
    assert 0 < Tolerance(1e-4).running < 1e-4


def test_a_descent_that_halves_its_gradient_has_not_stalled():
    assert not has_stalled(1.0, 0.5)
    assert has_stalled(1.0, 0.51)
