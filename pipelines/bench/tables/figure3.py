"""Figure 3: objective and gradient norm against iterations, for three selections of blocks."""

from __future__ import annotations

from matplotlib.figure import Figure

from pipelines.bench.data.problems import Catalogue
from pipelines.bench.runner.cell import Column, Row, Size, Table
from pipelines.bench.runner.pictures import few_markers, legend_below, panels, say_nothing_measured
from pipelines.bench.runner.results_file import Results
from pipelines.bench.tables.figure2 import (
    FOLLOW,
    OBJECTIVE,
    SECONDS,
    above_minimum,
    course_of,
    follow_parameters,
    lowest_objective,
)
from pipelines.bench.tables.methods import BLOCKS, METHODS
from pipelines.bench.tables.rows import ITERATIONS, PASSES, Rows

SAMPLES = {"full": 10_000, "quick": 3_000}
DRAWN = ("iteration", "norm", "objective")
PROBLEMS = {"full": ("friedman1", "kin40k"), "quick": ("friedman1",)}


def tables(size: Size, catalogue: Catalogue) -> list[Table]:
    """Return the table of each selection's state at its end."""
    make = Rows(catalogue, size == "quick")
    rows: list[Row] = []
    for problem in PROBLEMS[size]:
        n = make.training_samples(problem, SAMPLES[size])
        for solver in BLOCKS:
            rows += make.row((METHODS[solver].name,), FOLLOW, problem, n, follow_parameters(solver, 0, size))
    return [
        Table(
            "Iterations of blocks of 500 variables",
            ("problem", "n", "blocks"),
            (
                ITERATIONS,
                PASSES,
                Column("gradient norm", "norm", ".1e"),
                Column("objective", "objective", ".4f"),
            ),
            tuple(rows),
            f"{OBJECTIVE} Stopped when they arrive, or after {SECONDS[size]:g} s.",
        )
    ]


def draw(tables: list[Table], results: Results) -> Figure:
    """Draw two panels for each problem."""
    problems = list(dict.fromkeys(row.labels[:2] for row in tables[0].rows))
    figure, axes = panels(max(len(problems), 1), 2, "What an iteration brings, by the choice of its block of 500")
    for place, problem in enumerate(problems):
        above, norm = axes[2 * place : 2 * place + 2]
        rows = [row for row in tables[0].rows if row.labels[:2] == problem]
        courses = {row.labels[2]: course_of(row, results) for row in rows}
        minimum = lowest_objective(rows, results)
        for solver in BLOCKS:
            method = METHODS[solver]
            course = courses.get(method.name, {})
            if course:
                few_markers(above, *above_minimum(course, "iteration", minimum), method.label, method.colour)
                few_markers(norm, course["iteration"], course["norm"], method.label, method.colour)
        above.set(ylabel="f(alpha) above its minimum", title=f"{problem[0]}, n = {problem[1]}: objective")
        norm.set(ylabel="largest |gradient|", title="gradient norm")
        for axis in (above, norm):
            axis.set(xlabel="iterations", yscale="log")
            say_nothing_measured(axis)
    legend_below(figure)
    return figure
