"""Contents of a results file, checked when it is read, since people copy, merge and edit such files."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Literal, Self

from pydantic import BaseModel, Field, ValidationError, model_validator

from pipelines.bench.runner.cell import Run, Table
from pipelines.bench.runner.sheets import Sheet
from pose.errors import DataError

FORMAT: Literal[2] = 2

LARGEST = 1e150
"""Largest absolute value of a measured number. Means and deviations of larger ones may overflow."""


class StoredCell(BaseModel):
    """A cell and its measurements."""

    task: str
    parameters: dict[str, Any]
    runs: list[Run]

    @model_validator(mode="after")
    def _check(self) -> Self:
        for run in self.runs:
            if run.outcome == "done" and not _is_number(run.measures.get("seconds")):
                raise ValueError("what was done has no seconds")
            for name, value in run.measures.items():
                if not (isinstance(value, str | bool | None) or _is_number(value)):
                    raise ValueError(f"{name} is out of range")
        return self


class StoredResults(BaseModel):
    """A results file.

    Attributes
    ----------
    format : int
    benchmark, size, version, figure : str
    machine : dict of str
    tables : list of Sheet
        The filled-in tables.
    cells : list of StoredCell
    """

    format: Literal[2]
    benchmark: str
    size: str
    version: str
    machine: dict[str, str]
    figure: str = Field(pattern=r"^[\w.-]{0,100}$")
    tables: list[Sheet]
    cells: list[StoredCell]

    @property
    def repeated(self) -> int:
        """Largest number of measurements of one cell."""
        return max((len(cell.runs) for cell in self.cells), default=0)

    @model_validator(mode="after")
    def _check(self) -> Self:
        for table in self.tables:
            if not 0 <= table.n_labels < len(table.headings):
                raise ValueError("a table has more labels than columns")
            if any(len(row) != len(table.headings) for row in table.rows):
                raise ValueError("a table has rows of different lengths")
        return self


def read_results(path: Path) -> StoredResults:
    """Return the contents of a results file.

    Raises
    ------
    DataError
        If the file is no results file, of another format, or cannot be read.
    """
    try:
        text = path.read_text(encoding="utf-8")
        # A number that is not finite could not be written again.
        json.dumps(json.loads(text), allow_nan=False)
        return StoredResults.model_validate_json(text, strict=True)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        raise damaged(path, f"{place}: {first['msg']}".removeprefix(": ")) from error
    except (ValueError, RecursionError) as error:
        raise damaged(path, str(error)) from error
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror})") from error


def check_columns(path: Path, tables: Iterable[Table], runs: dict[str, list[Run]]) -> None:
    """Raise a `DataError` if a measure shown in a table is not a number; `runs` are keyed by `Cell.key`."""
    for table in tables:
        for row in table.rows:
            for run in runs.get(row.cell.key, []) if row.cell is not None else []:
                for column in table.columns:
                    value = run.measures.get(column.measure)
                    if not (value is None or _is_number(value)):
                        raise damaged(path, f"{column.measure} of {', '.join(row.labels)} is {value!r}, not a number")


def damaged(path: Path, why: str) -> DataError:
    """Return the error for a file that is no valid results file."""
    return DataError(f"{path}: not a results file of this version ({why}); --overwrite replaces it")


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= LARGEST
