"""Figure 2: gradient norm, objective and test error against time."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.figure import Figure

from pipelines.bench.data.problems import Catalogue
from pipelines.bench.runner.cell import Column, Row, Size, Table
from pipelines.bench.runner.pictures import few_markers, legend_below, panels, say_nothing_measured
from pipelines.bench.runner.results_file import Results
from pipelines.bench.tables.methods import METHODS, PAPER
from pipelines.bench.tables.rows import ITERATIONS, PASSES, TIME, Rows
from pipelines.bench.tables.table2 import COARSE
from pose.types import FloatArray

SAMPLES = {"full": 10_000, "quick": 1_500}
TEST_SAMPLES = {"full": 1_000, "quick": 200}
SECONDS = {"full": 60.0, "quick": 1.0}
"""Seconds after which a method is stopped."""

PROBLEMS = {"full": ("friedman1", "kin40k"), "quick": ("friedman1",)}
METHODS_SHOWN = (*PAPER, "gbcd")
RESOLUTION = 1e-7
"""Smallest distance from the lowest objective that pictures show, as a share of the lowest objective."""

OBJECTIVE = (
    "The objective is f(α) = αᵀ(K + σ²I)α / 2 − yᵀα, its gradient (K + σ²I)α − y. "
    "Pictures show how far above its minimum it is, as far as that is known."
)
DRAWN = ("iteration", "time", "norm", "objective", "error")
FOLLOW = "pipelines.bench.traces:follow_solve"


def tables(size: Size, catalogue: Catalogue) -> list[Table]:
    """Return the table of each method's state at its end."""
    make = Rows(catalogue, size == "quick")
    rows: list[Row] = []
    for problem in PROBLEMS[size]:
        n = make.training_samples(problem, SAMPLES[size])
        for solver in METHODS_SHOWN:
            parameters = follow_parameters(solver, int(COARSE[size] * n**2) if solver == "gbcd" else 0, size)
            rows += make.row((METHODS[solver].name,), FOLLOW, problem, n, parameters)
    return [
        Table(
            f"Where each method is after {SECONDS[size]:g} s, or when it has arrived",
            ("problem", "n", "method"),
            (
                *TIME,
                PASSES,
                ITERATIONS,
                Column("gradient norm", "norm", ".1e"),
                Column("objective", "objective", ".4f"),
                Column("RMSE", "rmse", ".4f"),
            ),
            tuple(rows),
            f"{OBJECTIVE} RMSE on {TEST_SAMPLES[size]:,} test samples. gbcd steps with rounded kernel values, and puts "
            "right what that did when it meets the exact gradient: until then its objective may rise.",
        )
    ]


def follow_parameters(solver: str, budget: int, size: Size) -> dict[str, Any]:
    """Return the parameters of `traces.follow_solve`, without the problem."""
    return {"solver": solver, "budget": budget, "n_test": TEST_SAMPLES[size], "seconds": SECONDS[size]}


def draw(tables: list[Table], results: Results) -> Figure:
    """Draw a row of three panels for each problem."""
    problems = list(dict.fromkeys(row.labels[:2] for row in tables[0].rows))
    figure, axes = panels(max(len(problems), 1), 3, "The way to the solution against time (dots: arrived, or stopped)")
    for place, problem in enumerate(problems):
        norm, above, error = axes[3 * place : 3 * place + 3]
        rows = [row for row in tables[0].rows if row.labels[:2] == problem]
        courses = {row.labels[2]: course_of(row, results) for row in rows}
        minimum = lowest_objective(rows, results)
        for solver in METHODS_SHOWN:
            method = METHODS[solver]
            course = courses.get(method.name, {})
            if course:
                few_markers(norm, course["time"], course["norm"], method.label, method.colour)
                few_markers(above, *above_minimum(course, "time", minimum), method.label, method.colour)
                few_markers(error, course["time"], course["error"], method.label, method.colour)
        norm.set(ylabel="largest |gradient|", yscale="log", title=f"{problem[0]}, n = {problem[1]}: gradient norm")
        above.set(ylabel="f(alpha) above its minimum", yscale="log", title="objective f")
        error.set(ylabel="RMSE, standard deviations", yscale="log", title="test error")
        for axis in (norm, above, error):
            axis.set(xlabel="seconds", xscale="log")
            say_nothing_measured(axis)
    legend_below(figure)
    return figure


def course_of(row: Row, results: Results) -> dict[str, FloatArray]:
    """Return the course of a row's solve, with an exact last objective; empty if the row is not measured."""
    course = {} if row.cell is None else results.arrays(row.cell)
    summary = results.summary(row)
    if summary is None or not len(course.get("time", ())):
        return {}
    end = summary.measures.get("objective")
    exact = np.array([end if isinstance(end, int | float) else np.nan], dtype=np.float64)
    # Older results hold running values of the objective; only the last one's error is known, from its exact value.
    doubt = np.abs(course["objective"][-1:] - exact)
    return course | {"objective": np.concatenate([course["objective"][:-1], exact]), "doubt": doubt}


def above_minimum(
    course: dict[str, FloatArray], along: str, minimum: tuple[float, float]
) -> tuple[FloatArray, FloatArray]:
    """Return the points of a course at which the objective's height above the minimum is known, and the heights.

    A height is known if it exceeds its possible error; the last point is always returned. `minimum` is the pair from
    `lowest_objective`. An objective below the minimum shows how large errors are.
    """
    lowest, unknown = minimum
    height = course["objective"] - lowest
    floor = max(RESOLUTION * abs(lowest), unknown)
    known = height > max(floor, *course["doubt"], -np.nanmin(height))
    known[-1] = True
    return course[along][known], np.maximum(height, floor)[known]


def lowest_objective(rows: list[Row], results: Results) -> tuple[float, float]:
    """Return the lowest objective at the end of any method, and how far below it the minimum may be.

    Kbar's eigenvalues are sigma^2 or more, so f(alpha) exceeds the minimum by at most |g|^2 / (2 sigma^2). For one
    output, |g|^2 is at most n times the square of the largest component.
    """
    ends: list[tuple[float, float]] = []
    for row in rows:
        summary = results.summary(row)
        if row.cell is None or summary is None:
            continue
        end, norm = (summary.measures.get(name) for name in ("objective", "norm"))
        if isinstance(end, int | float) and isinstance(norm, int | float):
            problem = row.cell.parameters["problem"]
            ends.append((float(end), problem["n"] * norm**2 / (2 * problem["noise"])))
    if not ends:
        return 0.0, 0.0
    lowest = min(end for end, _ in ends)
    return lowest, max(0.0, lowest - max(end - above for end, above in ends))
