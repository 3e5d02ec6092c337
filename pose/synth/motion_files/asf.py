"""Acclaim skeletons (``.asf``): bones by direction, length and axis.

A length of 1 in the file is 25.4 mm / ``length``, where ``length`` is stated in ``:units``, as in the CMU database
(``length`` 0.45: 56.4 mm).
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from pose.synth.motion_files.clip import axis_rotation
from pose.synth.motion_files.lines import TextLines
from pose.types import FloatArray

#: mm in an inch.
_INCH = 25.4
_RADIANS = {"deg": np.pi / 180, "degrees": np.pi / 180, "rad": 1.0, "radians": 1.0}
_TURNS = ("rx", "ry", "rz")
_MOVES = ("tx", "ty", "tz")


@dataclass(frozen=True, eq=False)
class Bone:
    """A bone of the rest pose.

    Parameters
    ----------
    name, parent : str
        The parent of the first bones is ``"root"``.
    offset : ndarray of shape (3,)
        From the bone's start to its end.
    axis : ndarray of shape (3, 3)
        The axes that its angles turn about.
    order : str
        Order of the rotations, the first one innermost, e.g. ``"xyz"``.
    freedoms : tuple of str
        Those of ``rx``, ``ry``, ``rz`` that the motion file gives, in its order.
    """

    name: str
    parent: str
    offset: FloatArray
    axis: FloatArray
    order: str
    freedoms: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class AcclaimSkeleton:
    """An ASF file.

    Parameters
    ----------
    root : Bone
        Its freedoms may hold ``tx``, ``ty``, ``tz``; `root.offset` is the root's place.
    bones : tuple of Bone
        Parents first.
    unit : float
        mm in a unit of length.
    radians : float
        Radians in a unit of angles.
    """

    root: Bone
    bones: tuple[Bone, ...]
    unit: float
    radians: float


@dataclass
class _Entry:
    """What a bone's block says, and in which line it starts."""

    line: int
    words: dict[str, list[str]]


def rotation_of(order: str, angles: dict[str, FloatArray]) -> FloatArray:
    """The product (..., 3, 3) of rotations applied in `order`, the first one first; angles in radians by axis."""
    total: FloatArray = np.eye(3)
    for axis in order:
        total = axis_rotation(axis, angles[axis]) @ total
    return total


def read_asf(path: Path) -> AcclaimSkeleton:
    """Read an Acclaim skeleton.

    Raises
    ------
    DataError
        If the file is malformed; the message names the line.
    OSError
        If it cannot be opened.
    """
    lines = TextLines(path, comment="#")
    units: dict[str, str] = {}
    root: _Entry | None = None
    blocks: list[_Entry] = []
    hierarchy: list[tuple[int, list[str]]] = []
    section = ""
    for line in lines:
        words = line.split()
        if words[0].startswith(":"):
            section = words[0][1:].lower()
            if section == "root":
                root = _Entry(lines.number, {})
        elif section == "units" and len(words) > 1:
            units[words[0].lower()] = words[1]
        elif section == "root" and root is not None:
            root.words[words[0].lower()] = words[1:]
        elif section == "bonedata":
            _read_bone_line(lines, words, blocks)
        elif section == "hierarchy" and words[0].lower() not in ("begin", "end"):
            hierarchy.append((lines.number, words))
    if root is None or not blocks or not hierarchy:
        missing = [
            f":{name}" for name, has in (("root", root), ("bonedata", blocks), ("hierarchy", hierarchy)) if not has
        ]
        raise lines.fault(f"the file ends without {', '.join(missing)}; it is truncated or no ASF file")
    angle = units.get("angle", "deg").lower()
    if angle not in _RADIANS:
        raise lines.fault(f"unit of angles {angle!r} (deg and rad are known)")
    length = lines.numbers([units.get("length", "1")], "unit of length")[0]
    if length <= 0:
        raise lines.fault(f"the unit of length is {length:g}; it must be more than 0")
    return _assemble(lines, root, blocks, hierarchy, _INCH / length, _RADIANS[angle])


def _read_bone_line(lines: TextLines, words: list[str], blocks: list[_Entry]) -> None:
    if words[0].lower() == "begin":
        blocks.append(_Entry(lines.number, {}))
    elif words[0].lower() != "end":
        if not blocks:
            raise lines.fault("begin expected: a bone's block starts with it")
        blocks[-1].words[words[0].lower()] = words[1:]


def _assemble(
    lines: TextLines,
    root: _Entry,
    blocks: list[_Entry],
    hierarchy: list[tuple[int, list[str]]],
    unit: float,
    radians: float,
) -> AcclaimSkeleton:
    entries = {}
    for block in blocks:
        name = " ".join(block.words.get("name", []))
        if not name or name in entries:
            raise lines.fault(f"bone {name!r} is there twice" if name else "a bone without a name", block.line)
        entries[name] = block
    bones, known = [], {"root"}
    for number, words in hierarchy:
        if words[0] not in known:
            raise lines.fault(
                f"{words[0]!r} has children before it has a parent; the root must be called 'root'", number
            )
        for child in words[1:]:
            if child not in entries:
                raise lines.fault(f"bone {child!r} is not described in :bonedata", number)
            if child in known:
                raise lines.fault(f"bone {child!r} has two parents", number)
            known.add(child)
            bones.append(_bone(lines, child, words[0], entries[child], radians))
    loose = sorted(set(entries) - known)
    if loose:
        raise lines.fault(f"no parent in :hierarchy for {', '.join(loose)}")
    return AcclaimSkeleton(_root(lines, root, radians), tuple(bones), unit, radians)


def _vector(lines: TextLines, entry: _Entry, key: str, what: str) -> FloatArray:
    words = entry.words.get(key, [])
    lines.number = entry.line
    if len(words) < 3:
        raise lines.fault(f"{what} needs '{key}' with 3 numbers", entry.line)
    return np.array(lines.numbers(words[:3], f"{key} of {what}"))


def _order(lines: TextLines, entry: _Entry, words: list[str], what: str) -> str:
    order = (words[0] if words else "xyz").lower()
    if sorted(order) != ["x", "y", "z"]:
        raise lines.fault(f"{what}: order of axes {order!r}, one like XYZ expected", entry.line)
    return order


def _axes(order: str, angles: FloatArray) -> FloatArray:
    return rotation_of(order, dict(zip("xyz", angles, strict=True)))


def _bone(lines: TextLines, name: str, parent: str, entry: _Entry, radians: float) -> Bone:
    direction = _vector(lines, entry, "direction", name)
    length = entry.words.get("length", [])
    if len(length) != 1 or (size := lines.numbers(length, f"length of {name}")[0]) < 0:
        raise lines.fault(f"{name} needs 'length' with one number, 0 or more", entry.line)
    norm = float(np.linalg.norm(direction))
    if norm == 0 and size > 0:
        raise lines.fault(f"direction of {name} is 0", entry.line)
    angles = _vector(lines, entry, "axis", name)
    order = _order(lines, entry, entry.words["axis"][3:], name)
    freedoms = tuple(word.lower() for word in entry.words.get("dof", []))
    strange = [word for word in freedoms if word not in _TURNS]
    if strange:
        raise lines.fault(f"dof of {name}: {', '.join(strange)} (rx, ry and rz are known)", entry.line)
    offset = direction / norm * size if norm else direction
    return Bone(name, parent, offset, _axes(order, angles * radians), order, freedoms)


def _root(lines: TextLines, entry: _Entry, radians: float) -> Bone:
    freedoms = tuple(word.lower() for word in entry.words.get("order", []))
    if sorted(freedoms) != sorted(_TURNS + _MOVES):
        raise lines.fault("the root needs 'order' with TX TY TZ RX RY RZ in some order", entry.line)
    order = _order(lines, entry, entry.words.get("axis", []), "the root")
    angles = _vector(lines, entry, "orientation", "the root")
    return Bone(
        "root", "", _vector(lines, entry, "position", "the root"), _axes(order, angles * radians), order, freedoms
    )
