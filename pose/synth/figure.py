"""The solid body around a skeleton: chains of spheres and of elliptic rings, each in one material.

A part's silhouette is the union of the convex hulls of neighbouring nodes in the picture: a sphere's outline is a
circle, a ring's is its projected points. Two spheres make a tapered limb, a row of rings makes a trunk that bends.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

import numpy as np

from pose.camera import Camera
from pose.synth.body import HEAD_LENGTH
from pose.synth.kinematics import FloatArray, axes, turn, unit
from pose.synth.motion import SIDE_SIGN, Motion

#: Points on the outline of every node.
OUTLINE = 16
_AROUND = np.linspace(0.0, 2 * np.pi, OUTLINE, endpoint=False)
_CIRCLE = np.stack([np.cos(_AROUND), np.sin(_AROUND)], axis=-1)
#: The stature for which the girths below are given in mm.
_REFERENCE_STATURE = 1750.0


class Material(IntEnum):
    """What a part is made of, to be coloured by the subject's looks."""

    SHIRT = 0
    TROUSERS = 1
    SKIN = 2
    HAIR = 3
    SHOE = 4


@dataclass(frozen=True, eq=False)
class Part:
    """A chain of nodes in one material.

    Parameters
    ----------
    material : Material
        Its colour's name.
    nodes : slice
        Its nodes among all the figure's.
    """

    material: Material
    nodes: slice


@dataclass(frozen=True, eq=False)
class Figure:
    """A body in motion as solids, N nodes over T frames.

    Parameters
    ----------
    parts : tuple of Part
        In no order.
    centres : ndarray of shape (T, N, 3)
        World mm.
    radii : ndarray of shape (N,)
        Spheres' radii, mm; 0 for rings.
    rings : dict of int to ndarray of shape (T, OUTLINE, 3)
        The points of the nodes that are rings.
    """

    parts: tuple[Part, ...]
    centres: FloatArray
    radii: FloatArray
    rings: dict[int, FloatArray]

    def project(self, camera: Camera) -> tuple[FloatArray, FloatArray]:
        """The nodes' outlines in a camera.

        Returns
        -------
        outlines : ndarray of shape (T, N, OUTLINE, 2)
            Pixels.
        depths : ndarray of shape (T, N)
            mm along the optical axis.
        """
        depths = camera.to_camera(self.centres)[..., 2]
        # A sphere's outline is a circle but for a lens error far below a pixel at these distances.
        radii = camera.matrix[0, 0] * self.radii / depths
        outlines = camera.project(self.centres)[:, :, None, :] + radii[..., None, None] * _CIRCLE
        for node, points in self.rings.items():
            outlines[:, node] = camera.project(points)
        return outlines, depths


class _Builder:
    """Collects nodes and parts."""

    def __init__(self, scale: float) -> None:
        self._scale = scale
        self._centres: list[FloatArray] = []
        self._radii: list[float] = []
        self._rings: dict[int, FloatArray] = {}
        self._parts: list[Part] = []

    def spheres(self, material: Material, *nodes: tuple[FloatArray, float]) -> None:
        """A chain of spheres: centres (T, 3) and radii in mm for the reference stature."""
        start = len(self._centres)
        self._centres += [centre for centre, _ in nodes]
        self._radii += [radius * self._scale for _, radius in nodes]
        self._parts.append(Part(material, slice(start, len(self._centres))))

    def trunk(self, material: Material, *nodes: tuple[FloatArray, FloatArray, float, float]) -> None:
        """A chain of rings: centres (T, 3), orientations (T, 3, 3), half width and half depth for the reference."""
        start = len(self._centres)
        for centre, orientation, width, depth in nodes:
            local = np.zeros((OUTLINE, 3))
            local[:, 0], local[:, 1] = depth * self._scale * _CIRCLE[:, 0], width * self._scale * _CIRCLE[:, 1]
            self._rings[len(self._centres)] = centre[:, None] + turn(orientation[:, None], local)
            self._centres.append(centre)
            self._radii.append(0.0)
        self._parts.append(Part(material, slice(start, len(self._centres))))

    def figure(self) -> Figure:
        return Figure(tuple(self._parts), np.stack(self._centres, axis=1), np.array(self._radii), self._rings)


def build_figure(motion: Motion) -> Figure:
    """Dress a motion in solids."""
    body = motion.body
    length_scale = body.stature / _REFERENCE_STATURE
    builder = _Builder(length_scale * body.girth)
    _add_trunk(builder, motion, length_scale)
    _add_head(builder, motion, length_scale)
    for index, side in enumerate(("left", "right")):
        _add_leg(builder, motion, side, index, length_scale)
        _add_arm(builder, motion, side, index, length_scale)
    return builder.figure()


def _add_trunk(builder: _Builder, motion: Motion, scale: float) -> None:
    body = motion.body
    root, chest = motion.joint("pelvis"), motion.joint("thorax")
    # A curve that leaves the pelvis along its own axis and arrives along the thorax's: the waist bends and twists.
    reach = 0.4 * body.thorax
    controls = (root, root + reach * motion.pelvis[..., 2], chest - reach * motion.thorax[..., 2], chest)

    def spine(at: float, ahead: float) -> tuple[FloatArray, FloatArray]:
        weights = ((1 - at) ** 3, 3 * at * (1 - at) ** 2, 3 * at**2 * (1 - at), at**3)
        point = sum((w * c for w, c in zip(weights, controls, strict=True)), np.zeros_like(root))
        blend = np.clip(at, 0.0, 1.0)
        x = unit((1 - blend) * motion.pelvis[..., 0] + blend * motion.thorax[..., 0])
        z = unit((1 - blend) * motion.pelvis[..., 2] + blend * motion.thorax[..., 2])
        frame = axes(z, x)
        return point + ahead * scale * frame[..., 0], frame

    wide, hips = body.shoulder / body.girth, body.hip
    seat = -72.0 * scale * motion.pelvis[..., 2]
    builder.trunk(
        Material.TROUSERS,
        (root + seat, motion.pelvis, 108.0 * hips, 92.0),
        (*spine(0.0, -12.0), 168.0 * hips, 118.0),
        (*spine(0.17, 0.0), 168.0 * hips, 118.0),
        (*spine(0.28, 2.0), 154.0 * hips, 110.0),
    )
    builder.trunk(
        Material.SHIRT,
        (*spine(0.20, 1.0), 166.0 * hips, 119.0),
        (*spine(0.42, 6.0), 148.0, 110.0),
        (*spine(0.62, 6.0), 158.0 * wide, 118.0),
        (*spine(0.80, 4.0), 176.0 * wide, 122.0),
        (*spine(0.93, -4.0), 176.0 * wide, 98.0),
        (*spine(1.03, -12.0), 118.0 * wide, 70.0),
        (*spine(1.09, -16.0), 66.0, 56.0),
    )


def _add_head(builder: _Builder, motion: Motion, scale: float) -> None:
    ahead, up = motion.head[..., 0] * scale, motion.head[..., 2]
    crown = motion.joint("head")
    # Radii follow the girth, the crown follows the joint.
    top = crown - 90.0 * scale * motion.body.girth * up
    base = motion.trunk_top - 18.0 * scale * motion.thorax[..., 0]
    builder.spheres(Material.SKIN, (base, 56.0), (motion.trunk_top + 0.27 * HEAD_LENGTH * up, 53.0))
    builder.spheres(
        Material.SKIN,
        (top + 10.0 * ahead - 14.0 * up, 80.0),
        (top + 22.0 * ahead - 62.0 * up, 66.0),
        (top + 40.0 * ahead - 112.0 * up, 40.0),
    )
    builder.spheres(
        Material.HAIR,
        (top - 2.0 * up, 90.0),
        (top - 26.0 * ahead - 12.0 * up, 84.0),
        (top - 34.0 * ahead - 58.0 * up, 62.0),
    )


def _add_leg(builder: _Builder, motion: Motion, side: str, index: int, scale: float) -> None:
    body = motion.body
    hip, knee, ankle = (motion.joint(f"{side}_{part}") for part in ("hip", "knee", "ankle"))
    outward = SIDE_SIGN[index] * motion.pelvis[..., 1] * scale
    shin = axes(knee - ankle, motion.feet[:, index, :, 0])
    builder.spheres(
        Material.TROUSERS,
        (hip + 2.0 * outward, 90.0),
        (hip + 0.25 * (knee - hip), 84.0),
        (hip + 0.62 * (knee - hip), 69.0),
        (knee, 56.0),
    )
    builder.spheres(
        Material.TROUSERS,
        (knee, 56.0),
        (knee + 0.30 * (ankle - knee) - 13.0 * scale * shin[..., 0], 57.0),
        (knee + 0.65 * (ankle - knee) - 6.0 * scale * shin[..., 0], 46.0),
        (knee + 0.94 * (ankle - knee), 41.0),
    )
    foot = motion.feet[:, index]
    heel, ball, toe = body.foot

    def sole(along: float, radius: float) -> tuple[FloatArray, float]:
        over = radius * scale * body.girth - body.ankle_height
        return ankle + along * foot[..., 0] + over * foot[..., 2], radius

    builder.spheres(
        Material.SHOE,
        (ankle - 6.0 * scale * foot[..., 0] - 8.0 * scale * foot[..., 2], 42.0),
        sole(32.0 * scale - heel, 34.0),
        sole(ball - 20.0 * scale, 37.0),
        sole(toe, 26.0),
        sole(toe + 28.0 * scale, 19.0),
    )


def _add_arm(builder: _Builder, motion: Motion, side: str, index: int, scale: float) -> None:
    shoulder, elbow, wrist = (motion.joint(f"{side}_{part}") for part in ("shoulder", "elbow", "wrist"))
    inward = -SIDE_SIGN[index] * motion.thorax[..., 1] * scale
    sleeve = shoulder + 0.58 * (elbow - shoulder)
    builder.spheres(
        Material.SHIRT,
        (shoulder + 22.0 * inward, 60.0),
        (shoulder + 0.22 * (elbow - shoulder), 56.0),
        (sleeve, 53.0),
    )
    builder.spheres(Material.SKIN, (sleeve, 45.0), (elbow, 39.0))
    builder.spheres(Material.SKIN, (elbow, 39.0), (elbow + 0.28 * (wrist - elbow), 41.0), (wrist, 27.0))
    hand = _hand_frame(motion, elbow, wrist)
    if motion.fists:
        builder.spheres(
            Material.SKIN,
            (wrist, 27.0),
            (wrist + 62.0 * scale * hand[..., 0], 45.0),
            (wrist + 78.0 * scale * hand[..., 0], 43.0),
        )
        return
    builder.spheres(
        Material.SKIN,
        (wrist, 26.0),
        (wrist + scale * (58.0 * hand[..., 0] + 12.0 * hand[..., 2]), 33.0),
        (wrist + scale * (88.0 * hand[..., 0] + 14.0 * hand[..., 2]), 30.0),
        (wrist + scale * (142.0 * hand[..., 0] + 26.0 * hand[..., 2]), 15.0),
    )
    builder.spheres(
        Material.SKIN,
        (wrist + scale * (30.0 * hand[..., 0] + 14.0 * hand[..., 2]), 20.0),
        (wrist + scale * (78.0 * hand[..., 0] + 50.0 * hand[..., 2]), 13.0),
    )


def _hand_frame(motion: Motion, elbow: FloatArray, wrist: FloatArray) -> FloatArray:
    """Frames with x along the forearm, z towards the thumb: ahead when the arm hangs, up when it is raised."""
    along = unit(wrist - elbow)
    thumb = motion.thorax[..., 0] + 0.8 * motion.thorax[..., 2]
    thumb = unit(thumb - np.sum(thumb * along, axis=-1, keepdims=True) * along)
    return np.stack([along, np.cross(thumb, along), thumb], axis=-1)
