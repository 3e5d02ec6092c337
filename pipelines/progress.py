"""Progress of a long job: the command line draws it, a library user may ignore it."""

from __future__ import annotations

from typing import Protocol


class Reporter(Protocol):
    """Receives the messages and the progress of a pipeline."""

    def say(self, text: str) -> None:
        """Print one line."""

    def fault(self, text: str) -> None:
        """Print what failed; the work goes on."""

    def progress(self, what: str, done: int, total: int) -> None:
        """Report `done` of `total` steps of `what`; `total` is 0 if unknown. The first call starts the bar."""


class Silent:
    """Reports nothing."""

    def say(self, text: str) -> None:
        """Drop the line."""

    def fault(self, text: str) -> None:
        """Drop the line."""

    def progress(self, what: str, done: int, total: int) -> None:
        """Drop the count."""
