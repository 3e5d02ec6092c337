"""Errors worked out by hand, and the alignment against scipy's."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from pose.body.skeleton import HUMANEVA_15, HUMANEVA_20, Skeleton, joints_15_from_20
from pose.series.metrics import (
    MEASURES,
    PoseErrors,
    align,
    aligned_joint_error,
    joint_errors,
    mean_joint_error,
    mean_joint_error_without_root,
    toolkit_joint_errors,
)

CHAIN = Skeleton(("root", "middle", "end"), (-1, 0, 1))


def poses() -> tuple[np.ndarray, np.ndarray]:
    true = np.zeros((2, 3, 3))
    predicted = true.copy()
    predicted[0, 1] = [3, 4, 0]  # 5 mm
    predicted[1, 2] = [1, 2, 2]  # 3 mm
    return predicted, true


def bodies(n: int = 6) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(4)
    true = rng.normal(0, 300, (n, 15, 3))
    return true + rng.normal(0, 80, true.shape), true


def test_joint_errors_are_euclidean_distances():
    np.testing.assert_allclose(joint_errors(*poses()), [[0, 5, 0], [0, 0, 3]])


def test_the_mean_counts_the_root_and_the_other_does_not():
    assert mean_joint_error(*poses()) == pytest.approx(8 / 6)
    assert mean_joint_error_without_root(*poses()) == pytest.approx(8 / 4)


def test_relative_errors_forget_where_the_root_is():
    """The root of the first pose is 6 mm off along x: relative to it the others are 6 mm off the other way."""
    predicted, true = poses()
    predicted[0, 0] = [6, 0, 0]
    # Absolute: 6, 5, 0 and 0, 0, 3. Relative: 0, |(-3, 4)| = 5, 6 and 0, 0, 3.
    assert mean_joint_error(predicted, true) == pytest.approx(14 / 6)
    assert mean_joint_error(predicted, true, relative=True) == pytest.approx(14 / 6)
    assert mean_joint_error_without_root(predicted, true) == pytest.approx(8 / 4)
    assert mean_joint_error_without_root(predicted, true, relative=True) == pytest.approx(14 / 4)


def test_of_15_joints_the_two_relative_means_are_as_14_to_15():
    predicted, true = bodies()
    ratio = mean_joint_error(predicted, true, relative=True) / mean_joint_error_without_root(
        predicted, true, relative=True
    )
    assert ratio == pytest.approx(14 / 15)


def test_unlike_shapes_are_refused():
    with pytest.raises(ValueError, match=r"\(2, 3, 3\) and \(1, 3, 3\)"):
        joint_errors(poses()[0], np.zeros((1, 3, 3)))


@pytest.mark.parametrize("measure", [mean_joint_error, mean_joint_error_without_root, aligned_joint_error])
def test_poses_that_are_not_known_are_refused(measure):
    predicted, true = poses()
    true[1, 2, 0] = np.nan
    with pytest.raises(ValueError, match=r"1 of 2 poses hold NaN, first pose 1 \(from 0\): leave out"):
        measure(predicted, true)
    with pytest.raises(ValueError, match="no pose to measure"):
        measure(predicted[:0], true[:0])


def test_the_alignment_undoes_a_similarity():
    _, true = bodies()
    turn = Rotation.from_euler("xyz", [0.3, -2.0, 1.1]).as_matrix()
    moved = 0.4 * true @ turn.T + [100, -2000, 5]
    np.testing.assert_allclose(align(moved, true), true, atol=1e-9)
    assert aligned_joint_error(moved, true) == pytest.approx(0, abs=1e-9)


def test_the_alignment_is_scipys_rotation_and_the_least_squares_scale():
    predicted, true = bodies()
    for aligned, source, target in zip(align(predicted, true), predicted, true, strict=True):
        x, y = source - source.mean(axis=0), target - target.mean(axis=0)
        turned = Rotation.align_vectors(y, x)[0].apply(x)
        scale = (turned * y).sum() / (turned * turned).sum()
        np.testing.assert_allclose(aligned, scale * turned + target.mean(axis=0), atol=1e-6)


def test_the_alignment_does_not_mirror():
    """A corner of a cube and its mirror image; the best that turning, moving and scaling can do is not nothing."""
    corner = np.array([[[0, 0, 0], [100.0, 0, 0], [0, 200.0, 0], [0, 0, 300.0]]])
    mirrored = corner * [-1, 1, 1]
    aligned = align(mirrored, corner)
    assert joint_errors(aligned, corner).mean() > 20
    x, y = mirrored[0] - mirrored.mean(axis=1), corner[0] - corner.mean(axis=1)
    turned = Rotation.align_vectors(y, x)[0].apply(x)
    scale = (turned * y).sum() / (turned * turned).sum()
    np.testing.assert_allclose(aligned[0], scale * turned + corner[0].mean(axis=0), atol=1e-6)


def test_a_prediction_that_is_one_point_comes_to_the_mean_joint():
    _, true = bodies(1)
    np.testing.assert_allclose(align(np.full_like(true, 7.0), true), np.broadcast_to(true.mean(axis=1), true.shape))


def test_a_pose_that_is_not_known_spoils_no_other():
    predicted, true = bodies(2)
    expected = align(predicted, true)[0]
    predicted[1, 3] = np.nan
    aligned = align(predicted, true)
    np.testing.assert_allclose(aligned[0], expected)
    assert np.isnan(aligned[1]).all()


def points(**shifts: list[float]) -> tuple[np.ndarray, np.ndarray]:
    true = np.random.default_rng(1).normal(0, 300, (1, 20, 3))
    predicted = true.copy()
    for name, shift in shifts.items():
        predicted[0, HUMANEVA_20.names.index(name)] += shift
    return predicted, true


def entry(errors: np.ndarray, name: str) -> float:
    return float(errors[0, HUMANEVA_15.names.index(name) - (errors.shape[1] == 14)])


def test_the_toolkit_averages_the_errors_of_limb_ends_and_not_their_positions():
    """Both ends of an elbow 10 mm off in opposite directions: the averaged joint is right, the toolkit says 10 mm."""
    predicted, true = points(upperLArmDistal=[10, 0, 0], lowerLArmProximal=[-10, 0, 0])
    errors = toolkit_joint_errors(predicted, true)
    assert errors.shape == (1, 15)
    assert entry(errors, "left_elbow") == pytest.approx(10)
    assert errors.sum() == pytest.approx(10)
    assert mean_joint_error(joints_15_from_20(predicted), joints_15_from_20(true)) == pytest.approx(0, abs=1e-9)


def test_the_toolkits_relative_measure_exchanges_the_ends_of_the_head():
    predicted, true = points(headDistal=[0, 8, 0], headProximal=[0, 0, 2])
    absolute, relative = (toolkit_joint_errors(predicted, true, relative=flag) for flag in (False, True))
    assert (entry(absolute, "head"), entry(absolute, "thorax")) == pytest.approx((8, 1))
    assert relative.shape == (1, 14)
    assert (entry(relative, "head"), entry(relative, "thorax")) == pytest.approx((2, 4))


def test_the_toolkits_relative_measure_forgets_where_the_pelvis_is():
    predicted, true = points()
    assert toolkit_joint_errors(predicted + [500, 0, 0], true, relative=True) == pytest.approx(0, abs=1e-9)
    with pytest.raises(ValueError, match="20 points, found 3"):
        toolkit_joint_errors(*poses())


def test_tables_by_group():
    predicted, true = poses()
    predicted[0, 0] = [6, 0, 0]
    errors = PoseErrors(predicted, true, {"subject": ["S2", "S1"], "camera": np.array(["C1", "C1"])}, CHAIN)
    # By hand, as in the test of relative errors above.
    assert errors.by("subject")["S2"]["absolute"] == pytest.approx(11 / 3)
    assert errors.by("subject")["S2"]["absolute_no_root"] == pytest.approx(5 / 2)
    assert errors.by("subject")["S2"]["relative_no_root"] == pytest.approx(11 / 2)
    assert errors.by("subject")["S1"]["relative"] == pytest.approx(1)
    assert list(errors.by("subject")) == ["S1", "S2"]
    assert errors.by("camera")["C1"] == pytest.approx(errors.means())
    assert errors.counts("camera") == {"C1": 2}
    assert set(errors.means()) == set(MEASURES)


def test_tables_by_joint():
    errors = PoseErrors(*poses(), {}, CHAIN)
    assert errors.by_joint()["middle"]["absolute"] == pytest.approx(5 / 2)
    assert errors.by_joint()["end"]["relative"] == pytest.approx(3 / 2)
    # Every true joint lies at one point, and so do the aligned ones.
    assert errors.by_joint()["end"]["aligned"] == pytest.approx(0)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"groups": {"subject": ["S1"]}}, r"'subject' has the shape \(1,\), expected \(2,\)"),
        ({"skeleton": HUMANEVA_15}, r"expected poses of shape \(n, 15, 3\)"),
    ],
)
def test_tables_of_unlike_parts_are_refused(change, message):
    predicted, true = poses()
    with pytest.raises(ValueError, match=message):
        PoseErrors(**{"predicted": predicted, "true": true, "groups": {}, "skeleton": CHAIN} | change)


def test_unknown_measures_and_groups_are_refused():
    errors = PoseErrors(*poses(), {"camera": ["C1", "C2"]}, CHAIN)
    with pytest.raises(ValueError, match="no measure 'pck': absolute, "):
        errors.poses("pck")
    with pytest.raises(ValueError, match="not grouped by 'action', but by camera"):
        errors.by("action")
