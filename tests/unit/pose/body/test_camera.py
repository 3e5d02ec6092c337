"""Projection against OpenCV's, the field's reference implementation."""

import cv2
import numpy as np
import pytest

from pose.body.camera import Camera, triangulate

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


def test_undistortion_equals_opencvs():
    pixels = np.random.default_rng(2).uniform([20, 20], [620, 460], (300, 2))
    cam = camera()
    criteria = (cv2.TERM_CRITERIA_EPS | cv2.TERM_CRITERIA_MAX_ITER, 200, 1e-14)
    undistort = getattr(cv2, "undistortPointsIter", cv2.undistortPoints)  # its name before OpenCV 5
    expected = undistort(pixels[:, None], cam.matrix, cam.distortion, R=None, P=None, criteria=criteria)
    np.testing.assert_allclose(cam.undistort(pixels), expected[:, 0], atol=1e-9)


@pytest.mark.parametrize("skew", [0.0, 0.01])
def test_back_projection_undoes_projection(skew):
    cam = camera(skew)
    points = np.random.default_rng(3).normal(size=(4, 50, 3)) * 600
    depth = cam.to_camera(points)[..., 2]
    np.testing.assert_allclose(cam.back_project(cam.project(points), depth), points, atol=1e-6)


def test_the_principal_point_looks_along_the_optical_axis():
    # Without tangential distortion the principal point is where the axis meets the picture.
    plain = camera()
    straight = Camera("C1", plain.matrix, np.array([-0.29, 0.11, 0, 0, 0]), ROTATION, plain.translation)
    np.testing.assert_allclose(straight.rays([299.8, 232.3]), ROTATION[2], atol=1e-12)
    np.testing.assert_allclose(straight.back_project([299.8, 232.3], 1000), straight.centre + 1000 * ROTATION[2])


def looking_down() -> Camera:
    """From 3 m above the origin, x right and y down in the picture towards -y of the world."""
    rotation = np.diag([1.0, -1.0, -1.0])
    matrix = np.array([[500.0, 0, 320], [0, 500, 240], [0, 0, 1]])
    return Camera("C1", matrix, np.zeros(5), rotation, np.array([0.0, 0, 3000]))


def test_pixels_meet_the_floor_where_a_hand_computation_says():
    # 50 px right of the centre: 3000 * 50 / 500 = 300 mm; at a height of 1000 mm two thirds of it.
    cam = looking_down()
    np.testing.assert_allclose(cam.back_project_to_height([[370, 240]]), [[300, 0, 0]], atol=1e-9)
    np.testing.assert_allclose(cam.back_project_to_height([370, 240], 1000), [200, 0, 1000], atol=1e-9)
    assert np.isnan(cam.back_project_to_height([370, 240], 4000)).all()  # above the camera


def test_pixels_that_the_lens_cannot_show_have_no_ray():
    # With k1 = -0.29 alone, r (1 - 0.29 r^2) has its greatest value 0.715 at r = 1.072.
    cam = Camera("C1", looking_down().matrix, np.array([-0.29, 0, 0, 0, 0]), np.eye(3), np.zeros(3))
    inside, outside = cam.undistort([[320 + 500 * 0.70, 240], [320 + 500 * 0.73, 240]])
    assert 0.9 < inside[0] < 1.072
    assert np.isnan(outside).all()
    assert np.isnan(cam.undistort([np.nan, 3.0])).all()


def test_triangulation_from_two_views_or_more():
    cams = [camera(), looking_down()]
    points = np.array([[100.0, -50, 300], [0, 0, 0], [-200, 80, 900]])
    pixels = np.stack([cam.project(points) for cam in cams])
    pixels[1, 2] = np.nan  # one view is not enough
    found = triangulate(cams, pixels)
    np.testing.assert_allclose(found[:2], points[:2], atol=1e-6)
    assert np.isnan(found[2]).all()
    with pytest.raises(ValueError, match="2 cameras need as many sets of pixels, found 1"):
        triangulate(cams, pixels[:1])


@pytest.mark.parametrize(
    ("size", "fits"),
    [((640, 480), True), ((400, 480), True), ((399, 480), False), ((640, 310), True), ((640, 309), False)],
)
def test_a_picture_fits_where_the_principal_point_is_near_its_middle(size, fits):
    # Within a quarter of the size: 299.8 <= 0.75 * 400 and 232.3 <= 0.75 * 310.
    assert camera().fits(*size) == fits
