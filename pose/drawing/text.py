"""Text drawn into pictures."""

from __future__ import annotations

import cv2

from pose.drawing.colours import INK, PAPER, WARNING, Colour
from pose.series.pose_series import quality_words
from pose.types import Image

_QUALITY_SIZE = 0.5
"""Font scale of the quality flags, in OpenCV's base size."""


def write_text(image: Image, text: str, place: tuple[int, int], size: float = 0.5, colour: Colour = INK) -> None:
    """Write text into `image`; `place` (x, y), pixels, is the beginning of the base line."""
    cv2.putText(image, text, place, cv2.FONT_HERSHEY_SIMPLEX, size, colour, 1, cv2.LINE_AA)


def write_quality(image: Image, flags: int) -> None:
    """Write what may be wrong with a frame into the lower left corner of `image`; a good frame stays as it is."""
    if not flags:
        return
    text = ", ".join(quality_words(flags)).replace("_", " ")
    (width, _), _ = cv2.getTextSize(text, cv2.FONT_HERSHEY_SIMPLEX, _QUALITY_SIZE, 1)
    size = _QUALITY_SIZE * min(1.0, (image.shape[1] - 24) / max(width, 1))  # narrow pictures get small letters
    (width, height), below = cv2.getTextSize(text, cv2.FONT_HERSHEY_SIMPLEX, size, 1)
    bottom = image.shape[0] - 12
    cv2.rectangle(image, (6, bottom - height - 6), (18 + width, bottom + below), PAPER, -1)
    write_text(image, text, (12, bottom - 2), size, WARNING)
