"""Fusion of one person's poses from several synchronised cameras."""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

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


@dataclass(frozen=True)
class FuseRequest:
    """What to fuse, how, and where the result goes.

    Parameters
    ----------
    inputs, calibrations : sequence of Path
        Files of poses, and the camera of each, in the same order.
    out : Path
        The file of the fused poses.
    delays : sequence of float, optional
        Seconds by which the clock of each camera is ahead, see `pose.series.fusion.View`.
    smoothed : bool
        Smooth the fused poses over time.
    bone_lengths : Path, optional
        File of the person's bone lengths, which every pose then gets.
    overwrite : bool
        Replace `out` if it is there.
    """

    inputs: Sequence[Path]
    calibrations: Sequence[Path]
    out: Path
    delays: Sequence[float] | None = None
    smoothed: bool = False
    bone_lengths: Path | None = None
    overwrite: bool = False


def write_fused(request: FuseRequest) -> PoseSeries:
    """Write the fused poses of a request, and return them.

    Raises
    ------
    UsageError
        If the request cannot be met; all its faults are named at once.
    DataError
        If a file cannot be read, or the poses do not belong together.
    """
    _check(request)
    series = fuse_files(request.inputs, request.calibrations, request.delays)
    if request.smoothed:
        series = smooth(series)
    if request.bone_lengths is not None:
        series = _with_lengths_of(series, request.bone_lengths)
    write_series(request.out, series)
    return series


def fuse_files(
    inputs: Sequence[Path], calibrations: Sequence[Path], delays: Sequence[float] | None = None
) -> PoseSeries:
    """The fused poses of files, in the world's axes; see `pose.series.fusion.fuse`.

    Parameters
    ----------
    inputs, calibrations : sequence of Path
        Files of poses, and the camera of each, in the same order.
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
    """The series with the bone lengths of a file, which are added to its provenance."""
    lengths = read_bone_lengths(path, series.skeleton)
    said = dict(zip(bone_names(series.skeleton), lengths.tolist(), strict=True))
    series = with_bone_lengths(series, lengths)
    return dataclasses.replace(series, provenance={**series.provenance, "fused_bone_lengths_mm": json.dumps(said)})


def _check(request: FuseRequest) -> None:
    inputs, calibrations, delays, out = request.inputs, request.calibrations, request.delays, request.out
    needed = [*inputs, *calibrations, *([] if request.bone_lengths is None else [request.bone_lengths])]
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
    foreign = [str(path) for path in inputs if path.is_file() and path.suffix.lower() not in FORMATS]
    if foreign:
        faults.append(f"{', '.join(foreign)}: the names of poses end in {', '.join(FORMATS)}")
    if out.suffix.lower() not in FORMATS:
        faults.append(f"{out}: the name must end in {', '.join(FORMATS)}")
    elif not out.parent.is_dir():
        faults.append(f"{out}: its folder does not exist; make it first")
    elif lost_by_writing([out, metadata_path(out)], needed):
        faults.append(f"{out}: would replace what it is made from; name another")
    elif out.is_dir():
        faults.append(f"{out}: is a folder, a file name is needed")
    elif out.exists() and not request.overwrite:
        faults.append(f"{out}: is there already; --overwrite replaces it")
    if faults:
        raise UsageError("; ".join(faults))
