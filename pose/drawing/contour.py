"""The outline of a silhouette, drawn into a picture."""

from __future__ import annotations

import cv2

from pose.drawing.colours import CONTOUR_COLOUR
from pose.types import Image, Mask


def draw_contour(image: Image, mask: Mask) -> None:
    """Draw the outlines of a mask and of its holes into `image`."""
    contours, _ = cv2.findContours(mask, cv2.RETR_CCOMP, cv2.CHAIN_APPROX_NONE)
    cv2.drawContours(image, contours, -1, CONTOUR_COLOUR, 2, cv2.LINE_AA)
