"""Rows of the paper's tables: the first labels are the problem and its size, from which the cell is made."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pipelines.bench.data.problems import Catalogue
from pipelines.bench.runner.cell import Cell, Column, Row
from pipelines.bench.tasks import Budget

TOLERANCE = 1e-4
"""Infinity norm of the gradient, scaled outputs, at which solvers stop."""

MAX_SHARE = 0.9
"""Share of a file's rows that may be used for training."""

SOLVE, PEER, VARIANCES = (f"pipelines.bench.tasks:{name}" for name in ("solve_system", "solve_by_peer", "variances"))

TIME = (Column("s", "seconds", ".2f"), Column("CPU s", "cpu_seconds", ".2f"))
PASSES = Column("passes", "kernel_passes", ".1f")
PEAK = Column("peak MB", "peak_mb", ",.0f")
RESIDUAL = Column("residual", "residual", ".1e")
ITERATIONS = Column("iter.", "iterations", ".0f")
RMSE = Column("RMSE", "rmse", ".4f", spread=True)


@dataclass(frozen=True)
class Rows:
    """Makes rows.

    Attributes
    ----------
    catalogue : Catalogue
    quick : bool
        Leave out rows whose data are missing, instead of showing what they lack.
    """

    catalogue: Catalogue
    quick: bool

    def training_samples(self, problem: str, n: int) -> int:
        """Return n, or `MAX_SHARE` of the file's rows if that is fewer."""
        there = problem in self.catalogue.names and not self.catalogue.missing(problem)
        return min(n, self.catalogue.most(problem, MAX_SHARE)) if there else n

    def row(self, labels: tuple[str, ...], task: str, problem: str, n: int, parameters: dict[str, Any]) -> list[Row]:
        """Return the row, labelled by problem, n (0 if unknown) and `labels`; an empty list if it is left out."""
        missing = self.catalogue.missing(problem)
        if missing and self.quick:
            return []
        labels = (problem, f"{n:,}" if n else "–", *labels)
        if missing:
            return [Row(labels, None, missing)]
        specified = self.catalogue.specify(problem, n)
        return [Row(labels, Cell(task, {"problem": specified, "tol": TOLERANCE, **parameters}))]


def solve_parameters(solver: str, budget: Budget = "auto", precision: str = "mixed") -> dict[str, Any]:
    """Return the parameters of `tasks.solve_system`, without the problem."""
    return {"solver": solver, "budget": budget, "precision": precision, "keep": False}


def in_mb(budget: Budget) -> str:
    """Return a memory budget, bytes, as a label."""
    return budget if budget == "auto" else f"{budget / 1e6:,g} MB"
