"""Errors by group, worked out by hand, and how they are shown."""

import io
from dataclasses import replace

import cv2
import numpy as np
import pytest
from rich.console import Console

from pipelines.evaluation.evaluate import Evaluation
from pipelines.evaluation.picture import save_picture
from pipelines.evaluation.tables import error_table, interval_table
from pipelines.features.samples import Samples
from pose.body.skeleton import HUMANEVA_15


@pytest.fixture
def evaluation() -> Evaluation:
    """GBCD errs by 15 mm at one joint of the first sample, MPGP by 30 mm there and by 3 mm everywhere in the last."""
    poses = np.zeros((4, 15, 3))
    poses[:, :, 1] = np.linspace(0, 900, 15)
    gbcd, mpgp = poses.copy(), poses.copy()
    gbcd[0, 4, 0] += 15
    mpgp[0, 4, 2] += 30
    mpgp[3] += [1, 2, 2]
    samples = Samples(
        edges=np.random.default_rng(0).random((4, 20, 2)).astype(np.float32),
        poses=poses,
        subject=np.array(["S1", "S1", "S2", "S2"]),
        action=np.array(["Box", "Jog", "Box", "Jog"]),
        camera=np.array(["C1", "C1", "C1", "C2"]),
        trial=np.ones(4, dtype=int),
        frame=np.arange(4),
        n_empty=1,
        n_missing=2,
    )
    mean_pose = np.broadcast_to(poses.mean(axis=0) + [0, 0, 10], poses.shape)
    predictions = {"gbcd": gbcd, "mpgp": mpgp, "mean_pose": mean_pose}
    return Evaluation("Validate", HUMANEVA_15, samples, "camera", predictions)


def test_means_over_all_samples(evaluation):
    assert evaluation.means() == pytest.approx({"gbcd": 15 / 60, "mpgp": (30 + 45) / 60, "mean_pose": 10})
    assert evaluation.means("absolute_no_root") == pytest.approx(
        {"gbcd": 15 / 56, "mpgp": (30 + 42) / 56, "mean_pose": 10}
    )


def test_aligned_means_forgive_what_moves_a_whole_pose(evaluation):
    # The poses lie on a line: the last sample of MPGP and the mean pose are only moved, the rest is bent at one joint.
    aligned = evaluation.means("aligned")
    assert aligned["mean_pose"] == pytest.approx(0, abs=1e-9)
    assert 0 < aligned["gbcd"] < evaluation.means()["gbcd"] * 2
    assert evaluation.by("subject", "aligned")["S2"] == pytest.approx({"gbcd": 0, "mpgp": 0, "mean_pose": 0}, abs=1e-9)
    assert evaluation.by_joint("aligned")["left_wrist"]["gbcd"] > evaluation.by_joint("aligned")["pelvis"]["gbcd"]


def test_means_by_group(evaluation):
    assert evaluation.by("subject")["S2"] == pytest.approx({"gbcd": 0, "mpgp": 45 / 30, "mean_pose": 10})
    assert evaluation.by("action")["Box"] == pytest.approx({"gbcd": 15 / 30, "mpgp": 30 / 30, "mean_pose": 10})
    assert evaluation.by("camera")["C2"] == pytest.approx({"gbcd": 0, "mpgp": 3, "mean_pose": 10})
    assert evaluation.by_joint()["left_wrist"] == pytest.approx({"gbcd": 15 / 4, "mpgp": 33 / 4, "mean_pose": 10})


def test_the_dictionary_for_scripts(evaluation):
    content = evaluation.as_dict()
    assert (content["n_test"], content["n_without_person"], content["n_outside_video"]) == (4, 1, 2)
    assert content["partition"] == "Validate"
    assert content["mean_joint_error_mm"]["gbcd"] == pytest.approx(0.25)
    assert content["n_by_camera"] == {"C1": 3, "C2": 1}
    assert content["aligned_by_camera_mm"]["C2"]["mpgp"] == pytest.approx(0, abs=1e-9)


@pytest.fixture
def with_std(evaluation) -> Evaluation:
    """The root is known, other coordinates have 10 mm: one of 4 x 42 errs, by 1.5 standard deviations."""
    std = np.full((4, 15, 3), 10.0)
    std[:, 0] = 0
    return Evaluation("Validate", HUMANEVA_15, evaluation.samples, "camera", evaluation.predictions, std=std)


def test_intervals_by_hand(with_std):
    sections = with_std.intervals()
    # 1.5 is beyond the 50 % interval (0.67) and within those of 90 % (1.64) and 95 %.
    assert sections[""]["all coordinates"] == pytest.approx({"50 %": 167 / 168, "90 %": 1, "95 %": 1, "std_mm": 10})
    assert sections["action"]["Box"]["50 %"] == pytest.approx(83 / 84)
    assert sections["action"]["Jog"]["50 %"] == 1
    assert sections["joint"]["left_wrist"]["50 %"] == pytest.approx(11 / 12)
    assert "pelvis" not in sections["joint"]
    assert with_std.coverage(0.5, with_std.samples.camera == "C2") == 1
    assert with_std.as_dict()["intervals"] == sections


def test_intervals_are_judged_by_each_coordinates_own_deviation(with_std):
    std = with_std.std.copy()
    std[0, 4, 0] = 5  # the error is 3 of these
    shown = Evaluation("Validate", HUMANEVA_15, with_std.samples, "camera", with_std.predictions, std=std)
    assert shown.coverage(0.95) == pytest.approx(167 / 168)


def test_without_standard_deviations_there_are_no_intervals(evaluation):
    assert evaluation.intervals() == {}
    assert np.isnan(evaluation.coverage(0.9))


def test_the_interval_table_shows_them(with_std):
    screen = Console(file=io.StringIO(), width=90)
    screen.print(interval_table(with_std))
    row = next(line for line in screen.file.getvalue().splitlines() if "left wrist" in line)
    assert [cell.strip() for cell in row.strip("│ ").split("│")] == [
        "joint left wrist",
        "91.7",
        "100.0",
        "100.0",
        "10.0",
    ]


def test_the_table_shows_them(evaluation):
    screen = Console(file=io.StringIO(), width=80)
    screen.print(error_table(evaluation))
    lines = screen.file.getvalue().splitlines()
    row = next(line for line in lines if "left wrist" in line)
    assert [cell.strip() for cell in row.strip("│ ").split("│")] == ["joint left wrist", "3.8", "8.2", "10.0"]
    assert "4 samples of Validate" in lines[0]


def test_another_scheme_than_the_toolkits_is_told(evaluation):
    shown = replace(evaluation, partition="Test", scheme="tgp-half")
    assert "4 samples of Test of tgp-half" in str(error_table(shown).title)
    assert (shown.as_dict()["scheme"], shown.as_dict()["partition"]) == ("tgp-half", "Test")
    assert evaluation.as_dict()["scheme"] == "official"


@pytest.mark.parametrize(("axes", "known"), [("camera", True), ("world", False)])
def test_the_picture_is_drawn(with_std, tmp_path, axes, known):
    shown = replace(with_std, axes=axes, std=with_std.std if known else None)
    save_picture(tmp_path / "report.png", shown)
    picture = cv2.imread(str(tmp_path / "report.png"))
    assert picture.shape == (990, 1430, 3)
    # More than paper.
    assert (picture.min(axis=2) < 250).mean() > 0.05
    assert [path.name for path in tmp_path.iterdir()] == ["report.png"]
