"""The 15 joints as public HumanEva-I conversions list them."""

import numpy as np

from pose.skeleton import HUMANEVA_15, root_relative


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
