"""`pose data check`: whether the data of a HumanEva-I tree are consistent."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pipelines.commands.arguments import DataArgument
from pipelines.errors import UsageError
from pipelines.terminal.console import notes, output, reporting, split_names
from pipelines.terminal.exit_codes import EXIT_FAILURE


def data_check_command(
    root: DataArgument,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Folder for overlay pictures. Default: none.")] = None,
    subjects: Annotated[str, typer.Option(help="Comma-separated. Default: all.")] = "",
    actions: Annotated[str, typer.Option(help="Comma-separated. Default: all.")] = "",
    cameras: Annotated[str, typer.Option(help="Comma-separated. Default: all.")] = "",
    frames: Annotated[
        str, typer.Option(help="Toolkit frames to draw, comma-separated. Default: four of fast motion.")
    ] = "",
    video_frame_shift: Annotated[
        int, typer.Option(help="Added to every video frame, to try what mends the synchronisation.")
    ] = 0,
) -> None:
    """Check calibration, synchronisation, bone lengths and videos; draw joints onto pictures. Exit code 1: faults."""
    from pipelines.data.check import check_tree
    from pipelines.data.check_result import Selection
    from pipelines.data.tables import check_tables

    if out is not None and out.exists() and not out.is_dir():
        raise UsageError(f"--out {out}: is a file, a folder is needed")
    selection = Selection(split_names(subjects), split_names(actions), split_names(cameras), _numbers(frames))
    with reporting() as reporter:
        check = check_tree(root, reporter, out=out, selection=selection, video_frame_shift=video_frame_shift)
        for note in check.notes:
            reporter.warn(note)
        for fault in check.faults:
            reporter.fault(fault)
    for table in check_tables(check):
        output.print(table)
    if check.syncs:
        print(
            "near: joints on the silhouettes or within 3 px; shift: what to add to --video-frame-shift, by silhouettes"
        )
    if check.suggested_shift is not None:
        print(f"best --video-frame-shift of all pictures together: {check.suggested_shift}")
    for path in check.overlays:
        print(f"overlay  {path}")
    if check.faults:
        notes.print(f"{len(check.faults)} faults", style="red")
        raise typer.Exit(EXIT_FAILURE)


def _numbers(text: str) -> list[int]:
    """The toolkit frames that an option names."""
    numbers = split_names(text)
    wrong = [name for name in numbers if not (name.isascii() and name.isdigit() and 0 < int(name) < 10**8)]
    if wrong:
        raise UsageError(f"--frames {', '.join(wrong)}: toolkit frames are whole numbers from 1 on")
    return [int(name) for name in numbers]
