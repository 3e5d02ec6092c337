"""Motion capture markers of a moving body: the 39 on its skin, and the virtual ones that mark its bones.

The virtual markers are placed so that the format's construction of joints (its adjustments at pelvis and shoulders
included) returns exactly the joints that the body moves by.
"""

from __future__ import annotations

import numpy as np

from pose.humaneva.joints import HEAD_LENGTH, MARKER_RADIUS
from pose.synth.body import PELVIS_SETBACK
from pose.synth.kinematics import axes, turn, unit
from pose.synth.motion.motion import SIDE_SIGN, Motion
from pose.types import FloatArray

#: Standard deviation of a physical marker about its place, mm; virtual markers are computed, without noise.
MARKER_NOISE = 0.15
#: Distance of a virtual marker from its bone's origin, mm, where the format leaves it free.
_AXIS_LENGTH = 100.0
#: Standing height that the places below are given for, mm.
_REFERENCE_STATURE = 1750.0
_SIDES = (("L", "left"), ("R", "right"))

# Places on the skin in mm for the reference stature: ahead, outward (left on the left side), up.
_PELVIS_PAIRS = {"ASI": (105.0, 118.0, 62.0), "PSI": (-108.0, 46.0, 74.0)}
_HEAD_PAIRS = {"FHD": (92.0, 62.0, -62.0), "BHD": (-88.0, 60.0, -66.0)}  # from the crown
_CHEST = {
    "CLAV": (62.0, 0.0, -2.0),
    "STRN": (122.0, 0.0, -150.0),
    "C7": (-78.0, 0.0, 52.0),
    "T10": (-112.0, 0.0, -215.0),
    "RBAK": (-116.0, -95.0, -120.0),
}
#: Height of the shoulder markers over the shoulder joints, mm for the reference stature.
_SHOULDER_UP = 62.0
# Places on a limb: share of the way from its upper to its lower joint; ahead and outward, mm.
_ARM_PAIRS = {"UPA": (0.45, 0.0, 55.0), "ELB": (0.99, -6.0, 46.0)}
_FOREARM_PAIRS = {"FRM": (0.5, 0.0, 42.0), "WRA": (0.98, 32.0, 6.0), "WRB": (1.0, -32.0, 6.0), "FIN": (1.28, 0.0, 26.0)}
_THIGH_PAIRS = {"THI": (0.5, 12.0, 82.0), "KNE": (1.0, 0.0, 60.0)}
_SHIN_PAIRS = {"TIB": (0.5, 8.0, 55.0), "ANK": (1.0, 0.0, 44.0)}
#: Height of heel and toe markers over the sole, mm for the reference stature.
_SOLE_CLEARANCE = 45.0

Markers = dict[str, FloatArray]


def physical_markers(motion: Motion) -> Markers:
    """The 39 markers on the skin by label, (T, 3) each, mm, without noise."""
    body = motion.body
    scale = body.stature / _REFERENCE_STATURE
    chest, crown = motion.joint("thorax"), motion.joint("head")
    markers = {label: chest + turn(motion.thorax, scale * np.array(place)) for label, place in _CHEST.items()}
    for side, (letter, name) in enumerate(_SIDES):
        mirror = scale * np.array([1.0, SIDE_SIGN[side], 1.0])
        for label, place in _PELVIS_PAIRS.items():
            markers[letter + label] = motion.joint("pelvis") + turn(motion.pelvis, mirror * place)
        for label, place in _HEAD_PAIRS.items():
            markers[letter + label] = crown + turn(motion.head, mirror * place)
        shoulder = np.array(
            [
                0.0,
                SIDE_SIGN[side] * (body.half_shoulder_markers + MARKER_RADIUS),
                scale * _SHOULDER_UP - body.shoulder_drop,
            ]
        )
        markers[f"{letter}SHO"] = chest + turn(motion.thorax, shoulder)
        markers |= _arm_markers(motion, side, letter, name, scale)
        markers |= _leg_markers(motion, side, letter, name, scale)
    return markers


def _arm_markers(motion: Motion, side: int, letter: str, name: str, scale: float) -> Markers:
    shoulder, elbow, wrist = (motion.joint(f"{name}_{part}") for part in ("shoulder", "elbow", "wrist"))
    ahead = motion.thorax[..., 0] + 0.3 * motion.thorax[..., 2]
    return _limb(letter, _ARM_PAIRS, shoulder, elbow, ahead, side, scale) | _limb(
        letter, _FOREARM_PAIRS, elbow, wrist, ahead, side, scale
    )


def _leg_markers(motion: Motion, side: int, letter: str, name: str, scale: float) -> Markers:
    hip, knee, ankle = (motion.joint(f"{name}_{part}") for part in ("hip", "knee", "ankle"))
    foot = motion.feet[:, side]
    markers = _limb(letter, _THIGH_PAIRS, hip, knee, motion.pelvis[..., 0], side, scale)
    markers |= _limb(letter, _SHIN_PAIRS, knee, ankle, foot[..., 0], side, scale)
    heel, ball, _ = motion.body.foot
    down = scale * _SOLE_CLEARANCE - motion.body.ankle_height
    markers[f"{letter}HEE"] = ankle - (heel + 12.0 * scale) * foot[..., 0] + down * foot[..., 2]
    markers[f"{letter}TOE"] = ankle + ball * foot[..., 0] + down * foot[..., 2]
    return markers


def _limb(
    letter: str,
    places: dict[str, tuple[float, float, float]],
    upper: FloatArray,
    lower: FloatArray,
    ahead: FloatArray,
    side: int,
    scale: float,
) -> Markers:
    frame = axes(upper - lower, ahead)
    return {
        letter + label: upper
        + share * (lower - upper)
        + scale * (forward * frame[..., 0] + outward * SIDE_SIGN[side] * frame[..., 1])
        for label, (share, forward, outward) in places.items()
    }


def virtual_markers(motion: Motion) -> Markers:
    """The markers xxxO, xxxP, xxxA, xxxL of every bone the format builds joints from, (T, 3) each, mm."""
    body = motion.body
    # The format turns the pelvis by this angle about y, and moves it back, before it lays the trunk along its z axis.
    tilt = np.arctan2(body.half_shoulder_markers / 2, body.trunk_marker_length)
    root = motion.joint("pelvis")
    pelvis = axes(motion.trunk_top - root, motion.pelvis[..., 0]) @ _format_rotation(-tilt)
    markers = _bone("PEL", root + PELVIS_SETBACK * pelvis[..., 0], pelvis)
    markers |= _bone("TRX", motion.trunk_top, motion.thorax)
    head = axes(motion.joint("head") - motion.trunk_top, motion.head[..., 0])
    markers |= _bone("HED", motion.trunk_top + 0.5 * HEAD_LENGTH * head[..., 2], head)
    for side, (letter, name) in enumerate(_SIDES):
        markers |= _arm_bones(motion, side, letter, name)
        markers |= _leg_bones(motion, side, letter, name)
    return markers


def _arm_bones(motion: Motion, side: int, letter: str, name: str) -> Markers:
    body = motion.body
    shoulder, elbow, wrist = (motion.joint(f"{name}_{part}") for part in ("shoulder", "elbow", "wrist"))
    # The format turns the upper arm by -offset about y and the forearm by +offset: the bones are turned back.
    offset = np.arctan2(body.shoulder_offset[side] / 2, body.upper_arm)
    ahead = motion.thorax[..., 0] + 0.3 * motion.thorax[..., 2]
    upper = axes(shoulder - elbow, ahead) @ _format_rotation(offset)
    lower = axes(elbow - wrist, ahead) @ _format_rotation(-offset)
    humerus = shoulder - body.upper_arm * upper[..., 2]
    radius = humerus - body.forearm * unit(elbow - wrist)
    return (
        _bone(f"{letter}CL", shoulder, motion.thorax)
        | _bone(f"{letter}HU", humerus, upper)
        | _bone(f"{letter}RA", radius, lower)
    )


def _leg_bones(motion: Motion, side: int, letter: str, name: str) -> Markers:
    hip, knee, ankle = (motion.joint(f"{name}_{part}") for part in ("hip", "knee", "ankle"))
    # xxFEP is the hip itself: the format takes the thigh's origin there and its length from it.
    thigh = _bone(f"{letter}FE", knee, axes(hip - knee, motion.pelvis[..., 0]), motion.body.thigh)
    return thigh | _bone(f"{letter}TI", ankle, axes(knee - ankle, motion.feet[:, side, :, 0]))


def _bone(label: str, origin: FloatArray, frame: FloatArray, length: float = _AXIS_LENGTH) -> Markers:
    """Four markers of a bone: its origin and a point along its z, x and y axis."""
    return {
        f"{label}O": origin,
        f"{label}P": origin + length * frame[..., 2],
        f"{label}A": origin + length * frame[..., 0],
        f"{label}L": origin + length * frame[..., 1],
    }


def _format_rotation(angle: float) -> FloatArray:
    """The format's rotation about y: its sign is opposite to the usual one."""
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, 0.0, -s], [0.0, 1.0, 0.0], [s, 0.0, c]])
