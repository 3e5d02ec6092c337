"""A picture of the descriptor: edge points, a shape context as a log-polar wheel, words on the body, the histogram."""

from __future__ import annotations

from colorsys import hsv_to_rgb

import numpy as np
import numpy.typing as npt
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.cm import ScalarMappable
from matplotlib.collections import LineCollection
from matplotlib.colors import ListedColormap, Normalize
from matplotlib.figure import Figure
from matplotlib.projections.polar import PolarAxes
from matplotlib.ticker import MaxNLocator

from pose.descriptor.edge_points import trace_edges
from pose.descriptor.histosc import HistoSC
from pose.descriptor.shape_context import radial_edges
from pose.silhouette.masks import as_mask
from pose.types import BoolArray, Float32Array, FloatArray, Int32Array

INK = "#303030"
"""Colour of text and edge points."""
ACCENT = "#C8340C"
"""Colour of the point whose shape context is shown."""
_BODY = ListedColormap(["#FFFFFF00", "#DCDCDC"])
"""Colours of a mask's background (transparent) and foreground."""
_HEAT = ListedColormap(colormaps["YlOrRd"](np.linspace(0.15, 1.0, 256)))
"""Colours of the counts in the wheel's bins."""
_EMPTY_BIN = (0.95, 0.95, 0.95, 1.0)
"""Colour of a bin without points, red, green, blue, opacity, 0 to 1 each."""
_MARGIN = 0.10
"""Margin around the silhouette, as a share of the larger of its width and height."""
_RIM = 0.35
"""Width of the rim outside the outermost ring, in rings; the wheel's labels stand there."""


def draw_descriptor(mask: npt.ArrayLike, histosc: HistoSC, at: tuple[float, float] | None = None) -> Figure:
    """Draw how a silhouette becomes a histogram.

    Parameters
    ----------
    mask
        As for :func:`pose.sample_edges`.
    histosc
        A fitted transformer. With ``rotation="tangent"`` the wheel is turned with the edge, so that its bins lie as in
        the picture; 0 degrees are then to the left of the edge's direction, into the silhouette.
    at
        x and y of a place, pixels. The shape context of the nearest edge point is shown; by default, that of the point
        with most bins in use.

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    EmptySilhouetteError, ValueError
        As :meth:`pose.HistoSC.describe`.
    """
    foreground = as_mask(mask)
    edges = trace_edges(foreground, histosc.n_points, histosc.components)
    points = edges.points
    contexts = histosc.describe(edges)
    words = histosc.codebook_.predict(contexts)
    chosen = _choose(points, contexts, at)
    colours = _word_colours(histosc.codebook_.centers_, words)

    figure = Figure(figsize=(11, 6.2), layout="constrained")
    FigureCanvasAgg(figure)
    figure.get_layout_engine().set(w_pad=0.08, h_pad=0.06)  # type: ignore[union-attr, call-arg]
    grid = figure.add_gridspec(2, 3, height_ratios=(4.2, 1), width_ratios=(1, 1.35, 1))
    turned = _turn(edges.tangents[chosen]) if histosc.rotation == "tangent" else 0.0
    _draw_points(figure.add_subplot(grid[0, 0]), foreground, points, chosen, histosc, turned)
    wheel = figure.add_subplot(grid[0, 1], projection="polar")
    assert isinstance(wheel, PolarAxes)
    _draw_wheel(figure, wheel, contexts[chosen] * (len(points) - 1), histosc, turned)
    _draw_words(figure.add_subplot(grid[0, 2]), foreground, points, words, colours)
    _draw_histogram(figure.add_subplot(grid[1, :]), histosc.codebook_.histogram(contexts, histosc.assignment), colours)
    return figure


def _turn(tangent: FloatArray) -> float:
    """Direction of 0 degrees, which is to the left of a tangent (2,): radians clockwise from upwards."""
    return float(np.arctan2(tangent[1], tangent[0]))


def _choose(points: FloatArray, contexts: Float32Array, at: tuple[float, float] | None) -> int:
    if at is None:
        return int(np.count_nonzero(contexts, axis=1).argmax())
    return int(np.hypot(*(points - np.array(at)).T).argmin())


def _word_colours(centers: Float32Array, words: Int32Array) -> dict[int, tuple[float, ...]]:
    """A colour for each word that occurs: similar words have neighbouring hues."""
    used = np.unique(words)
    spread = centers[used] - centers[used].mean(axis=0, dtype=np.float64)
    _, _, axes = np.linalg.svd(spread, full_matrices=False)
    plane = np.pad(spread @ axes[:2].T, ((0, 0), (0, 2)))  # a single word has one axis
    order = np.argsort(np.arctan2(plane[:, 1], plane[:, 0]), kind="stable")
    return {
        int(used[word]): hsv_to_rgb(rank / len(used), 0.85, 0.92 if rank % 2 else 0.68)
        for rank, word in enumerate(order)
    }


def _silhouette(axes: Axes, foreground: BoolArray, points: FloatArray, title: str) -> None:
    """Set up a panel: the mask in grey, cropped to the points and a margin."""
    axes.imshow(foreground, cmap=_BODY, vmin=0, vmax=1, interpolation="nearest")
    low, high = points.min(axis=0), points.max(axis=0)
    margin = max(_MARGIN * float((high - low).max()), 2.0)
    axes.set_xlim(low[0] - margin, high[0] + margin)
    axes.set_ylim(high[1] + margin, low[1] - margin)
    axes.set_axis_off()
    axes.set_title(title, fontsize=11, color=INK)


def _draw_points(
    axes: Axes, foreground: BoolArray, points: FloatArray, chosen: int, histosc: HistoSC, turned: float
) -> None:
    """Draw the edge points, and the bins around the chosen one."""
    _silhouette(axes, foreground, points, f"{len(points)} edge points")
    offsets = points[:, None, :] - points[None, :, :]
    unit = 1.0
    if histosc.normalize == "mean_distance":
        unit = float(np.hypot(offsets[..., 0], offsets[..., 1]).sum() / max(len(points) * (len(points) - 1), 1))
    radii = unit * radial_edges(histosc.n_radial, histosc.r_inner, histosc.r_outer)
    turn = np.linspace(0, 2 * np.pi, 181)
    circles = [points[chosen] + r * np.stack([np.sin(turn), -np.cos(turn)], axis=1) for r in radii]
    spokes = turned + 2 * np.pi * np.arange(histosc.n_angular) / histosc.n_angular
    ends = np.stack([np.sin(spokes), -np.cos(spokes)], axis=1)
    rays = [np.stack([points[chosen], points[chosen] + radii[-1] * end]) for end in ends]
    axes.add_collection(LineCollection([*circles, *rays], colors=ACCENT, linewidths=0.7, alpha=0.55))
    axes.scatter(points[:, 0], points[:, 1], s=3.5, color=INK, linewidths=0, zorder=2)
    axes.scatter(points[chosen, 0], points[chosen, 1], s=46, color=ACCENT, edgecolors="white", zorder=3)


def _draw_wheel(figure: Figure, axes: PolarAxes, counts: Float32Array, histosc: HistoSC, turned: float) -> None:
    """Draw one shape context, oriented as in the image; rings are equally wide, as they are in log radius."""
    axes.set_theta_zero_location("N", offset=-np.degrees(turned))
    axes.set_theta_direction(-1)
    shades = ScalarMappable(Normalize(0, max(float(counts.max()), 1.0)), _HEAT)
    width = 2 * np.pi / histosc.n_angular
    sector, ring = np.divmod(np.arange(len(counts)), histosc.n_radial)
    colours = np.where((counts > 0)[:, None], shades.to_rgba(counts), _EMPTY_BIN)
    axes.bar(sector * width, 1, width, ring, align="edge", color=colours, edgecolor="white", linewidth=0.7)
    axes.set_ylim(0, histosc.n_radial + _RIM)
    axes.grid(visible=False)
    turns = np.arange(histosc.n_angular) * width
    axes.set_xticks(turns, [f"{np.degrees(turn):.0f}°" for turn in turns], fontsize=7, color=INK)
    axes.tick_params(pad=-1)
    axes.set_yticks([])
    axes.spines["polar"].set_visible(False)
    axes.scatter([0], [0], s=46, color=ACCENT, edgecolors="white", zorder=3)
    axes.set_title("one point's shape context", fontsize=11, color=INK, pad=12)
    unit = "mean distances" if histosc.normalize == "mean_distance" else "pixels"
    axes.text(
        0.5,
        -0.11,
        f"rings up to {histosc.r_inner:g} ... {histosc.r_outer:g} {unit}, log-spaced",
        transform=axes.transAxes,
        ha="center",
        fontsize=8,
        color=INK,
    )
    bar = figure.colorbar(shades, ax=axes, shrink=0.55, pad=0.06, ticks=MaxNLocator(5, integer=True))
    bar.set_label("other points in a bin", fontsize=8, color=INK)
    bar.ax.tick_params(labelsize=7)
    bar.outline.set_visible(False)


def _draw_words(
    axes: Axes,
    foreground: BoolArray,
    points: FloatArray,
    words: Int32Array,
    colours: dict[int, tuple[float, ...]],
) -> None:
    _silhouette(axes, foreground, points, "the word of each point")
    axes.scatter(points[:, 0], points[:, 1], s=20, color=[colours[int(word)] for word in words], linewidths=0)


def _draw_histogram(axes: Axes, histogram: FloatArray, colours: dict[int, tuple[float, ...]]) -> None:
    """Draw the share of each word; a word that is nearest to no point is grey."""
    bars = [colours.get(word, (0.7, 0.7, 0.7)) for word in range(len(histogram))]
    axes.bar(np.arange(len(histogram)), histogram, width=0.9, color=bars)
    axes.set_title(f"the histogram of the {len(histogram)} words describes the silhouette", fontsize=11, color=INK)
    axes.set_xlim(-0.6, len(histogram) - 0.4)
    axes.set_xticks([])
    axes.yaxis.set_major_locator(MaxNLocator(3))
    axes.tick_params(labelsize=7, colors=INK)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
