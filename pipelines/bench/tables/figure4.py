"""Figure 4: training time against the number of samples, on Friedman's function."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from pipelines.bench.data.problems import Catalogue
from pipelines.bench.runner.cell import Row, Size, Table
from pipelines.bench.runner.pictures import legend_below, panels, say_nothing_measured
from pipelines.bench.runner.results_file import Results
from pipelines.bench.tables.methods import METHODS
from pipelines.bench.tables.rows import PASSES, PEAK, RESIDUAL, RMSE, SOLVE, TIME, Rows, solve_parameters

SAMPLES = {"full": (2_500, 5_000, 10_000, 20_000, 40_000, 100_000), "quick": (1_000, 2_000)}
TEST_SAMPLES = 1_000
SOLVERS = {"cholesky": 20_000, "cg": 20_000, "bcdc": 40_000, "gbcd-paper": 100_000, "pcg": 100_000, "gbcd": 100_000}
"""Largest number of samples that each solver is run on."""

THE_PAPERS = (100_000, 3301.0)
"""Samples and seconds of Algorithm 2 in the paper, on a processor of 2008."""
THE_PAPERS_NOTE = f"The paper's Algorithm 2 took {THE_PAPERS[1]:,.0f} s at {THE_PAPERS[0]:,} samples, in 2008."


def tables(size: Size, catalogue: Catalogue) -> list[Table]:
    """Return the table of times."""
    make = Rows(catalogue, size == "quick")
    rows: list[Row] = []
    for solver, most in SOLVERS.items():
        for n in SAMPLES[size]:
            if n <= most:
                parameters = solve_parameters(solver, "auto" if solver in ("gbcd", "pcg", "cholesky") else 0)
                rows += make.row((METHODS[solver].name,), SOLVE, "friedman1", n, parameters | {"n_test": TEST_SAMPLES})
    return [
        Table(
            "Training on Friedman's function",
            ("problem", "n", "method"),
            (*TIME, PASSES, PEAK, RMSE, RESIDUAL),
            tuple(rows),
            THE_PAPERS_NOTE if THE_PAPERS[0] in SAMPLES[size] else "",
        )
    ]


def draw(tables: list[Table], results: Results) -> Figure:
    """Draw a curve for each method, and the paper's time as a star."""
    figure, (axis,) = panels(1, 1, "Training time on Friedman's function, to a gradient norm of 1e-4")
    figure.set_size_inches(8, 5)
    for solver in SOLVERS:
        method = METHODS[solver]
        found = []
        for row in tables[0].rows:
            summary = results.summary(row)
            if row.labels[2] == method.name and summary is not None and summary.outcome == "done":
                seconds = summary.measures["seconds"]
                assert isinstance(seconds, int | float)  # every measurement that is done has seconds
                found.append((int(row.labels[1].replace(",", "")), seconds))
        if found:
            n, seconds = np.array(found).T
            axis.plot(n, seconds, "o-", label=method.label, color=method.colour, markersize=4)
    say_nothing_measured(axis)
    if any(row.labels[1] == f"{THE_PAPERS[0]:,}" for row in tables[0].rows):
        colour = METHODS["gbcd-paper"].colour
        axis.plot(*THE_PAPERS, "*", color=colour, markersize=12, label="Algorithm 2, in the paper of 2008")
    axis.set(xlabel="training samples", ylabel="seconds", xscale="log", yscale="log")
    legend_below(figure, columns=3)
    return figure
