"""Biovision hierarchies (``.bvh``): a skeleton of offsets and a table of channels, one frame a line.

A joint turns by its rotation channels in the order in which they are listed, the first one outermost. Position channels
replace the joint's offset. In the rest pose all rotations are 0.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from pose.synth.kinematics import turn
from pose.synth.motion_files.clip import Clip, axis_rotation
from pose.synth.motion_files.lines import TextLines
from pose.types import FloatArray

_CHANNEL = re.compile(r"^([xyz])(position|rotation)$", re.IGNORECASE)
_FRAMES = re.compile(r"^frames\s*:\s*(\S+)$", re.IGNORECASE)
_FRAME_TIME = re.compile(r"^frame\s+time\s*:\s*(\S+)$", re.IGNORECASE)
#: Suffix that names an end site, after its joint's name.
END = " end"


@dataclass
class _Joint:
    name: str
    parent: int
    offset: list[float] = field(default_factory=list)
    channels: list[tuple[str, str]] = field(default_factory=list)  # (axis, "position" or "rotation")
    first_channel: int = 0


def read_bvh(path: Path) -> Clip:
    """Read a BVH file, all frames, in its own unit and axes.

    Raises
    ------
    DataError
        If the file is malformed; the message names the line.
    OSError
        If it cannot be opened.
    """
    lines = TextLines(path)
    if lines.next("HIERARCHY").upper() != "HIERARCHY":
        raise lines.fault("a BVH file starts with HIERARCHY")
    joints = _read_hierarchy(lines)
    table, frame_time, frame_lines = _read_motion(lines, sum(len(joint.channels) for joint in joints))
    points, rotations, rest = _pose(joints, table)
    return Clip(path, points, rotations, rest, rate=1.0 / frame_time, frame_lines=frame_lines)


def _read_hierarchy(lines: TextLines) -> list[_Joint]:
    """All joints, parents first; ends just before MOTION."""
    joints: list[_Joint] = []
    open_joints: list[int] = []
    while True:
        words = lines.next("the rest of the hierarchy, and MOTION").split()
        match [words[0].upper(), *words[1:]]:
            case ["ROOT", *_] if joints:
                raise lines.fault("a second ROOT; a file must hold one skeleton, export the person alone")
            case ["ROOT" | "JOINT" as kind, *name] if bool(open_joints) == (kind == "JOINT"):
                _open(lines, joints, open_joints, " ".join(name))
            case ["END", *_] if open_joints:
                _open(lines, joints, open_joints, joints[open_joints[-1]].name + END)
            case ["OFFSET", *values] if open_joints:
                joints[open_joints[-1]].offset = _offset(lines, joints[open_joints[-1]], values)
            case ["CHANNELS", *values] if open_joints:
                _channels(lines, joints, joints[open_joints[-1]], values)
            case ["}"] if open_joints and joints[open_joints[-1]].offset:
                open_joints.pop()
            case ["MOTION"]:
                if open_joints or not joints:
                    raise lines.fault(f"MOTION comes before the hierarchy {'is closed' if joints else 'has a ROOT'}")
                return joints
            case _:
                raise lines.fault(f"{' '.join(words)!r} is not expected here; the root must be called ROOT")


def _open(lines: TextLines, joints: list[_Joint], open_joints: list[int], name: str) -> None:
    if any(joint.name == name for joint in joints):
        raise lines.fault(f"two joints are called {name!r}")
    if lines.next("{") != "{":
        raise lines.fault(f"{{ expected after {name!r}")
    joints.append(_Joint(name, open_joints[-1] if open_joints else -1))
    open_joints.append(len(joints) - 1)


def _offset(lines: TextLines, joint: _Joint, words: list[str]) -> list[float]:
    if len(words) != 3:
        raise lines.fault(f"OFFSET of {joint.name} has {len(words)} numbers, 3 expected")
    return lines.numbers(words, "OFFSET")


def _channels(lines: TextLines, joints: list[_Joint], joint: _Joint, words: list[str]) -> None:
    found = [_CHANNEL.match(word) for word in words[1:]]
    if not words or lines.count(words[0]) != len(found):
        raise lines.fault(f"CHANNELS of {joint.name} promises {words[0] if words else 'no'} names, {len(found)} follow")
    joint.first_channel = sum(len(other.channels) for other in joints)
    for word, match in zip(words[1:], found, strict=True):
        if match is None:
            raise lines.fault(f"unknown channel {word!r} (Xposition, Xrotation and so on are known)")
        joint.channels.append((match[1].lower(), match[2].lower()))


def _read_motion(lines: TextLines, n_channels: int) -> tuple[FloatArray, float, tuple[int, ...]]:
    """The table of channels (T, n_channels), seconds a frame, and the line of every frame."""
    stated = _FRAMES.match(lines.next("Frames:"))
    n_frames = 0 if stated is None else lines.count(stated[1])
    if not n_frames:
        raise lines.fault("'Frames: NUMBER' expected, 1 or more")
    stated_at = lines.number
    time = _FRAME_TIME.match(lines.next("Frame Time:"))
    if time is None or (frame_time := lines.numbers([time[1]], "Frame Time")[0]) <= 0:
        raise lines.fault("'Frame Time: SECONDS' expected, more than 0")
    rows: list[list[float]] = []
    numbers: list[int] = []
    for line in lines:
        words = line.split()
        if len(words) != n_channels:
            raise lines.fault(
                f"frame {len(rows) + 1} has {len(words)} numbers, the skeleton has {n_channels} channels"
                + ("; is the file truncated?" if lines.ended else "")
            )
        rows.append(lines.numbers(words, f"frame {len(rows) + 1}"))
        numbers.append(lines.number)
    if len(rows) != n_frames:
        raise lines.fault(f"{n_frames} frames are promised, {len(rows)} follow; is the file truncated?", stated_at)
    return np.array(rows), frame_time, tuple(numbers)


def _pose(
    joints: list[_Joint], table: FloatArray
) -> tuple[dict[str, FloatArray], dict[str, FloatArray], dict[str, FloatArray]]:
    """Points, rotations and rest pose by name."""
    points: list[FloatArray] = []
    rotations: list[FloatArray] = []
    rest: list[FloatArray] = []
    for joint in joints:
        place = np.tile(np.array(joint.offset), (len(table), 1))
        turned = np.tile(np.eye(3), (len(table), 1, 1))
        for column, (axis, kind) in enumerate(joint.channels, start=joint.first_channel):
            if kind == "position":
                place[:, "xyz".index(axis)] = table[:, column]
            else:
                turned = turned @ axis_rotation(axis, np.radians(table[:, column]))
        if joint.parent >= 0:
            place = points[joint.parent] + turn(rotations[joint.parent], place)
            turned = rotations[joint.parent] @ turned
        points.append(place)
        rotations.append(turned)
        rest.append(np.array(joint.offset) + rest[joint.parent] if joint.parent >= 0 else np.zeros(3))
    names = [joint.name for joint in joints]
    return (
        dict(zip(names, points, strict=True)),
        dict(zip(names, rotations, strict=True)),
        dict(zip(names, rest, strict=True)),
    )
