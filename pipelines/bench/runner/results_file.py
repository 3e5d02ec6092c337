"""The results of one benchmark: a JSON file, written after every measurement, so that a stopped run can go on."""

from __future__ import annotations

import hashlib
import json
import statistics
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from pipelines.bench.data.reading import UNREADABLE
from pipelines.bench.runner.cell import Cell, Row, Run, Table, Value
from pipelines.bench.runner.results_check import FORMAT, check_columns, read_results
from pipelines.bench.runner.sheets import Sheet, sheet
from pipelines.errors import UsageError
from pose.files import atomic_path
from pose.types import FloatArray


class Results:
    """The measurements of one benchmark so far.

    Parameters
    ----------
    path : Path
        The JSON file. Arrays lie in a folder beside it.
    heading : dict
        `benchmark`, `size`, `version`, `machine` and `figure` (the name of the picture beside the file, or empty).
        Results with another heading are not continued.
    overwrite : bool
        Begin anew, even if there are results.

    Raises
    ------
    DataError
        If the file cannot be read.
    UsageError
        If the file is of another version or machine.
    """

    def __init__(self, path: Path, heading: dict[str, Any], overwrite: bool) -> None:
        self.path, self._heading = path, heading
        self._cells: dict[str, tuple[Cell, list[Run]]] = {}
        if path.exists() and not overwrite:
            self._load()

    def runs(self, cell: Cell) -> list[Run]:
        """Return the measurements of a cell."""
        return self._cells[cell.key][1] if cell.key in self._cells else []

    def put(self, cell: Cell, runs: list[Run]) -> None:
        """Replace the measurements of a cell."""
        self._cells[cell.key] = (cell, runs)

    def arrays_path(self, cell: Cell) -> Path:
        """Return where the arrays of a cell are kept."""
        digest = hashlib.sha256(cell.key.encode()).hexdigest()[:16]
        return self.path.with_suffix(".arrays") / f"{digest}.npz"

    def sheets(self, tables: list[Table]) -> list[Sheet]:
        """Return the tables, filled in as far as they are measured."""
        return [sheet(table, [self.summary(row) for row in table.rows]) for table in tables]

    def write(self, tables: list[Table]) -> None:
        """Write the file, the filled-in tables included."""
        cells = [
            {"task": cell.task, "parameters": cell.parameters, "runs": [asdict(run) for run in runs]}
            for cell, runs in self._cells.values()
        ]
        sheets = [asdict(filled) for filled in self.sheets(tables)]
        content = {"format": FORMAT, **self._heading, "tables": sheets, "cells": cells}
        with atomic_path(self.path) as temporary:
            temporary.write_text(json.dumps(content, indent=1, allow_nan=False))

    def _load(self) -> None:
        held = read_results(self.path)
        if any(getattr(held, key) != value for key, value in self._heading.items()):
            raise UsageError(
                f"{self.path}: holds results of another version or machine; --overwrite replaces them, --out goes "
                f"elsewhere"
            )
        for entry in held.cells:
            self.put(Cell(entry.task, entry.parameters), entry.runs)

    def check(self, tables: list[Table]) -> None:
        """Raise a `DataError` if a measure shown in these tables is not a number."""
        check_columns(self.path, tables, {key: runs for key, (_, runs) in self._cells.items()})

    def arrays(self, cell: Cell) -> dict[str, FloatArray]:
        """Return the arrays of a cell's first measurement; none if there are none, or they cannot be read."""
        path = self.arrays_path(cell)
        if not path.is_file() or not self.runs(cell):
            return {}
        try:
            # Opened here, since NumPy leaves a damaged file open.
            with path.open("rb") as file, np.load(file, allow_pickle=False) as held:
                return {name: np.asarray(values, dtype=np.float64) for name, values in held.items()}
        except UNREADABLE:
            return {}  # treated as missing: `lost` finds the cell

    def lost(self, tables: list[Table], drawn: Sequence[str]) -> set[str]:
        """Return the keys of cells whose first measurement is kept, but whose arrays are not.

        Parameters
        ----------
        tables : list of Table
            Tables whose comparisons need arrays.
        drawn : sequence of str
            Names of the arrays that the picture needs from every cell.
        """
        needed: dict[str, tuple[Cell, set[str]]] = {}
        for row in (row for table in tables for row in table.rows if row.cell is not None):
            assert row.cell is not None
            needed.setdefault(row.cell.key, (row.cell, set()))[1].update(drawn)
            for comparison in row.comparisons:
                for cell in (row.cell, comparison.reference):
                    needed.setdefault(cell.key, (cell, set()))[1].add(comparison.array)
        return {
            key
            for key, (cell, names) in needed.items()
            if (runs := self.runs(cell)) and runs[0].outcome == "done" and not names <= set(self.arrays(cell))
        }

    def summary(self, row: Row) -> Run | None:
        """Return the medians of a row's measurements, or its failed one; None if nothing is measured yet."""
        if row.quoted:
            return Run("done", 0.0, {**row.quoted, "remark": row.missing})
        if row.cell is None:
            return Run("unavailable", 0.0, remark=row.missing)
        runs = self.runs(row.cell)
        failed = [run for run in runs if run.outcome != "done"]
        if failed or not runs:
            return failed[0] if failed else None
        compared: dict[str, Value] = {}
        for comparison in row.comparisons:
            ours = self.arrays(row.cell).get(comparison.array)
            reference = self.arrays(comparison.reference).get(comparison.array)
            if ours is not None and reference is not None:
                compared[comparison.measure] = comparison.distance(ours, reference)
        return Run("done", runs[0].limit, medians(runs) | spreads(runs) | compared)


def medians(runs: list[Run]) -> dict[str, Value]:
    """Return the median of each number over the runs; for strings the first, for truth values whether all are true."""
    found: dict[str, Value] = {}
    for name, first in runs[0].measures.items():
        values = [run.measures.get(name) for run in runs]
        if isinstance(first, bool):
            found[name] = all(values)
        elif isinstance(first, str) or first is None:
            found[name] = first
        else:
            found[name] = statistics.median(value for value in values if isinstance(value, int | float))
    return found


def spreads(runs: list[Run]) -> dict[str, Value]:
    """Return "NAME mean" and "NAME deviation" (by n - 1) of each numeric measure, if there are two runs or more."""
    found: dict[str, Value] = {}
    for name, first in runs[0].measures.items():
        values = [value for run in runs if isinstance(value := run.measures.get(name), int | float)]
        if len(values) > 1 and not isinstance(first, bool):
            found[f"{name} mean"], found[f"{name} deviation"] = statistics.mean(values), statistics.stdev(values)
    return found
