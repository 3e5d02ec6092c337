"""``converted_15j`` files written by scipy, and what makes one unusable."""

from pathlib import Path

import numpy as np
import pytest
import scipy.io

from pose.errors import DataError
from pose.humaneva.converted_mat import read_converted, read_converted_tree
from pose.humaneva.partitions import official_partitions


def standing(n: int = 4) -> np.ndarray:
    joints = np.zeros((n, 15, 3))
    joints[:, :, 2] = np.linspace(900, 1600, 15)
    joints[:, :, 0] = np.arange(n)[:, None]
    return joints


def write(folder: Path, **variables: np.ndarray) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "Walking_1.mat"
    scipy.io.savemat(path, variables)
    return path


def test_a_trial(tmp_path):
    joints = standing()
    joints[1] = np.nan
    pixels = np.random.default_rng(0).random((3, 4, 15, 2))
    trial = read_converted(write(tmp_path / "converted_15j" / "Validate" / "S2", poses_3d=joints, poses_2d=pixels))
    assert (trial.partition, trial.subject, trial.action, trial.trial) == ("Validate", "S2", "Walking", 1)
    np.testing.assert_array_equal(trial.joints, joints)
    np.testing.assert_array_equal(trial.pixels, pixels)
    assert trial.valid.tolist() == [True, False, True, True]


def test_the_2d_part_may_be_missing_and_numbers_may_be_single(tmp_path):
    trial = read_converted(write(tmp_path / "train" / "s1", poses_3d=standing().astype(np.float32)))
    assert (trial.partition, trial.subject) == ("Train", "S1")
    assert trial.pixels.shape == (0, 4, 15, 2)
    assert trial.joints.dtype == float


@pytest.mark.parametrize(("partition", "n", "first"), [("Validate", 585, 6), ("Train", 613, 591)])
def test_rows_are_the_frames_of_the_toolkits_table(tmp_path, partition, n, first):
    """S1 Walking 1: Validate is 6-590, Train 591-1203."""
    trial = read_converted(write(tmp_path / partition / "S1", poses_3d=standing(n)))
    numbers = trial.numbers(official_partitions())
    assert (len(numbers), numbers[0], numbers[-1]) == (n, first, first + n - 1)


def test_rows_of_another_table_are_refused(tmp_path):
    trial = read_converted(write(tmp_path / "Train" / "S1", poses_3d=standing(4)))
    with pytest.raises(DataError, match=r"holds 4 frames, but Train has 613 \(591-1203\)"):
        trial.numbers(official_partitions())
    with pytest.raises(DataError, match="no Train of S1 Walking 1"):
        trial.numbers({})


@pytest.mark.parametrize(
    ("variables", "message"),
    [
        ({"poses_3d": np.empty((0, 0))}, "poses_3d is empty: its conversion failed"),
        ({"other": np.zeros(3)}, "lacks the variable poses_3d"),
        ({"poses_3d": np.zeros((4, 20, 3))}, r"shape \(4, 20, 3\), expected \(n, 15, 3\)"),
        ({"poses_3d": standing() / 1000}, r"the head is 0\.7 from the pelvis, so poses_3d is not in mm"),
        ({"poses_3d": np.array(["a", "b"])}, "poses_3d holds no numbers"),
        (
            {"poses_3d": standing(), "poses_2d": np.zeros((3, 5, 15, 2))},
            r"poses_2d has the shape \(3, 5, 15, 2\), expected \(n, 4, 15, 2\)",
        ),
    ],
)
def test_what_cannot_be_used_is_named(tmp_path, variables, message):
    with pytest.raises(DataError, match=message) as caught:
        read_converted(write(tmp_path / "Train" / "S1", **variables))
    assert "Walking_1.mat" in str(caught.value)


def test_misplaced_missing_and_foreign_files(tmp_path):
    with pytest.raises(DataError, match=r"do not say what it is; expected converted_15j/Train/S1/Walking_1\.mat"):
        read_converted(write(tmp_path / "Elsewhere" / "S1", poses_3d=standing()))
    folder = tmp_path / "Train" / "S1"
    folder.mkdir(parents=True)
    with pytest.raises(DataError, match="no such file"):
        read_converted(folder / "Jog_1.mat")
    (folder / "Box_1.mat").write_bytes(b"not Matlab's")
    with pytest.raises(DataError, match=r"Box_1\.mat: is not a readable \.mat file"):
        read_converted(folder / "Box_1.mat")


def test_a_tree(tmp_path):
    for partition, subject in (("Validate", "S1"), ("Train", "S2"), ("Train", "S1")):
        write(tmp_path / partition / subject, poses_3d=standing())
    (tmp_path / "Train" / "notes.txt").write_text("")
    trials = read_converted_tree(tmp_path)
    assert [(trial.partition, trial.subject) for trial in trials] == [
        ("Train", "S1"),
        ("Train", "S2"),
        ("Validate", "S1"),
    ]
    write(tmp_path / "Train" / "S1", poses_3d=np.empty((0, 0)))
    write(tmp_path / "Train" / "S2", other=np.empty((0, 0)))
    with pytest.raises(DataError, match=r"S1/Walking_1\.mat: poses_3d is empty.*S2/Walking_1\.mat: lacks"):
        read_converted_tree(tmp_path)
    with pytest.raises(DataError, match="holds no converted trial"):
        read_converted_tree(tmp_path / "Train")
