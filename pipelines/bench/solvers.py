"""The benchmark "solvers": passes, seconds, memory and exactness of all solvers, and of what people would use instead.

Quick is the same on about a tenth of the samples, with budgets in proportion to K.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pipelines.bench.cell import Cell, Column, Comparison, Row, Size, Table
from pipelines.bench.problems import Catalogue
from pipelines.bench.tasks import Budget, largest_difference, relative_rmse

TOLERANCE = 1e-4
TEST_POINTS = 1000
QUICK = 10
"""A quick benchmark has this many times fewer samples."""

SIMULATED = ("friedman1", "arm8")
REAL = ("kin40k", "calhouse")

_SOLVE, _PEER, _VARIANCES = (f"pipelines.bench.tasks:{name}" for name in ("solve_system", "solve_by_peer", "variances"))

_TIME = (Column("s", "seconds", ".2f"), Column("CPU s", "cpu_seconds", ".2f"))
_PASSES = Column("passes", "kernel_passes", ".1f")
_PEAK = Column("peak MB", "peak_mb", ",.0f")
_MEASURES = (
    *_TIME,
    _PASSES,
    Column("iter.", "iterations", ".0f"),
    _PEAK,
    Column("residual", "residual", ".1e"),
)


def tables(size: Size, catalogue: Catalogue) -> list[Table]:
    """Return the tables; rows whose data are not there say so, or are left out of a quick benchmark."""
    make = _Rows(catalogue, size == "quick")
    return [
        _small_budgets(make),
        _time_with_peers(make),
        _time_of_many(make),
        _large(make),
        _memory(make),
        _variance(make),
    ]


@dataclass(frozen=True)
class _Rows:
    """Makes rows, a tenth of the size where the benchmark is quick."""

    catalogue: Catalogue
    quick: bool

    def solve(self, problem: str, n: int, solver: str, budget: Budget = "auto", precision: str = "mixed") -> list[Row]:
        label = solver if precision == "mixed" else f"{solver}, {precision}"
        parameters = {"solver": solver, "budget": self.budget(budget), "precision": precision, "keep": False}
        return self.row((label,), _SOLVE, problem, n, parameters)

    def peer(self, problem: str, n: int, peer: str) -> list[Row]:
        return self.row((peer,), _PEER, problem, n, {"peer": peer})

    def row(self, labels: tuple[str, ...], task: str, problem: str, n: int, parameters: dict[str, Any]) -> list[Row]:
        """Return the row with the problem and n before the labels; none where it is to be left out."""
        n = self.samples(n)
        missing = self.catalogue.missing(problem)
        if missing and self.quick:
            return []
        labels = (problem, f"{n:,}", *labels)
        if missing:
            return [Row(labels, None, missing)]
        specified = self.catalogue.specify(problem, n)
        return [Row(labels, Cell(task, {"problem": specified, "tol": TOLERANCE, **parameters}))]

    def samples(self, n: int) -> int:
        return n // QUICK if self.quick else n

    def budget(self, budget: Budget) -> Budget:
        return budget // QUICK**2 if self.quick and budget != "auto" else budget


def _in_mb(budget: Budget) -> str:
    return budget if budget == "auto" else f"{budget / 1e6:,g} MB"


def _small_budgets(make: _Rows) -> Table:
    cases = [(problem, 10_000, 200_000_000) for problem in (*SIMULATED, *REAL)]
    cases += [("histosc", 4_656, 30_000_000)]
    cases += [(problem, 20_000, 400_000_000) for problem in (*SIMULATED, *REAL)]
    rows = []
    for problem, n, size in cases:
        budget = make.budget(size)
        parameters = {"solver": "gbcd", "budget": budget, "precision": "mixed", "keep": False}
        rows += make.row((_in_mb(budget),), _SOLVE, problem, n, parameters)
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
    # The slowest of a quick benchmark would be gbcd-paper on the arm.
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
    for size in (1_000_000_000, 4_000_000_000):
        budget = make.budget(size)
        parameters = {"solver": "gbcd", "budget": budget, "precision": "mixed", "keep": False}
        rows += make.row(("gbcd", _in_mb(budget)), _SOLVE, "histosc_like", 26_572, parameters)
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
        rows += make.row((_in_mb(budget),), _SOLVE, "arm8", 20_000, parameters)
    tightest = rows[0].cell
    assert tightest is not None  # a simulated problem is always there
    compared = tuple(
        Comparison(f"{array} difference", array, tightest, largest_difference) for array in ("coef", "predictions")
    )
    return Table(
        "Memory of gbcd",
        ("problem", "n", "budget"),
        (
            _PEAK,
            *_TIME,
            _PASSES,
            Column("residual", "residual", ".1e"),
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
            pair += make.row((solver,), _VARIANCES, problem, n, parameters)
        exact = pair[0].cell if pair else None
        compared = () if exact is None else (Comparison("rmse", "variance", exact, relative_rmse),)
        rows += [Row(row.labels, row.cell, row.missing, compared) for row in pair]
    return Table(
        f"Predictive variance of {TEST_POINTS:,} test samples",
        ("problem", "n", "solver"),
        (
            *_TIME,
            _PASSES,
            _PEAK,
            Column("mean var.", "mean_variance", ".3g"),
            Column("rel. RMSE", "rmse", ".1e"),
        ),
        tuple(rows),
        f"gbcd holds at most {_in_mb(make.budget(200_000_000))} of kernel values, Cholesky stores K. Relative RMSE: "
        "sqrt(mean (v − v_cholesky)² / mean v_cholesky²), for eq. 17.",
    )
