"""The layout of CSV and HDF5, read back by csv and h5py."""

import csv
import json
import math

import h5py
import numpy as np
import pytest

from pose.body.skeleton import HUMANEVA_15, Skeleton
from pose.export import write_csv, write_hdf5
from pose.series.pose_series import PoseSeries


@pytest.fixture
def series():
    """Three frames with a gap in their numbers; nobody in the second."""
    joints = np.random.default_rng(0).normal(size=(3, 15, 3)) * 300
    joints[:, 0] = 0
    joints[1] = np.nan
    provenance = {"model": "a.h5", "video": "größe (C1).avi", "software": "gbcd-pose 0.1.0"}
    return PoseSeries(np.array([4, 5, 9]), np.array([4, 5, 9]) / 60, joints, HUMANEVA_15, "camera", provenance)


def test_found_marks_the_frames_that_show_somebody(series):
    assert series.found.tolist() == [True, False, True]


def test_csv_holds_a_row_a_frame_and_joint(tmp_path, series):
    write_csv(tmp_path / "a.csv", series)
    with (tmp_path / "a.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0]) == ["frame", "time_s", "joint", "x_mm", "y_mm", "z_mm"]
    assert [row["frame"] for row in rows] == ["4"] * 15 + ["5"] * 15 + ["9"] * 15
    assert [row["joint"] for row in rows] == list(HUMANEVA_15.names) * 3
    np.testing.assert_allclose([float(row["time_s"]) for row in rows[::15]], [4 / 60, 5 / 60, 9 / 60], atol=5e-7)
    for row, position in zip(rows, series.joints.reshape(-1, 3), strict=True):
        texts = [row["x_mm"], row["y_mm"], row["z_mm"]]
        if math.isnan(position[0]):
            assert texts == ["", "", ""]
        else:
            np.testing.assert_allclose([float(text) for text in texts], position, atol=0.005 + 1e-9)


def test_csv_text_is_as_documented(tmp_path):
    two = Skeleton(("root", "left_end"), (-1, 0))
    joints = np.array([[[0, 0, 0], [1.5, -200.125, 1000]], np.full((2, 3), np.nan)])
    write_csv(tmp_path / "a.csv", PoseSeries(np.array([0, 1]), np.array([0, 1 / 60]), joints, two, "world"))
    assert (tmp_path / "a.csv").read_text().splitlines() == [
        "frame,time_s,joint,x_mm,y_mm,z_mm",
        "0,0.000000,root,0.00,0.00,0.00",
        "0,0.000000,left_end,1.50,-200.12,1000.00",
        "1,0.016667,root,,,",
        "1,0.016667,left_end,,,",
    ]


@pytest.mark.parametrize("axes", ["camera", "world"])
def test_hdf5_holds_the_arrays_and_what_they_mean(tmp_path, series, axes):
    series = PoseSeries(series.frame, series.time, series.joints, HUMANEVA_15, axes, series.provenance)
    write_hdf5(tmp_path / "a.h5", series)
    with h5py.File(tmp_path / "a.h5", "r") as file:
        assert set(file) == {"frame", "time", "joints", "found"}
        assert file["frame"][()].tolist() == [4, 5, 9]
        np.testing.assert_array_equal(file["time"][()], np.array([4, 5, 9]) / 60)
        np.testing.assert_array_equal(file["joints"][()], series.joints)
        assert np.isnan(file["joints"][1]).all()
        assert file["found"][()].tolist() == [True, False, True]
        assert file["time"].attrs["unit"] == "s"
        attributes = file["joints"].attrs
        assert attributes["unit"] == "mm"
        assert attributes["axes"] == axes
        assert attributes["origin"] == "pelvis"
        assert tuple(json.loads(attributes["names"])) == HUMANEVA_15.names
        assert attributes["parents"].tolist() == [-1, 0, 1, 2, 3, 1, 5, 6, 0, 8, 9, 0, 11, 12, 1]
        assert dict(file.attrs) == {"format": "pose-series", "format_version": 1, **series.provenance}


def test_the_origin_is_the_skeletons_own_root(tmp_path):
    skeleton = Skeleton(("left_end", "centre"), (1, -1))
    write_hdf5(tmp_path / "a.h5", PoseSeries(np.array([0]), np.zeros(1), np.zeros((1, 2, 3)), skeleton, "world"))
    with h5py.File(tmp_path / "a.h5", "r") as file:
        assert file["joints"].attrs["origin"] == "centre"


@pytest.mark.parametrize("write", [write_csv, write_hdf5])
def test_a_missing_folder_is_named(tmp_path, series, write):
    with pytest.raises(FileNotFoundError, match="none"):
        write(tmp_path / "none" / "a.out", series)
