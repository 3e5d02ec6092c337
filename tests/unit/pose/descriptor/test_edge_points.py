"""Edge points: known lengths, even spacing, holes, and every odd mask named in the docstring."""

from __future__ import annotations

import cv2
import numpy as np
import numpy.typing as npt
import pytest

from pose.descriptor.edge_points import (
    EmptySilhouetteError,
    points_of_shape,
    sample_edges,
    split_components,
    trace_edges,
)

Points = npt.NDArray[np.float64]


def disc(radius: int, size: int = 260) -> npt.NDArray[np.uint8]:
    mask = np.zeros((size, size), np.uint8)
    cv2.circle(mask, (size // 2, size // 2), radius, 255, -1)
    return mask


def square_with_hole() -> npt.NDArray[np.uint8]:
    """Outer side 200 pixels, hole 80 wide: chains of 4 * 199 and 4 * 81 pixels, the latter less its cut corners."""
    mask = np.zeros((240, 240), np.uint8)
    mask[20:220, 20:220] = 255
    mask[80:160, 80:160] = 0
    return mask


def steps(points: Points) -> Points:
    return np.hypot(*np.diff(np.vstack([points, points[:1]]), axis=0).T)


def test_circle_is_walked_evenly() -> None:
    points = sample_edges(disc(100), 400)
    radii = np.hypot(*(points - 130).T)
    assert np.abs(radii - 99.7).max() < 0.8
    spacing = steps(points)
    assert spacing.sum() == pytest.approx(2 * np.pi * 99.7, rel=0.02)
    assert spacing.std() < 0.05 * spacing.mean()


def test_square_has_the_known_length_and_even_steps() -> None:
    mask = np.zeros((240, 240), bool)
    mask[20:220, 20:220] = True
    points = sample_edges(mask, 400)
    assert points.min() == pytest.approx(20.0)
    assert points.max() == pytest.approx(219.0)
    spacing = steps(points)
    assert np.median(spacing) == pytest.approx(4 * 199 / 400, abs=0.01)
    assert np.abs(spacing - np.median(spacing)).max() < 0.6  # only the chords across the corners are shorter


def test_outer_and_inner_contour_share_the_points_by_length() -> None:
    points = sample_edges(square_with_hole(), 400)
    inner = (np.abs(points - 119.5) < 60).all(axis=1)
    assert inner.sum() == pytest.approx(400 * 324 / (324 + 796), abs=3)
    for part in (points[inner], points[~inner]):
        assert np.median(steps(part)) == pytest.approx((324 + 796) / 400, rel=0.01)


def test_points_lie_between_pixels() -> None:
    fractions = np.mod(sample_edges(disc(50), 400), 1.0)
    assert len(np.unique(np.round(fractions, 6))) > 100


def test_a_slanted_edge_is_not_lengthened_by_its_staircase() -> None:
    mask = np.zeros((300, 300), np.uint8)
    corners = np.array([[20, 60], [240, 150], [204, 238], [-16 + 20, 150]])  # edges at about 22 degrees
    cv2.fillPoly(mask, [corners], 255)
    true = np.hypot(*np.diff(np.vstack([corners, corners[:1]]), axis=0).T).sum()
    assert steps(sample_edges(mask, 2000)).sum() == pytest.approx(true, rel=0.02)


def test_small_holes_and_other_components_are_left_out() -> None:
    mask = square_with_hole()
    clean = sample_edges(mask)
    mask[30:33, 30:33] = 0  # 16 square pixels inside the chain around it, under 0.2 % of 199 * 199
    mask[2:12, 2:12] = 255
    np.testing.assert_array_equal(np.sort(sample_edges(mask), axis=0), np.sort(clean, axis=0))


def test_all_components_on_request_without_specks() -> None:
    mask = np.zeros((200, 300), np.uint8)
    mask[20:120, 20:120] = 255
    mask[20:70, 200:250] = 255
    mask[150:155, 150:155] = 255
    assert sample_edges(mask)[:, 0].max() < 120
    points = sample_edges(mask, components="all")
    assert ((points[:, 0] >= 200) & (points[:, 0] < 250)).sum() == pytest.approx(400 * 49 / (49 + 99), abs=2)
    assert not (points[:, 1] >= 150).any()


def test_is_deterministic_and_does_not_change_the_mask() -> None:
    mask = disc(70)
    before = mask.copy()
    np.testing.assert_array_equal(sample_edges(mask), sample_edges(mask))
    np.testing.assert_array_equal(mask, before)


@pytest.mark.parametrize("shape", [(1, 1), (9, 9), (480, 640)])
def test_empty_mask_is_an_error_of_its_own(shape: tuple[int, int]) -> None:
    with pytest.raises(EmptySilhouetteError, match="no person"):
        sample_edges(np.zeros(shape))


def test_one_pixel_gives_that_pixel() -> None:
    mask = np.zeros((5, 7), bool)
    mask[3, 2] = True
    np.testing.assert_array_equal(sample_edges(mask, 10), np.full((10, 2), [2.0, 3.0]))


def test_one_line_is_walked_there_and_back() -> None:
    mask = np.zeros((5, 60), bool)
    mask[2, 10:51] = True
    points = sample_edges(mask, 80)
    assert (points[:, 1] == 2.0).all()
    assert points[:, 0].min() == pytest.approx(10.0, abs=1.5)
    assert points[:, 0].max() == pytest.approx(50.0, abs=1.5)
    assert np.median(steps(points)) == pytest.approx(
        77 / 80, abs=0.01
    )  # the filter draws each end in by 3/4 of a pixel


def test_full_mask_gives_the_frame_of_the_image() -> None:
    points = sample_edges(np.ones((40, 60), bool), 100)
    on_frame = (
        np.isclose(points[:, 0], 0)
        | np.isclose(points[:, 0], 59)
        | np.isclose(points[:, 1], 0)
        | np.isclose(points[:, 1], 39)
    )
    assert on_frame.sum() >= 90  # all but the rounded corners


def test_contours_with_fewer_pixels_than_points() -> None:
    points = sample_edges(disc(5, 20), 400)
    assert points.shape == (400, 2)
    assert steps(points).max() < 0.2


@pytest.mark.parametrize("convert", [
    lambda m: m > 0,
    lambda m: m // 255,
    lambda m: m / 255.0,
    lambda m: (m / 255.0).astype(np.float32),
    lambda m: m.astype(np.uint16) * 257,
    lambda m: m[..., None],
    lambda m: np.dstack([m, m, m]),
    lambda m: np.dstack([m, m, m, np.full_like(m, 255)]),
    lambda m: np.dstack([np.full_like(m, 90)] * 3 + [m]),
    lambda m: np.asfortranarray(m),
    lambda m: np.pad(m, 3)[3:-3, 3:-3],
], ids=["bool", "01", "float64", "float32", "uint16", "1ch", "rgb", "rgba", "cut-out", "fortran", "view"])  # fmt: skip
def test_every_kind_of_mask_gives_the_same_points(convert) -> None:  # type: ignore[no-untyped-def]
    mask = disc(60, 160)
    np.testing.assert_array_equal(sample_edges(convert(mask)), sample_edges(mask))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n_points": 0}, "n_points"),
        ({"components": "some"}, '"largest" or "all"'),
        ({"edges": "image"}, r"silhouette\+image"),
        ({"edges": "silhouette+image"}, "give both or neither"),
        ({"image": np.zeros((4, 4), np.uint8)}, "give both or neither"),
        (
            {"edges": "silhouette+image", "image": np.zeros((4, 5), np.uint8)},
            r"equally large, got \(4, 5\) and \(4, 4\)",
        ),
        ({"edges": "silhouette+image", "image": np.zeros((4, 4))}, "uint8"),
        ({"edges": "silhouette+image", "image": np.zeros((4, 4, 4), np.uint8)}, r"\(h, w, 3\)"),
        ({"mask": np.zeros(5)}, "shape"),
        ({"mask": np.zeros((3, 3, 5))}, "shape"),
        ({"mask": np.array([[0.0, np.nan]])}, "NaN"),
        ({"mask": np.ones((3, 3), complex)}, "boolean, integer or float"),
        ({"mask": np.zeros((2, 2, 2, 2))}, "shape"),
        ({"mask": np.zeros((0, 5))}, "no pixels"),
        ({"mask": np.array([["a"]])}, "boolean, integer or float"),
    ],
)
def test_bad_arguments_are_named(arguments: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        sample_edges(**{"mask": np.ones((4, 4)), **arguments})  # type: ignore[arg-type]


def test_a_very_large_mask_works() -> None:
    mask = np.zeros((8000, 8000), np.uint8)
    mask[1000:7000, 2000:6000] = 1
    points = sample_edges(mask)
    assert steps(points).sum() == pytest.approx(2 * (5999 + 3999), rel=0.01)


def test_many_holes_each_get_their_share() -> None:
    # 10 x 10 holes of 12 x 12 pixels: 13 x 13 enclosed, 0.42 % of the component, so that none is a speck. A chain
    # around a hole is 4 * 13 long less its cut corners, the outer one 4 * 199.
    mask = np.ones((200, 200), bool)
    for row in range(4, 200, 20):
        for column in range(4, 200, 20):
            mask[row : row + 12, column : column + 12] = False
    points = sample_edges(mask, 4000)
    inside = ((points > 2.5) & (points < 196.5)).all(axis=1)
    around = 4 * 12 - 4 + 4 * np.sqrt(2)
    assert inside.mean() == pytest.approx(100 * around / (100 * around + 796), abs=0.02)
    cells = {(int(x) // 20, int(y) // 20) for x, y in points[inside]}
    assert len(cells) == 100


def test_a_sieve_of_specks_has_an_outer_contour_only() -> None:
    mask = np.ones((201, 201), bool)
    mask[1::2, 1::2] = False
    np.testing.assert_array_equal(sample_edges(mask), sample_edges(np.ones((201, 201), bool)))


@pytest.mark.parametrize("threshold", [(np.array([[0, 128], [127, 255]], np.uint8), 2), (np.array([[0.5, 0.6]]), 1)])
def test_masks_that_are_not_binary_have_a_threshold(threshold: tuple[npt.NDArray[np.generic], int]) -> None:
    mask, n_foreground = threshold
    assert len(np.unique(sample_edges(np.kron(mask, np.ones((1, 1))), 40).round(), axis=0)) == n_foreground


def test_the_foreground_is_on_the_left_of_every_tangent() -> None:
    mask = square_with_hole() > 0
    points, tangents = trace_edges(mask, 400)
    np.testing.assert_array_equal(points, sample_edges(mask, 400))
    np.testing.assert_allclose(np.hypot(*tangents.T), 1.0)
    left = np.stack([tangents[:, 1], -tangents[:, 0]], axis=1)  # a quarter turn to the left, y being down
    ahead = np.rint(points + 4 * left).astype(int)
    behind = np.rint(points - 4 * left).astype(int)
    assert mask[ahead[:, 1], ahead[:, 0]].all()
    assert not mask[behind[:, 1], behind[:, 0]].any()


def test_tangents_of_a_circle_are_at_right_angles_to_its_radii() -> None:
    points, tangents = trace_edges(disc(100), 400)
    radii = (points - 130) / np.hypot(*(points - 130).T)[:, None]
    assert np.degrees(np.arcsin(np.abs((radii * tangents).sum(axis=1)))).max() < 8.0


def test_one_pixel_has_a_tangent_too() -> None:
    mask = np.zeros((5, 7), bool)
    mask[3, 2] = True
    np.testing.assert_array_equal(trace_edges(mask, 3).tangents, [[1.0, 0.0]] * 3)
    mask[3, 3] = True
    np.testing.assert_array_equal(np.abs(trace_edges(mask, 4).tangents), [[1.0, 0.0]] * 4)


def shirt() -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.uint8]]:
    """Draw a square silhouette, and a picture with an edge down its middle, one outside it, and a dot."""
    mask = np.zeros((200, 200), np.uint8)
    mask[40:161, 40:161] = 255
    image = np.full((200, 200), 60, np.uint8)
    image[:, 100:] = 200
    image[:, 180:] = 0
    image[70:73, 60:63] = 255
    return mask, image


def test_image_edges_inside_the_silhouette_on_request() -> None:
    mask, image = shirt()
    points = sample_edges(mask, 600, edges="silhouette+image", image=image)
    inner = ((points > 45) & (points < 155)).all(axis=1)
    assert inner[-inner.sum() :].all(), "image edges come last"
    assert np.abs(points[inner, 0] - 99.5).max() <= 1.5
    # From 5 pixels inside the contour on: 111 pixels of 480 + 111, as much for each pixel as the contour gets.
    assert inner.sum() == pytest.approx(600 * 111 / (480 + 111), abs=5)
    np.testing.assert_array_equal(
        points, sample_edges(mask, 600, edges="silhouette+image", image=np.dstack([image] * 3))
    )


def test_a_picture_without_edges_changes_nothing() -> None:
    mask, image = shirt()
    plain = sample_edges(mask, edges="silhouette+image", image=np.full_like(image, 90))
    np.testing.assert_array_equal(plain, sample_edges(mask))


def test_people_come_apart_largest_first() -> None:
    mask = np.zeros((200, 300), np.uint8)
    mask[20:70, 200:250] = 255
    mask[20:120, 20:120] = 255
    mask[60:80, 60:80] = 0
    mask[150:155, 150:155] = 255
    people = split_components(mask)
    assert [int(person.sum()) for person in people] == [100 * 100 - 400, 50 * 50]
    np.testing.assert_array_equal(sample_edges(people[0]), sample_edges(mask))
    with pytest.raises(EmptySilhouetteError):
        split_components(np.zeros((4, 4)))


def test_shapes_are_masks_points_or_points_with_tangents() -> None:
    edges = trace_edges(disc(50), 30)
    for given in (disc(50), edges, tuple(edges)):
        points, tangents = points_of_shape(given, 30)
        np.testing.assert_array_equal(points, edges.points)
        np.testing.assert_array_equal(tangents, edges.tangents)
    points, tangents = points_of_shape(edges.points, 30)
    assert points is edges.points
    assert tangents is None
    assert len(points_of_shape(np.ones((9, 2), bool), 30)[0]) == 30  # type: ignore[arg-type]
