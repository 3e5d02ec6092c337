"""Overlays: places worked out by hand, and pictures that drawing must leave alone."""

import numpy as np
import pytest

from pose.body.camera import Camera
from pose.body.skeleton import HUMANEVA_15, Skeleton
from pose.drawing.colours import CONTOUR_COLOUR, PAPER, SIDE_COLOURS, WARNING
from pose.drawing.contour import draw_contour
from pose.drawing.overlay import overlay_frame
from pose.drawing.panel import skeleton_panel
from pose.drawing.placement import fit_through_camera, fit_to_silhouette
from pose.drawing.skeleton import draw_skeleton

PAIR = Skeleton(("root", "left_end"), (-1, 0))


def standing():
    """A pose in camera axes, mm: 600 above the root and 900 below, arms to both sides."""
    pose = np.zeros((15, 3))
    pose[:, 1] = [0, -400, -400, -100, 150, -400, -100, 150, 0, 420, 900, 0, 420, 900, -600]
    pose[[2, 3, 4, 8, 9, 10], 0] = 150
    pose[[5, 6, 7, 11, 12, 13], 0] = -150
    return pose


def block(height=120, width=160, rows=(20, 100), columns=(60, 90)):
    mask = np.zeros((height, width), np.uint8)
    mask[slice(*rows), slice(*columns)] = 255
    return mask


def picture(height=120, width=160):
    return np.full((height, width, 3), 40, np.uint8)


def coloured(image, colour):
    """(row, column) of the pixels of exactly a colour."""
    return np.argwhere((image == colour).all(axis=2))


def test_the_contour_is_drawn_on_the_masks_edge_and_nowhere_else():
    image, mask = picture(), block()
    mask[50:70, 70:80] = 0  # a hole has an outline too
    draw_contour(image, mask)
    for row, column in ((20, 75), (99, 75), (60, 60), (60, 89), (60, 69), (60, 80)):
        assert tuple(image[row, column]) == CONTOUR_COLOUR
    changed = np.argwhere((image != 40).any(axis=2))
    edges = [row_edge for row_edge in (20, 99, 49, 70)], [column_edge for column_edge in (60, 89, 69, 80)]
    distance = np.minimum(np.abs(changed[:, :1] - edges[0]).min(axis=1), np.abs(changed[:, 1:] - edges[1]).min(axis=1))
    assert distance.max() <= 2
    assert (changed.min(axis=0) >= [18, 58]).all()
    assert (changed.max(axis=0) <= [101, 91]).all()


def test_the_poses_top_and_soles_stand_on_the_masks_rows():
    pixels = fit_to_silhouette(standing(), block(rows=(20, 100)))
    # 600 mm above the root to 80 mm below the ankles' 900: 1580 mm on the 79 rows from 20 to 99, 20 mm a row.
    assert pixels[14, 1] == pytest.approx(20)
    assert pixels[10, 1] + 80 / 20 == pytest.approx(99)
    assert pixels[0, 1] == pytest.approx(20 + 600 / 20)
    # The joints' mean column, the root's here, is that of columns 60 to 89; 150 mm are 7.5 columns.
    assert pixels[0, 0] == pytest.approx(74.5)
    assert pixels[2, 0] == pytest.approx(82)
    assert pixels[5, 0] == pytest.approx(67)


def test_columns_count_by_their_pixels():
    mask = np.zeros((50, 50), np.uint8)
    mask[0:40, 10] = 255
    mask[0:10, 20] = 1
    # 40 pixels at column 10 and 10 at column 20: mean 12.
    assert fit_to_silhouette(standing(), mask)[0, 0] == pytest.approx(12)


def test_a_bone_lies_between_its_joints_in_its_sides_colour():
    image = picture()
    draw_skeleton(image, np.array([[20.0, 30], [120, 30]]), PAIR)
    assert tuple(image[30, 70]) == SIDE_COLOURS["left"]
    assert tuple(image[30, 20]) == SIDE_COLOURS["middle"]
    assert tuple(image[30, 120]) == SIDE_COLOURS["left"]
    changed = np.argwhere((image != 40).any(axis=2))
    assert 24 <= changed[:, 0].min() < changed[:, 0].max() <= 36
    assert 14 <= changed[:, 1].min() < changed[:, 1].max() <= 126


@pytest.mark.parametrize("pixel", [np.nan, np.inf, 1e12])
def test_unknown_joints_and_their_bones_are_left_out(pixel):
    image = picture()
    draw_skeleton(image, np.array([[20.0, 30], [pixel, 30]]), PAIR)
    changed = np.argwhere((image != 40).any(axis=2))
    assert len(changed)
    assert np.abs(changed - [30, 20]).max() <= 6


def panel(pose, axes, turn=0.0):
    return skeleton_panel(pose, PAIR, (200, 100), axes=axes, turn=turn, title="")


@pytest.mark.parametrize(
    ("axes", "turn", "place", "expected"),
    [
        # (row, column) in 200 x 100 pixels; 1000 mm are half the height, so 10 mm a pixel about (100, 50).
        ("camera", 0, (300, 0, 0), (100, 80)),
        ("camera", 0, (0, 500, 0), (150, 50)),
        ("camera", 90, (0, 0, 300), (100, 80)),
        ("camera", 90, (300, 500, 0), (150, 50)),
        ("camera", 180, (300, 0, 0), (100, 20)),
        ("world", 0, (300, 0, 0), (100, 80)),
        ("world", 0, (0, 0, 500), (50, 50)),
        ("world", 0, (0, 300, -500), (150, 50)),
        ("world", 90, (0, 300, 0), (100, 80)),
    ],
)
def test_a_panels_axes(axes, turn, place, expected):
    image = panel(np.array([(0, 0, 0), place], dtype=float), axes, turn)
    assert image.shape == (200, 100, 3)
    # The end's dot is the part of the left colour that is farthest from the root, or all of it.
    left = coloured(image, SIDE_COLOURS["left"])
    reach = np.linalg.norm(left - [100, 50], axis=1)
    assert np.linalg.norm(left[reach.argmax()] - expected) <= 5
    assert tuple(image[expected]) == SIDE_COLOURS["left"]


def test_a_panel_without_a_person_says_so():
    empty, blank = panel(None, "camera"), np.full((200, 100, 3), PAPER, np.uint8)
    assert empty.shape == blank.shape
    assert not np.array_equal(empty, blank)
    for side in ("left", "right"):
        assert len(coloured(empty, SIDE_COLOURS[side])) == 0
    # The words stand about the middle row, nothing above or below.
    rows = np.argwhere((empty != blank).any(axis=2))[:, 0]
    assert 80 < rows.min() < rows.max() < 110


@pytest.mark.parametrize("axes", ["camera", "world"])
@pytest.mark.parametrize("size", [(120, 160), (121, 161)], ids=["even", "odd"])
@pytest.mark.parametrize("person", [True, False])
def test_an_overlay_is_twice_as_wide_and_leaves_its_frame_alone(axes, size, person):
    image = picture(*size)
    overlay = overlay_frame(image, block(*size), standing() if person else None, HUMANEVA_15, axes)
    assert overlay.shape == (size[0], 2 * size[1], 3)
    assert overlay.dtype == np.uint8
    assert (image == 40).all()
    left, right = overlay[:, : size[1]], overlay[:, size[1] :]
    assert tuple(left[90, 60]) == CONTOUR_COLOUR
    # Only a pose in the camera's axes can be laid onto the picture; beside it every pose is shown.
    assert (len(coloured(left, SIDE_COLOURS["left"])) > 0) == (person and axes == "camera")
    assert (len(coloured(right, SIDE_COLOURS["left"])) > 0) == person


def test_an_overlays_skeleton_stands_where_the_silhouette_is():
    overlay = overlay_frame(picture(), block(rows=(20, 100)), standing(), HUMANEVA_15, "camera")[:, :160]
    # 20 mm a pixel (see above): the left knee, 420 mm below and 150 mm beside the root, is at row 71 and column 82.
    assert tuple(overlay[71, 82]) == SIDE_COLOURS["left"]
    assert tuple(overlay[71, 67]) == SIDE_COLOURS["right"]
    assert tuple(overlay[42, 74]) == SIDE_COLOURS["middle"]


@pytest.mark.parametrize("mask", [None, np.zeros((120, 160), np.uint8)], ids=["no mask", "empty mask"])
def test_without_a_silhouette_the_picture_stays_as_it_is(mask):
    overlay = overlay_frame(picture(), mask, standing(), HUMANEVA_15, "camera")
    assert (overlay[:, :160] == 40).all()
    assert len(coloured(overlay[:, 160:], SIDE_COLOURS["left"]))


def test_the_two_panels_show_front_and_side():
    # An arm stretched towards the camera: seen from the side it is long, from the front a dot.
    pose = np.zeros((15, 3))
    pose[4, 2] = -600
    overlay = overlay_frame(picture(), None, pose, HUMANEVA_15, "camera")
    front, side = overlay[:, 160:240], overlay[:, 240:]
    # 120 rows are 2000 mm, so 600 mm are 36 columns to the left of the middle one.
    columns = [np.argwhere((view[55:66] != PAPER).any(axis=(0, 2))) for view in (front, side)]
    assert 40 - 6 <= columns[0].min() < columns[0].max() <= 40 + 6
    assert abs(columns[1].min() - (40 - 36)) <= 6
    assert columns[1].max() <= 40 + 6


def test_world_axes_are_not_called_the_cameras():
    views = [overlay_frame(picture(), None, None, HUMANEVA_15, axes)[:40, 160:] for axes in ("camera", "world")]
    assert not np.array_equal(*views)


def calibrated(angle=0.0, distortion=(0.0,) * 5):
    """A camera 1 m above the origin, turned about its y axis."""
    cosine, sine = np.cos(angle), np.sin(angle)
    rotation = np.array([[cosine, 0, -sine], [0, 1, 0], [sine, 0, cosine]])
    matrix = np.array([[800.0, 0, 320], [0, 820, 240], [0, 0, 1]])
    return Camera("C1", matrix, np.array(distortion), rotation, np.array([30.0, 1000, 200]))


@pytest.mark.parametrize("place", [(0, 0, 4000), (700, -100, 3000), (-1200, 300, 6000)])
@pytest.mark.parametrize("distortion", [(0, 0, 0, 0, 0), (-0.2, 0.1, 0.001, -0.001, 0)])
def test_a_pose_is_found_where_the_camera_saw_it(place, distortion):
    """Rows of head and soles and the joints' mean column, of a body whose place is known, give its pixels back."""
    camera, pose = calibrated(0.4, distortion), standing()
    pose[:, 2] = np.linspace(-300, 300, 15)
    seen = camera.project(camera.rotate_to_world(pose + place - camera.translation))
    lowest = pose[pose[:, 1].argmax()] + [0, 80, 0]
    sole = camera.project(camera.rotate_to_world(lowest + place - camera.translation))
    column = round(seen[:, 0].mean())
    mask = np.zeros((480, 640), np.uint8)
    mask[round(seen[:, 1].min()) : round(sole[1]) + 1, column - 2 : column + 3] = 255
    np.testing.assert_allclose(fit_through_camera(pose, mask, camera), seen, atol=2.5)


def test_a_calibrated_camera_lays_world_poses_onto_the_picture():
    camera, mask = calibrated(), block(480, 640, (100, 400), (300, 340))
    frame = picture(480, 640)
    pose = np.stack([standing()[:, 0], standing()[:, 2], -standing()[:, 1]], axis=1)  # x right, z up
    upright = Camera(
        "C1", camera.matrix, camera.distortion, np.array([[1.0, 0, 0], [0, 0, -1], [0, 1, 0]]), np.zeros(3)
    )
    drawn = overlay_frame(frame, mask, pose, HUMANEVA_15, "world", camera=upright)[:, :640]
    rows = coloured(drawn, SIDE_COLOURS["left"])[:, 0]
    assert 100 < rows.min() < rows.max() <= 400
    plain = overlay_frame(frame, mask, pose, HUMANEVA_15, "world")[:, :640]
    assert len(coloured(plain, SIDE_COLOURS["left"])) == 0


def test_standard_deviations_are_ellipses_as_wide_as_they_are():
    # 1000 mm are 500 rows; 100 mm across and 40 mm down are half axes of 50 and 20 pixels.
    pose, std = np.zeros((2, 3)), np.array([[100.0, 40, 0], [0, 0, 0]])
    arguments = {"axes": "camera", "title": ""}
    plain = skeleton_panel(pose, PAIR, (1000, 600), turn=0, **arguments)
    drawn = skeleton_panel(pose, PAIR, (1000, 600), turn=0, std=std, **arguments)
    changed = np.argwhere((plain != drawn).any(axis=2))
    np.testing.assert_allclose(changed.min(axis=0), [500 - 20, 300 - 50], atol=2)
    np.testing.assert_allclose(changed.max(axis=0), [500 + 20, 300 + 50], atol=2)
    # From the side the deviation across is that of the depth, here none.
    side = skeleton_panel(pose, PAIR, (1000, 600), turn=90, std=std, **arguments)
    changed = np.argwhere((plain != side).any(axis=2))
    assert len(changed) == 0 or np.ptp(changed[:, 1]) <= 12
    # Half way between, the squares of both are halved: 100 / sqrt(2) mm.
    half = skeleton_panel(pose, PAIR, (1000, 600), turn=45, std=std, **arguments)
    changed = np.argwhere((plain != half).any(axis=2))
    assert np.ptp(changed[:, 1]) == pytest.approx(2 * 50 / np.sqrt(2), abs=4)


def test_unknown_standard_deviations_are_left_out():
    std = np.full((15, 3), np.nan)
    plain = overlay_frame(picture(), block(), standing(), HUMANEVA_15, "camera")
    drawn = overlay_frame(picture(), block(), standing(), HUMANEVA_15, "camera", std=std)
    # All but the line that explains the ellipses, at the foot of the last panel.
    np.testing.assert_array_equal(plain[:90], drawn[:90])


@pytest.mark.parametrize("size", [(120, 160), (480, 640)])
def test_flags_are_written_into_the_picture(size):
    good, flagged = (
        overlay_frame(picture(*size), None, None, HUMANEVA_15, "camera", quality=flags) for flags in (0, 15)
    )
    changed = np.argwhere((good != flagged).any(axis=2))
    assert changed[:, 0].min() > size[0] - 40
    assert changed[:, 1].max() < size[1]
    assert np.ptp(changed[:, 1]) > size[1] / 3
    assert size[0] < 480 or len(coloured(flagged, WARNING)) > 20  # tiny letters are paler
