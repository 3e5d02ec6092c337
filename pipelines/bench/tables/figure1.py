"""Figure 1: gradients of neighbours are correlated, so the largest gradients do not make a good block."""

from __future__ import annotations

from matplotlib.figure import Figure

from pipelines.bench.data.problems import Catalogue
from pipelines.bench.runner.cell import Column, Row, Size, Table
from pipelines.bench.runner.pictures import legend_below, panels, say_nothing_measured
from pipelines.bench.runner.results_file import Results
from pipelines.bench.tables.rows import Rows

SAMPLES = {"full": 10_000, "quick": 1_500}
INPUTS, NEIGHBOURS = 100, 50
PROBLEMS = {"full": ("friedman1", "kin40k"), "quick": ("friedman1",)}
SYSTEMS = {"outputs": "means, Kbar alpha = y", "kernel": "a variance, Kbar z = k_*"}
DRAWN = ("near", "far", "near_share", "far_share")
CORRELATE = "pipelines.bench.traces:correlate_neighbours"


def tables(size: Size, catalogue: Catalogue) -> list[Table]:
    """Return the table of mean correlations, for both systems of each problem."""
    make = Rows(catalogue, size == "quick")
    rows: list[Row] = []
    for problem in PROBLEMS[size]:
        n = make.training_samples(problem, SAMPLES[size])
        for system, words in SYSTEMS.items():
            parameters = {
                "solver": "gbcd-paper",
                "right_hand_side": system,
                "n_inputs": INPUTS,
                "n_neighbours": NEIGHBOURS,
                "n_test": 1,
            }
            rows += make.row((words,), CORRELATE, problem, n, parameters)
    return [
        Table(
            "Correlation of gradients over the first 50 iterations of Algorithm 2",
            ("problem", "n", "system"),
            (
                Column("neighbours", "near", ".2f"),
                Column("above 0.5", "near_strong", ".0%"),
                Column("at random", "far", ".2f"),
                Column("above 0.5", "far_strong", ".0%"),
                Column("shares: neighbours", "near_share", ".2f"),
                Column("above 0.5", "near_share_strong", ".0%"),
                Column("at random", "far_share", ".2f"),
                Column("above 0.5", "far_share_strong", ".0%"),
            ),
            tuple(rows),
            "Kbar is K + σ²I, k_* the column of a test sample. Correlations are of the courses of two gradients, "
            f"{INPUTS} inputs each with its {NEIGHBOURS} nearest neighbours by the kernel's distance, and with as many "
            "inputs drawn at random. Shares: of the whole gradient's norm at each iteration, as all gradients fall "
            "together. Where neighbours' gradients go together, a block of the largest takes many variables that say "
            "the same, as the paper says. Of a variance all courses are one fall from the first step on: there the "
            "shares alone tell anything.",
        )
    ]


def draw(tables: list[Table], results: Results) -> Figure:
    """Draw a column for each system: correlations of the gradients, and below them those of their shares."""
    rows = tables[0].rows
    figure, axes = panels(2, max(len(rows), 1), "Gradients of neighbours go together during block descent")
    for column, row in enumerate(rows):
        arrays = results.arrays(row.cell) if row.cell is not None else {}
        for suffix, words, axis in (
            ("", "gradients", axes[column]),
            ("_share", "shares of the whole gradient", axes[len(rows) + column]),
        ):
            for name, label, colour in (
                ("far", "inputs at random", "#999999"),
                ("near", f"{NEIGHBOURS} nearest neighbours", "#d62728"),
            ):
                if arrays:
                    values = arrays[name + suffix].ravel()
                    axis.hist(values, bins=40, range=(-1, 1), density=True, alpha=0.6, label=label, color=colour)
            axis.set(title=f"{row.labels[0]}, {row.labels[2]}", xlim=(-1, 1), ylabel="density of pairs")
            axis.set(xlabel=f"correlation of two {words} over 50 iterations")
            say_nothing_measured(axis)
    legend_below(figure)
    return figure
