"""The 15 joints as public HumanEva-I conversions list them."""

import numpy as np
import pytest

from pose.body.skeleton import HUMANEVA_15, HUMANEVA_20, joints_15_from_20, root_relative


def test_tree_has_one_root_and_reaches_every_joint():
    assert HUMANEVA_15.root == 0
    assert len(HUMANEVA_15) == 15
    assert len(HUMANEVA_15.bones) == 14
    assert all(parent < child for parent, child in HUMANEVA_15.bones)


def test_sides_follow_the_published_order():
    sides = [HUMANEVA_15.side(joint) for joint in range(15)]
    assert [i for i, side in enumerate(sides) if side == "left"] == [2, 3, 4, 8, 9, 10]
    assert [i for i, side in enumerate(sides) if side == "right"] == [5, 6, 7, 11, 12, 13]


def test_root_relative_zeroes_the_root_and_keeps_differences():
    joints = np.random.default_rng(0).normal(size=(3, 15, 3)) * 1000
    relative = root_relative(joints)
    assert (relative[:, 0] == 0).all()
    np.testing.assert_allclose(relative[:, 4] - relative[:, 9], joints[:, 4] - joints[:, 9])


def test_the_20_points_are_the_ends_of_ten_limbs():
    assert len(HUMANEVA_20) == 20
    assert HUMANEVA_20.names[HUMANEVA_20.root] == "torsoDistal"
    assert len(HUMANEVA_20.bones) == 19
    sides = [HUMANEVA_20.side(point) for point in range(20)]
    assert sides == ["middle"] * 2 + (["left"] * 4 + ["right"] * 4) * 2 + ["middle"] * 2


def test_joints_are_points_or_the_mean_of_two():
    points = np.arange(20)[:, None] * np.ones(3)  # point i at (i, i, i)
    # By hand: thorax of torsoProximal 0 and headProximal 18; elbows of 3, 4 and 7, 8; knees of 11, 12 and 15, 16.
    expected = [1, 9, 2, 3.5, 5, 6, 7.5, 9, 10, 11.5, 13, 14, 15.5, 17, 19]
    np.testing.assert_array_equal(joints_15_from_20(points)[:, 0], expected)
    assert joints_15_from_20(np.zeros((2, 4, 20, 3))).shape == (2, 4, 15, 3)
    with pytest.raises(ValueError, match=r"expected points of shape \(\.\.\., 20, 3\)"):
        joints_15_from_20(np.zeros((15, 3)))
