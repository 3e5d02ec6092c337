"""What became of the videos of a prediction, as a table."""

from __future__ import annotations

from collections.abc import Sequence

from rich.table import Column, Table
from rich.text import Text

from pipelines.prediction.jobs import Report

_STATES = {"done": "", "kept": "was finished: left as it is"}


def summary_table(reports: Sequence[Report]) -> Table:
    """One line a video: frames, those with a person, flags, seconds, and what went wrong."""
    table = Table(
        Column("video", overflow="fold"),
        Column("frames", justify="right"),
        Column("with a person", justify="right"),
        Column("flagged frames", overflow="fold"),
        Column("seconds", justify="right"),
    )
    notes = [_STATES.get(report.state, report.fault) for report in reports]
    if any(notes):
        table.add_column("note", overflow="fold")
    for report, note in zip(reports, notes, strict=True):
        flags = ", ".join(f"{name.lower().replace('_', ' ')} {count}" for name, count in report.flags.items())
        failed = report.state == "failed"
        counts = ("", "") if failed else (str(report.n_frames), str(report.n_found))
        row = (report.video.name, *counts, flags, f"{report.seconds:.1f}", *([note] if any(notes) else []))
        # As Text: rich would take [brackets] in a file's name for its markup.
        table.add_row(*map(Text, row), style="red" if failed else None)
    return table
