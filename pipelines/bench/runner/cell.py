"""Parts of a benchmark: tables of rows, each row with one cell to measure, and the results of measuring it."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, Literal, TypeVar

from pose.types import FloatArray

Value = float | int | str | bool | None
Parameters = Mapping[str, Any]
T = TypeVar("T")

Outcome = Literal["done", "limit", "unavailable", "error"]
"""How a measurement ended: done; at the time limit; not available here (not installed, other version); by an error."""

Size = Literal["full", "quick"]


class UnavailableError(Exception):
    """A task cannot run here, which is no fault. The message says what is missing, in a word or two."""


@dataclass(frozen=True)
class Finding:
    """A task's report on its own result.

    Attributes
    ----------
    measures : dict
        Numbers and words for the table, by name.
    arrays : dict of array
        Arrays kept beside the results, for comparisons between cells.
    """

    measures: dict[str, Value]
    arrays: dict[str, FloatArray] = field(default_factory=dict)


@dataclass(frozen=True)
class Job(Generic[T]):
    """A task that is ready to start: its problem is drawn, and all code is loaded and compiled.

    Attributes
    ----------
    work : callable
        The part that is measured.
    check : callable
        Takes the result of `work`; not measured.
    """

    work: Callable[[], T]
    check: Callable[[T], Finding]


Task = Callable[[Parameters, Path | None, int], Job[Any]]
"""Function from a cell's parameters, the folder of data and the repetition's seed to a job."""


@dataclass(frozen=True)
class Cell:
    """One thing to measure.

    Attributes
    ----------
    task : str
        "module:function" of a `Task`, which the measuring process imports.
    parameters : dict
        JSON values. Task and parameters together identify the cell, so no parameter may be a path.
    """

    task: str
    parameters: Parameters

    @property
    def key(self) -> str:
        """Identifier of the cell, the same in every run."""
        return json.dumps([self.task, self.parameters], sort_keys=True)


@dataclass(frozen=True)
class Comparison:
    """A measure of a cell that needs the result of another cell.

    Attributes
    ----------
    measure : str
        Name of the measure.
    array : str
        Name of the array compared, one of `Finding.arrays`.
    reference : Cell
    distance : callable
        Function of this cell's array and the reference's.
    """

    measure: str
    array: str
    reference: Cell
    distance: Callable[[FloatArray, FloatArray], float]


@dataclass(frozen=True)
class Row:
    """A line of a table.

    Attributes
    ----------
    labels : tuple of str
        One for each of the table's first columns.
    cell : Cell or None
        None if the row cannot be measured.
    missing : str
        Why the row cannot be measured.
    comparisons : tuple of Comparison
    quoted : dict
        Measures taken from the literature; `missing` then says where they are from.
    """

    labels: tuple[str, ...]
    cell: Cell | None
    missing: str = ""
    comparisons: tuple[Comparison, ...] = ()
    quoted: Mapping[str, Value] = field(default_factory=dict)


@dataclass(frozen=True)
class Column:
    """A measure shown in a table: its heading, its name and how its number is formatted.

    Attributes
    ----------
    heading, measure, format : str
    spread : bool
        Show mean and standard deviation of repeated measurements instead of their median, because they differ by the
        split of the samples, not by the noise of the machine.
    per : str
        Another measure that this one is divided by.
    """

    heading: str
    measure: str
    format: str
    spread: bool = False
    per: str = ""


@dataclass(frozen=True)
class Table:
    """A table to measure: title, headings of the label columns, columns, rows and a note."""

    title: str
    labels: tuple[str, ...]
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    note: str = ""


@dataclass(frozen=True)
class Run:
    """One measurement of a cell.

    Attributes
    ----------
    outcome : str
    measures : dict
        Empty unless the outcome is "done".
    remark : str
        The error, or what is missing.
    limit : float
        Time limit, seconds.
    """

    outcome: Outcome
    limit: float
    measures: dict[str, Value] = field(default_factory=dict)
    remark: str = ""
