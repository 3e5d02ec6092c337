"""Invariances of the shape context."""

from __future__ import annotations

import cv2
import numpy as np
import numpy.typing as npt
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from pose.descriptor.edge_points import sample_edges
from pose.descriptor.histosc import HistoSC
from pose.descriptor.matching import shape_context_distance
from pose.descriptor.shape_context import ShapeContext, shape_context

Points = npt.NDArray[np.float64]

# Multiples of 1/8 up to 64: vertical and horizontal pairs, edges and duplicates are common, and mirroring,
# shifting by integers and doubling are exact in floating point.
grid_points = st.integers(1, 40).flatmap(
    lambda n: arrays(np.int64, (n, 2), elements=st.integers(-512, 512)).map(lambda a: a / 8.0)
)
grid_edges = st.integers(1, 40).flatmap(
    lambda n: st.tuples(
        arrays(np.int64, (n, 2), elements=st.integers(-512, 512)).map(lambda a: a / 8.0),
        arrays(np.int64, (n, 2), elements=st.integers(-5, 5)).map(
            lambda a: np.where(a.any(axis=1)[:, None], a, [1, 0])
        ),
    )
)
"""Points with tangents; right angles between them are common."""
any_points = st.integers(2, 40).flatmap(
    lambda n: arrays(np.float64, (n, 2), elements=st.floats(-1e3, 1e3, allow_subnormal=False, width=32))
)


@given(points=st.one_of(grid_points, any_points))
def test_a_mirror_permutes_the_bins_exactly(points: Points) -> None:
    counts = shape_context(points).reshape(-1, 15, 8)
    mirrored = shape_context(points * [-1.0, 1.0]).reshape(-1, 15, 8)
    np.testing.assert_array_equal(mirrored, counts[:, ::-1])


@given(points=grid_points, shift=st.tuples(st.integers(-1000, 1000), st.integers(-1000, 1000)))
def test_translation_changes_nothing(points: Points, shift: tuple[int, int]) -> None:
    np.testing.assert_array_equal(shape_context(points + np.array(shift)), shape_context(points))


@given(points=grid_points, exponent=st.integers(-20, 20))
def test_scale_changes_nothing(points: Points, exponent: int) -> None:
    np.testing.assert_array_equal(shape_context(points * 2.0**exponent), shape_context(points))


@given(points=st.one_of(grid_points, any_points), seed=st.integers(0, 1000))
def test_the_order_of_points_does_not_matter(points: Points, seed: int) -> None:
    order = np.random.default_rng(seed).permutation(len(points))
    np.testing.assert_array_equal(shape_context(points[order]), shape_context(points)[order])


@given(points=st.one_of(grid_points, any_points))
def test_counts_are_halves_and_at_most_the_other_points(points: Points) -> None:
    counts = shape_context(points)
    np.testing.assert_array_equal(counts * 2, np.round(counts * 2))
    assert (counts.sum(axis=1) <= len(points) - 1).all()


@given(points=grid_points)
def test_duplicated_points_have_equal_rows(points: Points) -> None:
    twice = shape_context(np.concatenate([points, points]))
    np.testing.assert_array_equal(twice[: len(points)], twice[len(points) :])


BINNINGS = st.sampled_from(["hard", "soft"])


@given(points=st.one_of(grid_points, any_points))
def test_a_mirror_permutes_soft_bins_exactly(points: Points) -> None:
    counts = shape_context(points, binning="soft").reshape(-1, 15, 8)
    mirrored = shape_context(points * [-1.0, 1.0], binning="soft").reshape(-1, 15, 8)
    np.testing.assert_array_equal(mirrored, counts[:, ::-1])


@settings(max_examples=50)
@given(edges=grid_edges, binning=BINNINGS)
def test_a_mirror_permutes_the_bins_along_tangents_exactly(edges: tuple[Points, Points], binning: str) -> None:
    points, tangents = edges
    counts = shape_context(points, rotation="tangent", binning=binning, tangents=tangents)
    # Mirrored, and walked the other way round, so that the inside stays on the left.
    mirrored = shape_context(points * [-1.0, 1.0], rotation="tangent", binning=binning, tangents=tangents * [1.0, -1.0])
    np.testing.assert_array_equal(mirrored.reshape(-1, 15, 8), counts.reshape(-1, 15, 8)[:, ::-1])


@settings(max_examples=50)
@given(edges=grid_edges, binning=BINNINGS)
def test_a_quarter_turn_changes_nothing_along_tangents(edges: tuple[Points, Points], binning: str) -> None:
    points, tangents = edges
    counts = shape_context(points, rotation="tangent", binning=binning, tangents=tangents)
    points, tangents = (np.stack([-values[:, 1], values[:, 0]], axis=1) for values in edges)
    np.testing.assert_array_equal(shape_context(points, rotation="tangent", binning=binning, tangents=tangents), counts)


@settings(max_examples=50)
@given(edges=grid_edges, binning=BINNINGS, seed=st.integers(0, 1000))
def test_order_and_duplicates_do_not_matter_along_tangents(
    edges: tuple[Points, Points], binning: str, seed: int
) -> None:
    points, tangents = (np.concatenate([values, values]) for values in edges)
    counts = shape_context(points, rotation="tangent", binning=binning, tangents=tangents)
    np.testing.assert_array_equal(counts[: len(counts) // 2], counts[len(counts) // 2 :])
    order = np.random.default_rng(seed).permutation(len(points))
    shuffled = shape_context(points[order], rotation="tangent", binning=binning, tangents=tangents[order])
    np.testing.assert_array_equal(shuffled, counts[order])


def figure(seed: int, scale: float, shift: tuple[float, float] = (0.0, 0.0)) -> npt.NDArray[np.uint8]:
    """Draw a figure of about 180 * scale pixels with random limbs, to 1/16 of a pixel."""
    rng = np.random.default_rng(seed)
    mask = np.zeros((int(260 * scale) + 8, int(260 * scale) + 8), np.uint8)
    hip, neck = np.array([130.0, 140.0]), np.array([130.0, 80.0])
    limbs = [(hip, neck, 30.0), (neck, neck - [0, 25], 20.0)]
    for root, length in ((neck, 60), (neck, 60), (hip, 80), (hip, 80)):
        limbs.append((root, root + [rng.uniform(-50, 50), length * rng.uniform(0.6, 1.0)], 12.0))
    for start, end, width in limbs:
        along = (end - start) / np.hypot(*(end - start))
        across = np.array([-along[1], along[0]]) * width / 2
        corners = np.array([start + across, end + across, end - across, start - across]) * scale + shift
        cv2.fillPoly(mask, [np.rint(corners * 16).astype(np.int32)], 255, shift=4)
    return mask


@settings(max_examples=25)
@given(
    seed=st.integers(0, 10_000),
    scale=st.floats(1.0, 4.0),
    shift=st.tuples(st.floats(0.0, 4.0), st.floats(0.0, 4.0)),
)
def test_place_and_size_of_a_silhouette_change_what_pixels_do(
    seed: int, scale: float, shift: tuple[float, float]
) -> None:
    """The bounds that `HistoSC` and `shape_context_distance` state."""
    small, large = figure(seed, 1.0), figure(seed, scale, shift)
    assert shape_context_distance(small, large) < 0.1
    assert shape_context_distance(small, large, context=ShapeContext(binning="soft")) < 0.05
    rows = FIGURES.transform([small, large])
    assert 0.5 * np.abs(rows[0] - rows[1]).sum() < 0.2


@settings(max_examples=30)
@given(mask=arrays(np.bool_, st.tuples(st.integers(1, 24), st.integers(1, 24))), n_points=st.integers(1, 60))
def test_any_mask_with_foreground_gives_points_inside_it(mask: npt.NDArray[np.bool_], n_points: int) -> None:
    mask[0, 0] = True
    points = sample_edges(mask, n_points)
    assert points.shape == (n_points, 2)
    assert (points >= 0).all()
    assert (points <= np.array(mask.shape[::-1]) - 1).all()


@settings(max_examples=30)
@given(shift=st.tuples(st.integers(0, 40), st.integers(0, 40)))
def test_moving_a_silhouette_moves_its_points(shift: tuple[int, int]) -> None:
    figure = np.zeros((50, 40), np.uint8)
    figure[5:45, 8:30] = 255
    figure[15:25, 15:22] = 0
    moved = np.zeros((100, 90), np.uint8)
    moved[shift[1] : shift[1] + 50, shift[0] : shift[0] + 40] = figure
    np.testing.assert_allclose(sample_edges(moved), sample_edges(figure) + np.array(shift), atol=1e-9)


FIGURES = HistoSC(n_words=100).fit([figure(seed, 1.0) for seed in range(20_000, 20_020)])
SMALL = HistoSC(n_points=60, n_words=8).fit([np.random.default_rng(s).normal(size=(60, 2)) for s in range(4)])


@given(points=any_points)
def test_histograms_are_distributions(points: Points) -> None:
    (row,) = SMALL.transform([points])
    assert (row >= 0).all()
    assert abs(row.sum() - 1.0) < 1e-12
