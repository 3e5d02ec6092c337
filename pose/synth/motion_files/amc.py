"""Acclaim motion (``.amc``): the angles of an ASF skeleton's bones, frame by frame."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from pose.errors import DataError
from pose.synth.kinematics import turn
from pose.synth.motion_files.asf import AcclaimSkeleton, Bone, read_asf, rotation_of
from pose.synth.motion_files.clip import Clip
from pose.synth.motion_files.lines import TextLines
from pose.types import FloatArray

_KEYWORD_RADIANS = {":degrees": np.pi / 180, ":radians": 1.0}


def find_asf(path: Path) -> Path:
    """The skeleton of an AMC file, for ``01_02.amc``: ``01_02.asf``, ``01.asf``, or the only one in the folder.

    Raises
    ------
    DataError
        If there is none, or there are several with other names.
    """
    try:
        there = sorted(entry for entry in path.parent.iterdir() if entry.suffix.lower() == ".asf")
    except OSError as error:
        raise DataError(f"{path.parent}: cannot be listed ({error.strerror})") from error
    stem = path.stem.lower()
    for name in (stem, stem.rpartition("_")[0]):
        for entry in there:
            if entry.stem.lower() == name:
                return entry
    if len(there) == 1:
        return there[0]
    found = f" (there are {', '.join(entry.name for entry in there)})" if there else ""
    raise DataError(f"{path}: its skeleton {stem.rpartition('_')[0] or stem}.asf is not beside it{found}; put it there")


def read_amc(path: Path, skeleton: Path | None = None) -> Clip:
    """Read an Acclaim motion and pose its skeleton: a bone's point is its end, ``root`` the root's place.

    Parameters
    ----------
    path : Path
        The motion.
    skeleton : Path, optional
        Its ASF file; by default `find_asf`.

    Raises
    ------
    DataError
        If either file is malformed or they do not fit; the message names the line.
    OSError
        If a file cannot be opened.
    """
    acclaim = read_asf(skeleton or find_asf(path))
    moving = {bone.name: bone for bone in (acclaim.root, *acclaim.bones) if bone.freedoms}
    lines = TextLines(path, comment="#")
    columns: dict[str, list[list[float]]] = {name: [] for name in moving}
    radians = acclaim.radians
    numbers: list[int] = []
    frames: list[int] = []
    for line in lines:
        words = line.split()
        if words[0].startswith(":"):
            radians = _KEYWORD_RADIANS.get(words[0].lower(), radians)
        elif len(words) == 1:
            if numbers:
                _check_whole(lines, columns, len(numbers), numbers[-1])
            if (frame := lines.count(words[0])) is None:
                raise lines.fault(f"{words[0]!r}: a frame's number expected")
            _check_follows(lines, frames, frame)
            frames.append(frame)
            numbers.append(lines.number)
        else:
            _read_bone(lines, words, moving, columns, len(numbers))
    if not numbers:
        raise lines.fault("the file ends without a frame")
    _check_whole(lines, columns, len(numbers), numbers[-1])
    points, rotations, rest = _pose(acclaim, {name: np.array(values) for name, values in columns.items()}, radians)
    return Clip(path, points, rotations, rest, unit=acclaim.unit, frame_lines=tuple(numbers))


def _check_follows(lines: TextLines, frames: list[int], frame: int) -> None:
    """Refuse a frame number that breaks the regular step: at missing frames the body would jump."""
    step = frames[1] - frames[0] if len(frames) > 1 else None
    if frames and (frame <= frames[-1] or step not in (None, frame - frames[-1])):
        raise lines.fault(f"frame {frame} follows frame {frames[-1]}; are frames missing?")


def _read_bone(
    lines: TextLines, words: list[str], moving: dict[str, Bone], columns: dict[str, list[list[float]]], n_frames: int
) -> None:
    name, values = words[0], words[1:]
    if n_frames == 0:
        raise lines.fault(f"{name!r} comes before the first frame's number")
    if name not in moving:
        raise lines.fault(f"bone {name!r} does not move in the skeleton, or is not there; is it the right ASF file?")
    if len(values) != len(moving[name].freedoms):
        raise lines.fault(f"{name} has {len(values)} numbers, the skeleton gives it {len(moving[name].freedoms)}")
    if len(columns[name]) == n_frames:
        raise lines.fault(f"{name} is there twice in one frame")
    columns[name].append(lines.numbers(values, name))


def _check_whole(lines: TextLines, columns: dict[str, list[list[float]]], n_frames: int, line: int) -> None:
    missing = [name for name, values in columns.items() if len(values) < n_frames]
    if missing:
        hint = "; is the file truncated?" if lines.ended else ""
        raise lines.fault(f"the frame that starts here lacks {', '.join(missing)}{hint}", line)


def _pose(
    skeleton: AcclaimSkeleton, values: dict[str, FloatArray], radians: float
) -> tuple[dict[str, FloatArray], dict[str, FloatArray], dict[str, FloatArray]]:
    n_frames = len(values["root"])
    root = dict(zip(skeleton.root.freedoms, values["root"].T, strict=True))
    points = {"root": skeleton.root.offset + np.stack([root["tx"], root["ty"], root["tz"]], axis=-1)}
    rotations = {"root": _turned(skeleton.root, values["root"], radians, n_frames)}
    rest = {"root": np.zeros(3)}
    for bone in skeleton.bones:
        turned = rotations[bone.parent]
        if bone.freedoms:
            turned = turned @ _turned(bone, values[bone.name], radians, n_frames)
        rotations[bone.name] = turned
        points[bone.name] = points[bone.parent] + turn(turned, bone.offset)
        rest[bone.name] = rest[bone.parent] + bone.offset
    return points, rotations, rest


def _turned(bone: Bone, values: FloatArray, radians: float, n_frames: int) -> FloatArray:
    """Rotation of a bone against its parent, (T, 3, 3): about the bone's own axes."""
    angles = {axis: np.zeros(n_frames) for axis in "xyz"}
    for freedom, column in zip(bone.freedoms, values.T, strict=True):
        if freedom.startswith("r"):
            angles[freedom[1]] = column * radians
    turned: FloatArray = bone.axis @ rotation_of(bone.order, angles) @ bone.axis.T
    return turned
