"""The outcome of a prediction for each video, as a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from rich.table import Column, Table
from rich.text import Text


@dataclass(frozen=True)
class VideoOutcome:
    """The outcome for one video.

    Parameters
    ----------
    video : Path
    state : str
        ``"done"``, ``"kept"`` (finished results of the same run were there) or ``"failed"``.
    n_frames, n_found : int
        Numbers of frames, and of frames with a person.
    flags : dict of str to int
        Number of frames with each `Quality` flag that occurs.
    seconds : float
    fault : str
        Why the video failed.
    """

    video: Path
    state: Literal["done", "kept", "failed"]
    n_frames: int = 0
    n_found: int = 0
    flags: dict[str, int] = field(default_factory=dict)
    seconds: float = 0.0
    fault: str = ""


_STATES = {"done": "", "kept": "was finished: left as it is"}
"""Notes in the table for videos that did not fail, by state."""


def outcome_table(outcomes: Sequence[VideoOutcome]) -> Table:
    """One row per video: frames, frames with a person, flags, seconds, and what went wrong."""
    table = Table(
        Column("video", overflow="fold"),
        Column("frames", justify="right"),
        Column("with a person", justify="right"),
        Column("flagged frames", overflow="fold"),
        Column("seconds", justify="right"),
    )
    notes = [_STATES.get(outcome.state, outcome.fault) for outcome in outcomes]
    if any(notes):
        table.add_column("note", overflow="fold")
    for outcome, note in zip(outcomes, notes, strict=True):
        flags = ", ".join(f"{name.lower().replace('_', ' ')} {count}" for name, count in outcome.flags.items())
        failed = outcome.state == "failed"
        counts = ("", "") if failed else (str(outcome.n_frames), str(outcome.n_found))
        row = (outcome.video.name, *counts, flags, f"{outcome.seconds:.1f}", *([note] if any(notes) else []))
        # As Text: rich would take [brackets] in a file's name for its markup.
        table.add_row(*map(Text, row), style="red" if failed else None)
    return table
