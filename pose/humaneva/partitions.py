"""Which toolkit frames train, validate and test: the official table, or a ``partitions.json`` at the root."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path

from pose.errors import DataError
from pose.humaneva.folders import SUBJECT, entries
from pose.text_files import read_text

#: First and last toolkit frame, 1-based and inclusive, by partition.
Ranges = Mapping[str, tuple[int, int]]
#: Frames of every trial's partitions, by (subject, "Action trial").
Partitions = Mapping[tuple[str, str], Ranges]

PARTITION_NAMES = ("Train", "Validate", "Test")
#: First toolkit frame that is used: the frames before it repeat a picture, a fault of the codec.
FIRST_USABLE_FRAME = 6

_TRIAL = re.compile(r"^[A-Za-z]+ [0-9]+$")
#: Largest frame number of a table: two days at 60 Hz.
_LAST_FRAME = 10_000_000

_ACTIONS = ("Walking", "Jog", "ThrowCatch", "Gestures", "Box")
# Trial 1, by action: the last frame of Validate, which starts at 6, and of Train, which follows it.
_TRIAL_1 = {
    "S1": ((590, 1203), (367, 740), (473, 945), (395, 801), (385, 789)),
    "S2": ((438, 876), (398, 795), (550, 1128), (500, 901), (382, 734)),
    "S3": ((448, 939), (401, 842), (493, 1027), (533, 1102), (512, 1021)),
}
# Trial 2, by action with Combo last: the last frame of Test, which starts at 6.
_TRIAL_2 = {
    "S1": (1004, 874, 951, 1070, 606, 2602),
    "S2": (1093, 727, 1399, 1062, 989, 2054),
    "S3": (805, 864, 1000, 553, 753, 1798),
    "S4": (667, 590, 773, 459, 574, 1102),
}
# Trial 3, by action: the last frame of Train, which starts at 1. It is motion capture without video, at 120 Hz.
_TRIAL_3 = {
    "S1": (3238, 3175, 3453, 2127, 1653),
    "S2": (1523, 1573, 3340, 3551, 3108),
    "S3": (2358, 1973, 2074, 1789, 1573),
}


def official_partitions() -> Partitions:
    """The table of the HumanEva-I toolkit."""
    table: dict[tuple[str, str], Ranges] = {}
    for subject, ends in _TRIAL_1.items():
        for action, (validate_end, train_end) in zip(_ACTIONS, ends, strict=True):
            table[subject, f"{action} 1"] = {
                "Validate": (FIRST_USABLE_FRAME, validate_end),
                "Train": (validate_end + 1, train_end),
            }
    for subject, test_ends in _TRIAL_2.items():
        for action, end in zip((*_ACTIONS, "Combo"), test_ends, strict=True):
            table[subject, f"{action} 2"] = {"Test": (FIRST_USABLE_FRAME, end)}
    for subject, mocap_ends in _TRIAL_3.items():
        for action, end in zip(_ACTIONS, mocap_ends, strict=True):
            table[subject, f"{action} 3"] = {"Train": (1, end)}
    return table


def read_partitions(root: Path) -> Partitions:
    """``partitions.json`` of the data set's root where there is one, else the official table.

    The file has the form ``{subject: {"Action trial": {partition: [first, last]}}}``, in toolkit frames.

    Raises
    ------
    DataError
        If the file is not of that form; the message lists every fault.
    """
    path = own_table(root)
    if path is None:
        return official_partitions()
    repeated: list[str] = []
    try:
        content = json.loads(read_text(path), object_pairs_hook=lambda pairs: _unrepeated(pairs, repeated))
    except json.JSONDecodeError as error:
        raise DataError(f"{path}, line {error.lineno}: is not JSON ({error.msg})") from error
    except RecursionError as error:
        raise DataError(f"{path}: is not a table of partitions (nested too deep)") from error
    table: dict[tuple[str, str], Ranges] = {}
    faults = [f"{name} is there twice" for name in repeated]
    for subject, trials in _items(content, "the file", faults):
        if not SUBJECT.match(subject):
            faults.append(f"{subject!r} is no subject (S1, S2, ...)")
        for trial, ranges in _items(trials, subject, faults):
            checked = {}
            if not _TRIAL.match(trial):
                faults.append(f"{subject} {trial!r} is no trial; one is called like 'Walking 1'")
            for partition, span in _items(ranges, f"{subject} {trial}", faults):
                if partition not in PARTITION_NAMES:
                    faults.append(f"{subject} {trial}: unknown partition {partition!r} ({', '.join(PARTITION_NAMES)})")
                elif (ends := _span(span)) is None:
                    faults.append(f"{subject} {trial} {partition}: expected [first, last] with 1 <= first <= last")
                else:
                    checked[partition] = ends
            faults += [f"{subject} {trial}: {first} and {second} overlap" for first, second in _overlaps(checked)]
            table[subject, trial] = checked
    if faults:
        raise DataError(f"{path}: " + "; ".join(faults))
    return table


def own_table(root: Path) -> Path | None:
    """The root's ``partitions.json``, whatever its case; None where there is none."""
    return entries(root).get("partitions.json")


def _unrepeated(pairs: list[tuple[str, object]], repeated: list[str]) -> dict[str, object]:
    """A JSON object as a dictionary, which keeps the last of equal names; `repeated` gets the names that come twice."""
    names = [name for name, _ in pairs]
    repeated += sorted({name for name in names if names.count(name) > 1})
    return dict(pairs)


def _items(value: object, where: str, faults: list[str]) -> list[tuple[str, object]]:
    if isinstance(value, dict):
        return list(value.items())
    faults.append(f"{where}: expected an object, found {type(value).__name__}")
    return []


def _overlaps(ranges: Ranges) -> list[tuple[str, str]]:
    """Pairs of partitions that share frames: what is trained on must not be tested on."""
    ordered = sorted(ranges, key=lambda name: ranges[name])
    return [(first, second) for first, second in pairwise(ordered) if ranges[second][0] <= ranges[first][1]]


def _span(value: object) -> tuple[int, int] | None:
    match value:
        case [int(first), int(last)] if 1 <= first <= last <= _LAST_FRAME and not (
            isinstance(first, bool) or isinstance(last, bool)
        ):
            return first, last
        case _:
            return None
