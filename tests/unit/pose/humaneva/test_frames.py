"""Frames, arrays and tables of a small synthetic tree; partition schemes; trials without video; screening."""

import json
import shutil
import warnings
from pathlib import Path

import cv2
import ezc3d
import numpy as np
import pytest

from pose.body.skeleton import HUMANEVA_15, HUMANEVA_20, joints_15_from_20
from pose.errors import DataError
from pose.humaneva import HumanEva
from pose.humaneva.partition_counts import format_counts
from pose.humaneva.splits import GAP
from pose.synth import synthesize

N_FRAMES = 24
CAMERAS = ["C1", "C2", "C3"]


@pytest.fixture(scope="session")
def whole(tmp_path_factory):
    folder = tmp_path_factory.mktemp("frames") / "set"
    return synthesize(folder, subjects=("S1",), actions=("Walking", "Box"), n_frames=N_FRAMES)


@pytest.fixture
def tree(whole, tmp_path):
    return Path(shutil.copytree(whole, tmp_path / "HumanEva_I"))


def copy_trial(tree, old, new):
    """Another trial of the same recording."""
    for part in ("Image_Data", "Mocap_Data", "Sync_Data"):
        for path in list((tree / "S1" / part).glob(f"{old}[_.]*")):
            shutil.copy(path, path.with_name(path.name.replace(old, new, 1)))


def test_what_is_there(whole):
    data = HumanEva(whole)
    assert [subject.name for subject in data.subjects] == ["S1"]
    assert data.actions == ["Walking", "Box"]
    assert data.cameras == CAMERAS
    assert [trial.name for trial in data.trials] == ["S1 Box 1", "S1 Walking 1"]
    assert data.trial("s1", "box", 1).name == "S1 Box 1"
    assert set(data.partitions["S1", "Box 1"]) == {"Train", "Validate"}


def test_frames_carry_what_is_known(whole):
    data = HumanEva(whole)
    sequence = data.trial("S1", "Walking", 1)
    frames = list(data.frames("Train", actions="Walking", cameras=("C3", "C1")))
    first, last = sequence.partitions["Train"]
    n = last - first + 1
    assert [frame.camera for frame in frames] == ["C1"] * n + ["C3"] * n
    labels = sequence.labels(np.arange(first, last + 1))
    for frame, row in zip(frames, [*range(n)] * 2, strict=True):
        assert (frame.subject, frame.action, frame.trial) == ("S1", "Walking", 1)
        assert frame.number == first + row
        # By the definition: o + F - 1 counted from 1; seconds from frame 1 at 60 Hz; T0 + (F - 1) s.
        assert frame.video_index == sequence.clock.first_video_frame[frame.camera] + frame.number - 2
        assert frame.time == pytest.approx((frame.number - 1) / 60)
        assert frame.video_time == pytest.approx(frame.video_index / 60, abs=1e-4)
        assert frame.mocap_position == pytest.approx(sequence.clock.mocap_position(frame.number))
        assert frame.image.shape == (480, 640, 3)
        assert frame.valid == labels.valid[row]
        np.testing.assert_array_equal(frame.joints, labels.joints[row])
        camera = sequence.subject.camera(frame.camera)
        np.testing.assert_array_equal(frame.pixels, camera.project(labels.joints[row]))
    assert any(frame.valid for frame in frames)


def test_frames_come_one_by_one(whole, monkeypatch):
    """The second picture is decoded only when it is asked for."""
    import pose.humaneva.trial as module

    seen = []
    decode = module.read_frames

    def counting(*args):
        for frame in decode(*args):
            seen.append(frame.index)
            yield frame

    monkeypatch.setattr(module.Trial.read, "__defaults__", (counting,))
    frames = HumanEva(whole).frames("Train")
    next(frames)
    n_first = len(seen)
    next(frames)
    assert (n_first, len(seen)) == (1, 2)


def test_instants_show_one_moment_in_all_cameras(tree):
    data = HumanEva(tree)
    folder = tree / "S1" / "Image_Data"
    capture_end = 15  # frames of C2 that are left, as stills
    images = [frame.image for frame in data.frames(actions="Box", cameras="C2")][:capture_end]
    start = data.trial("S1", "Box", 1).clock.first_video_frame["C2"]
    (folder / "Box_1_(C2).avi").unlink()
    (folder / "Box_1_(C2)").mkdir()
    for number, image in enumerate(images, start=start + 5):  # toolkit frame 6 is file frame o + 5
        cv2.imwrite(str(folder / "Box_1_(C2)" / f"{number:04d}.png"), image)
    with pytest.warns(UserWarning, match=r"Box_1_\(C2\): ends at toolkit frame 20, before the frames"):
        instants = list(HumanEva(tree).instants(actions="Box"))
    assert [sorted(instant) for instant in instants] == [CAMERAS] * capture_end + [["C1", "C3"]] * 4
    for number, instant in enumerate(instants, start=6):
        assert {frame.number for frame in instant.values()} == {number}
        poses = [frame.joints for frame in instant.values()]
        np.testing.assert_array_equal(poses, [poses[0]] * len(poses))


def remove_mocap(tree, trial):
    for suffix in (".c3d", ".mat"):
        (tree / "S1" / "Mocap_Data" / f"{trial}{suffix}").unlink(missing_ok=True)


def test_a_trial_that_nothing_counts_is_left_out(tree):
    copy_trial(tree, "Box_1", "Box_5")
    remove_mocap(tree, "Box_5")
    with pytest.warns(UserWarning, match="S1 Box 5 is left out: S1 Box 5: no table says its frames"):
        assert {frame.trial for frame in HumanEva(tree).frames(actions="Box", cameras="C1")} == {1}


def test_arrays_are_the_frames_without_pictures(whole):
    data = HumanEva(whole)
    arrays = data.arrays(valid_only=True, cameras=["C2"], skeleton=HUMANEVA_20)
    frames = list(data.frames(valid_only=True, cameras="C2", skeleton=HUMANEVA_20))
    assert len(arrays) == len(frames) > 10
    assert arrays.valid.all()
    for name in ("subject", "action", "trial", "camera", "video_index", "time", "mocap_position", "joints", "pixels"):
        np.testing.assert_array_equal(getattr(arrays, name), [getattr(frame, name) for frame in frames])
    np.testing.assert_array_equal(arrays.frame, [frame.number for frame in frames])


def test_a_table_has_a_column_a_number(whole):
    arrays = HumanEva(whole).arrays("Validate")
    table = arrays.table()
    assert table.dtype.names is not None
    assert len(table.dtype.names) == 9 + 15 * 5
    assert table["camera"].tolist() == arrays.camera.tolist()
    np.testing.assert_array_equal(table["left_knee_z"], arrays.joints[:, HUMANEVA_15.names.index("left_knee"), 2])
    np.testing.assert_array_equal(table["head_u"], arrays.pixels[:, 14, 0])


def test_both_skeletons_are_one_body(whole):
    sequence = HumanEva(whole).trial("S1", "Box", 1)
    numbers = sequence.numbers()
    points, joints = sequence.labels(numbers, HUMANEVA_20), sequence.labels(numbers)
    assert points.usable.sum() > 10
    np.testing.assert_allclose(joints_15_from_20(points.joints), joints.joints)
    with pytest.raises(ValueError, match="HUMANEVA_15 or HUMANEVA_20"):
        sequence.labels(numbers, HUMANEVA_15.__class__(("a",), (-1,)))


def test_frames_that_are_not_valid_have_no_joints(whole):
    sequence = HumanEva(whole).trial("S1", "Walking", 1)
    labels = sequence.labels(np.arange(1, N_FRAMES + 1))
    assert np.isnan(labels.joints[~labels.mocap_valid]).all()
    assert not labels.valid[:5].any()
    assert labels.mocap_valid[:5].any()  # the motion capture is whole there; the pictures repeat one another


@pytest.mark.parametrize(
    ("names", "message"),
    [
        ({"subjects": "S7"}, r"holds no subject S7 \(it holds S1\)"),
        ({"actions": ["Walking", "Running"]}, r"holds no action Running \(it holds Walking, Box\)"),
        ({"cameras": "BW1"}, r"holds no camera BW1 \(it holds C1, C2, C3\)"),
        ({"trials": [2]}, r"nothing to read: .*\(trials: S1 Box 1, S1 Walking 1\)"),
        ({"partition": "Test"}, "no trial with video has frames of Test"),
    ],
)
def test_what_is_not_there_is_named_with_what_is(whole, names, message):
    with pytest.raises(DataError, match=message):
        next(HumanEva(whole).frames(**names))


def test_a_trial_that_is_not_there(whole):
    with pytest.raises(DataError, match=r"holds no trial S1 Box 2 \(it holds S1 Box 1, S1 Walking 1\)"):
        HumanEva(whole).trial("S1", "Box", 2)


# Parts of the release


def test_without_motion_capture_pictures_still_come(tree):
    shutil.rmtree(tree / "S1" / "Mocap_Data")
    with pytest.warns(UserWarning, match=r"S1 Box 1: has no joints: .*Box_1\.c3d: no such motion capture file"):
        frames = list(HumanEva(tree).frames("Train", actions="Box", cameras="C1"))
    assert len(frames) > 5
    assert not any(frame.valid for frame in frames)
    assert np.isnan(frames[0].joints).all()


def test_a_test_trial_has_no_motion_capture_and_no_warning(tree):
    copy_trial(tree, "Box_1", "Box_2")
    remove_mocap(tree, "Box_2")
    (tree / "partitions.json").write_text(json.dumps({"S1": {"Box 2": {"Test": [6, 12]}}}))
    frames = list(HumanEva(tree).frames("Test", cameras="C2"))
    assert [frame.number for frame in frames] == list(range(6, 13))
    assert not any(frame.valid for frame in frames)


def test_without_a_calibration_there_are_no_pixels(tree):
    (tree / "S1" / "Calibration_Data" / "C2.cal").unlink()
    with pytest.warns(UserWarning, match=r"C2\.cal: cannot be read .*has no pixels of joints in C2"):
        frame = next(HumanEva(tree).frames("Train", cameras="C2", valid_only=True))
    assert frame.calibration is None
    assert np.isfinite(frame.joints).all()
    assert np.isnan(frame.pixels).all()


def test_without_offsets_a_trial_is_left_out(tree):
    for path in (tree / "S1" / "Sync_Data").glob("Box*"):
        path.unlink()
    with pytest.warns(UserWarning, match=r"S1 Box 1 is left out: .*no Box_1_\(camera\)\.ofs"):
        actions = {frame.action for frame in HumanEva(tree).frames("Train", cameras="C1")}
    assert actions == {"Walking"}


def test_a_third_trial_is_motion_capture_at_its_own_rate(tree):
    """No .ofs and no video: T0 = 1 and s = 1, so a toolkit frame is a frame of the motion capture."""
    shutil.copy(tree / "S1" / "Mocap_Data" / "Box_1.c3d", tree / "S1" / "Mocap_Data" / "Box_3.c3d")
    (tree / "partitions.json").write_text(json.dumps({"S1": {"Box 3": {"Train": [1, 40]}, "Box 1": {"Train": [6, 9]}}}))
    data = HumanEva(tree)
    third, first = data.trial("S1", "Box", 3), data.trial("S1", "Box", 1)
    assert (third.clock.mocap_start, third.clock.mocap_per_frame) == (1, 1)
    labels = third.labels(third.numbers("Train"))
    assert labels.numbers.tolist() == list(range(1, 41))
    assert labels.valid[:5].any()  # no picture, so none that repeats
    # Frame F of trial 1 lies at T0 + 2 (F - 1), the same motion.
    position = float(first.clock.mocap_position(9))
    np.testing.assert_allclose(
        third.labels(np.array([round(position)])).joints, first.labels(np.array([9])).joints, atol=1e-6
    )
    assert [sequence.name for sequence in data.trials_with_video("Train")] == ["S1 Box 1"]
    arrays = data.arrays("Train", trials=[3])
    assert set(arrays.camera) == {""}
    assert (arrays.video_index == -1).all()
    assert arrays.time[1] == pytest.approx(1 / 120)
    assert np.isnan(arrays.pixels).all()


def test_videos_alone_or_motion_capture_alone(tree):
    shutil.rmtree(tree / "S1" / "Image_Data")
    data = HumanEva(tree)
    assert [trial.name for trial in data.trials] == ["S1 Box 1", "S1 Walking 1"]
    assert data.trials_with_video() == []
    assert data.cameras == []
    assert data.trial("S1", "Box", 1).labelled("Train").numbers.size > 0
    assert set(data.arrays("Train").camera) == {""}


def test_seven_cameras_share_one_clock(tree):
    folder = tree / "S1" / "Sync_Data"
    for k in range(1, 5):
        (folder / f"Box_1_(BW{k}).ofs").write_text(f"{20 + k}\n1\n2\n")
    clock = HumanEva(tree).trial("S1", "Box", 1).clock
    assert list(clock.first_video_frame) == [*CAMERAS, "BW1", "BW2", "BW3", "BW4"]
    first = clock.first_video_frame
    assert [first[f"BW{k}"] - first["BW1"] for k in range(1, 5)] == [0, 1, 2, 3]


# Partition schemes


def write_long_trial(tree, n_mocap, gaps=()):
    """A trial of motion capture that stands still; `gaps` are mocap frames in which LKNE is not seen, from 1."""
    c3d = ezc3d.c3d(str(tree / "S1" / "Mocap_Data" / "Static.c3d"))
    points = np.repeat(c3d["data"]["points"][:, :, :1], n_mocap, axis=2)
    labels = c3d["parameters"]["POINT"]["LABELS"]["value"]
    column = next(i for i, label in enumerate(labels) if label.endswith("LKNE"))
    points[:3, column, [gap - 1 for gap in gaps]] = 0
    out = ezc3d.c3d()
    out["parameters"]["POINT"]["LABELS"]["value"] = labels
    out["parameters"]["POINT"]["RATE"]["value"] = [120.0]
    out["parameters"]["POINT"]["UNITS"]["value"] = ["mm"]
    out["data"]["points"] = points
    out.write(str(tree / "S1" / "Mocap_Data" / "Walking_1.c3d"))
    for camera in CAMERAS:
        (tree / "S1" / "Sync_Data" / f"Walking_1_({camera}).ofs").write_text("1\n1\n2\n")
    ranges = {"Validate": [6, 100], "Train": [101, 205]}
    (tree / "partitions.json").write_text(json.dumps({"S1": {"Walking 1": ranges}}))


def test_tgp_half_tests_on_the_first_half(tree):
    # Toolkit frames 6..205, 200 of them, but 11..30 (mocap 21..59) lack a marker: 180 valid, 90 a part.
    write_long_trial(tree, 410, gaps=range(21, 60))
    data = HumanEva(tree, scheme="tgp-half")
    # The first 90: 6..10 and 31..115.
    assert data.partitions == {("S1", "Walking 1"): {"Test": (6, 115), "Train": (116, 205)}}
    assert data.trial("S1", "Walking", 1).labelled("Test").numbers.size == 90
    rows = {row.partition: row for row in data.partition_counts()}
    assert (rows["Test"].instants, rows["Test"].valid, rows["Test"].images) == (110, 90, 270)
    assert (rows["Train"].instants, rows["Train"].valid, rows["Train"].images) == (90, 90, 270)
    assert "all                Train                       90     90     270" in format_counts(rows.values())


def test_blocked_trains_on_three_quarters_and_leaves_a_gap(tree):
    write_long_trial(tree, 410)
    data = HumanEva(tree, scheme="blocked-75-25")
    # 200 valid frames from 6: 150 train, 6..155; 30 are left out, 156..185; the rest tests.
    assert data.partitions == {("S1", "Walking 1"): {"Train": (6, 155), "Test": (186, 205)}}
    assert GAP == 30
    assert [s.name for s in data.trials_with_video("Test")] == ["S1 Walking 1"]


def test_blocked_leaves_the_damaged_trial_out(tree):
    write_long_trial(tree, 410)
    (tree / "S1").rename(tree / "S3")
    for part in ("Image_Data", "Mocap_Data", "Sync_Data"):
        for path in list((tree / "S3" / part).glob("Walking_1*")):
            path.rename(path.with_name(path.name.replace("Walking", "ThrowCatch")))
    (tree / "S3" / "Mocap_Data" / "S1.mp").rename(tree / "S3" / "Mocap_Data" / "S3.mp")
    (tree / "partitions.json").write_text(json.dumps({"S3": {"ThrowCatch 1": {"Train": [6, 205]}}}))
    assert HumanEva(tree, scheme="blocked-75-25").partitions == {}
    assert list(HumanEva(tree, scheme="tgp-half").partitions) == [("S3", "ThrowCatch 1")]


def test_an_unknown_scheme(tree):
    with pytest.raises(ValueError, match="no scheme 'random' to split by: official, tgp-half, blocked-75-25"):
        HumanEva(tree, scheme="random")


def test_counts_name_what_is_missing(tree):
    shutil.rmtree(tree / "S1" / "Mocap_Data")
    rows = HumanEva(tree).partition_counts()
    assert all(row.valid == 0 and "no such motion capture file" in row.fault for row in rows)


# Screening


def test_a_wrong_head_is_screened_on_request(tree):
    write_long_trial(tree, 410)
    path = tree / "S1" / "Mocap_Data" / "Walking_1.c3d"
    c3d = ezc3d.c3d(str(path))
    labels = [label.rsplit(":", 1)[-1] for label in c3d["parameters"]["POINT"]["LABELS"]["value"]]
    points = c3d["data"]["points"]
    # From mocap frame 301, toolkit frame 151, the head's z axis points forward: the head lies before the chest.
    origin, up, front = (points[:3, labels.index(f"HED{part}"), 300:].copy() for part in "OPA")
    points[:3, labels.index("HEDP"), 300:] = front
    points[:3, labels.index("HEDA"), 300:] = 2 * origin - up
    out = ezc3d.c3d()
    for key in ("LABELS", "RATE", "UNITS"):
        out["parameters"]["POINT"][key]["value"] = c3d["parameters"]["POINT"][key]["value"]
    out["data"]["points"] = points
    out.write(str(path))
    sequence = HumanEva(tree).trial("S1", "Walking", 1)
    numbers = sequence.numbers()
    assert sequence.labels(numbers).usable.all()
    screened = sequence.labels(numbers, screen=True)
    assert screened.numbers[~screened.valid].tolist() == list(range(151, 206))
    assert np.isnan(screened.joints[~screened.valid]).all()
    assert len(sequence.labelled("Train", screen=True).numbers) == 50
    assert sequence.labels(numbers, screen=5.0).valid.all()
    # The median is the whole trial's, whichever frames are asked for, or one that the caller brings.
    assert HumanEva(tree).reference_lengths("S1").shape == (15,)
    for reference in (None, HumanEva(tree).reference_lengths("S1")):
        late = sequence.labels(np.arange(140, 206), screen=True, reference=reference)
        assert late.numbers[late.valid].tolist() == list(range(140, 151))


def test_nothing_warns_on_a_whole_tree(whole):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert sum(1 for _ in HumanEva(whole).frames()) > 50
