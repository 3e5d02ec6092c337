"""Where the command line writes: results to the output, progress and notes to the error stream."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.table import Table

from pipelines.terminal.console_reporter import ConsoleReporter

# Progress and notes go to the error stream, so that the output can be piped.
notes = Console(stderr=True)
output = Console()

FILE_COLUMNS = 200
"""Width, in characters, of a table that goes to a file or another program."""


def print_table(table: Table) -> None:
    """Print a table; one that goes to a file or another program is not cut to the width of a screen."""
    (output if output.is_terminal else Console(width=FILE_COLUMNS)).print(table)


@contextmanager
def reporting() -> Iterator[ConsoleReporter]:
    """A reporter whose bars are shown while the body runs."""
    reporter = ConsoleReporter(notes)
    with reporter.drawing():
        yield reporter


def split_names(text: str) -> list[str]:
    """The parts of a comma-separated option."""
    return [part.strip() for part in text.split(",") if part.strip()]
