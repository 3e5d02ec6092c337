"""The result files of HumanEva's toolkit: the poses of one sequence, frame by frame, as XML.

``SEQUENCE`` carries attributes that say what was estimated; in it stand a ``Camera`` (``N/A`` for 3D) and the
``Frame`` elements, each with its ``Number``, a ``Pose`` of ``Joint`` elements (``Name``, ``Enabled``, ``X``, ``Y``,
``Z``, mm) and an ``Error`` (mm, or ``N/A``). The format's description does not say whether the parts of a frame and a
joint are elements or attributes: elements are written, both are read.
"""

from __future__ import annotations

import math
import xml.etree.ElementTree as ET
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from pose.body.skeleton import HUMANEVA_15, HUMANEVA_20, Skeleton
from pose.errors import DataError
from pose.files import atomic_path
from pose.types import FloatArray, IntArray

NOT_APPLICABLE = "N/A"

_ATTRIBUTES = (
    "DatasetName",
    "DatasetBasePath",
    "SubjectName",
    "ActionType",
    "Trial",
    "FrameStart",
    "FrameEnd",
    "Partition",
)
_SKELETONS = (HUMANEVA_20, HUMANEVA_15)
#: Largest number of faults that a message lists.
_FAULTS_SHOWN = 5


@dataclass(frozen=True, eq=False)
class SequenceResult:
    """Poses of one sequence.

    Parameters
    ----------
    subject, action, trial, partition : str, str, int, str
    numbers : ndarray of int, shape (n,)
        Toolkit frames, ascending.
    joints : ndarray of shape (n, J, 3)
        mm, world, in the order of `skeleton`; NaN where a joint was not estimated (not enabled).
    skeleton : Skeleton
        `HUMANEVA_20`, as the toolkit has it, or `HUMANEVA_15`.
    errors : ndarray of shape (n,), optional
        mm, e.g. the mean of `pose.series.metrics.toolkit_joint_errors`; NaN where not known. All NaN by default.
    dataset, base_path : str
        The toolkit's name of the data set and where it was.

    Raises
    ------
    ValueError
        If the shapes do not fit, frames do not ascend from 1, or a number is infinite.
    """

    subject: str
    action: str
    trial: int
    partition: str
    numbers: IntArray
    joints: FloatArray
    skeleton: Skeleton = HUMANEVA_20
    errors: FloatArray = field(default_factory=lambda: np.empty(0))
    dataset: str = "HumanEva_I"
    base_path: str = ""

    def __post_init__(self) -> None:
        n_frames = len(self.numbers)
        if self.errors.size == 0:
            object.__setattr__(self, "errors", np.full(n_frames, np.nan))
        expected = (n_frames, len(self.skeleton), 3)
        if self.skeleton not in _SKELETONS:
            raise ValueError("skeleton must be HUMANEVA_20 or HUMANEVA_15")
        if n_frames == 0 or self.joints.shape != expected or self.errors.shape != (n_frames,):
            raise ValueError(
                f"numbers, joints and errors have the lengths and shapes {n_frames}, {self.joints.shape} and "
                f"{self.errors.shape}, expected at least one frame, {expected} and ({n_frames},)"
            )
        if self.numbers[0] < 1 or (np.diff(self.numbers) <= 0).any():
            raise ValueError("numbers must be toolkit frames from 1, each larger than the one before")
        if np.isinf(self.joints).any() or np.isinf(self.errors).any():
            raise ValueError("joints and errors must be finite, or NaN where not known")


def write_result(path: str | Path, result: SequenceResult) -> None:
    """Write a result file, under a temporary name first.

    Raises
    ------
    DataError
        If it cannot be written there.
    """
    path = Path(path)
    values = (
        result.dataset,
        result.base_path,
        result.subject,
        result.action,
        str(result.trial),
        str(result.numbers[0]),
        str(result.numbers[-1]),
        result.partition,
    )
    root = ET.Element("SEQUENCE", dict(zip(_ATTRIBUTES, values, strict=True)))
    ET.SubElement(root, "Camera").text = NOT_APPLICABLE
    for number, pose, error in zip(result.numbers, result.joints, result.errors, strict=True):
        frame = ET.SubElement(root, "Frame")
        ET.SubElement(frame, "Number").text = str(number)
        joints = ET.SubElement(frame, "Pose")
        for name, position in zip(result.skeleton.names, pose, strict=True):
            joint = ET.SubElement(joints, "Joint")
            enabled = bool(np.isfinite(position).all())
            ET.SubElement(joint, "Name").text = name
            ET.SubElement(joint, "Enabled").text = str(int(enabled))
            for axis, value in zip("XYZ", position, strict=True):
                ET.SubElement(joint, axis).text = f"{value:.6f}" if enabled else "NaN"
        ET.SubElement(frame, "Error").text = NOT_APPLICABLE if math.isnan(error) else f"{error:.6f}"
    ET.indent(root)
    with atomic_path(path) as temporary:
        temporary.write_bytes(ET.tostring(root, encoding="utf-8", xml_declaration=True))


def read_result(path: str | Path) -> SequenceResult:
    """Read a result file of 3D poses.

    Raises
    ------
    DataError
        If the file is missing, is no XML or holds 2D poses, or if frames or joints are faulty; the message lists them.
    """
    path = Path(path)
    root = _parse(path)
    if root.tag != "SEQUENCE":
        raise DataError(f"{path}: its root is {root.tag}, expected SEQUENCE, so it is no result of HumanEva's toolkit")
    missing = [name for name in _ATTRIBUTES if name not in root.attrib]
    if missing:
        raise DataError(f"{path}: SEQUENCE lacks {', '.join(missing)}")
    camera = _field(root, "Camera")
    if camera not in (NOT_APPLICABLE, ""):
        raise DataError(f"{path}: holds 2D poses in {camera}, only 3D ones are read")
    frames = root.findall("Frame")
    if not frames:
        raise DataError(f"{path}: holds no frame")
    skeleton = _skeleton(path, frames[0])
    faults: list[str] = []
    trial, start, end = (
        _integer(root.attrib[name], f"SEQUENCE: {name}", faults) for name in ("Trial", "FrameStart", "FrameEnd")
    )
    numbers: list[int] = []
    joints, errors = [], []
    for position, frame in enumerate(frames, start=1):
        number = _integer(_field(frame, "Number"), f"frame element {position}: Number", faults)
        if not start <= number <= end:
            faults.append(f"frame {number}: outside FrameStart {start} to FrameEnd {end}")
        if numbers and number <= numbers[-1]:
            faults.append(f"frame {number}: stands after frame {numbers[-1]}")
        numbers.append(number)
        joints.append(_pose(frame, skeleton, f"frame {number}", faults))
        errors.append(_number(_field(frame, "Error") or NOT_APPLICABLE, f"frame {number}: Error", faults))
    if faults:
        more = f"; and {len(faults) - _FAULTS_SHOWN} more" if len(faults) > _FAULTS_SHOWN else ""
        raise DataError(f"{path}: {'; '.join(faults[:_FAULTS_SHOWN])}{more}")
    subject, action, partition = (root.attrib[name] for name in ("SubjectName", "ActionType", "Partition"))
    return SequenceResult(
        subject,
        action,
        trial,
        partition,
        np.array(numbers, dtype=np.int64),
        np.array(joints),
        skeleton,
        np.array(errors),
        root.attrib["DatasetName"],
        root.attrib["DatasetBasePath"],
    )


def _parse(path: Path) -> ET.Element:
    try:
        content = path.read_bytes()
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror or error})") from error
    if b"<!DOCTYPE" in content or b"<!ENTITY" in content:  # entities can grow without end, and no result needs any
        raise DataError(f"{path}: declares a document type, which no result has")
    try:
        return ET.fromstring(content)
    except (ET.ParseError, ValueError, LookupError) as error:  # LookupError: an unknown encoding
        raise DataError(f"{path}: is not XML ({error})") from error


def _field(element: ET.Element, name: str) -> str:
    """A part of an element, given as a child or as an attribute; empty where there is neither."""
    return (element.findtext(name) or element.get(name) or "").strip()


def _skeleton(path: Path, frame: ET.Element) -> Skeleton:
    names = [_field(joint, "Name") for joint in frame.iterfind("Pose/Joint")]
    for skeleton in _SKELETONS:
        if sorted(names) == sorted(skeleton.names):
            return skeleton
    known = {name for skeleton in _SKELETONS for name in skeleton.names}
    unknown = [name for name in names if name not in known]
    hint = f", unknown ones are {', '.join(unknown[:_FAULTS_SHOWN])}" if unknown else ""
    raise DataError(
        f"{path}: its first frame has {len(names)} joints{hint}; expected the toolkit's 20 points or the 15 joints"
    )


def _pose(frame: ET.Element, skeleton: Skeleton, where: str, faults: list[str]) -> FloatArray:
    pose = np.full((len(skeleton), 3), np.nan)
    elements = {_field(joint, "Name"): joint for joint in frame.iterfind("Pose/Joint")}
    n_elements = len(frame.findall("Pose/Joint"))
    if set(elements) != set(skeleton.names) or n_elements != len(skeleton):
        faults.append(f"{where}: its {n_elements} joints are not those of the first frame")
        return pose
    for index, name in enumerate(skeleton.names):
        joint = elements[name]
        enabled = _field(joint, "Enabled").lower()
        if enabled not in ("0", "1", "true", "false"):
            faults.append(f"{where}, {name}: Enabled is {enabled!r}, expected 0 or 1")
        elif enabled in ("1", "true"):
            place = [_number(_field(joint, axis), f"{where}, {name}: {axis}", faults) for axis in "XYZ"]
            if np.isnan(place).any():
                faults.append(f"{where}, {name}: is enabled, but has no position")
            pose[index] = place
    return pose


def _number(text: str, where: str, faults: list[str]) -> float:
    """A finite number, or NaN for ``N/A`` and ``NaN``."""
    if text.upper() in (NOT_APPLICABLE, "NAN"):
        return math.nan
    try:
        value = float(text)
    except ValueError:
        value = math.inf
    if math.isinf(value):
        faults.append(f"{where} is {text!r}, expected a number")
        return 0.0
    return value


def _integer(text: str, where: str, faults: list[str]) -> int:
    value = _number(text, where, faults)
    if not value.is_integer():
        faults.append(f"{where} is {text!r}, expected a whole number")
        return 0
    return int(value)
