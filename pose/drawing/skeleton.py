"""A skeleton drawn into a picture: its bones, its joints, and how uncertain they are."""

from __future__ import annotations

import cv2
import numpy as np

from pose.body.skeleton import Skeleton
from pose.drawing.colours import PAPER, SIDE_COLOURS
from pose.types import BoolArray, FloatArray, Image

_SUBPIXEL_BITS = 4
"""Fractional bits of a coordinate: OpenCV draws at sixteenths of a pixel."""
_LARGEST_PIXEL = 2.0**26
"""Largest coordinate that is drawn, pixels; larger ones do not fit into OpenCV's integers."""
_RIM = 3
"""Pixels that the pale rim adds to the thickness of a bone."""
_ELLIPSE_OPACITY = 0.3
"""Opacity of the ellipses of standard deviations, 0 to 1."""


def draw_skeleton(image: Image, pixels: FloatArray, skeleton: Skeleton, thickness: int = 4) -> None:
    """Draw bones and joints into `image`.

    Parameters
    ----------
    image : ndarray of shape (height, width, 3), uint8
        Drawn into.
    pixels : ndarray of shape (J, 2)
        x and y of the joints. Joints that are not finite, or too far away to draw, are left out with their bones.
    skeleton : Skeleton
    thickness : int
        Thickness of the bones, pixels.
    """
    drawable: BoolArray = np.asarray(np.abs(pixels) < _LARGEST_PIXEL)  # False for NaN
    points = np.round(np.where(drawable, pixels, 0) * 2**_SUBPIXEL_BITS).astype(int)
    known = [bool(both.all()) for both in drawable]
    for parent, child in skeleton.bones:
        if known[parent] and known[child]:
            ends = (tuple(points[parent]), tuple(points[child]))
            for width, colour in ((thickness + _RIM, PAPER), (thickness, SIDE_COLOURS[skeleton.side(child)])):
                cv2.line(image, *ends, colour, width, cv2.LINE_AA, _SUBPIXEL_BITS)
    for joint in (index for index, drawn in enumerate(known) if drawn):
        radius = int((thickness * 0.9) * 2**_SUBPIXEL_BITS)
        colour = SIDE_COLOURS[skeleton.side(joint)]
        cv2.circle(image, tuple(points[joint]), radius, colour, -1, cv2.LINE_AA, _SUBPIXEL_BITS)


def draw_ellipses(image: Image, centres: FloatArray, half_axes: FloatArray, skeleton: Skeleton) -> None:
    """Draw a translucent ellipse about each joint into `image`.

    Parameters
    ----------
    image : ndarray of shape (height, width, 3), uint8
        Drawn into.
    centres, half_axes : ndarray of shape (J, 2)
        Pixels, across and down. Ellipses that are not finite, or smaller than a pixel, are left out.
    skeleton : Skeleton
    """
    filled = image.copy()
    for joint, (centre, axes) in enumerate(zip(centres, half_axes, strict=True)):
        if np.isfinite(centre).all() and np.isfinite(axes).all() and axes.max() >= 1:
            place, half = (tuple(np.round(v * 2**_SUBPIXEL_BITS).astype(int).tolist()) for v in (centre, axes))
            colour = SIDE_COLOURS[skeleton.side(joint)]
            cv2.ellipse(filled, place, half, 0, 0, 360, colour, -1, cv2.LINE_AA, _SUBPIXEL_BITS)
    cv2.addWeighted(filled, _ELLIPSE_OPACITY, image, 1 - _ELLIPSE_OPACITY, 0, dst=image)
