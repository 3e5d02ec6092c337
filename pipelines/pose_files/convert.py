"""Conversion of HumanEva-I poses: from other tools' files to ours, and from ours to the toolkit's result files.

Poses become root-relative, with the 15 joints of `HUMANEVA_15`. A frame that lacks a joint has no pose.
"""

from __future__ import annotations

import re
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from pipelines.errors import UsageError
from pipelines.features.samples import FRAMES_PER_SECOND
from pose.body.skeleton import HUMANEVA_15, HUMANEVA_20, joints_15_from_20, root_relative
from pose.errors import DataError
from pose.export import FORMATS, metadata_path, read_series, write_series
from pose.export.axes import to_native
from pose.humaneva.converted_mat import ConvertedTrial, read_converted, read_converted_tree
from pose.humaneva.converted_npz import Chunk, read_chunks_3d
from pose.humaneva.partitions import PARTITION_NAMES, official_partitions
from pose.humaneva.result_xml import SequenceResult, read_result, write_result
from pose.series.pose_series import PoseSeries, Quality
from pose.types import FloatArray, IntArray

XML = ".xml"
TARGETS = (*dict.fromkeys(suffix[1:] for suffix in FORMATS if suffix != ".hdf5"), XML[1:])
"""Formats that can be written, as `--to` names them."""
_NUMBER = re.compile(r"[0-9]{1,9}")
"""Number of a trial."""
_LAST_FRAME = 10**9
"""Largest number of a toolkit frame that a result may begin with."""


@dataclass(frozen=True)
class ConvertRequest:
    """What to convert, and into what.

    Parameters
    ----------
    source : Path
        A folder ``converted_15j`` or a ``.mat`` file in it, a ``data_3d_humaneva15.npz``, a result file of the
        toolkit, ``.xml``; or, to make such a result file, poses in one of `FORMATS`.
    out : Path
        A file, or a folder where the source holds several sequences.
    to : str, optional
        One of `TARGETS`; by default, the format that the ending of `out` names.
    sequence : str, optional
        Subject, action, trial and partition, for a result file: ``"S1 Walking 1 Validate"``.
    first_frame : int, optional
        Toolkit frame of the first pose of a result file; by default frames keep their numbers.
    allow_pickle : bool
        Read ``data_3d_humaneva15.npz``, which is a pickle.
    overwrite : bool
        Replace files that are there.
    """

    source: Path
    out: Path
    to: str | None = None
    sequence: str | None = None
    first_frame: int | None = None
    allow_pickle: bool = False
    overwrite: bool = False


def convert(request: ConvertRequest) -> list[tuple[Path, int]]:
    """Convert all that the source holds.

    Returns
    -------
    list of (Path, int)
        The files written, and how many frames of each have a pose.

    Raises
    ------
    UsageError
        If the request cannot be met; nothing has been written then.
    DataError
        If the source is missing or damaged, or a file cannot be written.
    """
    suffix = _target_suffix(request)
    if not request.source.exists():
        raise UsageError(f"no such file: {request.source}")
    if suffix == XML:
        found = {request.source.stem: _poses(request.source)}
    else:
        found = _foreign(request.source, request.allow_pickle)
    targets = _targets(request, suffix, list(found))
    results = {
        target: _result(series, request) if suffix == XML else series
        for target, series in zip(targets, found.values(), strict=True)
    }
    for target, result in results.items():
        _make_folder(target.parent)
        if isinstance(result, SequenceResult):
            write_result(target, result)
        else:
            write_series(target, result)
    return [(target, int(series.found.sum())) for target, series in zip(targets, found.values(), strict=True)]


def _target_suffix(request: ConvertRequest) -> str:
    """The format to make, with its dot."""
    known = (*FORMATS, XML)
    if request.to is not None and request.to.lower().lstrip(".") not in TARGETS:
        raise UsageError(f"--to {request.to}: there are {', '.join(TARGETS)}")
    named = request.out.suffix.lower()
    if named in known and not request.out.is_dir():
        if request.to is not None and f".{request.to.lower().lstrip('.')}" != named:
            raise UsageError(f"--out {request.out}: its name says another format than --to {request.to}")
        return named
    if request.to is None:
        raise UsageError(f"--out {request.out}: name a file that ends in {', '.join(known)}, or a folder with --to")
    if request.out.exists() and not request.out.is_dir():
        raise UsageError(f"--out {request.out}: is a file of no known format; name a folder")
    return f".{request.to.lower().lstrip('.')}"


def _targets(request: ConvertRequest, suffix: str, names: Sequence[str]) -> list[Path]:
    """A file for each sequence. Refuse the source itself, and, unless overwriting, files that exist."""
    out = request.out
    if out.suffix.lower() == suffix and not out.is_dir():
        if len(names) > 1:
            raise UsageError(
                f"--out {out}: is one file, but {request.source} holds {len(names)} sequences; name a folder, and --to"
            )
        targets = [out]
    else:
        targets = [out / f"{name}{suffix}" for name in names]
    if any(target.exists() and target.samefile(request.source) for target in targets):
        raise UsageError(f"{request.source}: would replace itself; name another --out")
    besides = [metadata_path(target) for target in targets if suffix == ".csv"]
    there = [str(path) for path in (*targets, *besides) if path.exists()]
    if there and not request.overwrite:
        raise UsageError(f"already there: {', '.join(there)}; choose another --out, or --overwrite")
    return targets


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DataError(f"{folder}: the folder cannot be made ({error.strerror or error})") from error


def _foreign(source: Path, allow_pickle: bool) -> dict[str, PoseSeries]:
    """All sequences in a source of another tool, keyed by the names of the files to write."""
    suffix = source.suffix.lower()
    if source.is_dir():
        return dict(map(_of_trial, read_converted_tree(source)))
    if suffix == ".mat":
        return dict([_of_trial(read_converted(source))])
    if suffix == XML:
        return {source.stem: _of_result(read_result(source))}
    if suffix == ".npz" and _is_humaneva_npz(source):
        if not allow_pickle:
            raise UsageError(
                f"{source}: is a pickle: take it from sources you trust alone, and then add --allow-pickle "
                "(nothing but arrays is built)"
            )
        return dict(map(_of_chunk, read_chunks_3d(source, allow_pickle=True)))
    hint = "; between formats of poses `pose export` converts" if suffix in FORMATS else ""
    raise UsageError(
        f"{source}: is no folder converted_15j or .mat in it, no data_3d_humaneva15.npz, and no .xml result{hint}"
    )


def _is_humaneva_npz(path: Path) -> bool:
    """Whether an archive holds positions in VideoPose3D's layout, unlike our own ``.npz`` files."""
    if not zipfile.is_zipfile(path):
        return False
    try:
        with zipfile.ZipFile(path) as archive:
            return any(name.startswith("positions_") for name in archive.namelist())
    except (zipfile.BadZipFile, ValueError, NotImplementedError) as error:
        raise DataError(f"{path}: is damaged ({' '.join(str(error).split())})") from error


def _of_trial(trial: ConvertedTrial) -> tuple[str, PoseSeries]:
    ranges = official_partitions().get((trial.subject, f"{trial.action} {trial.trial}"), {})
    first, last = ranges.get(trial.partition, (0, -1))
    # Another length: the trial was divided by another table. The file does not hold it, so frames count from 0.
    start = first if last - first + 1 == len(trial.joints) else 0
    name = f"{trial.partition}_{trial.subject}_{trial.action}_{trial.trial}"
    frames = start + np.arange(len(trial.joints))
    return name, _series(frames, trial.joints, {"input": f"converted_15j, {name}"})


def _of_chunk(chunk: Chunk) -> tuple[str, PoseSeries]:
    name = f"{chunk.partition}_{chunk.subject}_{chunk.action}_{chunk.trial}_chunk{chunk.chunk}"
    frames = np.arange(len(chunk.joints))
    return name, _series(frames, chunk.joints, {"input": f"data_3d_humaneva15.npz, {name}"})


def _of_result(result: SequenceResult) -> PoseSeries:
    joints = joints_15_from_20(result.joints) if result.skeleton == HUMANEVA_20 else result.joints
    name = f"{result.subject} {result.action} {result.trial} {result.partition}"
    return _series(result.numbers, joints, {"input": f"result of the toolkit, {name}"})


def _series(frames: IntArray, joints: FloatArray, provenance: dict[str, str]) -> PoseSeries:
    """Poses in the world's axes; a frame that lacks a joint has no pose."""
    whole = np.isfinite(joints).all(axis=(1, 2))
    relative = root_relative(joints)
    relative[~whole] = np.nan
    quality = np.where(whole, int(Quality.GOOD), int(Quality.NO_PERSON))
    return PoseSeries(
        np.asarray(frames, dtype=np.int64),
        frames / FRAMES_PER_SECOND,
        relative,
        HUMANEVA_15,
        "world",
        provenance,
        quality=quality.astype(np.int64),
    )


def _poses(source: Path) -> PoseSeries:
    if source.suffix.lower() not in FORMATS:
        raise UsageError(f"{source}: a result file is made of poses, whose names end in {', '.join(FORMATS)}")
    series = to_native(read_series(source))
    if series.axes != "world" or series.skeleton != HUMANEVA_15:
        raise UsageError(
            f"{source}: results of the toolkit are 15 joints in the world's axes, these are {len(series.skeleton)} in "
            "the camera's or others; `pose fuse` makes world axes of several cameras"
        )
    return series


def _result(series: PoseSeries, request: ConvertRequest) -> SequenceResult:
    words = (request.sequence or "").split()
    if len(words) != 4 or not _NUMBER.fullmatch(words[2]) or words[3] not in PARTITION_NAMES:
        raise UsageError(
            f"--sequence {request.sequence or ''}: a result file says what it is of: subject, action, trial and "
            f"{', '.join(PARTITION_NAMES)}, as in --sequence 'S1 Walking 1 Validate'"
        )
    if request.first_frame is not None and not 1 <= request.first_frame <= _LAST_FRAME:
        raise UsageError(f"--first-frame {request.first_frame}: toolkit frames are numbered from 1 to {_LAST_FRAME:,}")
    shift = 0 if request.first_frame is None or not len(series.frame) else request.first_frame - int(series.frame[0])
    try:
        return SequenceResult(
            words[0], words[1], int(words[2]), words[3], series.frame + shift, series.joints, HUMANEVA_15
        )
    except ValueError as error:
        raise UsageError(f"{request.source}: {error}; --first-frame names the toolkit frame of the first") from error
