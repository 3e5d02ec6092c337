"""Draws progress and lines on a terminal."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.markup import escape
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    Task,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.text import Text


class _SpeedColumn(ProgressColumn):
    """Steps per second."""

    def render(self, task: Task) -> Text:
        """Nothing until the speed is known."""
        return Text(f"{task.speed:,.0f}/s" if task.speed else "")


class ConsoleReporter:
    """Draws bars and lines with rich; bars only on a terminal."""

    def __init__(self, console: Console) -> None:
        self.console = console
        self._bars: Progress | None = None
        self._tasks: dict[str, TaskID] = {}

    @contextmanager
    def drawing(self) -> Iterator[None]:
        """Show bars while the body runs."""
        columns = (
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            _SpeedColumn(),
            TimeElapsedColumn(),
            TimeRemainingColumn(),
        )
        with Progress(*columns, console=self.console, disable=not self.console.is_terminal) as self._bars:
            yield
        self._bars = None
        self._tasks.clear()

    def say(self, text: str) -> None:
        """Print one line above the bars."""
        self._line(text)

    def fault(self, text: str) -> None:
        """Print an error's line; the work goes on."""
        self._line(f"error: {text}", style="red")

    def warn(self, text: str) -> None:
        """Print a warning's line."""
        self._line(f"warning: {text}", style="yellow")

    def _line(self, text: str, style: str | None = None) -> None:
        # One line whatever a file's name holds: rich would otherwise fold it, colour it and read [brackets] as markup.
        self.console.print(" ".join(text.split()), style=style, highlight=False, soft_wrap=True, markup=False)

    def progress(self, what: str, done: int, total: int) -> None:
        """Move a stage's bar."""
        if self._bars is None:
            return
        if what not in self._tasks:
            self._tasks[what] = self._bars.add_task(escape(what), total=total or None, completed=done)
        self._bars.update(self._tasks[what], completed=done)
