"""Calibrations as HumanEva and OpenCV write them."""

import json

import cv2
import numpy as np
import pytest

from pose.body.cal_file import write_cal
from pose.body.camera import Camera
from pose.body.camera_file import read_camera
from pose.errors import DataError

MATRIX = np.array([[600.0, 0, 320], [0, 610, 240], [0, 0, 1]])
LENS = np.array([-0.2, 0.05, 0.001, -0.002, 0.01])


@pytest.mark.parametrize("suffix", [".yml", ".yaml", ".xml", ".json"])
@pytest.mark.parametrize("names", [("camera_matrix", "distortion_coefficients"), ("cameraMatrix", "distCoeffs")])
def test_what_opencv_writes(tmp_path, suffix, names):
    path = tmp_path / f"größe [1]{suffix}"
    plain = tmp_path / f"plain{suffix}"
    storage = cv2.FileStorage(str(plain), cv2.FILE_STORAGE_WRITE)
    storage.write(names[0], MATRIX)
    storage.write(names[1], LENS)
    storage.release()
    plain.rename(path)
    camera = read_camera(path)
    np.testing.assert_allclose(camera.matrix, MATRIX)
    np.testing.assert_allclose(camera.distortion, LENS)
    expected, _ = cv2.projectPoints(np.array([[100.0, -200, 3000]]), np.zeros(3), np.zeros(3), MATRIX, LENS)
    np.testing.assert_allclose(camera.project([100, -200, 3000]), expected.ravel(), atol=1e-9)


def test_a_cal_file(tmp_path):
    camera = Camera("C1", MATRIX, LENS, np.eye(3), np.array([1.0, 2, 3]))
    write_cal(tmp_path / "C1.CAL", camera)
    np.testing.assert_allclose(read_camera(tmp_path / "C1.CAL").translation, [1, 2, 3])


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.yml", "%YAML:1.0\n---\nother: 3\n", "holds no camera matrix"),
        ("a.json", json.dumps({"camera_matrix": [1, 2]}), "cannot be read as a calibration|holds no camera matrix"),
        ("a.yml", "no yaml at all {", "cannot be read as a calibration"),
        ("a.xml", "\xff\xfe", "cannot be read as a calibration|holds no camera"),
        ("a.cal", "1 2 3", "22"),
    ],
)
def test_faults_are_named(tmp_path, name, content, message):
    (tmp_path / name).write_text(content)
    with pytest.raises(DataError, match=rf"{name}: .*({message})"):
        read_camera(tmp_path / name)


@pytest.mark.parametrize(
    ("matrix", "lens", "message"),
    [
        (-MATRIX, LENS, "positive focal lengths"),
        (MATRIX[:2], LENS, "must be 3 x 3"),
        (MATRIX, np.arange(8.0), "must be k1 k2 p1 p2 k3"),
    ],
)
def test_a_camera_of_another_kind_is_refused(tmp_path, matrix, lens, message):
    storage = cv2.FileStorage(str(tmp_path / "a.yml"), cv2.FILE_STORAGE_WRITE)
    storage.write("K", matrix)
    storage.write("D", lens)
    storage.release()
    with pytest.raises(DataError, match=message):
        read_camera(tmp_path / "a.yml")


def test_a_missing_file(tmp_path):
    with pytest.raises(DataError, match="no such calibration"):
        read_camera(tmp_path / "none.cal")
