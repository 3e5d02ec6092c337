"""The record, which states in all formats what the numbers mean, and the checks of what is read from a file."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pose.body.skeleton import HUMANEVA_15, HUMANEVA_20, Skeleton
from pose.errors import DataError
from pose.export.axes import MEANING
from pose.series.pose_series import PoseSeries
from pose.types import BoolArray, IntArray

FORMAT = "pose-series"
VERSION = 1
UNIT = "mm"


@dataclass(frozen=True)
class Record:
    """What a file states about its poses: skeleton, axes and provenance. `extra` is the whole JSON object."""

    skeleton: Skeleton
    axes: str
    provenance: dict[str, str] = field(default_factory=dict)
    extra: Mapping[str, Any] = field(default_factory=dict)


def record_of(series: PoseSeries) -> dict[str, Any]:
    """The record of a series, for JSON.

    Raises
    ------
    ValueError
        If the axes are unknown, or some file cannot hold a joint's name or the provenance.
    """
    if series.axes not in MEANING:
        raise ValueError(f"there are no axes {series.axes!r}: {', '.join(MEANING)}")
    fault = _name_fault(list(series.skeleton.names)) or _provenance_fault(series.provenance)
    if fault:
        raise ValueError(fault)
    return {
        "format": FORMAT,
        "version": VERSION,
        "unit": UNIT,
        "axes": series.axes,
        "axes_meaning": MEANING[series.axes],
        "origin": series.skeleton.names[series.skeleton.root],
        "joints": list(series.skeleton.names),
        "parents": [int(parent) for parent in series.skeleton.parents],
        "provenance": dict(series.provenance),
    }


def parse_record(where: object, text: str | bytes) -> Record:
    """The record that JSON text holds.

    Raises
    ------
    DataError
        If it is no record, or was written by a later version.
    """
    try:
        content = parse_json(text)
    except ValueError as error:
        raise DataError(f"{where}: what it says about its poses is damaged ({error})") from error
    return as_record(where, content)


def parse_json(text: str | bytes) -> Any:
    """`json.loads`, but brackets too deep for Python's stack raise ValueError too."""
    try:
        return json.loads(text)
    except RecursionError as error:
        raise ValueError("its brackets are nested too deeply") from error


def as_record(where: object, content: object) -> Record:
    """The record that parsed JSON holds; errors are those of `parse_record`."""
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise DataError(f"{where}: holds no poses that this software wrote (no format {FORMAT!r})")
    check_version(where, content.get("version"))
    faults = []
    unit, axes = content.get("unit"), content.get("axes")  # from HDF5 these may be arrays
    names, parents = content.get("joints"), content.get("parents")
    if not isinstance(unit, str) or unit != UNIT:
        faults.append(f"the unit is {unit!r}, {UNIT!r} is known")
    if not isinstance(axes, str) or axes not in MEANING:
        faults.append(f"the axes are {axes!r}, there are {', '.join(MEANING)}")
    faults += _skeleton_faults(names, parents)
    provenance = content.get("provenance", {})
    if not isinstance(provenance, dict) or not all(isinstance(value, str) for value in provenance.values()):
        faults.append("the provenance is not text by name")
    elif fault := _provenance_fault(provenance):
        faults.append(fault)
    if faults:
        raise DataError(f"{where}: {'; '.join(faults)}")
    return Record(Skeleton(tuple(names), tuple(parents)), str(axes), provenance, content)  # type: ignore[arg-type]


def check_version(where: object, found: object) -> None:
    """Refuse what a later version of this software wrote."""
    if not isinstance(found, int | np.integer) or isinstance(found, bool):
        raise DataError(f"{where}: its version is {found!r}, a number is needed")
    if not 1 <= found <= VERSION:
        raise DataError(f"{where}: has format version {found}, this software reads up to {VERSION}; update it")


def known_skeleton(where: object, names: list[str]) -> Skeleton:
    """The known skeleton with these joints, in their order, for a file that states no parents.

    Raises
    ------
    DataError
        If no known skeleton has these joints.
    """
    for known in (HUMANEVA_15, HUMANEVA_20):
        if names == list(known.names):
            return known
        if sorted(names) == sorted(known.names):
            order = [known.names.index(name) for name in names]
            parents = (known.parents[joint] for joint in order)
            return Skeleton(tuple(names), tuple(-1 if p < 0 else order.index(p) for p in parents))
    missing = [name for name in HUMANEVA_15.names if name not in names]
    foreign = [name for name in names if name not in HUMANEVA_15.names]
    parts = [f"without {', '.join(missing)}"] * bool(missing) + [f"with {', '.join(foreign)}"] * bool(foreign)
    raise DataError(f"{where}: its points are no skeleton this software knows ({'; '.join(parts) or 'repeated names'})")


def _skeleton_faults(names: object, parents: object) -> list[str]:
    if not isinstance(names, list) or not names or not all(isinstance(name, str) for name in names):
        return ["the joints are not a list of names"]
    fault = _name_fault(names)
    if fault:
        return [fault]
    if not isinstance(parents, list) or not all(type(parent) is int for parent in parents):
        return ["the parents are not a list of numbers"]
    if len(parents) != len(names) or parents.count(-1) != 1 or not all(-1 <= p < len(names) for p in parents):
        return ["the parents are not one joint or -1 for each joint"]
    for joint in range(len(names)):
        steps = 0
        while joint >= 0 and steps <= len(names):
            joint, steps = parents[joint], steps + 1
        if joint >= 0:
            return ["the parents run in a circle"]
    return []


def _name_fault(names: list[str]) -> str:
    if len(set(names)) != len(names):
        return f"joints share a name: {', '.join(sorted({n for n in names if names.count(n) > 1}))}"
    unusable = [name for name in names if not name or not name.isprintable() or name != name.strip()]
    return f"names of joints must be text of one line, found {', '.join(map(repr, unusable))}" if unusable else ""


def _provenance_fault(provenance: Mapping[str, str]) -> str:
    """Entries that some format cannot hold: HDF5 takes no empty name and no NUL, and all formats are UTF-8."""
    wrong = [repr(name) for name, text in provenance.items() if not _is_storable(name, text)]
    return f"the provenance has names or texts that files cannot hold: {', '.join(wrong)}" if wrong else ""


def _is_storable(name: str, text: str) -> bool:
    try:
        (name + text).encode()
    except UnicodeEncodeError:
        return False
    return bool(name) and "\0" not in name + text


def checked_series(
    where: object,
    record: Record,
    frame: NDArray[Any],
    time: NDArray[Any],
    joints: NDArray[Any],
    std: NDArray[Any] | None = None,
    quality: NDArray[Any] | None = None,
) -> PoseSeries:
    """The series of the arrays that a file held.

    Raises
    ------
    DataError
        If an array is of the wrong kind, frames or times do not ascend, a frame has some of its joints only, or a
        number is impossible. The message lists every fault with the first frame that has it.
    """
    arrays = {"frame": frame, "time": time, "joints": joints, "std": std, "quality": quality}
    wrong = [name for name, array in arrays.items() if array is not None and not _is_of_kind(name, array)]
    if wrong:
        raise DataError(f"{where}: the arrays {', '.join(wrong)} do not hold numbers of the right kind")
    frame, time, joints = frame.astype(np.int64), time.astype(np.float64), joints.astype(np.float64)
    std = None if std is None else std.astype(np.float64)
    quality = None if quality is None else quality.astype(np.int64)
    try:
        series = PoseSeries(frame, time, joints, record.skeleton, record.axes, record.provenance, std, quality)
    except ValueError as error:
        raise DataError(f"{where}: its arrays do not belong together ({error})") from error
    known = np.asarray(np.isfinite(joints).all(axis=2))
    faults = [
        _first(frame, np.diff(frame, prepend=frame[:1] - 1) <= 0, "does not come after the one before it"),
        _first(frame, ~np.isfinite(time), "has no time"),
        _first(frame, np.diff(time, prepend=time[:1] - 1) <= 0, "has no later time than the one before it"),
        _first(
            frame,
            np.asarray(known.any(axis=1) & ~known.all(axis=1)),
            "has some of its joints only; it needs all or none",
        ),
        _first(frame, np.asarray(np.isinf(joints).any(axis=(1, 2))), "has an infinite coordinate"),
    ]
    if std is not None:
        usable = (np.isfinite(std) & (np.nan_to_num(std) >= 0)).all(axis=(1, 2))
        faults.append(
            _first(frame, np.asarray(known.all(axis=1) & ~usable), "has a joint without a standard deviation")
        )
    if quality is not None:
        faults.append(_first(frame, (quality < 0) | (quality > 15), "has quality flags that there are not"))
    faults = [fault for fault in faults if fault]
    if faults:
        raise DataError(f"{where}: {'; '.join(faults)}")
    return series


def _is_of_kind(name: str, array: object) -> bool:
    """Whether `array` holds the numbers that its name needs, whole (int64) or real; HDF5 may hold anything."""
    if not isinstance(array, np.ndarray):
        return False
    if name not in ("frame", "quality"):
        return array.dtype.kind in "fiu"
    return array.dtype.kind in "iu" and bool((array <= np.iinfo(np.int64).max).all())


def _first(frame: IntArray, wrong: BoolArray, what: str) -> str:
    rows = np.flatnonzero(wrong)
    if not len(rows):
        return ""
    others = f", and {len(rows) - 1} others" if len(rows) > 1 else ""
    return f"frame {frame[rows[0]]}{others} {what}"
