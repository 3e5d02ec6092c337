"""Projection against OpenCV's, the field's reference implementation."""

import cv2
import numpy as np
import pytest

from pose.camera import Camera

ROTATION = cv2.Rodrigues(np.array([0.3, -1.1, 0.4]))[0]


def camera(skew: float = 0.0) -> Camera:
    matrix = np.array([[765.8, skew * 765.8, 299.8], [0, 765.3, 232.3], [0, 0, 1]])
    return Camera(
        "C1", matrix, np.array([-0.29, 0.11, -0.0014, 0.0011, 0.02]), ROTATION, np.array([50.0, 20.0, 4300.0])
    )


def test_projection_equals_opencvs():
    points = np.random.default_rng(0).normal(size=(200, 3)) * 600
    cam = camera()
    expected, _ = cv2.projectPoints(points, cv2.Rodrigues(cam.rotation)[0], cam.translation, cam.matrix, cam.distortion)
    np.testing.assert_allclose(cam.project(points), expected[:, 0], atol=1e-8)


def test_skew_shifts_u_by_skew_times_the_distorted_y():
    points = np.array([[100.0, -200.0, 300.0]])
    plain, skewed = camera().project(points), camera(skew=0.01).project(points)
    distorted_y = (plain[0, 1] - 232.3) / 765.3
    np.testing.assert_allclose(skewed - plain, [[0.01 * 765.8 * distorted_y, 0]], atol=1e-9)


def test_centre_stands_at_the_cameras_origin():
    cam = camera()
    np.testing.assert_allclose(cam.to_camera(cam.centre), 0, atol=1e-9)


def test_points_behind_the_camera_have_no_pixel():
    cam = camera()
    behind = cam.centre - 1000 * cam.rotation[2]
    assert np.isnan(cam.project(behind[None])).all()


def test_axes_turn_there_and_back():
    pose = np.random.default_rng(1).normal(size=(2, 15, 3))
    cam = camera()
    there = cam.rotate_to_camera(pose)
    np.testing.assert_allclose(there[1, 3], cam.rotation @ pose[1, 3])
    np.testing.assert_allclose(cam.rotate_to_world(there), pose)


@pytest.mark.parametrize("shape", [(3,), (4, 3), (2, 5, 3)])
def test_any_leading_shape(shape):
    assert camera().project(np.zeros(shape)).shape == (*shape[:-1], 2)
