"""The commands `pose data info` and `pose data check`: thin, like the rest of the command line."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pipelines.errors import UsageError
from pipelines.terminal.console import notes, output, reporting, split_names

data_app = typer.Typer(help="Look through a HumanEva-I tree.", no_args_is_help=True, rich_markup_mode=None)

RootArgument = Annotated[Path, typer.Argument(help="HumanEva-I tree: the folder that holds S1, S2, ...")]
_EXIT_FAULTS = 1


@data_app.command("info")
def data_info(root: RootArgument) -> None:
    """Show what a tree holds and lacks, its frames by trial and camera, and the counts of its partitions."""
    from pipelines.data.info import describe_data, has_own_table
    from pipelines.data.tables import frames_table, partitions_table

    with reporting() as reporter:
        info = describe_data(root, reporter)
        for note in info.notes:
            reporter.warn(note)
        for fault in info.faults:
            reporter.fault(fault)
    data = info.data
    table = "its own partitions.json" if has_own_table(data) else "HumanEva-I's own table"
    print(f"root        {data.root}")
    print(f"subjects    {' '.join(subject.name for subject in data.subjects)}")
    print(f"actions     {' '.join(data.actions) or 'none'}")
    print(f"cameras     {' '.join(data.cameras) or 'none'}")
    print(f"partitions  by {table}")
    for part in info.missing or ["nothing"]:
        print(f"missing     {part}")
    print()
    output.print(frames_table(info))
    output.print(partitions_table(info))
    for row in info.frames:
        if row.reason:
            print(f"{row.trial} {row.camera}".rstrip() + f": none is used: {row.reason}")
    print("named: by the partitions; valid: by the markers; used: every joint known, an offset, and in the video;")
    print("valid, of partitions: also every joint known; scheme: what the setting data.scheme takes")


@data_app.command("check")
def data_check(
    root: RootArgument,
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
    from pipelines.data.check import check_data
    from pipelines.data.check_result import Selection
    from pipelines.data.tables import check_tables

    if out is not None and out.exists() and not out.is_dir():
        raise UsageError(f"--out {out}: is a file, a folder is needed")
    selection = Selection(split_names(subjects), split_names(actions), split_names(cameras), _numbers(frames))
    with reporting() as reporter:
        check = check_data(root, reporter, out=out, selection=selection, video_frame_shift=video_frame_shift)
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
        raise typer.Exit(_EXIT_FAULTS)


def _numbers(text: str) -> list[int]:
    """Toolkit frames of an option."""
    numbers = split_names(text)
    wrong = [name for name in numbers if not (name.isascii() and name.isdigit() and 0 < int(name) < 10**8)]
    if wrong:
        raise UsageError(f"--frames {', '.join(wrong)}: toolkit frames are whole numbers from 1 on")
    return [int(name) for name in numbers]
