"""Bones of an impossible length, on bodies whose lengths are known."""

import numpy as np
import pytest

from pose.body.skeleton import HUMANEVA_15, HUMANEVA_20, Skeleton
from pose.humaneva.screening import median_lengths, plausible_bones, screened_lengths

STICK = Skeleton(("root", "middle", "end"), (-1, 0, 1))


def stick(*lengths: tuple[float, float]) -> np.ndarray:
    return np.array([[[0, 0, 0], [first, 0, 0], [first, 0, second]] for first, second in lengths], dtype=float)


def test_lengths():
    np.testing.assert_array_equal(screened_lengths(stick((3, 4), (5, 1)), STICK), [[3, 4], [5, 1]])
    assert screened_lengths(np.zeros((2, 15, 3))).shape == (2, 14)
    assert screened_lengths(np.zeros((2, 20, 3)), HUMANEVA_20).shape == (2, 19)


def test_a_quarter_off_the_median_is_the_limit():
    # The median of the first bone is 100: 75 and 125 are a quarter off, 74 and 126 more.
    joints = stick((100, 50), (75, 50), (125, 50), (74, 50), (126, 50), (100, 63))
    expected = [[True, True]] * 3 + [[False, True]] * 2 + [[True, False]]
    assert plausible_bones(joints, STICK).tolist() == expected
    assert plausible_bones(joints, STICK, tolerance=0.5).all()


def test_where_most_frames_are_wrong_a_reference_tells():
    joints = stick((100, 20), (100, 20), (100, 50))
    assert plausible_bones(joints, STICK)[:, 1].tolist() == [True, True, False]
    reference = np.array([100.0, 50.0])
    assert plausible_bones(joints, STICK, reference=reference)[:, 1].tolist() == [False, False, True]
    with pytest.raises(ValueError, match="expected 2 reference lengths, found the shape \\(3,\\)"):
        plausible_bones(joints, STICK, reference=np.ones(3))


def test_unknown_joints_are_not_plausible_and_do_not_move_the_median():
    joints = stick((100, 50), (np.nan, 50), (100, 50))
    np.testing.assert_array_equal(median_lengths(joints, STICK), [100, 50])
    assert plausible_bones(joints, STICK).all(axis=1).tolist() == [True, False, True]
    assert np.isnan(median_lengths(np.full((2, 15, 3), np.nan), HUMANEVA_15)).all()


def test_ends_that_meet_in_one_point_are_no_bone():
    joints = stick((100, 0), (100, 0.4), (100, 0.9))
    assert plausible_bones(joints, STICK).all()
