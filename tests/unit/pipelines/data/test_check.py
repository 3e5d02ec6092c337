"""Faults put into a synthetic tree must be found, and a good tree must have none."""

import re
import shutil
from pathlib import Path

import av
import cv2
import ezc3d
import numpy as np
import pytest

from pipelines.data.check import check_tree
from pipelines.data.check_result import Selection
from pipelines.data.picture_check import LARGEST_SHIFT, JointDistances, best_shift, choose_frames
from pipelines.progress import Silent
from pose.body.skeleton import HUMANEVA_15
from pose.errors import DataError
from pose.humaneva import Labels
from pose.humaneva.files.ofs import StreamOffset, read_ofs, write_ofs
from pose.synth import synthesize

N = 120
OFS = "S1/Sync_Data/Walking_1_({}).ofs"


@pytest.fixture(scope="session")
def whole(tmp_path_factory):
    return synthesize(tmp_path_factory.mktemp("check") / "set", subjects=("S1",), actions=("Walking",), n_frames=N)


@pytest.fixture
def tree(whole, tmp_path):
    return Path(shutil.copytree(whole, tmp_path / "HumanEva_I"))


def delay(tree, cameras, by):
    """Let offsets say that the motion capture's instant is `by` pictures later than it is."""
    for camera in cameras:
        path = tree / OFS.format(camera)
        offset = read_ofs(path)
        write_ofs(path, StreamOffset(offset.image_start + by, offset.mocap_start, offset.mocap_per_image))


def test_a_good_tree_has_no_fault_and_its_joints_lie_on_the_person(whole, tmp_path):
    check = check_tree(whole, Silent(), out=tmp_path / "overlays")
    assert check.faults == []
    assert check.suggested_shift == 0
    (sync,) = check.syncs
    assert sync.near > 0.98
    assert sync.published is None  # the tree has partitions of its own: it is no copy of the release
    assert [(row.camera, row.decoded >= row.needed > N - 20) for row in check.videos] == [
        (camera, True) for camera in ("C1", "C2", "C3")
    ]
    assert check.bones[0].implausible == 0
    assert [path.name for path in check.overlays] == ["S1_Walking_1.png"]
    assert cv2.imread(str(check.overlays[0])).shape == (3 * 342, 4 * 320, 3)


@pytest.mark.parametrize("by", [-4, 3])
def test_a_wrong_video_shift_is_measured(whole, by):
    check = check_tree(whole, Silent(), video_frame_shift=by)
    assert abs(check.syncs[0].shift + by) <= 1
    assert abs(check.suggested_shift) <= 1
    # Of all cameras alike: none is accused. A later shift also asks for pictures beyond the videos' ends.
    (fault,) = [fault for fault in check.faults if "but the partitions need" not in fault]
    assert "joints lie best on the person with --video-frame-shift" in fault


def test_one_camera_that_is_late_is_named(tree):
    delay(tree, ["C2"], 6)
    faults = check_tree(tree, Silent()).faults
    late = [re.search(r"Walking_1_\(C2\)\.ofs: the pictures of C2 are (\d+) frames early against", f) for f in faults]
    assert [abs(int(match[1]) - 6) <= 1 for match in late if match] == [True]


@pytest.mark.parametrize("by", [15, 40])
def test_a_clock_that_is_out_by_more_than_is_tried(tree, by):
    """No shift is recommended then: it would mend nothing."""
    delay(tree, ["C1", "C2", "C3"], by)
    check = check_tree(tree, Silent(), selection=Selection(cameras=["C1", "C3"]))
    assert check.suggested_shift in (None, 0)
    faults = [fault for fault in check.faults if "but the partitions need" not in fault]
    assert re.search(
        r"S1 Walking 1: (joints lie 12 frames or more off|only \d+% of the joints lie on) the p", faults[0]
    )
    assert not any("joints lie best" in fault for fault in faults)


def test_motion_capture_that_stands_still_is_noted(tree):
    path = tree / "S1/Mocap_Data/Walking_1.c3d"
    c3d = ezc3d.c3d(str(path))
    out = ezc3d.c3d()
    for key in ("LABELS", "RATE", "UNITS"):
        out["parameters"]["POINT"][key]["value"] = c3d["parameters"]["POINT"][key]["value"]
    points = c3d["data"]["points"]
    points[:, :, 50:53] = points[:, :, 49:50]  # frames 51 to 53, from 1, are frame 50
    out["data"]["points"] = points
    out.write(str(path))
    notes = check_tree(tree, Silent(), selection=Selection(cameras=["C1"])).notes
    assert f"{path}: 3 of {points.shape[2]} mocap frames repeat the one before, first 51" in notes


def test_the_published_table_serves_on_a_copy_of_the_release(tree):
    """Offsets whose clock is the published one (S1 Walking 1: 82 81 82), then one that is not."""
    (tree / "partitions.json").unlink()
    for camera, image in (("C1", 82), ("C2", 81), ("C3", 82), *((f"BW{k}", 82) for k in (1, 2, 3, 4))):
        write_ofs(tree / OFS.format(camera), StreamOffset(image, 1, 2))
    selection = Selection(cameras=["C1"])
    sync = check_tree(tree, Silent(), selection=selection)
    assert sync.syncs[0].published == {"C1": 82, "C2": 81, "C3": 82}
    assert not any("as published" in fault for fault in sync.faults)
    write_ofs(tree / OFS.format("C3"), StreamOffset(90, 1, 2))
    faults = check_tree(tree, Silent(), selection=selection).faults
    assert any("first video frames C3 90 instead of 82 as published; have the .ofs files" in fault for fault in faults)


def test_a_difference_of_one_frame_may_come_of_missing_offsets(tree):
    (tree / "partitions.json").unlink()
    for camera, image in (("C1", 82), ("C2", 82), ("C3", 82)):
        write_ofs(tree / OFS.format(camera), StreamOffset(image, 1, 2))
    check = check_tree(tree, Silent(), selection=Selection(cameras=["C1"]))
    assert not any("instead of" in fault for fault in check.faults)
    assert any("C2 82 instead of 81, which may come of the .ofs files that are missing: BW1" in n for n in check.notes)


def test_a_truncated_video_is_counted_by_decoding(tree):
    path = tree / "S1/Image_Data/Walking_1_(C1).avi"
    short = tree / "short.avi"
    with av.open(str(path)) as source, av.open(str(short), "w") as target:
        stream = target.add_stream_from_template(source.streams.video[0])
        for packet in [packet for packet in source.demux(video=0) if packet.size][:80]:
            packet.stream = stream
            target.mux(packet)
    short.replace(path)
    check = check_tree(tree, Silent(), selection=Selection(cameras=["C1"]))
    (row,) = check.videos
    assert (row.decoded, row.announced) == (80, 80)
    assert check.faults == [
        f"{path}: holds 80 pictures, but the partitions need {row.needed}; the last {row.needed - 80} are left out"
    ]


def test_a_camera_with_an_inverted_pose_is_named(tree):
    path = tree / "S1/Calibration_Data/C1.cal"
    values = path.read_text().split()
    values[19:22] = [str(-float(value)) for value in values[19:22]]
    path.write_text("\n".join(values))
    faults = check_tree(tree, Silent(), selection=Selection(cameras=["C1"])).faults
    assert any("C1.cal: the camera stands at" in fault or "looks away from the middle" in fault for fault in faults)


def test_what_cannot_be_read_is_listed_and_the_rest_checked(tree, tmp_path):
    (tree / "S1/Calibration_Data/C1.cal").write_text("1 2 3")
    (tree / "S1/Image_Data/Walking_1_(C2).avi").write_bytes(b"")
    check = check_tree(tree, Silent(), out=tmp_path / "out")
    assert [fault.split(": ", 1)[1] for fault in check.faults] == [
        "holds 3 numbers, expected 22 (fx fy cx cy skew, k1 k2 p1 p2 k3, 9 of R, 3 of t)",
        "cannot be opened as a video (Invalid data found when processing input)",
    ]
    assert [row.camera for row in check.videos] == ["C1", "C3"]
    assert len(check.overlays) == 1


def test_chosen_frames_are_drawn(whole, tmp_path):
    check = check_tree(whole, Silent(), out=tmp_path, selection=Selection(cameras=["C2"], frames=[30, 50]))
    assert cv2.imread(str(check.overlays[0])).shape == (342, 2 * 320, 3)


def test_unknown_names_are_refused(whole):
    with pytest.raises(DataError, match=r"no video by BW1 \(there are C1, C2, C3\)"):
        check_tree(whole, Silent(), selection=Selection(cameras=["BW1"]))
    with pytest.raises(DataError, match="holds no subject S9"):
        check_tree(whole, Silent(), selection=Selection(subjects=["S9"]))


def scores(valley, depth):
    """Distances that fall by `depth` px towards a shift."""
    steps = np.arange(-LARGEST_SHIFT, LARGEST_SHIFT + 1)
    return JointDistances(0.2 + depth * np.abs(steps - valley) / LARGEST_SHIFT, 1.0)


def test_the_best_shift():
    assert best_shift([scores(-3, 4.0)]) == -3
    assert best_shift([scores(0, 4.0)]) == 0
    assert best_shift([scores(1, 0.2)]) is None  # nobody moves: no shift is better than another
    assert best_shift([scores(-3, 0.5)], believed=-3) == -3
    assert best_shift([scores(0, 4.0)], believed=-3) == 0
    # Videos that tell more count more.
    assert best_shift([scores(-5, 20.0), scores(0, 1.0)]) == -5


def test_frames_of_fast_motion_are_chosen():
    """A joint jumps by 100 mm between frames 6 and 7, and by 50 mm between 16 and 17, else it moves by 1 mm."""
    joints = np.zeros((20, 15, 3))
    joints[:, 4, 0] = np.arange(20) + 100.0 * (np.arange(20) >= 6) + 50.0 * (np.arange(20) >= 16)
    known = np.ones(20, dtype=bool)
    labels = Labels(np.arange(1, 21), np.arange(20.0), joints, known, known, HUMANEVA_15)
    assert choose_frames(labels, 2).tolist() == [6, 16]
