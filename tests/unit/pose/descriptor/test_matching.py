"""Matching: costs against scikit-learn's kernel, assignment against every permutation, distances by hand."""

from __future__ import annotations

from itertools import permutations

import cv2
import numpy as np
import numpy.typing as npt
import pytest
from sklearn.metrics.pairwise import additive_chi2_kernel

from pose import EmptySilhouetteError, ShapeContext, shape_context_distance, shape_context_distances, trace_edges
from pose.descriptor.matching import chi_square_costs, match_shape_contexts

TRIANGLE = [[0.0, 0.0], [30.0, 0.0], [0.0, 40.0]]


def blob(seed: int) -> npt.NDArray[np.uint8]:
    mask = np.zeros((160, 160), np.uint8)
    corners = np.random.default_rng(seed).uniform(30, 130, (6, 2))
    cv2.fillPoly(mask, [np.rint(corners).astype(np.int32)], 255)
    cv2.circle(mask, (80, 80), 30, 255, -1)
    return mask


def test_costs_are_half_the_chi_square_of_fractions() -> None:
    rng = np.random.default_rng(0)
    first = rng.integers(0, 5, (12, 30)) * (rng.random((12, 30)) < 0.4)
    second = rng.integers(0, 5, (9, 30)) * (rng.random((9, 30)) < 0.4) * 7.0
    expected = -0.5 * additive_chi2_kernel(
        first / first.sum(axis=1, keepdims=True), second / second.sum(axis=1, keepdims=True)
    )
    np.testing.assert_allclose(chi_square_costs(first, second), expected, atol=1e-12)
    np.testing.assert_array_equal(chi_square_costs(second, first), chi_square_costs(first, second).T)


def test_costs_by_hand() -> None:
    # (1/2) [(1 - 1/4)^2 / (5/4) + (3/4)^2 / (3/4)] = (1/2) (9/20 + 15/20) = 0.6. No common bin costs 1, no count at all
    # 1/2.
    costs = chi_square_costs([[4.0, 0.0, 0.0]], [[1.0, 3.0, 0.0], [2.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, 0.0, 0.0]])
    np.testing.assert_allclose(costs, [[0.6, 0.0, 1.0, 0.5]], atol=1e-15)


def test_the_match_is_the_cheapest_of_all() -> None:
    rng = np.random.default_rng(3)
    first, second = rng.random((5, 8)), rng.random((6, 8))
    costs = chi_square_costs(first, second)
    cheapest = min(costs[range(5), list(order[:5])].mean() for order in permutations(range(6)))
    match = match_shape_contexts(first, second)
    assert match.distance == pytest.approx(cheapest)
    assert match.distance == pytest.approx(costs[match.first, match.second].mean())
    assert len(set(match.second.tolist())) == 5


def test_distance_by_hand() -> None:
    # From the ends of a horizontal pair, the other is on the right (sector 3) or on the left (11); of a vertical pair,
    # below (7) or above (0 and 14): no bin in common. With a pair tilted by 4 degrees, all bins are the same.
    horizontal = [[0.0, 0.0], [1.0, 0.0]]
    assert shape_context_distance(horizontal, [[0.0, 0.0], [0.0, 1.0]]) == pytest.approx(1.0)
    turn = np.radians(4.0)
    tilted = [[5.0, 5.0], [5.0 + 9 * np.cos(turn), 5.0 + 9 * np.sin(turn)]]
    assert shape_context_distance(horizontal, tilted) == pytest.approx(0.0, abs=1e-12)


def test_order_place_and_size_do_not_matter() -> None:
    other = [[5.0 + 3 * x, 3 * y - 7.0] for x, y in (TRIANGLE[2], TRIANGLE[0], TRIANGLE[1])]
    assert shape_context_distance(TRIANGLE, other) == pytest.approx(0.0, abs=1e-12)


def test_tangents_make_it_independent_of_rotation() -> None:
    mask = blob(4)
    turned = np.ascontiguousarray(np.rot90(mask))
    assert shape_context_distance(mask, turned, context=ShapeContext(rotation="tangent")) < 0.1
    assert shape_context_distance(mask, turned) > 0.2


def test_distances_among_shapes_and_to_references() -> None:
    shapes = [blob(seed) for seed in range(4)]
    table = shape_context_distances(shapes, n_points=40)
    np.testing.assert_array_equal(table, table.T)
    assert (table.diagonal() == 0).all()
    assert table[0, 2] == shape_context_distance(shapes[0], shapes[2], n_points=40)
    assert table[np.triu_indices(4, 1)].min() > 0.02
    np.testing.assert_allclose(shape_context_distances(shapes, shapes, n_points=40), table, atol=1e-12)
    for n_jobs in (2, 5):
        np.testing.assert_array_equal(shape_context_distances(shapes, n_points=40, n_jobs=n_jobs), table)


@pytest.mark.parametrize("rotation", ["absolute", "tangent"])
@pytest.mark.parametrize("axis", [0, 1])
def test_flips_find_a_mirrored_shape(rotation: str, axis: int) -> None:
    shapes = [blob(7), np.ascontiguousarray(np.flip(blob(7), axis))]
    context = ShapeContext(rotation=rotation)
    plain = shape_context_distances(shapes, context=context)[0, 1]
    flipped = shape_context_distances(shapes, context=context, flips=True)[0, 1]
    assert flipped < 0.5 * plain
    assert flipped < 0.1


def test_points_with_tangents_are_a_shape_too() -> None:
    context = ShapeContext(rotation="tangent")
    expected = shape_context_distance(blob(1), blob(2), 40, context)
    assert shape_context_distance(trace_edges(blob(1), 40), trace_edges(blob(2), 40), context=context) == expected


@pytest.mark.parametrize(
    ("first", "second", "message"),
    [
        ([[1.0, 2.0]], [[1.0]], "first has 2 columns, second 1"),
        ([[1.0, -2.0]], [[1.0, 2.0]], "first has values that are negative"),
        ([[1.0, 2.0]], [[1.0, np.nan]], "second has values"),
        (np.zeros((0, 2)), [[1.0, 2.0]], "non-empty"),
        ([[1.0, 2.0]], [1.0, 2.0], r"\(n, d\)"),
    ],
)
def test_bad_shape_contexts_are_named(first: npt.ArrayLike, second: npt.ArrayLike, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        match_shape_contexts(first, second)


def test_bad_shapes_are_named() -> None:
    with pytest.raises(EmptySilhouetteError, match=r"shape 1: .*no person"):
        shape_context_distances([blob(0), np.zeros((9, 9), bool)])
    with pytest.raises(ValueError, match="needs the tangents"):
        shape_context_distance(TRIANGLE, TRIANGLE, context=ShapeContext(rotation="tangent"))
