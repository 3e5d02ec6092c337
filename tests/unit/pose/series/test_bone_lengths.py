"""Lengths are set, directions and the root stay, in skeletons whose root is not the first joint too."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pose.body.skeleton import HUMANEVA_15, HUMANEVA_20, Skeleton
from pose.series.bone_lengths import bone_lengths, set_bone_lengths, with_bone_lengths
from pose.series.pose_series import PoseSeries

CHAIN = Skeleton(("hand", "elbow", "shoulder"), (1, 2, -1))  # the root comes last


def test_a_chain_worked_out_by_hand():
    pose = np.array([[3.0, 4.0, 0.0], [3.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
    assert bone_lengths(pose, CHAIN).tolist() == [4.0, 3.0]
    assert set_bone_lengths(pose, [10.0, 6.0], CHAIN).tolist() == [[6.0, 10.0, 0.0], [6.0, 0.0, 0.0], [0.0, 0.0, 0.0]]
    assert set_bone_lengths(pose, [10.0, 6.0], CHAIN, strength=0.5).tolist()[0] == [4.5, 7.0, 0.0]


@pytest.mark.parametrize("skeleton", [HUMANEVA_15, HUMANEVA_20])
@given(seed=st.integers(0, 2**32 - 1), strength=st.floats(0, 1))
def test_lengths_go_part_of_the_way_and_directions_stay(skeleton, seed, strength):
    rng = np.random.default_rng(seed)
    poses = rng.normal(0, 300, (2, len(skeleton), 3))
    lengths = rng.uniform(50, 500, len(skeleton.bones))
    result = set_bone_lengths(poses, lengths, skeleton, strength)
    before = bone_lengths(poses, skeleton)
    assert bone_lengths(result, skeleton) == pytest.approx((1 - strength) * before + strength * lengths)
    assert result[:, skeleton.root].tolist() == poses[:, skeleton.root].tolist()
    for bone, (parent, child) in enumerate(skeleton.bones):
        old, new = (array[:, child] - array[:, parent] for array in (poses, result))
        cosine = (old * new).sum(axis=-1) / (before[:, bone] * np.linalg.norm(new, axis=-1))
        assert cosine == pytest.approx(np.ones(2))


def test_own_lengths_change_nothing():
    pose = np.random.default_rng(0).normal(0, 300, (15, 3))
    assert set_bone_lengths(pose, bone_lengths(pose)) == pytest.approx(pose)


def test_a_bone_without_direction_keeps_none_and_a_missing_pose_stays_missing():
    poses = np.random.default_rng(0).normal(0, 300, (2, 15, 3))
    poses[0, 4] = poses[0, 3]
    poses[1] = np.nan
    result = set_bone_lengths(poses, np.full(14, 100.0))
    assert result[0, 4].tolist() == result[0, 3].tolist()
    assert np.isnan(result[1]).all()


def test_a_series_keeps_all_else():
    joints = np.random.default_rng(0).normal(0, 300, (4, 15, 3))
    series = PoseSeries(
        np.arange(4), np.arange(4.0), joints, HUMANEVA_15, "world", {"model": "m"}, np.ones_like(joints)
    )
    result = with_bone_lengths(series, np.full(14, 100.0))
    assert bone_lengths(result.joints) == pytest.approx(np.full((4, 14), 100.0))
    assert (result.axes, result.provenance) == ("world", {"model": "m"})
    assert result.std is series.std


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((np.zeros((14, 3)), np.ones(14)), "expected poses"),
        ((np.zeros((15, 3)), np.ones(15)), "14 bones"),
        ((np.zeros((15, 3)), np.array([np.nan, -1.0] + [1.0] * 12)), "pelvis-thorax nan, thorax-left_shoulder -1.0"),
        ((np.zeros((15, 3)), np.ones(14), HUMANEVA_15, 1.5), "strength"),
    ],
)
def test_wrong_arguments_are_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        set_bone_lengths(*arguments)
