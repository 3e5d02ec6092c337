"""Filled-in tables: for the screen, and for RESULTS.md, which shows all results and pictures of a folder."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from rich.box import SIMPLE_HEAD
from rich.table import Table as ScreenTable
from rich.text import Text

from pipelines.bench.runner.cell import Column, Run, Table
from pose.files import atomic_path

LIMIT_MARK = "/"
"""Text in place of every number of a measurement that the time limit ended."""

UNKNOWN = "–"
"""Text in place of a number that was not measured."""

LEGEND = (
    "How to read the tables: s are seconds of the work named alone: kernel and noise were given or fitted before, and "
    "the search for them is not in any table. CPU s are those of all threads together. A pass is n² kernel "
    "evaluations; one half serves where symmetry does. Peak MB is what the work added to the process at most. The "
    "residual is the infinity norm of (K + σ²I)α − y, in float64. RMSE is sqrt(mean (prediction − output)²) over test "
    "samples, in standard deviations of the output (the paper's eq. 16); of variances v, rel. RMSE is "
    "sqrt(mean (v − v_Cholesky)² / mean v_Cholesky²) (its eq. 17). Algorithm 2 is the paper's method (the solver "
    "gbcd-paper), gbcd this library's. Repeated measurements are medians, ± is mean and standard deviation over "
    f"as many random splits. {LIMIT_MARK} stands for what the time limit ended. The paper is Bo and "
    "Sminchisescu (UAI 2008)."
)


@dataclass(frozen=True)
class Sheet:
    """A table as text.

    Attributes
    ----------
    title, note : str
    headings : list of str
    rows : list of list of str
    n_labels : int
        Number of columns at the left that hold labels.
    """

    title: str
    headings: list[str]
    rows: list[list[str]]
    n_labels: int
    note: str

    def is_text(self, column: int) -> bool:
        """Whether a column holds words: labels, and the remarks at the right."""
        return column < self.n_labels or column == len(self.headings) - 1


def sheet(table: Table, summaries: list[Run | None]) -> Sheet:
    """Fill in a table with one summary per row; None is a row still to be measured."""
    rows = []
    for row, summary in zip(table.rows, summaries, strict=True):
        numbers = [_number(summary, column) for column in table.columns]
        rows.append([*row.labels, *numbers, _remark(summary)])
    headings = [*table.labels, *(column.heading for column in table.columns), ""]
    return Sheet(table.title, headings, rows, len(table.labels), table.note)


def _number(summary: Run | None, column: Column) -> str:
    if summary is None:
        return ""
    if summary.outcome == "limit":
        return LIMIT_MARK
    value, deviation = summary.measures.get(column.measure), None
    if column.spread and f"{column.measure} deviation" in summary.measures:
        value = summary.measures[f"{column.measure} mean"]
        deviation = summary.measures[f"{column.measure} deviation"]
    if column.per and isinstance(value, int | float):
        unit = summary.measures.get(column.per)
        value = value / unit if isinstance(unit, int | float) and unit else None
    if value is None:
        return UNKNOWN
    return format(value, column.format) + ("" if deviation is None else f" ± {format(deviation, '.1g')}")


def _remark(summary: Run | None) -> str:
    if summary is None:
        return "not measured yet"
    if summary.outcome != "done":
        return summary.remark
    parts = ["" if summary.measures.get("converged", True) else "above the tolerance", summary.measures.get("remark")]
    return "; ".join(str(part) for part in parts if part)


def screen_table(filled: Sheet) -> ScreenTable:
    """Return the table for the screen. Its note and remarks would not fit; `below` returns them."""
    # As Text, since rich would read [brackets] as markup. Without rules, since ten columns must fit 80 characters.
    shown = ScreenTable(title=Text(filled.title), box=SIMPLE_HEAD, padding=0, show_edge=False)
    for column, heading in enumerate(filled.headings[:-1]):
        shown.add_column(heading, justify="left" if filled.is_text(column) else "right", no_wrap=True)
    for row in filled.rows:
        shown.add_row(*(Text(cell) for cell in row[:-1]))
    return shown


def below(filled: Sheet) -> list[str]:
    """Return the lines below the table on the screen: the note, and each remark with the rows that have it."""
    remarks: dict[str, list[str]] = {}
    for row in filled.rows:
        if row[-1]:
            remarks.setdefault(row[-1], []).append(" ".join(row[: filled.n_labels]))
    lines = [filled.note, *(f"{remark}: {'; '.join(rows)}" for remark, rows in remarks.items())]
    return [line for line in lines if line]


def markdown_table(filled: Sheet) -> str:
    """Return the table as Markdown, its title and note as text."""
    rules = ["---" if filled.is_text(column) else "---:" for column in range(len(filled.headings))]
    lines = [_line(cells) for cells in (filled.headings, rules, *filled.rows)]
    return "\n".join([f"### {filled.title}", "", *lines, *(["", filled.note] if filled.note else [])])


def _line(cells: list[str]) -> str:
    # A remark may quote an error of any library, so bars are escaped.
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


class Section(Protocol):
    """A benchmark's section of RESULTS.md; `StoredResults` is one."""

    benchmark: str
    size: str
    version: str
    machine: dict[str, str]
    figure: str
    tables: list[Sheet]

    @property
    def repeated(self) -> int:
        """Largest number of measurements of one cell."""


def write_markdown(path: Path, results: Sequence[Section]) -> None:
    """Write all benchmarks' tables to one file."""
    parts = ["# Benchmarks", LEGEND]
    for held in results:
        repeat = f" --repeat {held.repeated}" if held.repeated > 1 else ""
        command = f"pose bench {held.benchmark} --size {held.size}{repeat}"
        machine = ", ".join(f"{name} {value}" for name, value in held.machine.items())
        parts.append(f"## {held.benchmark}, {held.size}")
        parts.append(f"`{command}`, version {held.version}; {machine}.")
        if held.figure and (path.parent / held.figure).is_file():
            parts.append(f"![{held.benchmark}]({held.figure})")
        parts += [markdown_table(table) for table in held.tables]
    with atomic_path(path) as temporary:
        temporary.write_text("\n\n".join(parts) + "\n")
