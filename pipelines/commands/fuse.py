"""`pose fuse`: one person's poses from several synchronised cameras, fused into one series."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def fuse_command(
    inputs: Annotated[
        list[Path], typer.Argument(help="Poses of `pose predict` with standard deviations, one a camera.")
    ],
    calibration: Annotated[
        list[Path],
        typer.Option("--calibration", "-c", help="The camera of each INPUT, in their order, in one world: .cal files."),
    ],
    out: Annotated[Path, typer.Option("--out", "-o", help="The fused poses, in the world's axes: .h5, .csv ...")],
    delay: Annotated[
        list[float] | None,
        typer.Option(help="Seconds by which the clock of each camera is ahead, in their order. Default: 0."),
    ] = None,
    smoothed: Annotated[bool, typer.Option("--smooth", help="Smooth the poses over time.")] = False,
    bone_lengths: Annotated[
        Path | None, typer.Option(help="The person's own, which every pose gets: a .csv of bone,length_mm.")
    ] = None,
    overwrite: Annotated[bool, typer.Option(help="Replace a file that is there.")] = False,
) -> None:
    """Fuse the poses of synchronised calibrated cameras, each weighted by its variance."""
    from pipelines.pose_files.fuse import FuseRequest, write_fused

    request = FuseRequest(inputs, calibration, out, delay, smoothed, bone_lengths, overwrite)
    series = write_fused(request)
    print(f"wrote {out}: a person in {int(series.found.sum())} of {len(series.frame)} frames, by {len(inputs)} cameras")
