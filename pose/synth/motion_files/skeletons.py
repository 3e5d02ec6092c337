"""The table by which motion files are read: which bone of a known skeleton is which part of a person.

Names are compared in lower case, without prefix (``mixamorig:``), blanks, underscores, dashes and dots. ``{s}`` stands
for the side as the skeleton writes it. A skeleton fits if the file has all of its points; if none fits, the message
names the skeleton that lacks least. `data/README.md` shows the same table.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from pose.errors import DataError
from pose.synth.motion_files.clip import Clip

#: Parts that every motion must have: one on each side, and one in the middle.
SIDED = ("hip", "knee", "ankle", "shoulder", "elbow", "wrist")
MIDDLE = ("neck", "crown")
SIDES = ("left", "right")

_PREFIX = re.compile(r"^.*[:|]")
_JOINERS = re.compile(r"[\s_\-.]")
_PREFIXES_WITHOUT_COLON = ("mixamorig",)


@dataclass(frozen=True)
class SkeletonNames:
    """The names of the parts in one kind of skeleton.

    Parameters
    ----------
    title : str
        For messages.
    sides : tuple of two str
        What ``{s}`` stands for: left, right.
    parts : dict of str to tuple of str
        Names of every part of `SIDED` and `MIDDLE`, and of ``toe`` and ``heel`` if there are some. The first name that
        the file has is taken. A name with ``+`` is the mean of several points.
    spine : tuple of str
        Bones whose mean rotation gives the trunk's lean; bones that the file lacks are skipped.
    pelvis, chest, head, foot : str
        Bones whose rotations are those of these parts.
    """

    title: str
    sides: tuple[str, str]
    parts: dict[str, tuple[str, ...]]
    spine: tuple[str, ...] = ()
    pelvis: str = ""
    chest: str = ""
    head: str = ""
    foot: str = ""


@dataclass(frozen=True)
class Fit:
    """A skeleton found in a file, with the file's own names of every part.

    Parameters
    ----------
    title : str
        Title of the skeleton.
    points : dict of (str, str) to tuple of str
        The points whose mean is the part, by part and side (``""`` in the middle).
    bones : dict of (str, str) to str
        Bones whose rotations are those of ``pelvis``, ``chest``, ``head`` and ``foot``.
    spine : tuple of str
        Bones whose mean rotation gives the trunk's lean.
    """

    title: str
    points: dict[tuple[str, str], tuple[str, ...]]
    bones: dict[tuple[str, str], str] = field(default_factory=dict)
    spine: tuple[str, ...] = ()


CMU_BVH = SkeletonNames(
    "CMU BVH", ("Left", "Right"),
    {"hip": ("{s}UpLeg",), "knee": ("{s}Leg",), "ankle": ("{s}Foot",), "toe": ("{s}ToeBase", "{s}ToeBase end"),
     "shoulder": ("{s}Arm",), "elbow": ("{s}ForeArm",), "wrist": ("{s}Hand",), "neck": ("Neck1",),
     "crown": ("Head end",)},
    spine=("LowerBack", "Spine", "Spine1"), pelvis="Hips", chest="Spine1", head="Head", foot="{s}Foot",
)  # fmt: skip
MIXAMO = SkeletonNames(
    "Mixamo", ("Left", "Right"),
    {"hip": ("{s}UpLeg", "{s}UpperLeg"), "knee": ("{s}Leg", "{s}LowerLeg"), "ankle": ("{s}Foot",),
     "toe": ("{s}ToeBase", "{s}Toes", "{s}Toe", "{s}Foot end"), "shoulder": ("{s}Arm", "{s}UpperArm"),
     "elbow": ("{s}ForeArm", "{s}LowerArm"), "wrist": ("{s}Hand",), "neck": ("Neck",),
     "crown": ("HeadTop", "HeadTopEnd", "HeadEnd", "Head end")},
    spine=("Spine", "Spine1", "Spine2", "Spine3", "Chest", "UpperChest"), pelvis="Hips", chest="Spine2", head="Head",
    foot="{s}Foot",
)  # fmt: skip
BIOVISION = SkeletonNames(
    "Biovision", ("Left", "Right"),
    {"hip": ("{s}Hip", "{s}UpLeg"), "knee": ("{s}Knee", "{s}LowLeg"), "ankle": ("{s}Ankle", "{s}Foot"),
     "toe": ("{s}Toe", "{s}Ankle end", "{s}Foot end"), "shoulder": ("{s}Shoulder", "{s}UpArm"),
     "elbow": ("{s}Elbow", "{s}LowArm"), "wrist": ("{s}Wrist", "{s}Hand"), "neck": ("Neck",),
     "crown": ("HeadEnd", "Head end")},
    spine=("Chest", "Chest2", "Chest3", "Chest4"), pelvis="Hips", chest="Chest", head="Head", foot="{s}Ankle",
)  # fmt: skip
POSER = SkeletonNames(
    "Poser/DAZ", ("l", "r"),
    {"hip": ("{s}Thigh",), "knee": ("{s}Shin",), "ankle": ("{s}Foot",), "toe": ("{s}Toe", "{s}Foot end"),
     "shoulder": ("{s}Shldr",), "elbow": ("{s}ForeArm",), "wrist": ("{s}Hand",), "neck": ("neck",),
     # The eyes stand in for the crown, with the head's rotation: see `segments.frames_of_bones`.
     "crown": ("head end", "leftEye+rightEye")},
    spine=("abdomen", "chest"), pelvis="hip", chest="chest", head="head", foot="{s}Foot",
)  # fmt: skip
CMU_ASF = SkeletonNames(
    "CMU ASF", ("l", "r"),
    {"hip": ("{s}hipjoint",), "knee": ("{s}femur",), "ankle": ("{s}tibia",), "toe": ("{s}foot",),
     "shoulder": ("{s}clavicle",), "elbow": ("{s}humerus",), "wrist": ("{s}radius",), "neck": ("lowerneck",),
     "crown": ("head",)},
    spine=("lowerback", "upperback", "thorax"), pelvis="root", chest="thorax", head="head", foot="{s}foot",
)  # fmt: skip
#: Segment origins that Vicon's model writes beside the markers.
VICON_BONES = SkeletonNames(
    "Vicon segment origins", ("L", "R"),
    {"hip": ("{s}FEP",), "knee": ("{s}FEO",), "ankle": ("{s}TIO",), "toe": ("{s}TOE",), "heel": ("{s}HEE",),
     "shoulder": ("{s}CLO",), "elbow": ("{s}HUO",), "wrist": ("{s}RAO",), "neck": ("TRXO",), "crown": ("HEDP",)},
)  # fmt: skip
#: Markers on the skin alone; `segments.joints_inside` moves them inward to the joints.
PLUG_IN_GAIT = SkeletonNames(
    "Plug-in-Gait markers", ("L", "R"),
    {"hip": ("{s}ASI",), "knee": ("{s}KNE",), "ankle": ("{s}ANK",), "toe": ("{s}TOE",), "heel": ("{s}HEE",),
     "shoulder": ("{s}SHO",), "elbow": ("{s}ELB",), "wrist": ("{s}WRA+{s}WRB",), "neck": ("C7+CLAV",),
     "crown": ("LFHD+RFHD+LBHD+RBHD",)},
)  # fmt: skip

TREES = (CMU_BVH, MIXAMO, BIOVISION, POSER, CMU_ASF)
MARKERS = (VICON_BONES, PLUG_IN_GAIT)


def plain(name: str) -> str:
    """A bone's name as it is compared."""
    bare = _JOINERS.sub("", _PREFIX.sub("", name.strip())).lower()
    for prefix in _PREFIXES_WITHOUT_COLON:
        bare = bare.removeprefix(prefix)
    return bare


def match_skeleton(clip: Clip) -> Fit:
    """The known skeleton whose parts a clip has.

    Raises
    ------
    DataError
        If none fits; the message lists the parts that were not found and the file's unknown names.
    """
    there = {plain(name): name for name in reversed(clip.points)}
    tables = TREES if clip.rotations else MARKERS
    best: tuple[list[str], SkeletonNames] | None = None
    for table in tables:
        points, missing = _points(table, there)
        if not missing:
            bones, spine = _bones(table, {plain(name): name for name in clip.rotations})
            return Fit(table.title, points, bones, spine)
        if best is None or len(missing) < len(best[0]):
            best = missing, table
    assert best is not None
    missing, table = best
    known = {plain(name) for entry in (*TREES, *MARKERS) for name in _all_names(entry)}
    strange = [name for plain_name, name in there.items() if plain_name not in known]
    listed = ", ".join(strange[:_MAX_LISTED]) + (
        f" and {len(strange) - _MAX_LISTED} more" if len(strange) > _MAX_LISTED else ""
    )
    kinds = ", ".join(entry.title for entry in tables)
    raise DataError(
        f"{clip.path}: unknown skeleton ({kinds} are known). As {table.title}, it lacks {', '.join(missing)}; "
        f"{'its bones without a match are ' + listed if strange else 'all of its bones have a match'}. "
        "Rename its bones as the table in data/README.md says"
    )


#: Largest number of names that a message lists.
_MAX_LISTED = 40


def _all_names(table: SkeletonNames) -> list[str]:
    turning = (*table.spine, table.pelvis, table.chest, table.head, table.foot)
    names = [part for group in table.parts.values() for name in group for part in name.split("+")]
    return [name.format(s=side) for name in (*names, *turning) for side in table.sides]


def _points(table: SkeletonNames, there: dict[str, str]) -> tuple[dict[tuple[str, str], tuple[str, ...]], list[str]]:
    found: dict[tuple[str, str], tuple[str, ...]] = {}
    missing = []
    for part, names in table.parts.items():
        for side, letter in zip(SIDES, table.sides, strict=True) if part not in MIDDLE else (("", ""),):
            for name in names:
                members = [plain(member) for member in name.format(s=letter).split("+")]
                if all(member in there for member in members):
                    found[part, side] = tuple(there[member] for member in members)
                    break
            else:
                if part in SIDED or part in MIDDLE:
                    missing.append(f"{side} {part}".strip() + f" ({' or '.join(names).format(s=letter)})")
    return found, missing


def _bones(table: SkeletonNames, there: dict[str, str]) -> tuple[dict[tuple[str, str], str], tuple[str, ...]]:
    spine = tuple(there[plain(name)] for name in table.spine if plain(name) in there)
    bones = {}
    for part, name in (("pelvis", table.pelvis), ("chest", table.chest), ("head", table.head)):
        if plain(name) in there:
            bones[part, ""] = there[plain(name)]
    if spine:
        bones.setdefault(("chest", ""), spine[-1])
    for side, letter in zip(SIDES, table.sides, strict=True):
        name = plain(table.foot.format(s=letter))
        if name in there:
            bones["foot", side] = there[name]
    return bones, spine
