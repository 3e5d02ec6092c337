"""The picture of an evaluation: examples, errors and their distribution, coverage of intervals."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure, SubFigure

from pipelines.evaluation.evaluate import LEVELS, METHODS, Evaluation
from pipelines.evaluation.tables import LABELS
from pose.body.skeleton import Skeleton
from pose.files import atomic_path
from pose.types import FloatArray

# Colours by Okabe and Ito, which colour-blind readers tell apart too.
METHOD_COLOURS = {"gbcd": "#009E73", "mpgp": "#CC79A7", "mean_pose": "#B0B0B0"}


# Hues of the overlay video, distinct from those of the methods.
SIDE_COLOURS = {"left": "#E68200", "right": "#0072B2", "middle": "#6E6E6E"}


TRUE_POSE_COLOUR = "#C8C8C8"


_EXAMPLES = (0.02, 0.25, 0.5, 0.75, 0.98)
"""Quantiles of the error, from best to worst, at which a frame is drawn."""


def save_picture(path: Path, evaluation: Evaluation) -> None:
    """Draw, as PNG, frames from best to worst, errors by action and joint, their distribution, and coverage."""
    figure = Figure(figsize=(13, 9), layout="constrained")
    FigureCanvasAgg(figure)
    means = evaluation.means()
    grid = figure.add_gridspec(2, 1, height_ratios=(1, 1.15))
    figure.suptitle(
        f"Mean joint error on {evaluation.title} ({len(evaluation.samples)} samples): "
        + ",  ".join(f"{LABELS[method]} {means[method]:.1f} mm" for method in METHODS)
        + "\nsilhouettes, and the predicted pose (left orange, right blue) over the true one (grey)",
        fontsize=12,
    )
    examples = figure.add_subfigure(grid[0])
    charts = figure.add_subfigure(grid[1])
    _draw_examples(examples, evaluation)
    known = evaluation.std is not None
    by_action, by_joint, distribution, *intervals = charts.subplots(
        1, 4 if known else 3, width_ratios=(1.1, 1.5, 1.2, 1.1)[: 4 if known else 3]
    )
    _draw_bars(by_action, evaluation.by("action"), "by action")
    _draw_bars(by_joint, evaluation.by_joint(), "by joint")
    _draw_distribution(distribution, evaluation)
    for axes in intervals:
        _draw_coverage(axes, evaluation)
    with atomic_path(path) as temporary:
        figure.savefig(temporary, dpi=110)


def _draw_examples(figure: SubFigure, evaluation: Evaluation) -> None:
    """Draw each example's silhouette, and beside it the predicted pose over the true one."""
    errors = evaluation.errors["gbcd"].poses("absolute")
    order = np.argsort(errors)
    samples = evaluation.samples
    grid = figure.add_gridspec(1, len(_EXAMPLES))
    for column, quantile in enumerate(_EXAMPLES):
        panel = figure.add_subfigure(grid[column])
        row = order[round(quantile * (len(order) - 1))]
        panel.suptitle(
            f"{errors[row]:.0f} mm ({quantile:.0%} of samples are better)\n"
            f"{samples.subject[row]} {samples.action[row]}, {samples.camera[row]}, frame {samples.frame[row]}",
            fontsize=9,
        )
        silhouette, pose = panel.subplots(1, 2)
        silhouette.scatter(samples.edges[row, :, 0], -samples.edges[row, :, 1], s=2, color="#202020")
        for poses, colour in ((samples.poses, TRUE_POSE_COLOUR), (evaluation.predictions["gbcd"], None)):
            _draw_pose(pose, front_view(poses[row], evaluation.axes), evaluation.skeleton, colour)
        for axes in (silhouette, pose):
            axes.set_aspect("equal")
            axes.axis("off")


def front_view(pose: FloatArray, axes: str) -> FloatArray:
    """Coordinates to the right and up, (J, 2), of a pose in camera axes (y down) or world axes (z up)."""
    return pose[:, [0, 2]] if axes == "world" else pose[:, [0, 1]] * [1, -1]


def _draw_pose(axes: Axes, points: FloatArray, skeleton: Skeleton, colour: str | None) -> None:
    for parent, child in skeleton.bones:
        axes.plot(
            *points[[parent, child]].T,
            color=colour or SIDE_COLOURS[skeleton.side(child)],
            linewidth=5 if colour else 2,
            solid_capstyle="round",
        )


def _draw_bars(axes: Axes, rows: dict[str, dict[str, float]], title: str) -> None:
    """Draw horizontal bars, one group per row."""
    positions = np.arange(len(rows))
    height = 0.8 / len(METHODS)
    for number, method in enumerate(METHODS):
        values = [errors[method] for errors in rows.values()]
        axes.barh(positions + number * height, values, height, label=LABELS[method], color=METHOD_COLOURS[method])
    axes.set_yticks(positions + height, [name.replace("_", " ") for name in rows])
    axes.invert_yaxis()
    axes.set_xlabel("mean joint error, mm")
    axes.set_title(title, fontsize=10)
    axes.spines[["top", "right"]].set_visible(False)


def _draw_distribution(axes: Axes, evaluation: Evaluation) -> None:
    for method in METHODS:
        errors = np.sort(evaluation.errors[method].poses("absolute"))
        axes.plot(errors, np.linspace(0, 100, len(errors)), label=LABELS[method], color=METHOD_COLOURS[method], lw=2)
    axes.set_xlim(left=0)
    axes.set_ylim(0, 100)
    axes.set_xlabel("error of a sample below, mm")
    axes.set_ylabel("% of samples")
    axes.set_title("distribution", fontsize=10)
    axes.legend(frameon=False, fontsize=8, loc="lower right")
    axes.spines[["top", "right"]].set_visible(False)


def _draw_coverage(axes: Axes, evaluation: Evaluation) -> None:
    """Plot observed against nominal coverage, over all samples and for each action."""
    nominal = np.linspace(0.02, 0.98, 25)
    axes.plot([0, 100], [0, 100], color="#606060", lw=1, ls="--", label="as it should be")
    actions = evaluation.samples.action
    for number, action in enumerate(np.unique(actions)):
        observed = [evaluation.coverage(float(level), actions == action) for level in nominal]
        label = None if number else "single actions"
        axes.plot(100 * nominal, 100 * np.array(observed), color="#B0B0B0", lw=1, label=label)
    observed = [evaluation.coverage(float(level)) for level in nominal]
    axes.plot(100 * nominal, 100 * np.array(observed), color=METHOD_COLOURS["gbcd"], lw=2, label="all")
    axes.plot(
        [100 * level for level in LEVELS],
        [100 * evaluation.coverage(level) for level in LEVELS],
        "o",
        color=METHOD_COLOURS["gbcd"],
        ms=5,
    )
    axes.set_xlim(0, 100)
    axes.set_ylim(0, 100)
    axes.set_xlabel("interval of, %")
    axes.set_ylabel("% of coordinates within")
    axes.set_title("standard deviations", fontsize=10)
    axes.legend(frameon=False, fontsize=8, loc="upper left")
    axes.spines[["top", "right"]].set_visible(False)
