"""What is written comes back, in every format."""

import dataclasses
import re
import resource
from pathlib import Path

import numpy as np
import pytest

from pose.body.skeleton import HUMANEVA_15, HUMANEVA_20, Skeleton
from pose.errors import DataError
from pose.export import FORMATS, metadata_path, read_series, write_series
from pose.series.pose_series import PoseSeries

# mm: positions and deviations are read back within half of the last digit, C3D within a float32's.
WITHIN = {".csv": 0.005, ".npz": 0, ".h5": 0, ".hdf5": 0, ".json": 0.0005, ".trc": 5e-6, ".c3d": 3e-4}
KEEPS_STD = set(FORMATS) - {".trc"}


def check(found, given, suffix):
    assert found.skeleton == given.skeleton
    assert found.axes == given.axes
    assert found.provenance == given.provenance
    assert found.frame.tolist() == given.frame.tolist()
    assert found.frame.dtype == np.int64
    np.testing.assert_allclose(found.time, given.time, rtol=0, atol=5.1e-7)
    np.testing.assert_allclose(found.joints, given.joints, rtol=0, atol=WITHIN[suffix] + 1e-9)
    if suffix not in KEEPS_STD:
        assert (found.std, found.quality) == (None, None)
        return
    if given.std is None:
        assert found.std is None
    else:
        np.testing.assert_allclose(found.std, given.std, rtol=0, atol=WITHIN[suffix] + 1e-9)
    assert (found.quality is None) == (given.quality is None)
    assert found.quality is None or found.quality.tolist() == given.quality.tolist()


@pytest.mark.parametrize("axes", ["camera", "camera-y-up", "world", "world-y-up"])
@pytest.mark.parametrize("suffix", FORMATS)
@pytest.mark.filterwarnings("ignore:.*TRC has no place")
def test_everything_comes_back(tmp_path, suffix, axes, make_series):
    series = make_series(step=3, axes=axes)
    path = tmp_path / f"Gehen [1] – größe{suffix}"
    write_series(path, series, axes=None if suffix != ".trc" else ("native" if "y-up" not in axes else "y-up"))
    check(read_series(path), series, suffix)


@pytest.mark.parametrize("skeleton", [HUMANEVA_20, Skeleton(("Hüfte, links", 'a "b"', "top"), (1, -1, 1))])
@pytest.mark.parametrize("suffix", FORMATS)
def test_other_skeletons_and_bare_series(tmp_path, suffix, skeleton, make_series):
    series = make_series(skeleton=skeleton, std=False, quality=False)
    write_series(tmp_path / f"a{suffix}", series, axes="native")
    check(read_series(tmp_path / f"a{suffix}"), series, suffix)


@pytest.mark.parametrize("suffix", [".csv", ".npz", ".h5", ".json"])
def test_a_series_without_frames_comes_back(tmp_path, suffix, make_series):
    series = make_series(n=0)
    write_series(tmp_path / f"a{suffix}", series)
    found = read_series(tmp_path / f"a{suffix}")
    assert (len(found.frame), found.joints.shape, found.provenance) == (0, (0, 15, 3), series.provenance)


@pytest.mark.parametrize("suffix", [".trc", ".c3d"])
def test_formats_with_a_rate_refuse_a_series_without_frames(tmp_path, suffix, make_series):
    with pytest.raises(DataError, match=rf"a{suffix}: holds no frames"):
        write_series(tmp_path / f"a{suffix}", make_series(n=0))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("suffix", FORMATS)
@pytest.mark.filterwarnings("ignore:.*TRC has no place")
def test_nobody_in_any_frame(tmp_path, suffix, make_series):
    series = make_series(n=5)
    nobody = np.full_like(series.joints, np.nan)
    series = dataclasses.replace(series, joints=nobody, std=nobody, quality=np.ones(5, dtype=np.int64))
    write_series(tmp_path / f"a{suffix}", series, axes="native")
    check(read_series(tmp_path / f"a{suffix}"), series, suffix)


@pytest.mark.parametrize("suffix", [".csv", ".npz", ".h5", ".json"])
def test_uneven_times_come_back(tmp_path, suffix, make_series):
    series = make_series(n=4)
    series = dataclasses.replace(series, time=np.array([0, 0.0333, 0.0401, 0.9]), frame=np.array([0, 1, 5, 6]))
    write_series(tmp_path / f"a{suffix}", series)
    check(read_series(tmp_path / f"a{suffix}"), series, suffix)


@pytest.mark.parametrize("suffix", FORMATS)
@pytest.mark.filterwarnings("ignore:.*TRC has no place")
def test_nothing_else_is_left(tmp_path, suffix, series):
    write_series(tmp_path / f"a{suffix}", series)
    beside = {metadata_path("a.csv").name} if suffix == ".csv" else set()
    assert {path.name for path in tmp_path.iterdir()} == {f"a{suffix}", *beside}


@pytest.mark.parametrize("suffix", FORMATS)
@pytest.mark.filterwarnings("ignore:.*TRC has no place")
def test_a_folder_that_is_missing_is_named(tmp_path, suffix, series):
    path = tmp_path / "none" / f"a{suffix}"
    with pytest.raises(DataError, match=rf"none/a{suffix}: cannot be written \(No such file"):
        write_series(path, series)


@pytest.mark.parametrize("suffix", FORMATS)
@pytest.mark.filterwarnings("ignore:.*TRC has no place")
def test_what_cannot_be_written_leaves_the_old_file(tmp_path, suffix, series, monkeypatch):
    path = tmp_path / f"a{suffix}"
    path.write_text("old")

    def refuse(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", refuse)
    with pytest.raises(DataError, match=rf"a{suffix}.*: cannot be written \(No space left on device\)"):
        write_series(path, series)
    assert {p.name for p in tmp_path.iterdir()} == {path.name}
    assert path.read_text() == "old"


def test_suffixes_are_told_whatever_their_case(tmp_path, series):
    write_series(tmp_path / "a.JSON", series)
    check(read_series(tmp_path / "a.JSON"), series, ".json")
    with pytest.raises(ValueError, match=r"a\.txt: the name must end in \.csv, \.npz"):
        write_series(tmp_path / "a.txt", series)
    with pytest.raises(ValueError, match="there are no axes 'up'"):
        write_series(tmp_path / "a.csv", series, axes="up")


def test_a_series_that_no_file_can_hold_is_refused(tmp_path, series):
    with pytest.raises(ValueError, match="there are no axes 'sideways'"):
        write_series(tmp_path / "a.csv", dataclasses.replace(series, axes="sideways"))
    tab = Skeleton(("a\tb", "c"), (-1, 0))
    two = PoseSeries(np.arange(2), np.arange(2.0), np.zeros((2, 2, 3)), tab, "camera")
    for suffix in FORMATS:
        with pytest.raises(ValueError, match=r"names of joints must be text of one line, found 'a\\tb'"):
            write_series(tmp_path / f"a{suffix}", two)
    assert list(tmp_path.iterdir()) == []


def test_the_joints_of_known_skeletons_are_read_in_any_order(tmp_path, make_series):
    series = make_series(n=3, std=False, quality=False)
    order = np.random.default_rng(1).permutation(15)
    names = tuple(HUMANEVA_15.names[joint] for joint in order)
    lines = ["frame,time_s,joint,x_mm,y_mm,z_mm"]
    for frame, time, pose in zip(series.frame, series.time, series.joints[:, order], strict=True):
        lines += [f"{frame},{time},{n},{x},{y},{z}" for n, (x, y, z) in zip(names, pose, strict=True)]
    (tmp_path / "a.csv").write_text("\n".join(lines))
    with pytest.warns(UserWarning, match=r"no a\.csv-metadata\.json beside it: the axes are taken to be the camera's"):
        found = read_series(tmp_path / "a.csv")
    assert found.skeleton.names == names
    assert found.skeleton.names[found.skeleton.root] == "pelvis"
    bones = {(names[parent], names[child]) for parent, child in found.skeleton.bones}
    assert bones == {(HUMANEVA_15.names[parent], HUMANEVA_15.names[child]) for parent, child in HUMANEVA_15.bones}
    np.testing.assert_array_equal(found.joints, series.joints[:, order])


@pytest.mark.parametrize("suffix", FORMATS)
@pytest.mark.parametrize("room", [1_000, 8_000])
@pytest.mark.filterwarnings("ignore:.*TRC has no place")
def test_a_full_disk_is_noticed(tmp_path, make_series, suffix, room):
    series = make_series(n=100)
    usual = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (room, usual[1]))
    try:
        with pytest.raises(DataError, match=rf"a{re.escape(suffix)}: cannot be written \("):
            write_series(tmp_path / f"a{suffix}", series)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, usual)
    assert list(tmp_path.iterdir()) == []
