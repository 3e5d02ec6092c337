"""Axes and frame rates against answers worked out by hand."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pose.body.skeleton import Skeleton
from pose.errors import DataError
from pose.export import read_series, write_series
from pose.export.axes import to_native, to_y_up
from pose.export.timing import regular_rate, resample
from pose.series.pose_series import PoseSeries, quality_of_words, quality_words

ONE = Skeleton(("root",), (-1,))


def at_times(time, x=None, quality=None, frame=None):
    """A joint that moves along x."""
    time = np.asarray(time, dtype=float)
    joints = np.zeros((len(time), 1, 3))
    joints[:, 0, :] = np.nan if x is None else 0
    joints[:, 0, 0] = np.nan if x is None else x
    joints[np.isnan(joints[:, 0, 0])] = np.nan
    frame = np.arange(len(time)) if frame is None else np.asarray(frame)
    return PoseSeries(
        frame, time, joints, ONE, "camera", {}, np.abs(joints), None if quality is None else np.array(quality)
    )


@pytest.mark.parametrize(
    ("axes", "up", "twin", "turned"),
    [("camera", [1, -1700, 3], "camera-y-up", [1, 1700, -3]), ("world", [1, 2, 1700], "world-y-up", [1, 1700, -2])],
)
def test_a_head_above_the_pelvis_has_a_positive_y(axes, up, twin, turned):
    std = np.array([[[1.0, 2.0, 3.0]]])
    series = PoseSeries(np.arange(1), np.zeros(1), np.array([[up]], dtype=float), ONE, axes, {}, std)
    y_up = to_y_up(series)
    assert (y_up.axes, y_up.joints.tolist()) == (twin, [[turned]])
    assert y_up.std.tolist() == ([[[1, 2, 3]]] if axes == "camera" else [[[1, 3, 2]]])
    assert to_y_up(y_up) is y_up
    back = to_native(y_up)
    assert (back.axes, back.joints.tolist(), back.std.tolist()) == (axes, [[up]], std.tolist())
    assert to_native(back) is back


def test_turns_mirror_nothing():
    """A mirrored body would exchange left and right: the turns have the determinant 1."""
    basis = PoseSeries(np.arange(3), np.arange(3.0), np.eye(3)[:, None], ONE, "camera")
    for axes in ("camera", "world"):
        turn = to_y_up(dataclasses.replace(basis, axes=axes)).joints[:, 0]
        assert np.linalg.det(turn) == pytest.approx(1)


def test_trc_is_y_up_and_others_are_as_they_are(tmp_path, make_series):
    series = make_series(std=False, quality=False)
    for suffix, axes, expected in (
        (".trc", None, "camera-y-up"),
        (".trc", "native", "camera"),
        (".csv", None, "camera"),
        (".csv", "y-up", "camera-y-up"),
    ):
        write_series(tmp_path / f"a{suffix}", series, axes=axes)
        found = read_series(tmp_path / f"a{suffix}")
        assert found.axes == expected
        np.testing.assert_allclose(to_native(found).joints, series.joints, atol=0.0051)


@pytest.mark.parametrize("rate", [15, 24, 25, 30000 / 1001, 30, 50, 60000 / 1001, 60, 100, 120, 12.5])
@pytest.mark.parametrize("rounded", [False, True])
def test_rates_are_told_from_times(rate, rounded):
    time = 0.25 + np.arange(5000) / rate
    time = np.round(time, 3) if rounded else time
    assert regular_rate("a", at_times(time)) == pytest.approx(rate, rel=2e-6 if not rounded else 2e-5)


def test_every_second_frame_has_half_the_rate():
    assert regular_rate("a", at_times(np.arange(9) * 2 / 60, frame=np.arange(9) * 2)) == pytest.approx(30)


@pytest.mark.parametrize(
    ("time", "frame", "fault"),
    [
        ([], None, "holds no frames"),
        ([0.5], None, "a single frame, which tells no frame rate: name one"),
        ([0, 0.02, 0.04, 0.1, 0.12], None, r"frame 3 comes 60\.0 ms after the one before it, 20\.0 ms are usual"),
        ([0, 0.02, 0.04, 0.06], [0, 1, 3, 4], "do not follow evenly"),
        ([0, 0, 0], None, "do not follow evenly"),
        ([0, 0.02, 0.01], None, "do not follow evenly"),
    ],
)
def test_uneven_frames_are_refused(time, frame, fault):
    with pytest.raises(DataError, match=rf"clip\.trc: .*{fault}"):
        regular_rate("clip.trc", at_times(time, frame=frame))


def test_resampling_by_hand():
    series = at_times([1, 1.1, 1.3, 1.5], x=[0, 10, 20, 40], quality=[0, 4, 8, 0])
    found = resample(series, 10)
    assert found.frame.tolist() == [0, 1, 2, 3, 4, 5]
    np.testing.assert_allclose(found.time, [1, 1.1, 1.2, 1.3, 1.4, 1.5])
    np.testing.assert_allclose(found.joints[:, 0, 0], [0, 10, 15, 20, 30, 40], atol=1e-9)
    np.testing.assert_allclose(found.std[:, 0, 0], [0, 10, 15, 20, 30, 40], atol=1e-9)
    assert found.quality.tolist() == [0, 4, 12, 8, 8, 0]


def test_nothing_is_invented_beside_a_frame_without_a_pose_or_in_a_long_gap():
    found = resample(at_times([0, 0.1, 0.2, 0.6], x=[5, np.nan, 7, 8], quality=[0, 1, 0, 0]), 20)
    seen = [0, 4, 12]
    assert np.flatnonzero(found.found).tolist() == seen
    np.testing.assert_allclose(found.joints[seen, 0, 0], [5, 7, 8])
    assert found.quality.tolist() == [0, 1, 1, 1, 0, *[1] * 7, 0]


def test_resampling_at_its_own_rate_changes_nothing(make_series):
    series = make_series(n=40, first=0)
    found = resample(series, 60)
    assert found.frame.tolist() == series.frame.tolist()
    np.testing.assert_allclose(found.joints, series.joints, atol=1e-9)
    assert found.quality.tolist() == series.quality.tolist()


@given(
    steps=st.lists(st.floats(0.001, 0.2), min_size=1, max_size=30),
    rate=st.floats(1, 200),
    slope=st.floats(-1000, 1000),
)
def test_uniform_motion_stays_uniform(steps, rate, slope):
    time = np.concatenate([[0], np.cumsum(steps)])
    found = resample(at_times(time, x=slope * time), rate)
    np.testing.assert_allclose(found.joints[:, 0, 0], slope * found.time, atol=1e-6 * (1 + abs(slope)))
    assert (found.time <= time[-1] + 1e-5).all()
    assert len(found.time) == int(time[-1] * rate + 1e-6) + 1
    if len(found.time) > 1:
        assert regular_rate("a", found) == pytest.approx(rate, rel=0.002)


@pytest.mark.parametrize("rate", [0, -1, np.nan, np.inf])
def test_rates_must_be_positive(rate):
    with pytest.raises(ValueError, match=r"frames per second must be 0\.001 to 100000"):
        resample(at_times([0, 1], x=[0, 1]), rate)


def test_times_that_do_not_ascend_are_not_resampled():
    with pytest.raises(DataError, match="frame 2 has no later time"):
        resample(at_times([0, 1, 1], x=[0, 1, 2]), 10)


def test_no_and_one_frame_are_resampled():
    assert len(resample(at_times([], x=[]), 10).frame) == 0
    one = resample(at_times([3], x=[7]), 10)
    assert (one.time.tolist(), one.joints[0, 0, 0]) == ([3], 7)


def test_uneven_frames_reach_trc_and_c3d_at_a_rate(tmp_path):
    series = dataclasses.replace(at_times([0, 0.1, 0.3, 0.5], x=[0, 10, 20, 40]), std=None)
    for suffix in (".trc", ".c3d"):
        with pytest.raises(DataError, match=rf"a{suffix}: its format has one frame rate"):
            write_series(tmp_path / f"a{suffix}", series)
        write_series(tmp_path / f"a{suffix}", series, rate=10)
        found = read_series(tmp_path / f"a{suffix}")
        np.testing.assert_allclose(found.joints[:, 0, 0], [0, 10, 15, 20, 30, 40], atol=1e-4)
        np.testing.assert_allclose(found.time, np.arange(6) / 10, atol=1e-6)


def test_flags_in_words():
    assert quality_words(0) == ("good",)
    assert quality_words(12) == ("touches_border", "unlike_training")
    assert [int(quality_of_words(quality_words(flags))) for flags in range(16)] == list(range(16))
    for wrong in (16, -1):
        with pytest.raises(ValueError, match="there are no quality flags"):
            quality_words(wrong)
    with pytest.raises(ValueError, match="no quality flag 'bad': good, no_person"):
        quality_of_words(["bad"])
