"""How long work reports itself: a callback that the command line draws and a library user may ignore."""

from __future__ import annotations

from typing import Protocol


class Reporter(Protocol):
    """Receives what a pipeline has to tell."""

    def say(self, text: str) -> None:
        """Print one line."""

    def fault(self, text: str) -> None:
        """Tell what failed while the work goes on."""

    def progress(self, what: str, done: int, total: int) -> None:
        """`done` of `total` steps of `what` are behind us, 0 where it is not known; the first call starts its bar."""


class Silent:
    """Reports nothing."""

    def say(self, text: str) -> None:
        """Drop the line."""

    def fault(self, text: str) -> None:
        """Drop the line."""

    def progress(self, what: str, done: int, total: int) -> None:
        """Drop the count."""
