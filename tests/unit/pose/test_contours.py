"""Edge points: known lengths, even spacing, holes, and every odd mask named in the docstring."""

from __future__ import annotations

import cv2
import numpy as np
import numpy.typing as npt
import pytest

from pose.contours import EmptySilhouetteError, sample_edges

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
