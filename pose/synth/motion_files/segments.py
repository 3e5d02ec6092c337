"""Orientations of pelvis, chest, head and feet in a clip: from the bones' rotations, or from markers alone."""

from __future__ import annotations

import numpy as np

from pose.synth.kinematics import axes, unit
from pose.synth.motion_files.clip import Clip
from pose.synth.motion_files.skeletons import SIDES, Fit
from pose.types import FloatArray

# Plug-in-Gait markers are on the skin, joints lie deeper.
#: Hip joint from the middle of the front pelvis markers: forward, outward, up, as shares of the distance between
#: these two markers (Bell, Pedersen & Brand, 1990).
_HIP_FROM_ASIS = (-0.19, -0.14, -0.30)
#: Depth of a joint under its marker, mm.
_KNEE_DEPTH, _ANKLE_DEPTH, _ELBOW_DEPTH, _SHOULDER_DEPTH = 55.0, 42.0, 38.0, 50.0
#: Weight of the direction away from the body, against the sine of the elbow's bend, in an elbow's outer direction.
_STRAIGHT_ARM = 0.15
#: Height of the crown over the head markers' middle, mm.
_CROWN_OVER_BAND = 75.0
#: Height of the crown over the eyes, as a share of the distance from neck to eyes.
_EYES_TO_CROWN = 0.55


def frames_of_bones(
    clip: Clip, fit: Fit, points: dict[tuple[str, str], FloatArray], to_z_up: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Orientations of pelvis, chest, head and feet from the bones' rotations against the rest pose."""
    left = np.mean([clip.rest[name] for name in fit.points["hip", "left"]], axis=0)
    right = np.mean([clip.rest[name] for name in fit.points["hip", "right"]], axis=0)
    up = to_z_up.T @ [0.0, 0.0, 1.0]
    aside = unit(left - right - np.dot(left - right, up) * up)
    rest = np.stack([np.cross(aside, up), aside, up], axis=-1)

    def turned(name: str) -> FloatArray:
        frames: FloatArray = to_z_up @ clip.rotations[name] @ rest
        return frames

    n_frames = len(clip)
    pelvis = turned(fit.bones.get(("pelvis", ""), next(iter(clip.rotations))))
    lean = np.sum([turned(name)[..., 2] for name in fit.spine], axis=0) if fit.spine else pelvis[..., 2]
    chest = axes(lean, turned(fit.bones["chest", ""])[..., 0] if ("chest", "") in fit.bones else pelvis[..., 0])
    face = turned(fit.bones["head", ""]) if ("head", "") in fit.bones else chest
    if len(fit.points["crown", ""]) > 1:  # eyes: the crown lies behind and above them
        eyes = points["crown", ""] - points["neck", ""]
        reach = np.linalg.norm(eyes, axis=-1, keepdims=True)
        points["crown", ""] = points["neck", ""] + (1 + _EYES_TO_CROWN) * reach * face[..., 2]
    head = axes(points["crown", ""] - points["neck", ""], face[..., 0])
    feet = np.empty((n_frames, 2, 3, 3))
    for index, side in enumerate(SIDES):
        bone = fit.bones.get(("foot", side))
        feet[:, index] = turned(bone) if bone else _level_foot(points, side, pelvis)
    return pelvis, chest, head, feet


def _level_foot(points: dict[tuple[str, str], FloatArray], side: str, pelvis: FloatArray) -> FloatArray:
    """A foot at a right angle to its shin, for files without a foot."""
    return axes(points["knee", side] - points["ankle", side], pelvis[..., 0])


def frames_of_markers(
    clip: Clip, points: dict[tuple[str, str], FloatArray], to_mm: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Orientations of pelvis, chest, head and feet from points alone."""
    hips = points["hip", "left"] - points["hip", "right"]
    shoulders = points["shoulder", "left"] - points["shoulder", "right"]
    lean = points["neck", ""] - (points["hip", "left"] + points["hip", "right"]) / 2
    chest = axes(lean, np.cross(shoulders, lean))
    pelvis = axes(np.cross(np.cross(hips, lean), hips), np.cross(hips, lean))
    marked = {name.rpartition(":")[2].upper(): value @ to_mm.T for name, value in clip.points.items()}
    forward = chest[..., 0]
    if {"LFHD", "RFHD", "LBHD", "RBHD"} <= set(marked):
        forward = marked["LFHD"] + marked["RFHD"] - marked["LBHD"] - marked["RBHD"]
    head = axes(points["crown", ""] - points["neck", ""], forward)
    feet = np.empty((len(lean), 2, 3, 3))
    for index, side in enumerate(SIDES):
        shin = points["knee", side] - points["ankle", side]
        if ("toe", side) in points and ("heel", side) in points:
            sole = points["toe", side] - points["heel", side]
            aside = np.cross(shin, sole)
            feet[:, index] = axes(np.cross(sole, aside), sole)
        else:
            feet[:, index] = _level_foot(points, side, pelvis)
    return pelvis, chest, head, feet


def joints_inside(
    clip: Clip, points: dict[tuple[str, str], FloatArray], to_mm: FloatArray
) -> dict[tuple[str, str], FloatArray]:
    """Joints inside the body from markers on its skin."""
    marked = {name.rpartition(":")[2].upper(): value @ to_mm.T for name, value in clip.points.items()}
    breadth = marked["LASI"] - marked["RASI"]
    front = (marked["LASI"] + marked["RASI"]) / 2
    back = (marked["LPSI"] + marked["RPSI"]) / 2 if {"LPSI", "RPSI"} <= set(marked) else None
    left = unit(breadth)
    ahead = front - back if back is not None else np.cross(left, points["neck", ""] - front)
    ahead = unit(ahead - np.sum(ahead * left, axis=-1, keepdims=True) * left)
    up = np.cross(ahead, left)
    width = float(np.median(np.linalg.norm(breadth, axis=-1)))
    inside = dict(points)
    forward, outward, upward = (share * width for share in _HIP_FROM_ASIS)
    for sign, side in ((1.0, "left"), (-1.0, "right")):
        inside["hip", side] = points["hip", side] + forward * ahead + sign * outward * left + upward * up
        for part, depth in (("knee", _KNEE_DEPTH), ("ankle", _ANKLE_DEPTH)):
            inside[part, side] = points[part, side] - sign * depth * left
        trunk = unit(points["neck", ""] - front)
        inside["shoulder", side] = points["shoulder", side] - _SHOULDER_DEPTH * trunk
        inside["elbow", side] = points["elbow", side] - _ELBOW_DEPTH * _lateral(inside, side, sign * left)
    inside["crown", ""] = points["crown", ""] + _CROWN_OVER_BAND * unit(points["crown", ""] - points["neck", ""])
    return inside


def _lateral(points: dict[tuple[str, str], FloatArray], side: str, outward: FloatArray) -> FloatArray:
    """An elbow's outer direction, (T, 3): normal to the plane of a bent arm, away from the body if it is straight."""
    upper = unit(points["elbow", side] - points["shoulder", side])
    lower = unit(points["wrist", side] - points["elbow", side])
    axis = np.cross(lower, upper) if side == "left" else np.cross(upper, lower)
    return unit(axis + _STRAIGHT_ARM * outward)
