"""The bins of the shape context, by hand and against a reference written from the definition."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
from descriptor_by_definition import shape_contexts, soft_shape_contexts
from sklearn.base import clone

from pose.descriptor.shape_context import ShapeContext, radial_edges, shape_context

N_RADIAL = 8


def column(sector: int, ring: int) -> int:
    return sector * N_RADIAL + ring


def nonzero(row: npt.NDArray[np.float32]) -> dict[int, float]:
    return {int(k): float(row[k]) for k in np.flatnonzero(row)}


def test_radial_edges_are_log_spaced_and_include_both_ends() -> None:
    edges = radial_edges()
    np.testing.assert_allclose(edges, (1 / 8) * 2.0 ** (np.arange(8) * 4 / 7), rtol=1e-14)
    assert radial_edges(1).tolist() == [2.0]


def test_horizontal_pair_by_hand() -> None:
    # The mean distance is the only distance, so r = 1. Upper edges: 0.125 0.186 0.276 0.410 0.610 0.906 1.346 2:
    # ring 6. To the right: 90 degrees, sector 3 (72..96). To the left: 270 degrees, sector 11 (264..288).
    counts = shape_context([[10.0, 5.0], [17.0, 5.0]])
    assert nonzero(counts[0]) == {column(3, 6): 1.0}
    assert nonzero(counts[1]) == {column(11, 6): 1.0}


def test_vertical_pair_by_hand() -> None:
    # y is down. From (0, 0), the other point is straight below: 180 degrees, inside sector 7 (168..192).
    # From (0, 3), it is straight above: 0 degrees, an edge: half in sector 0, half in sector 14.
    counts = shape_context([[0.0, 0.0], [0.0, 3.0]])
    assert nonzero(counts[0]) == {column(7, 6): 1.0}
    assert nonzero(counts[1]) == {column(0, 6): 0.5, column(14, 6): 0.5}


def test_three_points_by_hand() -> None:
    # A(0,0), B(30,0), C(0,40): distances 30, 40, 50, mean 40; r = 0.75 (ring 5), 1 (ring 6), 1.25 (ring 6).
    # A: B at 90 degrees (sector 3), C below (sector 7). B: A at 270 (sector 11); C left and down: the angle to the
    # downward vertical is atan(30/40) = 36.87, so 180 + 36.87 = 216.87 (sector 9). C: A above (0, 14); B at 36.87 (1).
    counts = shape_context([[0.0, 0.0], [30.0, 0.0], [0.0, 40.0]])
    assert nonzero(counts[0]) == {column(3, 5): 1.0, column(7, 6): 1.0}
    assert nonzero(counts[1]) == {column(11, 5): 1.0, column(9, 6): 1.0}
    assert nonzero(counts[2]) == {column(0, 6): 0.5, column(14, 6): 0.5, column(1, 6): 1.0}


def test_pairs_beyond_the_outer_radius_are_not_counted() -> None:
    # Nine points within 1 of the origin and one at 100: for the far one everything is beyond 2 mean distances (40).
    near = [[0.1 * k, 0.05 * k * k] for k in range(9)]
    counts = shape_context([*near, [100.0, 0.0]])
    assert counts[-1].sum() == 0.0
    assert (counts[:-1].sum(axis=1) == 8.0).all()
    assert np.flatnonzero(counts[0])[0] % N_RADIAL == 0, "near pairs belong to the innermost ring, open to 0"


def test_a_pair_on_a_radial_edge_belongs_to_the_ring_inside() -> None:
    counts = shape_context([[0.0, 0.0], [2.0, 0.0]], normalize="none")
    assert nonzero(counts[0]) == {column(3, 7): 1.0}
    counts = shape_context([[0.0, 0.0], [0.125, 0.0]], normalize="none")
    assert nonzero(counts[0]) == {column(3, 0): 1.0}


@pytest.mark.parametrize("k", range(15))
def test_pairs_on_every_angular_edge_count_half_in_each_neighbour(k: int) -> None:
    turn = np.radians(24.0 * k)
    points = np.array([[0.0, 0.0], [np.sin(turn), -np.cos(turn)]])
    assert nonzero(shape_context(points)[0]) == {column((k - 1) % 15, 6): 0.5, column(k, 6): 0.5}


@pytest.mark.parametrize(("offset", "on_edge"), [(5e-10, True), (-5e-10, True), (2e-9, False), (-2e-9, False)])
def test_the_tolerance_of_an_edge_is_1e_9_radians(offset: float, on_edge: bool) -> None:
    turn = np.radians(48.0) + offset
    row = shape_context([[0.0, 0.0], [np.sin(turn), -np.cos(turn)]])[0]
    expected = {column(1, 6): 0.5, column(2, 6): 0.5} if on_edge else {column(2 if offset > 0 else 1, 6): 1.0}
    assert nonzero(row) == expected


def some_points(seed: int) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Points and tangents; every other set on a grid: vertical pairs, coincident points, ties of distance."""
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(70, 2)) * [3.0, 7.0]
    tangents = rng.normal(size=(70, 2))
    if seed % 2:
        tangents = np.array([[0, 1], [1, 0], [-3, 4], [5, 12]])[rng.integers(0, 4, 70)]
    return (np.round(points) if seed % 2 else points), tangents


@pytest.mark.parametrize("seed", range(6))
def test_agrees_with_the_definition_to_the_last_count(seed: int) -> None:
    points, tangents = some_points(seed)
    np.testing.assert_array_equal(shape_context(points), shape_contexts(points))
    turned = shape_context(points, rotation="tangent", tangents=tangents)
    np.testing.assert_array_equal(turned, shape_contexts(points, tangents))


@pytest.mark.parametrize("seed", range(4))
def test_soft_bins_agree_with_the_definition_within_their_steps(seed: int) -> None:
    points, tangents = some_points(seed)
    for rotation, axes in (("absolute", None), ("tangent", tangents)):
        counts = shape_context(points, rotation=rotation, tangents=axes, binning="soft")
        # A share is rounded to 1/1024 in angle and in radius: at most 1/1024 of a pair in all, and 69 pairs.
        np.testing.assert_allclose(counts, soft_shape_contexts(points, axes), atol=69 / 1024)
        assert np.abs(counts - soft_shape_contexts(points, axes)).mean() < 5e-4
        hard = shape_context(points, rotation=rotation, tangents=axes)
        np.testing.assert_allclose(counts.sum(axis=1), hard.sum(axis=1), rtol=1e-6)


def test_soft_bins_by_hand() -> None:
    # One mean distance to the right: 90 degrees are 3.75 sectors, a quarter beyond the centre of sector 3. In log
    # radius 1 is log2(8) / (4/7) = 5.25 rings beyond the innermost edge, so 0.25 beyond the edge between rings 5 and 6,
    # which have their centres half a ring inside and outside of it: 1/4 and 3/4.
    counts = shape_context([[0.0, 0.0], [1.0, 0.0]], binning="soft")
    assert nonzero(counts[0]) == {
        column(3, 5): 0.75 * 0.25,
        column(4, 5): 0.25 * 0.25,
        column(3, 6): 0.75 * 0.75,
        column(4, 6): 0.25 * 0.75,
    }


@pytest.mark.parametrize(("radius", "shares"), [(1e-6, {0: 1.0}), (2.0, {7: 1.0}), (2.1, {})])
def test_soft_bins_end_where_the_rings_do(radius: float, shares: dict[int, float]) -> None:
    # Straight below: 180 degrees are the centre of sector 7.
    counts = shape_context([[0.0, 0.0], [0.0, radius]], normalize="none", binning="soft")
    assert nonzero(counts[0]) == {column(7, ring): share for ring, share in shares.items()}


def test_tangents_turn_the_axes_by_hand() -> None:
    # The tangent takes the place of the x axis. Along (0, 1), downward, "left of the tangent" is the image's right: a
    # point on the right has 0 degrees, an edge; a point above lies behind, at 270, sector 11.
    points = [[0.0, 0.0], [10.0, 0.0]]
    counts = shape_context(points, rotation="tangent", tangents=[[0.0, 1.0], [-2.0, 0.0]])
    assert nonzero(counts[0]) == {column(14, 6): 0.5, column(0, 6): 0.5}
    # From the right-hand point, the other lies along its tangent (-1, 0): ahead, at 90 degrees, sector 3.
    assert nonzero(counts[1]) == {column(3, 6): 1.0}
    above = shape_context([[0.0, 0.0], [0.0, -10.0]], rotation="tangent", tangents=[[0.0, 1.0], [1.0, 0.0]])
    assert nonzero(above[0]) == {column(11, 6): 1.0}


def test_horizontal_tangents_change_nothing() -> None:
    points, _ = some_points(1)
    counts = shape_context(points, rotation="tangent", tangents=np.tile([3.0, 0.0], (70, 1)))
    np.testing.assert_array_equal(counts, shape_context(points))


@pytest.mark.parametrize(
    ("tangents", "message"),
    [
        (None, "needs the tangents"),
        ([[1.0, 0.0]], r"shape of the points, \(2, 2\), got \(1, 2\)"),
        ([[1.0, 0.0], [0.0, 0.0]], "longer than 0"),
        ([[1.0, 0.0], [0.0, np.nan]], "finite"),
    ],
)
def test_bad_tangents_are_named(tangents: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        shape_context([[0.0, 0.0], [1.0, 0.0]], rotation="tangent", tangents=tangents)  # type: ignore[arg-type]


def test_coincident_points_are_not_counted() -> None:
    assert not shape_context(np.zeros((5, 2))).any()
    assert not shape_context(np.zeros((5, 2)), binning="soft").any()
    counts = shape_context([[0.0, 0.0], [0.0, 0.0], [1.0, 0.0]])
    assert counts.sum(axis=1).tolist() == [1.0, 1.0, 2.0]


def test_one_point_has_a_row_of_zeros() -> None:
    counts = shape_context([[3.0, 4.0]])
    assert counts.shape == (1, 120)
    assert not counts.any()


@pytest.mark.parametrize(("n_angular", "n_radial"), [(12, 5), (1, 1), (2, 3), (7, 1)])
def test_other_numbers_of_bins(n_angular: int, n_radial: int) -> None:
    points = np.random.default_rng(1).normal(size=(40, 2))
    counts = shape_context(points, n_angular, n_radial, r_outer=100.0)
    assert counts.shape == (40, n_angular * n_radial)
    assert (counts.sum(axis=1) == 39.0).all()
    mirrored = shape_context(points * [-1.0, 1.0], n_angular, n_radial, r_outer=100.0)
    both = (a.reshape(40, n_angular, n_radial) for a in (counts, mirrored[:]))
    np.testing.assert_array_equal(next(both)[:, ::-1], next(both))


@pytest.mark.parametrize(
    ("points", "message"),
    [
        (np.zeros((3, 3)), r"shape \(n, 2\)"),
        (np.zeros((0, 2)), "empty"),
        ([[0.0, np.nan]], "NaN"),
        ([["a", "b"]], "numbers"),
    ],
)
def test_bad_points_are_named(points: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        shape_context(points)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n_angular": 0}, "n_angular"),
        ({"n_radial": 0}, "n_radial"),
        ({"r_inner": 2.0, "r_outer": 1.0}, "r_inner"),
        ({"normalize": "median"}, "mean_distance, none"),
        ({"rotation": "up"}, "absolute, tangent"),
        ({"binning": "fuzzy"}, "hard, soft"),
    ],
)
def test_bad_parameters_are_named(arguments: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        shape_context([[0.0, 0.0], [1.0, 1.0]], **arguments)  # type: ignore[arg-type]


def test_transformer_describes_sets_of_any_size_and_says_which_one_failed() -> None:
    transformer = clone(ShapeContext(n_angular=12)).fit()
    sets = [np.random.default_rng(k).normal(size=(k + 2, 2)) for k in range(3)]
    described = transformer.transform(sets)
    assert [d.shape for d in described] == [(2, 96), (3, 96), (4, 96)]
    assert transformer.get_feature_names_out()[9] == "angle1_radius1"
    turned = ShapeContext(rotation="tangent").transform([(sets[0], np.ones((2, 2)))])
    np.testing.assert_array_equal(turned[0], shape_context(sets[0], rotation="tangent", tangents=np.ones((2, 2))))
    with pytest.raises(ValueError, match="point set 1: points is empty"):
        transformer.transform([sets[0], np.zeros((0, 2))])


@pytest.mark.parametrize("unit", [2.0**1000, 2.0**-1000])
def test_a_unit_of_any_size_leaves_the_counts_as_they_are(unit: float) -> None:
    points = np.random.default_rng(0).random((40, 2))
    np.testing.assert_array_equal(shape_context(points * unit), shape_context(points))
