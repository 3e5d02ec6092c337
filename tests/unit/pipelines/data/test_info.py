"""What `pose data info` counts, on synthetic trees whose faults are known."""

import shutil
from pathlib import Path

import pytest

from pipelines.data.check import check_tree
from pipelines.data.info import missing_parts, survey, totals
from pipelines.progress import Silent
from pose.humaneva import HumanEva
from pose.humaneva.partition_counts import PartitionCount
from pose.humaneva.partitions import official_partitions
from pose.synth import synthesize

N = 60


@pytest.fixture(scope="session")
def whole(tmp_path_factory):
    return synthesize(tmp_path_factory.mktemp("info") / "set", subjects=("S1",), actions=("Walking",), n_frames=N)


@pytest.fixture
def tree(whole, tmp_path):
    return Path(shutil.copytree(whole, tmp_path / "HumanEva_I"))


def test_a_whole_tree(whole):
    info = survey(whole, Silent())
    assert (info.missing, info.faults) == ([], [])
    assert [row.camera for row in info.frames] == ["C1", "C2", "C3"]
    labels = HumanEva(whole).trials[0].labels(HumanEva(whole).trials[0].numbers())
    for row in info.frames:
        assert (row.trial, row.named) == ("S1 Walking 1", N - 5)  # the first five are never used
        assert row.valid == labels.valid.sum() == row.used
        assert row.announced >= N


def test_counts_of_the_schemes_follow_from_the_valid_frames(whole):
    info = survey(whole, Silent())
    n_valid = info.frames[0].used
    sums = {scheme: {t.partition: t for t in totals(rows)} for scheme, rows in info.counts.items()}
    assert sum(t.valid for t in sums["official"].values()) == n_valid
    half = sums["tgp-half"]
    assert (half["Test"].valid, half["Train"].valid) == (n_valid // 2, n_valid - n_valid // 2)
    assert half["Test"].images == 3 * half["Test"].valid
    blocked = sums["blocked-75-25"]
    assert blocked["Train"].valid == 3 * n_valid // 4
    assert "Test" not in blocked  # a quarter of these frames is shorter than the gap


def test_missing_files_are_listed_and_leave_no_frame(tree):
    (tree / "S1/Sync_Data/Walking_1_(C2).ofs").unlink()
    (tree / "S1/Calibration_Data/C3.cal").unlink()
    (tree / "Background/Background_1_(C1).avi").unlink()
    info = survey(tree, Silent())
    assert info.missing == [
        "S1: Calibration_Data/C3.cal",
        "S1 Walking 1: no .ofs of C2",
        "Background: 2 of 3 recordings of the empty room by C1",
    ]
    rows = {row.camera: row for row in info.frames}
    assert (rows["C2"].used, rows["C2"].reason) == (0, "no .ofs file")
    assert rows["C1"].used > 0
    assert info.counts["official"][0].cameras == ("C1", "C3")


def test_every_faulty_file_of_a_trial_is_listed(tree):
    texts = {"S1/Calibration_Data/C3.cal": "1 2", "S1/Sync_Data/Walking_1_(C1).ofs": "1,0 2 3"}
    texts |= {"S1/Sync_Data/Walking_1_(C2).ofs": "1", "S1/Mocap_Data/Walking_1.c3d": "x", "S1/Mocap_Data/S1.mp": ""}
    for name, text in texts.items():
        (tree / name).write_text(text)
    for faults in (survey(tree, Silent()).faults, check_tree(tree, Silent()).faults):
        assert sorted(fault.partition(".")[0] for fault in faults) == sorted(
            str(tree / name).partition(".")[0] for name in texts
        )


def test_a_trial_of_which_little_is_there(tree):
    for part in ("Image_Data", "Sync_Data"):
        shutil.rmtree(tree / "S1" / part)
    (tree / "partitions.json").write_text("{}")
    info = survey(tree, Silent())
    assert info.missing == ["S1 Walking 1: no frames of it in the table of partitions, no video, no .ofs"]


def test_videos_are_looked_through_without_offsets(tree):
    for path in (tree / "S1/Sync_Data").iterdir():
        path.unlink()
    check = check_tree(tree, Silent())
    assert [row.camera for row in check.videos] == ["C1", "C2", "C3"]
    assert check.faults == []
    assert any("no Walking_1_(camera).ofs, so frames cannot be matched" in note for note in check.notes)


def test_faulty_files_are_listed_all_at_once(tree):
    (tree / "S1/Mocap_Data/Walking_1.c3d").write_bytes(b"")
    (tree / "S1/Image_Data/Walking_1_(C1).avi").write_bytes(b"")
    info = survey(tree, Silent())
    assert len(info.faults) == 2
    assert "Walking_1.c3d: is not a readable c3d file" in info.faults[0]
    assert "Walking_1_(C1).avi: cannot be opened as a video" in info.faults[1]
    assert all(row.used == 0 and row.reason for row in info.frames)


def test_without_a_table_of_its_own_a_tree_is_a_part_of_the_release(tree):
    (tree / "partitions.json").unlink()
    missing = missing_parts(HumanEva(tree))
    assert missing[:2] == ["subjects S2 S3 S4: no folder", "cameras BW1 BW2 BW3 BW4: no video in any trial"]
    listed = missing[2].removeprefix("S1: nothing of the trials ").split(", ")
    assert set(listed) == {name for owner, name in official_partitions() if owner == "S1"} - {"Walking 1"}


def test_warnings_become_notes(tree):
    """The official table asks for frames beyond this short recording."""
    (tree / "partitions.json").unlink()
    info = survey(tree, Silent())
    assert sum("ends at toolkit frame" in note for note in info.notes) == 1
    assert info.frames[0].named == 1203 - 5


def test_motion_capture_alone_is_summed_apart():
    filmed = PartitionCount("S1", "Box", 1, "Train", 6, 105, 100, 90, ("C1", "C2"))
    alone = PartitionCount("S1", "Box", 3, "Train", 1, 1000, 1000, 800, ())
    (total,) = totals([filmed, alone])
    assert (total.trials, total.instants, total.valid, total.images, total.mocap_frames) == (2, 100, 90, 180, 800)
