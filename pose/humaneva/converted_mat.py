"""``converted_15j``: the files that VideoPose3D's Matlab converter makes of HumanEva-I, one per trial and partition.

``converted_15j/Train/S1/Walking_1.mat`` holds ``poses_3d`` (T, 15, 3), mm in the world, NaN where a frame is not valid,
and ``poses_2d`` (3, T, 15, 2), px in C1, C2, C3; T is the partition's length.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from pose.body.skeleton import HUMANEVA_15
from pose.errors import DataError
from pose.humaneva.files.mat import load_mat
from pose.humaneva.folders import MOTION, SUBJECT, entries
from pose.humaneva.partitions import PARTITION_NAMES, Partitions
from pose.humaneva.trial import PELVIS_TO_HEAD
from pose.types import BoolArray, FloatArray, IntArray

_N_JOINTS = len(HUMANEVA_15)
_LAYOUT = "expected converted_15j/Train/S1/Walking_1.mat and its like"


@dataclass(frozen=True, eq=False)
class ConvertedTrial:
    """One file of ``converted_15j``.

    Parameters
    ----------
    path : Path
    partition, subject, action, trial : str, str, str, int
        By the file's name and folders.
    joints : ndarray of shape (T, 15, 3)
        mm, world, in the order of `pose.body.skeleton.HUMANEVA_15`; NaN where a frame is not valid.
    pixels : ndarray of shape (n_cameras, T, 15, 2)
        px, cameras in the order C1, C2, C3; n_cameras is 0 where the file holds no ``poses_2d``.
    """

    path: Path
    partition: str
    subject: str
    action: str
    trial: int
    joints: FloatArray
    pixels: FloatArray

    @property
    def valid(self) -> BoolArray:
        """Whether every joint is known, (T,)."""
        return np.asarray(np.isfinite(self.joints).all(axis=(1, 2)))

    def numbers(self, table: Partitions) -> IntArray:
        """The toolkit frame of every row, (T,); `table` is the one that the conversion was made by.

        Raises
        ------
        DataError
            If the table has no such partition, or one of another length.
        """
        ranges = table.get((self.subject, f"{self.action} {self.trial}"), {})
        if self.partition not in ranges:
            raise DataError(
                f"{self.path}: the table has no {self.partition} of {self.subject} {self.action} {self.trial}"
            )
        first, last = ranges[self.partition]
        if last - first + 1 != len(self.joints):
            raise DataError(
                f"{self.path}: holds {len(self.joints)} frames, but {self.partition} has {last - first + 1} "
                f"({first}-{last}): it was made by another table"
            )
        return np.arange(first, last + 1)


def read_converted(path: str | Path) -> ConvertedTrial:
    """Read one file of ``converted_15j``.

    Raises
    ------
    DataError
        If the file is missing, foreign, misplaced, empty, of wrong shapes, or not in mm.
    """
    path = Path(path)
    name, subject, partition = (part.name for part in (path, path.absolute().parent, path.absolute().parent.parent))
    match = MOTION.match(name)
    partition = next((known for known in PARTITION_NAMES if known.lower() == partition.lower()), "")
    if match is None or not SUBJECT.match(subject) or not partition:
        raise DataError(f"{path}: its name and folders do not say what it is; {_LAYOUT}")
    if not path.is_file():
        raise DataError(f"{path}: no such file")
    content = load_mat(path)
    joints = _poses(path, content, "poses_3d", (None, _N_JOINTS, 3))
    pixels = np.empty((0, len(joints), _N_JOINTS, 2))
    if "poses_2d" in content:
        pixels = _poses(path, content, "poses_2d", (None, len(joints), _N_JOINTS, 2))
    _check_unit(path, joints)
    return ConvertedTrial(path, partition, subject.upper(), match["action"], int(match["trial"]), joints, pixels)


def read_converted_tree(folder: str | Path) -> list[ConvertedTrial]:
    """Read every file below a ``converted_15j`` folder, in the order partition, subject, file.

    Raises
    ------
    DataError
        If there is no file, or some cannot be used; the message lists all of those.
    """
    folder = Path(folder)
    paths = [
        path
        for partition in PARTITION_NAMES
        for subject in entries(entries(folder).get(partition.lower(), folder / partition)).values()
        if SUBJECT.match(subject.name)
        for path in entries(subject).values()
        if MOTION.match(path.name) and path.suffix.lower() == ".mat"
    ]
    if not paths:
        raise DataError(f"{folder}: holds no converted trial; {_LAYOUT}")
    trials, faults = [], []
    for path in paths:
        try:
            trials.append(read_converted(path))
        except DataError as error:
            faults.append(str(error))
    if faults:
        raise DataError("; ".join(faults))
    return trials


def _poses(path: Path, content: dict[str, Any], name: str, shape: tuple[int | None, ...]) -> FloatArray:
    """A variable as floats; a None in `shape` allows any length."""
    if name not in content:
        raise DataError(f"{path}: lacks the variable {name}, so it is no file of converted_15j")
    value = np.asarray(content[name])
    if value.dtype.kind not in "fiu":
        raise DataError(f"{path}: {name} holds no numbers")
    if value.size == 0:
        raise DataError(
            f"{path}: {name} is empty: its conversion failed (a file of a few hundred bytes); run the converter again "
            "on a release with all its parts"
        )
    fits = value.ndim == len(shape) and all(want in (None, have) for want, have in zip(shape, value.shape, strict=True))
    if not fits:
        wanted = ", ".join("n" if length is None else str(length) for length in shape)
        raise DataError(f"{path}: {name} has the shape {value.shape}, expected ({wanted})")
    return value.astype(float)


def _check_unit(path: Path, joints: FloatArray) -> None:
    """Refuse joints that are not in mm; a conversion without valid frames passes, as parts of the release have none."""
    heights = np.linalg.norm(joints[:, HUMANEVA_15.names.index("head")] - joints[:, HUMANEVA_15.root], axis=1)
    known = heights[np.isfinite(heights)]
    if len(known) and not PELVIS_TO_HEAD[0] < np.median(known) < PELVIS_TO_HEAD[1]:
        raise DataError(
            f"{path}: the head is {np.median(known):.3g} from the pelvis, so poses_3d is not in mm, or its joints are "
            "in another order"
        )
