"""The solid body around a skeleton: chains of spheres and of elliptic rings, each in one material.

A part's silhouette is the union of the convex hulls of neighbouring nodes in the picture: a sphere's outline is a
circle, a ring's is its projected points. Two spheres make a tapered limb, a row of rings makes a trunk that bends.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

import numpy as np

from pose.body.camera import Camera
from pose.synth.kinematics import turn
from pose.types import FloatArray

#: Number of points on the outline of every node.
OUTLINE = 16
_AROUND = np.linspace(0.0, 2 * np.pi, OUTLINE, endpoint=False)
_CIRCLE = np.stack([np.cos(_AROUND), np.sin(_AROUND)], axis=-1)


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
        Decides its colour.
    nodes : slice
        Its range among the figure's nodes.
    joins : bool
        Whether it only fills the gap between two others: it is drawn without an outline of its own.
    """

    material: Material
    nodes: slice
    joins: bool = False


@dataclass(frozen=True, eq=False)
class Figure:
    """A body in motion as solids, N nodes over T frames.

    Parameters
    ----------
    parts : tuple of Part
        In any order.
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


class Builder:
    """Collects nodes and parts.

    Parameters
    ----------
    scale : float
        Factor of radii, widths and depths, which are given for the reference stature.
    """

    def __init__(self, scale: float) -> None:
        self._scale = scale
        self._centres: list[FloatArray] = []
        self._radii: list[float] = []
        self._rings: dict[int, FloatArray] = {}
        self._parts: list[Part] = []

    def spheres(self, material: Material, *nodes: tuple[FloatArray, float], joins: bool = False) -> None:
        """A chain of spheres: centres (T, 3) and radii in mm for the reference stature."""
        start = len(self._centres)
        self._centres += [centre for centre, _ in nodes]
        self._radii += [radius * self._scale for _, radius in nodes]
        self._parts.append(Part(material, slice(start, len(self._centres)), joins))

    def rings(self, material: Material, *nodes: tuple[FloatArray, FloatArray, float, float]) -> None:
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
        """The figure of all parts that were added."""
        return Figure(tuple(self._parts), np.stack(self._centres, axis=1), np.array(self._radii), self._rings)
