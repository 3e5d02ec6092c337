"""Drawing shared by all pictures of the benchmarks."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from pose.files import atomic_path

WIDTH, HEIGHT = 5.2, 4.0
"""Width and height of one panel, inches."""


def panels(rows: int, columns: int, title: str) -> tuple[Figure, list[Axes]]:
    """Return a figure of equal panels, row by row."""
    figure = Figure(figsize=(WIDTH * columns, HEIGHT * rows + 0.4), layout="constrained")
    FigureCanvasAgg(figure)
    figure.suptitle(title, fontsize=12)
    axes = [axis for line in figure.subplots(rows, columns, squeeze=False) for axis in line]
    for axis in axes:
        axis.grid(alpha=0.3)
        axis.spines[["top", "right"]].set_visible(False)
    return figure, axes


def say_nothing_measured(axis: Axes) -> None:
    """Write "not measured" into a panel without curves."""
    if not axis.has_data():
        axis.text(0.5, 0.5, "not measured", ha="center", va="center", transform=axis.transAxes, color="0.5")


def legend_below(figure: Figure, columns: int = 6) -> None:
    """Draw one legend for all panels, below them; none if nothing is drawn."""
    shown = {
        label: handle for axis in figure.axes for handle, label in zip(*axis.get_legend_handles_labels(), strict=True)
    }
    if shown:
        figure.legend(
            shown.values(), shown.keys(), loc="outside lower center", ncols=min(columns, len(shown)), frameon=False
        )


def few_markers(axis: Axes, x: np.ndarray, y: np.ndarray, label: str, colour: str) -> None:
    """Draw a curve through the finite points, with a dot at the last: where a method converged or was stopped."""
    x, y = x[np.isfinite(y)], y[np.isfinite(y)]
    if len(x) == 0:
        return
    axis.plot(x, y, label=label, color=colour, linewidth=1.6)
    axis.plot(x[-1:], y[-1:], "o", color=colour, markersize=4)


def save_figure(figure: Figure, path: Path) -> None:
    """Write a PNG, whole or not at all."""
    with atomic_path(path) as temporary:
        figure.savefig(temporary, dpi=100)
