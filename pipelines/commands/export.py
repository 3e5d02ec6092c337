"""`pose export`: poses in another file format."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pipelines.pose_files.export import FORMAT_NAMES, export_files
from pipelines.terminal.console import reporting
from pipelines.terminal.exit_codes import EXIT_FAILURE


def export_command(
    inputs: Annotated[list[Path], typer.Argument(help="Poses: files of `pose predict`, or of this command.")],
    to: Annotated[str | None, typer.Option(help=f"The format, of {', '.join(FORMAT_NAMES)}.")] = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="A folder, or with one INPUT a file. Default: beside each INPUT.")
    ] = None,
    axes: Annotated[
        str | None,
        typer.Option(help="y-up, or native: the camera's or the world's own. Default: y-up for trc, else as they are."),
    ] = None,
    rate: Annotated[
        float | None,
        typer.Option(help="Interpolate to so many frames/s; trc and c3d need it where frames do not follow evenly."),
    ] = None,
    overwrite: Annotated[bool, typer.Option(help="Replace files that are there.")] = False,
) -> None:
    """Convert poses to another format; what each holds is in docs/formats.md."""
    with reporting() as reporter:
        faults = export_files(inputs, reporter, to=to, out=out, axes=axes, rate=rate, overwrite=overwrite)
    if faults:
        raise typer.Exit(EXIT_FAILURE)
