"""`pose data convert`: what other tools made of HumanEva-I becomes files of poses, and poses become result files."""

import sys

import numpy as np
import pytest
import scipy.io

from pipelines import cli
from pose.body.skeleton import HUMANEVA_15, HUMANEVA_20, joints_15_from_20
from pose.export import read_series, write_series
from pose.humaneva.result_xml import SequenceResult, read_result, write_result
from pose.series.pose_series import PoseSeries

SEQUENCE = ("--sequence", "S1 Walking 1 Validate")


@pytest.fixture
def run(monkeypatch, capsys):
    def call(*arguments):
        monkeypatch.setattr(sys, "argv", ["pose", "data", "convert", *map(str, arguments)])
        code = 0
        try:
            cli.main()
        except SystemExit as end:
            code = end.code or 0
        printed = capsys.readouterr()
        return code, printed.out, printed.err

    return call


@pytest.fixture
def joints():
    standing = np.zeros((4, 15, 3))
    standing[:, :, 2] = np.linspace(900, 1600, 15)  # mm
    standing[:, :, 0] = 1000 + 10 * np.arange(4)[:, None]
    standing[2, 3] = np.nan
    return standing


def write_mat(folder, joints):
    path = folder / "converted_15j/Validate/S1/Walking_1.mat"
    path.parent.mkdir(parents=True)
    scipy.io.savemat(path, {"poses_3d": joints})
    return path


def write_npz(path, *names):
    joints = np.zeros((3, 15, 3), np.float32)
    joints[:, :, 2] = np.linspace(0.9, 1.6, 15)  # m
    content = {"Train/S1": {name: joints for name in names}}
    np.savez(path, positions_3d=np.array(content, dtype=object))
    return path


def test_a_converted_trial_becomes_root_relative_poses(run, tmp_path, joints):
    out = tmp_path / "w.csv"
    code, printed, _ = run(write_mat(tmp_path, joints), "--out", out)
    assert (code, printed) == (0, f"wrote {out}: 3 poses\n")
    series = read_series(out)
    assert (series.axes, series.skeleton) == ("world", HUMANEVA_15)
    assert series.frame.tolist() == [0, 1, 2, 3]  # not as many as the table of HumanEva-I has
    assert series.found.tolist() == [True, True, False, True]
    np.testing.assert_allclose(series.joints[0], joints[0] - joints[0, 0], atol=1e-3)


def test_the_frames_of_the_releases_own_table_keep_their_numbers(run, tmp_path):
    joints = np.zeros((585, 15, 3))  # S1 Walking 1 validates with frames 6 to 590
    joints[:, :, 2] = np.linspace(900, 1600, 15)
    run(write_mat(tmp_path, joints), "--out", tmp_path / "w.npz")
    series = read_series(tmp_path / "w.npz")
    assert (series.frame[0], series.frame[-1], series.time[0]) == (6, 590, 0.1)


def test_a_folder_and_an_archive_become_one_file_a_sequence(run, tmp_path, joints):
    mat = write_mat(tmp_path, joints)
    assert run(mat.parents[2], "--out", tmp_path / "made", "--to", "h5")[0] == 0
    archive = write_npz(tmp_path / "data_3d_humaneva15.npz", "Walking 1 chunk0", "Walking 1 chunk2")
    assert run(archive, "--allow-pickle", "--out", tmp_path / "made", "--to", "json")[0] == 0
    assert sorted(path.name for path in (tmp_path / "made").iterdir()) == [
        "Train_S1_Walking_1_chunk0.json",
        "Train_S1_Walking_1_chunk2.json",
        "Validate_S1_Walking_1.h5",
    ]
    assert read_series(tmp_path / "made/Train_S1_Walking_1_chunk2.json").joints[0, 14, 2] == pytest.approx(700)


def test_a_result_of_20_points_gives_its_15_joints(run, tmp_path):
    points = np.random.default_rng(0).normal(0, 500, (2, 20, 3))
    write_result(tmp_path / "r.xml", SequenceResult("S1", "Box", 1, "Test", np.array([6, 9]), points, HUMANEVA_20))
    assert run(tmp_path / "r.xml", "--out", tmp_path / "r.csv")[0] == 0
    series = read_series(tmp_path / "r.csv")
    whole = joints_15_from_20(points)
    assert series.frame.tolist() == [6, 9]
    np.testing.assert_allclose(series.joints, whole - whole[:, :1], atol=0.01)


def test_poses_become_a_result_and_come_back(run, tmp_path):
    joints = np.random.default_rng(0).normal(0, 500, (3, 15, 3))
    joints -= joints[:, :1]
    series = PoseSeries(np.arange(3), np.arange(3) / 60, joints, HUMANEVA_15, "world", {})
    write_series(tmp_path / "fused.h5", series)
    of = ("--sequence", "S2 Jog 1 Validate")
    code, _, said = run(tmp_path / "fused.h5", "--out", tmp_path / "r.xml", *of)
    assert code == 2  # frame 0 is no toolkit frame
    assert "--first-frame" in said
    assert run(tmp_path / "fused.h5", "--out", tmp_path / "r.xml", *of, "--first-frame", 6)[0] == 0
    result = read_result(tmp_path / "r.xml")
    assert (result.subject, result.action, result.trial, result.partition) == ("S2", "Jog", 1, "Validate")
    assert result.numbers.tolist() == [6, 7, 8]
    np.testing.assert_allclose(result.joints, joints, atol=1e-5)


@pytest.mark.parametrize(
    ("arguments", "fault"),
    [
        (["none.mat", "--out", "a.csv"], "no such file: none.mat"),
        (["poses.csv", "--out", "a.h5"], "between formats of poses `pose export` converts"),
        (["data.npz", "--out", "a.csv"], "add --allow-pickle"),
        (["data.npz", "--allow-pickle", "--out", "a.csv"], "holds 2 sequences; name a folder"),
        (["data.npz", "--allow-pickle", "--out", "a.txt"], "name a file that ends in"),
        (["data.npz", "--out", "a.csv", "--to", "bvh"], "--to bvh: there are csv"),
        (["data.npz", "--out", "a.csv", "--to", "h5"], "its name says another format"),
        (["poses.csv", "--out", "a.xml"], "in the world's axes"),
        (["world.csv", "--out", "a.xml"], "as in --sequence 'S1 Walking 1 Validate'"),
        (
            ["world.csv", "--out", "a.xml", "--sequence", "S1 Walking ² Test"],
            "as in --sequence 'S1 Walking 1 Validate'",
        ),
        (["world.csv", "--out", "a.xml", *SEQUENCE, "--first-frame", 10**20], "numbered from 1 to 1,000,000,000"),
        (["r.xml", "--out", "world.csv"], "already there: world.csv"),
    ],
)
def test_requests_that_cannot_be_met(run, tmp_path, monkeypatch, arguments, fault):
    monkeypatch.chdir(tmp_path)
    write_npz("data.npz", "Walking 1 chunk0", "Walking 1 chunk2")
    poses = np.zeros((2, 15, 3))
    for axes, name in (("camera", "poses.csv"), ("world", "world.csv")):
        write_series(name, PoseSeries(np.arange(2), np.arange(2) / 60, poses, HUMANEVA_15, axes, {}))
    write_result("r.xml", SequenceResult("S1", "Box", 1, "Test", np.array([6, 9]), poses, HUMANEVA_15))
    before = sorted(path.name for path in tmp_path.iterdir())
    code, _, said = run(*arguments)
    assert code == 2
    assert fault in said
    assert len(said.splitlines()) == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == before


def damaged_directory(content):
    place = content.rindex(b"PK\x01\x02")
    return content[:place] + b"?" + content[place + 1 :]


def encrypted(content):
    flags = content.rindex(b"PK\x01\x02") + 8
    return content[:flags] + bytes([content[flags] | 1]) + content[flags + 1 :]


@pytest.mark.parametrize(
    ("damage", "fault"),
    [
        (damaged_directory, "is damaged (Bad magic number for central directory)"),
        (lambda content: content[:-22] + b"PK\x05\x06" + b"\xff" * 16 + b"\0\0", "is damaged (Bad offset"),
        (encrypted, "cannot be read (File 'positions_3d.npy' is encrypted"),
    ],
)
def test_a_damaged_archive_is_named_in_one_line(run, tmp_path, damage, fault):
    archive = write_npz(tmp_path / "data.npz", "Walking 1 chunk0")
    archive.write_bytes(damage(archive.read_bytes()))
    code, _, said = run(archive, "--allow-pickle", "--out", tmp_path / "a.csv")
    assert code == 1
    assert said.startswith(f"error: {archive}: ")
    assert fault in said
    assert len(said.splitlines()) == 1
