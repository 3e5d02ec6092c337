"""The benchmark "solvers": passes, seconds, memory and exactness of all solvers and of other libraries.

The quick size takes a tenth of the samples, with memory budgets in proportion to K.
"""

from __future__ import annotations

from typing import Any

from pipelines.bench.data.problems import Catalogue
from pipelines.bench.runner.cell import Column, Comparison, Row, Size, Table
from pipelines.bench.tables.methods import METHODS
from pipelines.bench.tables.rows import (
    ITERATIONS,
    PASSES,
    PEAK,
    PEER,
    RESIDUAL,
    SOLVE,
    TIME,
    VARIANCES,
    Rows,
    in_mb,
    solve_parameters,
)
from pipelines.bench.tasks import Budget, largest_difference, relative_rmse

TEST_POINTS = 1000
"""Number of test samples."""
QUICK_DIVISOR = 10
"""Ratio of the samples of a full benchmark to those of a quick one."""

SIMULATED = ("friedman1", "arm8")
REAL = ("kin40k", "calhouse")

_MEASURES = (*TIME, PASSES, ITERATIONS, PEAK, RESIDUAL)


def tables(size: Size, catalogue: Catalogue) -> list[Table]:
    """Return the tables. Rows whose data are missing say so, or are left out of a quick benchmark."""
    make = _Rows(catalogue, size == "quick")
    return [
        _small_budgets(make),
        _time_with_peers(make),
        _time_of_many(make),
        _large(make),
        _memory(make),
        _variance(make),
    ]


class _Rows(Rows):
    """Makes rows, with a tenth of the samples if the benchmark is quick."""

    def solve(self, problem: str, n: int, solver: str, budget: Budget = "auto", precision: str = "mixed") -> list[Row]:
        name = METHODS[solver].name if solver in METHODS else solver
        label = name if precision == "mixed" else f"{name}, {precision}"
        return self.sized((label,), SOLVE, problem, n, solve_parameters(solver, self.budget(budget), precision))

    def peer(self, problem: str, n: int, peer: str) -> list[Row]:
        return self.sized((peer,), PEER, problem, n, {"peer": peer})

    def sized(self, labels: tuple[str, ...], task: str, problem: str, n: int, parameters: dict[str, Any]) -> list[Row]:
        return self.row(labels, task, problem, n // QUICK_DIVISOR if self.quick else n, parameters)

    def budget(self, budget: Budget) -> Budget:
        return budget // QUICK_DIVISOR**2 if self.quick and budget != "auto" else budget


def _small_budgets(make: _Rows) -> Table:
    cases = [(problem, 10_000, 200_000_000) for problem in (*SIMULATED, *REAL)]
    cases += [("histosc", 4_656, 30_000_000)]
    cases += [(problem, 20_000, 400_000_000) for problem in (*SIMULATED, *REAL)]
    rows = []
    for problem, n, size in cases:
        budget = make.budget(size)
        parameters = solve_parameters("gbcd", budget)
        rows += make.sized((in_mb(budget),), SOLVE, problem, n, parameters)
    return Table(
        "Passes of gbcd where K does not fit the memory budget",
        ("problem", "n", "budget"),
        _MEASURES,
        tuple(rows),
    )


def _time_with_peers(make: _Rows) -> Table:
    rows = []
    for problem in SIMULATED:
        for solver in ("gbcd", "auto", "pcg", "cholesky"):
            rows += make.solve(problem, 10_000, solver)
        for peer in ("scipy", "sklearn GPR", "sklearn KernelRidge", "GPyTorch"):
            rows += make.peer(problem, 10_000, peer)
    return Table("Time, with other libraries", ("problem", "n", "solver"), _MEASURES, tuple(rows))


def _time_of_many(make: _Rows) -> Table:
    rows = []
    # Without the arm if quick: there gbcd-paper would be the slowest cell.
    for problem in (*(SIMULATED[:1] if make.quick else SIMULATED), *REAL):
        for solver in ("gbcd", "auto", "pcg", "cholesky"):
            rows += make.solve(problem, 20_000, solver)
        rows += make.solve(problem, 20_000, "cholesky", precision="float64")
        for solver in ("cg", "gbcd-paper"):
            rows += make.solve(problem, 20_000, solver)
        for peer in ("scipy", "GPyTorch"):
            rows += make.peer(problem, 20_000, peer)
    return Table(
        "Time of all solvers",
        ("problem", "n", "solver"),
        _MEASURES,
        tuple(rows),
        "scipy: float64 Cholesky of the stored K, by one thread, as two crash at this size.",
    )


def _large(make: _Rows) -> Table:
    solvers = {
        ("friedman1", 100_000): ("gbcd", "auto", "pcg"),
        ("arm8", 50_000): ("gbcd", "pcg"),
        ("kin40k", 30_000): ("gbcd", "pcg"),
        ("friedman1", 20_000): ("gbcd",),
        ("friedman1_45", 20_000): ("gbcd",),
    }
    rows = [row for (problem, n), names in solvers.items() for name in names for row in make.solve(problem, n, name)]
    rows = [Row((*row.labels, "auto"), row.cell, row.missing) for row in rows]
    for solver, size in (("gbcd", 1_000_000_000), ("gbcd", 4_000_000_000), ("auto", 4_000_000_000)):
        budget = make.budget(size)
        parameters = solve_parameters(solver, budget)
        rows += make.sized((solver, in_mb(budget)), SOLVE, "histosc_like", 26_572, parameters)
    return Table(
        "Large systems and many outputs",
        ("problem", "n", "solver", "budget"),
        _MEASURES,
        tuple(rows),
        "friedman1_45 has 45 outputs, histosc_like 45 and 300 inputs; the others have one output.",
    )


def _memory(make: _Rows) -> Table:
    rows: list[Row] = []
    for size in (200_000_000, 1_000_000_000, 4_000_000_000):
        budget = make.budget(size)
        parameters = {"solver": "gbcd", "budget": budget, "precision": "mixed", "keep": True}
        rows += make.sized((in_mb(budget),), SOLVE, "arm8", 20_000, parameters)
    tightest = rows[0].cell
    assert tightest is not None  # a simulated problem is always there
    compared = tuple(
        Comparison(f"{array} difference", array, tightest, largest_difference) for array in ("coef", "predictions")
    )
    return Table(
        "Memory of gbcd",
        ("problem", "n", "budget"),
        (
            PEAK,
            *TIME,
            PASSES,
            RESIDUAL,
            Column("Δ coef.", "coef difference", ".1e"),
            Column("Δ pred.", "predictions difference", ".1e"),
        ),
        tuple(Row(row.labels, row.cell, row.missing, compared) for row in rows),
        f"Δ: largest differences from the first row, of predictions those of {TEST_POINTS:,} test samples.",
    )


def _variance(make: _Rows) -> Table:
    cases = [(problem, 10_000) for problem in (*SIMULATED, *REAL)]
    if not make.quick:
        cases += [("kin40k", 30_000)]
    rows: list[Row] = []
    for problem, n in cases:
        pair: list[Row] = []
        for solver in ("cholesky", "gbcd"):
            parameters = {"solver": solver, "budget": make.budget(200_000_000), "n_test": TEST_POINTS}
            pair += make.sized((METHODS[solver].name,), VARIANCES, problem, n, parameters)
        exact = pair[0].cell if pair else None
        compared = () if exact is None else (Comparison("rmse", "variance", exact, relative_rmse),)
        rows += [Row(row.labels, row.cell, row.missing, compared) for row in pair]
    return Table(
        f"Predictive variance of {TEST_POINTS:,} test samples",
        ("problem", "n", "solver"),
        (
            *TIME,
            PASSES,
            PEAK,
            Column("mean var.", "mean_variance", ".3g"),
            Column("rel. RMSE", "rmse", ".1e"),
        ),
        tuple(rows),
        f"gbcd holds at most {in_mb(make.budget(200_000_000))} of kernel values, Cholesky stores K.",
    )
