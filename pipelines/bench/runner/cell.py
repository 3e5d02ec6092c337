"""What a benchmark is made of: tables of rows, each with one cell to measure, and what measuring it found."""

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
"""Measured; ended by the time limit; something is not installed or not in this version; failed."""

Size = Literal["full", "quick"]


class UnavailableError(Exception):
    """A task cannot be done here, and that is no fault: the message says what is missing, in a word or two."""


@dataclass(frozen=True)
class Finding:
    """What a task says about its own result.

    Attributes
    ----------
    measures : dict
        Numbers and words for the table, by name.
    arrays : dict of array
        Kept beside the results, for comparisons of one cell with another.
    """

    measures: dict[str, Value]
    arrays: dict[str, FloatArray] = field(default_factory=dict)


@dataclass(frozen=True)
class Job(Generic[T]):
    """A task that is ready to start: everything is drawn, loaded and compiled.

    Attributes
    ----------
    work : callable
        What is measured.
    check : callable
        Takes the result of `work`; not measured.
    """

    work: Callable[[], T]
    check: Callable[[T], Finding]


Task = Callable[[Parameters, Path | None, int], Job[Any]]
"""Takes a cell's parameters, the folder of data and the seed of this repetition."""


@dataclass(frozen=True)
class Cell:
    """One thing to measure.

    Attributes
    ----------
    task : str
        "module:function" of a `Task`, which the measuring process imports.
    parameters : dict
        Of JSON values. Together with the task they are the cell's identity, so nothing in them may be a path.
    """

    task: str
    parameters: Parameters

    @property
    def key(self) -> str:
        """The identity, equal for equal cells of different runs."""
        return json.dumps([self.task, self.parameters], sort_keys=True)


@dataclass(frozen=True)
class Comparison:
    """A measure of a cell that needs the result of another one.

    Attributes
    ----------
    measure : str
        Its name.
    array : str
        What is compared, one of `Finding.arrays`.
    reference : Cell
    distance : callable
        Takes this cell's array and the reference's.
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
        None where it cannot be measured.
    missing : str
        Why not.
    comparisons : tuple of Comparison
    quoted : dict
        Measures of a row that others have measured; `missing` says where they are from.
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
        Show the mean and the standard deviation of repeated measurements, not their median: they differ in the split
        of the samples, not by the noise of the machine.
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
    """Rows side by side."""

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
        Empty unless it was done.
    remark : str
        The error, or what is missing.
    limit : float
        Seconds that were allowed.
    """

    outcome: Outcome
    limit: float
    measures: dict[str, Value] = field(default_factory=dict)
    remark: str = ""
