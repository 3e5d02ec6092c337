"""Captured motion on our bodies: directions of bones are kept, their lengths are the body's.

A clip becomes a motion of any length: it is looped where it comes back to itself best, laid along a path that shows all
sides where it travels and slowly turned where it does not, put on the floor, and mirrored on request.
"""

from __future__ import annotations

import numpy as np
from scipy.ndimage import gaussian_filter1d, minimum_filter1d

from pose.skeleton import HUMANEVA_15
from pose.synth.body import HEAD_LENGTH, Body
from pose.synth.kinematics import FloatArray, unit
from pose.synth.motion import SIDES, Motion, Trunk
from pose.synth.motion_files.landmarks import Landmarks

_INDEX = {name: index for index, name in enumerate(HUMANEVA_15.names)}
_FLOOR_WINDOW, _FLOOR_SMOOTHING = 0.9, 0.12  # seconds: a foot is on the floor once in the window
_RATE = 120.0


def on_body(landmarks: Landmarks, body: Body) -> Motion:
    """The motion of a person as one of `body`'s, where the person went, at the clip's rate.

    Parameters
    ----------
    landmarks : Landmarks
        T frames; resample them first where another rate is needed.
    body : Body
        Whose lengths to take.
    """
    points = landmarks.points

    def direction(part: str, towards: str, side: str) -> FloatArray:
        return unit(points[towards, side] - points[part, side])

    root = (points["hip", "left"] + points["hip", "right"]) / 2
    leg = np.median(
        [
            np.linalg.norm(points[first, side] - points[second, side], axis=-1)
            for side in SIDES
            for first, second in (("hip", "knee"), ("knee", "ankle"))
        ]
    )
    position = root * (body.thigh + body.shin) / (2 * leg)
    trunk = Trunk(body, position, landmarks.pelvis, landmarks.chest)
    joints = np.empty((len(landmarks), len(HUMANEVA_15), 3))
    joints[:, _INDEX["pelvis"]], joints[:, _INDEX["thorax"]] = position, trunk.chest
    joints[:, _INDEX["head"]] = trunk.top + HEAD_LENGTH * landmarks.head[..., 2]
    for side, name in enumerate(SIDES):
        chain = (
            ("shoulder", trunk.shoulders[:, side]),
            ("elbow", body.upper_arm * direction("shoulder", "elbow", name)),
            ("wrist", body.forearm * direction("elbow", "wrist", name)),
        )
        legs = (
            ("hip", trunk.hips[:, side]),
            ("knee", body.thigh * direction("hip", "knee", name)),
            ("ankle", body.shin * direction("knee", "ankle", name)),
        )
        for limb in (chain, legs):
            place = np.zeros_like(position)
            for part, step in limb:
                place = place + step
                joints[:, _INDEX[f"{name}_{part}"]] = place
    return _on_floor(
        Motion(body, joints, trunk.top, landmarks.pelvis, landmarks.chest, landmarks.head, landmarks.feet),
        landmarks.rate,
    )


def lowest_soles(motion: Motion) -> FloatArray:
    """Height of the lowest point of both soles, (T,), mm."""
    body = motion.body
    heights = []
    for side, name in enumerate(SIDES):
        foot = motion.feet[:, side]
        sole = motion.joint(f"{name}_ankle") - body.ankle_height * foot[..., 2]
        heights += [(sole + ahead * foot[..., 0])[:, 2] for ahead in (-body.foot[0], body.foot[1])]
    lowest: FloatArray = np.min(heights, axis=0)
    return lowest


def _on_floor(motion: Motion, rate: float) -> Motion:
    """The motion lifted or lowered so that within any second a foot comes down to the floor, and none goes through."""
    window = max(round(_FLOOR_WINDOW * rate), 1)
    lowest = lowest_soles(motion)
    floor = gaussian_filter1d(minimum_filter1d(lowest, window, mode="nearest"), _FLOOR_SMOOTHING * rate, mode="nearest")
    return motion.moved(np.stack([0 * floor, 0 * floor, -floor], axis=-1))
