"""Frames to poses, one by one: the same as all at once, with flags, and from Python in three lines."""

import threading

import cv2
import numpy as np
import pytest
from films import HEIGHT, WIDTH, figure, picture, scene, walk, write_film

from pipelines.errors import UsageError
from pipelines.model.pose_model import PoseModel
from pipelines.prediction import FrameRange, choose_scene
from pipelines.streaming.stream import BATCH, stream
from pipelines.streaming.workers import ordered_map, worker_pool
from pose import GaussianBackground
from pose.errors import DataError
from pose.series.pose_series import Quality


@pytest.fixture(scope="module")
def model(small_model):
    return PoseModel.load(small_model)


@pytest.fixture
def empty(tmp_path):
    cv2.imwrite(str(tmp_path / "empty.png"), scene())
    return tmp_path / "empty.png"


def test_the_stream_gives_what_the_model_gives_for_all_frames(model, tmp_path, empty):
    write_film(tmp_path / "a.avi", walk(BATCH + 10))
    poses = list(model.predict_video(tmp_path / "a.avi", background=empty))
    assert [pose.frame for pose in poses] == list(range(BATCH + 10))
    assert [pose.time for pose in poses] == pytest.approx([k / 25 for k in range(BATCH + 10)])
    background = GaussianBackground().fit([[scene()]])
    whole = model.predict(model.histosc.transform([background.silhouette(image) for image in walk(BATCH + 10)]))
    np.testing.assert_allclose([pose.joints for pose in poses], whole, atol=0.1)  # mm; kernel values are float32
    assert not any(pose.quality & ~Quality.UNLIKE_TRAINING for pose in poses)
    plain = model.predict_video(tmp_path / "a.avi", background=empty, std=False)
    assert all(pose.std is None and pose.quality == Quality.GOOD for pose in plain)


def test_a_range_keeps_numbers_and_times(model, tmp_path, empty):
    write_film(tmp_path / "a.avi", walk(20))
    whole = {pose.frame: pose for pose in model.predict_video(tmp_path / "a.avi", empty)}
    part = list(model.predict_video(tmp_path / "a.avi", empty, start=5, stop=16, stride=4))
    assert [pose.frame for pose in part] == [5, 9, 13]
    for pose in part:
        np.testing.assert_allclose(pose.joints, whole[pose.frame].joints, atol=1e-3)
        assert pose.time == whole[pose.frame].time


@pytest.mark.parametrize(
    ("masks", "quality"),
    [
        ([figure(3)], Quality.GOOD),
        ([np.zeros((HEIGHT, WIDTH), np.uint8)], Quality.NO_PERSON),
        ([figure(3), figure(3, 90)], Quality.SEVERAL_PEOPLE),
        ([figure(3), figure(3, 90, 0.3)], Quality.GOOD),  # a speck of a tenth of the area
        ([np.roll(figure(3), -38, axis=1)], Quality.TOUCHES_BORDER),
        ([np.roll(figure(3), -10, axis=0), figure(3, 90, 0.8)], Quality.TOUCHES_BORDER | Quality.SEVERAL_PEOPLE),
    ],
    ids=["good", "nobody", "two", "a speck", "border", "border and two"],
)
def test_frames_are_flagged(model, tmp_path, empty, masks, quality):
    write_film(tmp_path / "a.avi", [picture(0, *masks)])
    write_film(tmp_path / "m.avi", [np.bitwise_or.reduce(masks)], pix_fmt="gray")
    # Without standard deviations, which would tell that a figure cut off is unlike the training set too.
    (pose,) = model.predict_video(tmp_path / "a.avi", empty, std=False)
    (by_mask,) = model.predict_video(tmp_path / "m.avi", masks=True, std=False)
    assert pose.quality == by_mask.quality == quality
    assert np.isnan(pose.joints).all() == bool(quality & Quality.NO_PERSON)


def test_what_a_model_says_of_its_predictions_reaches_the_frame(model, tmp_path, empty, monkeypatch):
    write_film(tmp_path / "a.avi", [picture(0), scene(), picture(2)])

    def deviations(model, histograms):
        n = len(histograms)
        return np.full((n, 15, 3), 7.0), np.arange(n) == 1

    monkeypatch.setattr(type(model), "standard_deviations", deviations)
    poses = list(model.predict_video(tmp_path / "a.avi", empty))
    assert [pose.quality for pose in poses] == [Quality.GOOD, Quality.NO_PERSON, Quality.UNLIKE_TRAINING]
    assert [pose.std[0, 0] for pose in poses[::2]] == [7, 7]
    assert np.isnan(poses[1].std).all()


def test_the_first_seconds_can_be_the_empty_scene(model, tmp_path, empty):
    write_film(tmp_path / "a.avi", [scene()] * 5 + walk(4))
    poses = list(model.predict_video(tmp_path / "a.avi", background_seconds=0.2))
    assert [bool(pose.quality & Quality.NO_PERSON) for pose in poses] == [True] * 5 + [False] * 4
    known = list(model.predict_video(tmp_path / "a.avi", empty))
    np.testing.assert_allclose([p.joints for p in poses[5:]], [p.joints for p in known[5:]])


def test_going_on_gives_what_the_whole_would_have_given(model, tmp_path, empty):
    path = write_film(tmp_path / "a.avi", walk(2 * BATCH + 5))
    scene_of = choose_scene([empty])
    whole = list(stream(path, model, scene_of, FrameRange(), False))
    rest = list(stream(path, model, scene_of, FrameRange(), False, BATCH))
    assert [len(batch) for batch in whole] == [BATCH, BATCH, 5]
    assert [len(batch) for batch in rest] == [BATCH, 5]
    for one, other in zip(whole[1:], rest, strict=True):
        for a, b in zip(one, other, strict=True):
            assert a.frame == b.frame
            np.testing.assert_array_equal(a.joints, b.joints)


def test_a_frame_of_another_size_is_named(model, tmp_path, empty):
    write_film(tmp_path / "a.avi", walk(2, HEIGHT + 2))
    with pytest.raises(DataError, match=r"a\.avi, frame 0 \(from 0\): .*the background model is 120x90"):
        list(model.predict_video(tmp_path / "a.avi", empty))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "silhouettes need the empty scene"),
        ({"backgrounds": ["a.avi"], "masks": True}, "leave out --background"),
        ({"backgrounds": ["a.avi"], "seconds": 2.0}, "both name the empty scene"),
        ({"backgrounds": ["running", "a.avi"]}, "leave out the others"),
        ({"backgrounds": ["none.avi"]}, "no such file: none.avi"),
        ({"seconds": 0.0}, "--background-seconds 0: must be positive"),
    ],
)
def test_the_scene_is_named_in_one_way(arguments, message):
    with pytest.raises(UsageError, match=message):
        choose_scene(**arguments)


def test_a_range_that_is_none_is_refused():
    with pytest.raises(UsageError, match=r"--start -1: .*; --stop -2: .*; --stride 0: .*; --rate 0: "):
        FrameRange(-1, -2, 0, 0.0)
    assert FrameRange(2, None, 3).count(10) == 3
    assert FrameRange(0, 5).count(10) == 5


def test_few_things_are_under_way_and_their_order_stays():
    lock, most, under_way = threading.Lock(), 0, 0

    def items():
        nonlocal under_way, most
        for number in range(50):
            with lock:
                under_way += 1
                most = max(most, under_way)
            yield number

    def work(number):
        return number * number

    results = []
    with worker_pool() as pool:
        for result in ordered_map(pool, work, items(), 4):
            with lock:
                under_way -= 1
            results.append(result)
    assert results == [number * number for number in range(50)]
    assert most <= 4


def test_a_fault_in_a_thread_ends_the_stream():
    with worker_pool() as pool, pytest.raises(ZeroDivisionError):
        list(ordered_map(pool, lambda number: 1 // number, [2, 1, 0, 5], 2))
