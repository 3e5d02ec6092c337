"""A panel: one view of a pose, drawn beside the picture in an overlay."""

from __future__ import annotations

import numpy as np

from pose.body.skeleton import Skeleton
from pose.drawing.colours import PAPER
from pose.drawing.skeleton import draw_ellipses, draw_skeleton
from pose.drawing.text import write_text
from pose.types import FloatArray, Image

_PANEL_REACH = 1000.0
"""Millimetres that a panel shows above the root, and below it."""


def skeleton_panel(
    pose: FloatArray | None,
    skeleton: Skeleton,
    size: tuple[int, int],
    *,
    axes: str,
    turn: float,
    title: str,
    std: FloatArray | None = None,
) -> Image:
    """A view, (height, width, 3), of a root-relative pose turned about the vertical.

    Parameters
    ----------
    pose : ndarray of shape (J, 3) or None
        mm; None draws an empty panel.
    skeleton : Skeleton
    size : tuple of int
        Height and width, pixels.
    axes : str
        ``"camera"`` (y down) or ``"world"`` (z up).
    turn : float
        Degrees by which the pose is turned about the vertical.
    title : str
        Written into the upper left corner.
    std : ndarray of shape (J, 3), optional
        Standard deviations, mm, drawn as an ellipse about each joint: its half axes are one standard deviation.
    """
    height, width = size
    panel: Image = np.full((height, width, 3), PAPER, dtype=np.uint8)
    write_text(panel, title, (12, 24))
    if pose is None:
        write_text(panel, "no person", (12, height // 2), size=0.6)
        return panel
    scale = height / (2 * _PANEL_REACH)
    across, down = _seen_from(pose, axes, turn)
    pixels = np.stack([width / 2 + scale * across, height / 2 + scale * down], axis=1)
    if std is not None:
        # Coordinates are taken as independent: variances add up, weighted by the squares of cosine and sine.
        wide, high = np.sqrt(_seen_from(std**2, axes, turn, squared=True))
        draw_ellipses(panel, pixels, scale * np.stack([wide, high], axis=1), skeleton)
    draw_skeleton(panel, pixels, skeleton)
    return panel


def _seen_from(pose: FloatArray, axes: str, turn: float, *, squared: bool = False) -> tuple[FloatArray, FloatArray]:
    """Coordinates across and down, (J,) each, of points turned about the vertical; variances where `squared`."""
    right, down, forward = pose.T if axes == "camera" else (pose[:, 0], -pose[:, 2], pose[:, 1])
    cosine, sine = np.cos(np.deg2rad(turn)), np.sin(np.deg2rad(turn))
    if squared:
        return cosine**2 * right + sine**2 * forward, np.abs(down)
    return cosine * right + sine * forward, down
