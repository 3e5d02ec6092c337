"""The picture of the descriptor: that it shows the points, the chosen shape context and the words there are."""

from __future__ import annotations

import cv2
import numpy as np
import numpy.typing as npt
import pytest
from matplotlib.axes import Axes
from matplotlib.collections import PathCollection
from matplotlib.projections.polar import PolarAxes

from pose import EmptySilhouetteError, HistoSC, sample_edges
from pose.descriptor.picture import draw_descriptor


@pytest.fixture(scope="module")
def mask() -> npt.NDArray[np.uint8]:
    """An upright bar with a foot."""
    drawn = np.zeros((200, 120), np.uint8)
    cv2.rectangle(drawn, (40, 20), (60, 180), 255, -1)
    cv2.rectangle(drawn, (40, 160), (100, 180), 255, -1)
    return drawn


@pytest.fixture(scope="module")
def histosc(mask: npt.NDArray[np.uint8]) -> HistoSC:
    return HistoSC(n_points=120, n_words=7).fit([mask])


def dots(axes: Axes) -> list[PathCollection]:
    return [drawn for drawn in axes.collections if isinstance(drawn, PathCollection)]


def test_shows_points_wheel_words_and_histogram(mask: npt.NDArray[np.uint8], histosc: HistoSC) -> None:
    figure = draw_descriptor(mask, histosc, at=(200, 200))
    edge, wheel, _, body, bars = figure.axes
    points = sample_edges(mask, 120)
    corner = np.hypot(*(points - 200).T).argmin()
    edge_points, chosen = dots(edge)
    np.testing.assert_allclose(edge_points.get_offsets(), points)
    np.testing.assert_allclose(chosen.get_offsets(), points[[corner]])
    # The bins of the corner's shape context that hold something, and no others, are coloured.
    coloured = np.array([patch.get_facecolor()[:3] != (0.95, 0.95, 0.95) for patch in wheel.patches])
    np.testing.assert_array_equal(coloured, histosc.describe(mask)[corner] > 0)
    # A word has the same colour on the body and in the histogram.
    words = histosc.codebook_.predict(histosc.describe(mask))
    on_body = dots(body)[0].get_facecolor()
    assert len(np.unique(on_body, axis=0)) == 7
    for word, bar in enumerate(bars.patches):
        np.testing.assert_allclose(on_body[words == word] - np.array(bar.get_facecolor()), 0, atol=1e-12)
        assert bar.get_height() == pytest.approx((words == word).mean())


def test_the_wheel_is_laid_out_as_the_image_is(mask: npt.NDArray[np.uint8], histosc: HistoSC) -> None:
    wheel = draw_descriptor(mask, histosc).axes[1]
    assert wheel.get_theta_offset() == pytest.approx(np.pi / 2)  # 0 degrees are up
    assert wheel.get_theta_direction() == -1  # clockwise
    sector_one = wheel.patches[8]  # angular-major, 8 rings
    assert sector_one.get_x() == pytest.approx(np.radians(24))
    assert sector_one.get_y() == 0


def test_a_single_word_and_a_soft_histogram_can_be_drawn(mask: npt.NDArray[np.uint8]) -> None:
    for histosc in (HistoSC(n_words=1), HistoSC(n_words=5, assignment="soft", normalize="none", r_outer=200.0)):
        figure = draw_descriptor(mask, histosc.fit([mask]))
        assert sum(bar.get_height() for bar in figure.axes[4].patches) == pytest.approx(1.0)


@pytest.mark.parametrize(("at", "into"), [((20, 50), 90), ((79, 50), 270), ((50, 20), 180), ((50, 79), 0)])
def test_turned_with_the_edge_the_wheel_begins_inside_the_silhouette(at: tuple[float, float], into: int) -> None:
    """On the left side of a square the inside is on the right, 90 degrees clockwise from upwards, and so on."""
    square = np.zeros((100, 100), np.uint8)
    square[20:80, 20:80] = 1
    figure = draw_descriptor(square, HistoSC(n_words=5, rotation="tangent").fit([square]), at)
    wheel = figure.axes[1]
    assert isinstance(wheel, PolarAxes)
    assert np.cos(np.pi / 2 - wheel.get_theta_offset() - np.radians(into)) == pytest.approx(1.0, abs=1e-3)


def test_misuse_is_named(histosc: HistoSC) -> None:
    with pytest.raises(EmptySilhouetteError):
        draw_descriptor(np.zeros((9, 9)), histosc)
