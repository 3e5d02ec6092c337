"""Table 3: predictive variances (eq. 2), their time per sample, and their error (eq. 17) against Cholesky."""

from __future__ import annotations

from typing import Any

from pipelines.bench.data.problems import Catalogue
from pipelines.bench.runner.cell import Column, Comparison, Row, Size, Table
from pipelines.bench.tables.methods import METHODS
from pipelines.bench.tables.rows import PEAK, VARIANCES, Rows, in_mb
from pipelines.bench.tasks import relative_rmse

SAMPLES = {"full": 10_000, "quick": 1_500}
POINTS = {"full": 1_000, "quick": 100}
SINGLE_POINTS = {"full": 3, "quick": 2}
"""Number of test samples in the rows "one by one"."""

PROBLEMS = {"full": ("friedman1", "kin40k", "calhouse"), "quick": ("friedman1",)}
BUDGET = 2
"""Memory budget, bytes per kernel value: 200 MB at 10,000 samples."""

THE_PAPERS = {"full": " The paper took 4 to 20 s a sample, with errors up to 0.02.", "quick": ""}

ONE_BY_ONE = "pipelines.bench.tasks:variances_one_by_one"


def tables(size: Size, catalogue: Catalogue) -> list[Table]:
    """Return Table 3."""
    make = Rows(catalogue, size == "quick")
    rows: list[Row] = []
    for problem in PROBLEMS[size]:
        n = make.training_samples(problem, SAMPLES[size])
        budget = BUDGET * n**2
        shared: dict[str, Any] = {"budget": budget, "n_test": POINTS[size]}
        single = {"solver": "gbcd-paper", "budget": 0, "n_test": POINTS[size], "n_points": SINGLE_POINTS[size]}
        made = [
            *make.row((METHODS["cholesky"].name, "K stored"), VARIANCES, problem, n, shared | {"solver": "cholesky"}),
            *make.row((f"{METHODS['gbcd-paper'].name}, one by one", in_mb(0)), ONE_BY_ONE, problem, n, single),
            *make.row((METHODS["gbcd"].name, in_mb(budget)), VARIANCES, problem, n, shared | {"solver": "gbcd"}),
        ]
        exact = made[0].cell if made else None
        compared = () if exact is None else (Comparison("error", "variance", exact, relative_rmse),)
        rows += [Row(row.labels, row.cell, row.missing, compared) for row in made]
    return [
        Table(
            "Predictive variances",
            ("problem", "n", "method", "budget"),
            (
                Column("samples", "points", ",.0f"),
                Column("s / sample", "seconds", ".4f", per="points"),
                Column("passes / sample", "kernel_passes", ".3f", per="points"),
                Column("rel. RMSE", "error", ".1e"),
                Column("mean var.", "mean_variance", ".3g"),
                PEAK,
            ),
            tuple(rows),
            "One by one is the paper's way: a system for each test sample, to a gradient norm of 1e-4. The seconds "
            f"hold the factorization or the preconditioner, which training would have left behind.{THE_PAPERS[size]}",
        )
    ]
