"""Poses of several cameras in one: what is refused, and what comes of files."""

import json

import numpy as np
import pytest

from pipelines.commands.fuse import fuse_command
from pipelines.errors import UsageError
from pipelines.pose_files.fuse import fuse_files
from pose.body.cal_file import write_cal
from pose.body.camera import Camera
from pose.body.skeleton import HUMANEVA_15
from pose.errors import DataError
from pose.export import read_series, write_series
from pose.series.bone_lengths import bone_lengths
from pose.series.bone_lengths_file import read_bone_lengths, write_bone_lengths
from pose.series.fusion import VIEW_CORRELATION
from pose.series.pose_series import PoseSeries

N = 30


@pytest.fixture
def files(tmp_path):
    """One person seen without error by two cameras, one of them turned by 90 degrees about the vertical."""
    world = np.random.default_rng(0).normal(size=(N, 15, 3)) * 300
    world[:, 0] = 0
    paths = []
    for name, rotation in {"C1": np.eye(3), "C2": np.array([[0.0, 0, -1], [0, 1, 0], [1, 0, 0]])}.items():
        camera = Camera(name, np.array([[800.0, 0, 320], [0, 800, 240], [0, 0, 1]]), np.zeros(5), rotation, np.ones(3))
        write_cal(tmp_path / f"{name}.cal", camera)
        std = np.full((N, 15, 3), 40.0)
        std[:, 0] = 0
        joints = camera.rotate_to_camera(world)
        series = PoseSeries(np.arange(N), np.arange(N) / 60, joints, HUMANEVA_15, "camera", {}, std, np.zeros(N, int))
        write_series(tmp_path / f"{name}.h5", series)
        paths.append((tmp_path / f"{name}.h5", tmp_path / f"{name}.cal"))
    return world, [poses for poses, _ in paths], [camera for _, camera in paths]


def test_two_views_that_agree_give_their_pose_in_the_world(files, tmp_path, capsys):
    world, poses, cameras = files
    fuse_command(poses, cameras, tmp_path / "fused.h5")
    fused = read_series(tmp_path / "fused.h5")
    assert fused.axes == "world"
    np.testing.assert_allclose(fused.joints, world, atol=1e-3)
    # The variance of the mean of two correlated errors is (1 + rho) / 2 of one's.
    np.testing.assert_allclose(fused.std[:, 1:], 40 * np.sqrt((1 + VIEW_CORRELATION) / 2), rtol=1e-6)
    assert f"a person in {N} of {N} frames, by 2 cameras" in capsys.readouterr().out


def test_no_input_is_replaced(files, tmp_path):
    _, poses, cameras = files
    before = poses[0].read_bytes()
    with pytest.raises(UsageError, match=r"C1\.h5: would replace what it is made from"):
        fuse_command(poses, cameras, poses[0], overwrite=True)
    assert poses[0].read_bytes() == before


def test_smoothed_on_request(files, tmp_path):
    _, poses, cameras = files
    fuse_command(poses, cameras, tmp_path / "plain.h5")
    fuse_command(poses, cameras, tmp_path / "smooth.h5", smoothed=True)
    plain, smooth = (read_series(tmp_path / f"{name}.h5").joints for name in ("plain", "smooth"))
    assert np.abs(np.diff(smooth, axis=0)).mean() < 0.5 * np.abs(np.diff(plain, axis=0)).mean()


def test_the_persons_own_bones_on_request(files, tmp_path):
    _, poses, cameras = files
    lengths = np.linspace(200, 400, 14)
    write_bone_lengths(tmp_path / "bones.csv", lengths)
    fuse_command(poses, cameras, tmp_path / "own.h5", smoothed=True, bone_lengths=tmp_path / "bones.csv")
    own = read_series(tmp_path / "own.h5")
    expected = read_bone_lengths(tmp_path / "bones.csv")
    np.testing.assert_allclose(bone_lengths(own.joints), np.broadcast_to(expected, (N, 14)), atol=1e-9)
    said = json.loads(own.provenance["fused_bone_lengths_mm"])
    assert list(said.values()) == expected.tolist()
    with pytest.raises(UsageError, match="no such file: "):
        fuse_command(poses, cameras, tmp_path / "none.h5", bone_lengths=tmp_path / "none.csv")


def test_all_faults_of_a_request_are_told_at_once(files, tmp_path):
    _, poses, cameras = files
    with pytest.raises(UsageError) as raised:
        fuse_command([poses[0], tmp_path / "none.h5"], cameras[:1], tmp_path / "no/out.txt", delay=[0.0])
    for part in ("no such file: ", "as many --calibration, found 1", "as many --delay or none, found 1", "must end in"):
        assert part in str(raised.value)
    (tmp_path / "there.h5").write_bytes(b"x")
    with pytest.raises(UsageError, match="--overwrite replaces it"):
        fuse_command(poses, cameras, tmp_path / "there.h5")


def test_inputs_of_no_known_format_are_refused(files, tmp_path):
    _, poses, cameras = files
    video = tmp_path / "clip.avi"
    video.write_bytes(b"x")
    with pytest.raises(UsageError, match=r"clip\.avi: the names of poses end in \.csv"):
        fuse_command([poses[0], video], cameras, tmp_path / "out.h5")


def test_poses_that_do_not_belong_together_are_named(files, tmp_path):
    _, poses, cameras = files
    late = read_series(poses[1])
    write_series(
        tmp_path / "late.h5",
        PoseSeries(late.frame, late.time + 60, late.joints, late.skeleton, late.axes, {}, late.std),
    )
    with pytest.raises(DataError, match=r"late\.h5"):
        fuse_files([poses[0], tmp_path / "late.h5"], cameras)
