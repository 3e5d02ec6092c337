"""Fused views: known answers of weighted means, and series of cameras with clocks, gaps and flags of their own."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pose.body.camera import Camera
from pose.body.skeleton import HUMANEVA_15, HUMANEVA_20
from pose.series.fusion import View, fuse, inverse_variance_mean, turn_to_world
from pose.series.pose_series import PoseSeries, Quality

SPREADS = st.floats(0.1, 100)
LEVELS = st.floats(-1e3, 1e3)


def camera(name="C1", rotation=None):
    return Camera(name, np.eye(3), np.zeros(5), np.eye(3) if rotation is None else rotation, np.zeros(3))


def quarter_turn():
    """World x is the camera's z, world y the camera's -x, world z the camera's -y."""
    return np.array([[0.0, -1.0, 0.0], [0.0, 0.0, -1.0], [1.0, 0.0, 0.0]])


def series(joints, std=10.0, axes="world", time=None, quality=None, skeleton=HUMANEVA_15, provenance=None):
    n = len(joints)
    spread = None if std is None else np.where(np.isfinite(joints), np.broadcast_to(std, joints.shape), np.nan)
    times = np.arange(n) / 60 if time is None else np.asarray(time, dtype=float)
    return PoseSeries(np.arange(n), times, joints, skeleton, axes, provenance or {}, spread, quality)


def poses(n=3, seed=0):
    return np.random.default_rng(seed).normal(0, 300, (n, 15, 3))


@given(a=LEVELS, b=LEVELS, std=SPREADS)
def test_two_equal_views_give_the_mean_and_root_half_the_deviation(a, b, std):
    mean, spread = inverse_variance_mean([[a], [b]], [[std], [std]], correlation=0.0)
    assert mean[0] == pytest.approx((a + b) / 2, abs=1e-9)
    assert spread[0] == pytest.approx(std / np.sqrt(2))


@given(values=st.lists(st.tuples(LEVELS, SPREADS), min_size=1, max_size=5), correlation=st.floats(0, 1))
def test_the_mean_lies_between_the_views_and_its_variance_is_that_of_the_weights(values, correlation):
    x, s = np.array(values).T
    mean, spread = inverse_variance_mean(x[:, None], s[:, None], correlation)
    w = s**-2 / (s**-2).sum()
    C = correlation * np.outer(s, s)
    np.fill_diagonal(C, s**2)
    assert x.min() - 1e-6 <= mean[0] <= x.max() + 1e-6
    assert spread[0] == pytest.approx(np.sqrt(w @ C @ w), rel=1e-9)


def test_unequal_views_weigh_by_inverse_variance():
    mean, spread = inverse_variance_mean([0.0, 10.0], [1.0, 3.0], correlation=0.0)
    assert mean == pytest.approx(1.0)  # weights 9 : 1
    assert spread == pytest.approx(np.sqrt(0.9))


def test_fully_correlated_views_gain_nothing():
    assert inverse_variance_mean([1.0, 1.0, 1.0], [4.0, 4.0, 4.0], correlation=1.0)[1] == pytest.approx(4.0)


def test_drawn_errors_spread_as_said():
    rng = np.random.default_rng(0)
    std, rho = np.array([3.0, 5.0, 9.0]), 0.4
    C = rho * np.outer(std, std)
    np.fill_diagonal(C, std**2)
    errors = rng.multivariate_normal(np.zeros(3), C, 200_000).T
    mean, spread = inverse_variance_mean(errors, np.repeat(std[:, None], errors.shape[1], 1), rho)
    assert mean.std() == pytest.approx(spread[0], rel=0.01)


def test_missing_and_exact_measurements():
    mean, spread = inverse_variance_mean(
        [[np.nan, 1.0, np.nan], [2.0, 7.0, np.nan]], [[np.nan, 0.0, 5.0], [3.0, 4.0, np.nan]]
    )
    assert mean[:2].tolist() == [2.0, 1.0]
    assert spread[:2].tolist() == [3.0, 0.0]
    assert np.isnan([mean[2], spread[2]]).all()


@pytest.mark.parametrize(
    ("values", "std", "correlation"),
    [([1.0], [np.nan], 0), ([1.0], [-1.0], 0), ([1.0], [1.0, 2.0], 0), ([1.0], [1.0], 2)],
)
def test_measurements_that_cannot_be_weighed(values, std, correlation):
    with pytest.raises(ValueError, match=r"std|deviation|correlation"):
        inverse_variance_mean(values, std, correlation)


def test_turning_to_the_world_turns_positions_and_swaps_deviations():
    std = np.broadcast_to([1.0, 2.0, 3.0], (1, 15, 3))
    turned = turn_to_world(series(np.tile([10.0, 20.0, 30.0], (1, 15, 1)), std, "camera"), camera("C1", quarter_turn()))
    assert turned.axes == "world"
    assert turned.joints[0, 4].tolist() == [30.0, -10.0, -20.0]
    assert turned.std[0, 4].tolist() == [3.0, 1.0, 2.0]


def test_deviations_through_a_slanted_turn_are_those_of_the_covariance():
    rotation, _ = np.linalg.qr(np.random.default_rng(1).normal(size=(3, 3)))
    std = np.random.default_rng(2).uniform(1, 50, (1, 15, 3))
    turned = turn_to_world(series(poses(1), std, "camera"), camera("C1", rotation))
    for joint in range(15):
        covariance = rotation.T @ np.diag(std[0, joint] ** 2) @ rotation
        assert turned.std[0, joint] == pytest.approx(np.sqrt(np.diag(covariance)))


def test_cameras_that_agree_give_the_pose_in_the_world():
    truth = poses()
    other = camera("C2", quarter_turn())
    views = [View(series(truth), camera()), View(series(other.rotate_to_camera(truth), axes="camera"), other)]
    fused = fuse(views, correlation=0.0)
    assert fused.axes == "world"
    assert fused.joints == pytest.approx(truth)
    assert fused.std == pytest.approx(np.full_like(truth, 10 / np.sqrt(2)))
    assert fused.provenance == {"fused": "C1, C2"}


def test_clocks_that_differ_are_brought_together():
    truth = poses(6)
    late = View(series(truth[2:], time=np.arange(4) / 60 + 7.0), camera("C2"), delay=7.0 - 2 / 60)
    fused = fuse([View(series(truth[:5]), camera()), late], correlation=0.0)
    assert fused.joints == pytest.approx(truth[:5])
    assert fused.std[:2] == pytest.approx(np.full((2, 15, 3), 10.0))  # one camera alone
    assert fused.std[2:] == pytest.approx(np.full((3, 15, 3), 10 / np.sqrt(2)))


def test_a_slower_camera_helps_where_it_has_a_frame():
    truth = poses(6)
    slow = View(series(truth[::3], time=np.arange(2) / 20), camera("C2"))
    fused = fuse([View(series(truth), camera()), slow], correlation=0.0, tolerance=1e-3)
    assert (fused.std[:, 0, 0] < 9).tolist() == [True, False, False, True, False, False]


def test_people_missing_in_one_view_and_in_all():
    first, second = poses(3), poses(3, seed=1)
    first[0], first[1], second[1] = np.nan, np.nan, np.nan
    nobody, border, several = int(Quality.NO_PERSON), int(Quality.TOUCHES_BORDER), int(Quality.SEVERAL_PEOPLE)
    views = [
        View(series(first, quality=np.array([nobody, nobody, border | several])), camera()),
        View(series(second, quality=np.array([border, nobody, border])), camera("C2")),
    ]
    fused = fuse(views)
    assert fused.found.tolist() == [True, False, True]
    assert fused.joints[0] == pytest.approx(second[0])
    assert fused.quality.tolist() == [border, nobody, border]


def test_provenance_says_what_is_common_once():
    views = [
        View(series(poses(), provenance={"model": "m.h5", "video": f"{name}.avi"}), camera(name))
        for name in ("C1", "C2")
    ]
    assert fuse(views).provenance == {"model": "m.h5", "video": "C1.avi, C2.avi", "fused": "C1, C2"}


@pytest.mark.parametrize(
    ("second", "message"),
    [
        (None, "at least two cameras"),
        (series(poses(), std=None), "C2 has no standard deviations"),
        (series(np.zeros((3, 20, 3)), skeleton=HUMANEVA_20), "C2 has another skeleton"),
        (series(poses(0)), "C2 has no frames"),
        (series(poses(), time=[5.0, 6.0, 7.0]), "clocks"),
    ],
)
def test_series_that_cannot_be_fused(second, message):
    views = [View(series(poses()), camera())] + ([] if second is None else [View(second, camera("C2"))])
    with pytest.raises(ValueError, match=message):
        fuse(views)
