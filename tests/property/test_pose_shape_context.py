"""Invariances of the shape context."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from pose.contours import sample_edges
from pose.histosc import HistoSC
from pose.shape_context import shape_context

Points = npt.NDArray[np.float64]

# Multiples of 1/8 up to 64: vertical and horizontal pairs, edges and duplicates are common, and mirroring,
# shifting by integers and doubling are exact in floating point.
grid_points = st.integers(1, 40).flatmap(
    lambda n: arrays(np.int64, (n, 2), elements=st.integers(-512, 512)).map(lambda a: a / 8.0)
)
any_points = st.integers(2, 40).flatmap(
    lambda n: arrays(np.float64, (n, 2), elements=st.floats(-1e3, 1e3, allow_subnormal=False, width=32))
)


@settings(deadline=None)
@given(points=st.one_of(grid_points, any_points))
def test_a_mirror_permutes_the_bins_exactly(points: Points) -> None:
    counts = shape_context(points).reshape(-1, 15, 8)
    mirrored = shape_context(points * [-1.0, 1.0]).reshape(-1, 15, 8)
    np.testing.assert_array_equal(mirrored, counts[:, ::-1])


@settings(deadline=None)
@given(points=grid_points, shift=st.tuples(st.integers(-1000, 1000), st.integers(-1000, 1000)))
def test_translation_changes_nothing(points: Points, shift: tuple[int, int]) -> None:
    np.testing.assert_array_equal(shape_context(points + np.array(shift)), shape_context(points))


@settings(deadline=None)
@given(points=grid_points, exponent=st.integers(-20, 20))
def test_scale_changes_nothing(points: Points, exponent: int) -> None:
    np.testing.assert_array_equal(shape_context(points * 2.0**exponent), shape_context(points))


@settings(deadline=None)
@given(points=st.one_of(grid_points, any_points), seed=st.integers(0, 1000))
def test_the_order_of_points_does_not_matter(points: Points, seed: int) -> None:
    order = np.random.default_rng(seed).permutation(len(points))
    np.testing.assert_array_equal(shape_context(points[order]), shape_context(points)[order])


@settings(deadline=None)
@given(points=st.one_of(grid_points, any_points))
def test_counts_are_halves_and_at_most_the_other_points(points: Points) -> None:
    counts = shape_context(points)
    np.testing.assert_array_equal(counts * 2, np.round(counts * 2))
    assert (counts.sum(axis=1) <= len(points) - 1).all()


@settings(deadline=None)
@given(points=grid_points)
def test_duplicated_points_have_equal_rows(points: Points) -> None:
    twice = shape_context(np.concatenate([points, points]))
    np.testing.assert_array_equal(twice[: len(points)], twice[len(points) :])


@settings(deadline=None, max_examples=30)
@given(mask=arrays(np.bool_, st.tuples(st.integers(1, 24), st.integers(1, 24))), n_points=st.integers(1, 60))
def test_any_mask_with_foreground_gives_points_inside_it(mask: npt.NDArray[np.bool_], n_points: int) -> None:
    mask[0, 0] = True
    points = sample_edges(mask, n_points)
    assert points.shape == (n_points, 2)
    assert (points >= 0).all()
    assert (points <= np.array(mask.shape[::-1]) - 1).all()


@settings(deadline=None, max_examples=30)
@given(shift=st.tuples(st.integers(0, 40), st.integers(0, 40)))
def test_moving_a_silhouette_moves_its_points(shift: tuple[int, int]) -> None:
    figure = np.zeros((50, 40), np.uint8)
    figure[5:45, 8:30] = 255
    figure[15:25, 15:22] = 0
    moved = np.zeros((100, 90), np.uint8)
    moved[shift[1] : shift[1] + 50, shift[0] : shift[0] + 40] = figure
    np.testing.assert_allclose(sample_edges(moved), sample_edges(figure) + np.array(shift), atol=1e-9)


SMALL = HistoSC(n_points=60, n_words=8).fit([np.random.default_rng(s).normal(size=(60, 2)) for s in range(4)])


@settings(deadline=None)
@given(points=any_points)
def test_histograms_are_distributions(points: Points) -> None:
    (row,) = SMALL.transform([points])
    assert (row >= 0).all()
    assert abs(row.sum() - 1.0) < 1e-12
