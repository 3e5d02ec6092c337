"""Poses of one person by several synchronised cameras, made one."""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from pipelines.errors import UsageError
from pose.body.camera_file import read_camera
from pose.errors import DataError
from pose.export import FORMATS, metadata_path, read_series, write_series
from pose.files import lost_by_writing
from pose.series.bone_lengths import with_bone_lengths
from pose.series.bone_lengths_file import bone_names, read_bone_lengths
from pose.series.fusion import View, fuse
from pose.series.pose_series import PoseSeries
from pose.series.smoothing import smooth


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
    _check(inputs, calibration, delay, bone_lengths, out, overwrite)
    series = fuse_files(inputs, calibration, delay)
    if smoothed:
        series = smooth(series)
    if bone_lengths is not None:
        series = _with_lengths_of(series, bone_lengths)
    write_series(out, series)
    print(f"wrote {out}: a person in {int(series.found.sum())} of {len(series.frame)} frames, by {len(inputs)} cameras")


def fuse_files(
    inputs: Sequence[Path], calibrations: Sequence[Path], delays: Sequence[float] | None = None
) -> PoseSeries:
    """The fused poses of files, in the world's axes; see `pose.series.fusion.fuse`.

    Parameters
    ----------
    inputs, calibrations : sequence of Path
        Of each camera.
    delays : sequence of float, optional
        Seconds, see `pose.series.fusion.View`.

    Raises
    ------
    DataError
        If a file cannot be read, or the poses do not belong together.
    """
    views = [
        View(read_series(path), read_camera(calibration), delay)
        for path, calibration, delay in zip(inputs, calibrations, delays or [0.0] * len(inputs), strict=True)
    ]
    try:
        return fuse(views)
    except ValueError as error:
        raise DataError(f"{', '.join(map(str, inputs))}: {error}") from error


def _with_lengths_of(series: PoseSeries, path: Path) -> PoseSeries:
    """The series with the bones of a file, which its provenance then names."""
    lengths = read_bone_lengths(path, series.skeleton)
    said = dict(zip(bone_names(series.skeleton), lengths.tolist(), strict=True))
    series = with_bone_lengths(series, lengths)
    return dataclasses.replace(series, provenance={**series.provenance, "fused_bone_lengths_mm": json.dumps(said)})


def _check(
    inputs: Sequence[Path],
    calibrations: Sequence[Path],
    delays: Sequence[float] | None,
    bone_lengths: Path | None,
    out: Path,
    overwrite: bool,
) -> None:
    needed = [*inputs, *calibrations, *([] if bone_lengths is None else [bone_lengths])]
    missing = [str(path) for path in needed if not path.is_file()]
    faults = [f"no such file: {', '.join(missing)}"] if missing else []
    if len(inputs) < 2:
        faults.append("fusing needs the poses of two cameras at least")
    if len(calibrations) != len(inputs):
        faults.append(f"{len(inputs)} files of poses need as many --calibration, found {len(calibrations)}")
    if delays and len(delays) != len(inputs):
        faults.append(f"{len(inputs)} files of poses need as many --delay or none, found {len(delays)}")
    wrong = [f"{seconds:g}" for seconds in delays or () if not math.isfinite(seconds)]
    if wrong:
        faults.append(f"--delay {', '.join(wrong)}: seconds are needed")
    if out.suffix.lower() not in FORMATS:
        faults.append(f"{out}: the name must end in {', '.join(FORMATS)}")
    elif not out.parent.is_dir():
        faults.append(f"{out}: its folder does not exist; make it first")
    elif lost_by_writing([out, metadata_path(out)], needed):
        faults.append(f"{out}: would replace what it is made from; name another")
    elif out.is_dir():
        faults.append(f"{out}: is a folder, a file name is needed")
    elif out.exists() and not overwrite:
        faults.append(f"{out}: is there already; --overwrite replaces it")
    if faults:
        raise UsageError("; ".join(faults))
