"""The clean-up of a raw foreground: from what differs from the background to one silhouette."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
import numpy.typing as npt

Mask = npt.NDArray[np.uint8]
EIGHT = 8
FOUR = 4


@dataclass(frozen=True)
class CleanUp:
    """What is done to the raw foreground to make one silhouette of it. Lengths in pixels, areas in square pixels.

    Attributes
    ----------
    closing, opening
        Diameter of the disc of a morphological closing, then opening, before anything else; 0 leaves it out.
    largest
        Keep only the largest 8-connected component, and what `gap` joins to it.
    gap
        Width of the gaps that may cut a body in two, as where a belt has the colour of the wall behind: a component of
        at least `min_area` this near to the largest is joined to it by a closing.
    min_area
        Components smaller than this are dropped; a frame without a larger one has an empty mask.
    max_hole
        Holes (4-connected) smaller than this are filled; larger ones, as between an arm on the hip and the body, stay.
    edge
        Distance from the raw edge within which pixels are decided anew by the share of the person's colour in them; 0
        leaves the raw edge.
    edge_window
        Radius of the window in which the person's colour is averaged for that.
    """

    closing: int = 3
    opening: int = 0
    largest: bool = True
    gap: int = 6
    min_area: int = 150
    max_hole: int = 40
    edge: int = 2
    edge_window: int = 4

    def __post_init__(self) -> None:
        """Refuse negative sizes."""
        for name in ("closing", "opening", "gap", "min_area", "max_hole", "edge", "edge_window"):
            if getattr(self, name) < 0:
                raise ValueError(f"CleanUp.{name} must not be negative, got {getattr(self, name)}")


def square(radius: int) -> Mask:
    """Return a structuring element of (2 radius + 1)^2 pixels."""
    return np.ones((2 * radius + 1, 2 * radius + 1), np.uint8)


def _disc(diameter: int) -> Mask:
    return np.asarray(cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (diameter, diameter)), dtype=np.uint8)


def grow(box: tuple[slice, slice], margin: int, shape: tuple[int, ...]) -> tuple[slice, slice]:
    """Enlarge a box by a margin, within the image."""
    rows, columns = (
        slice(max(0, side.start - margin), min(size, side.stop + margin)) for side, size in zip(box, shape, strict=True)
    )
    return rows, columns


def tidy(raw: Mask, clean: CleanUp) -> tuple[Mask, tuple[slice, slice] | None]:
    """Morphology, component choice and hole filling.

    Returns
    -------
    The (h, w) mask, 0 or 255, and the box (rows, columns) around its foreground, None if it is empty.
    """
    if clean.closing:
        raw = np.asarray(cv2.morphologyEx(raw, cv2.MORPH_CLOSE, _disc(clean.closing)), dtype=np.uint8)
    if clean.opening:
        raw = np.asarray(cv2.morphologyEx(raw, cv2.MORPH_OPEN, _disc(clean.opening)), dtype=np.uint8)
    result = np.zeros_like(raw)
    region = _candidates(raw, max(clean.min_area, 1))
    if region is None:
        return result, None
    _, found, stats, _ = cv2.connectedComponentsWithStats(raw[region], connectivity=EIGHT)
    labels = np.asarray(found, dtype=np.int32)
    areas = np.array(stats[:, cv2.CC_STAT_AREA], dtype=np.int32)
    areas[0] = 0
    keep = areas >= max(clean.min_area, 1)
    joined = False
    if clean.largest:
        keep, joined = _largest_and_near(labels, areas, keep, clean.gap)
    if not keep.any():
        return result, None
    person = (keep.astype(np.uint8) * np.uint8(255))[labels]
    if joined:
        person = np.asarray(cv2.morphologyEx(person, cv2.MORPH_CLOSE, _disc(2 * clean.gap + 1)), dtype=np.uint8)
    if clean.max_hole:
        _fill_holes(person, clean.max_hole)
    result[region] = person
    left, top, width, height = cv2.boundingRect(result)
    return result, (slice(top, top + height), slice(left, left + width))


def _candidates(raw: Mask, min_area: int) -> tuple[slice, slice] | None:
    """Box around all components whose own box is large enough to hold `min_area` pixels, None if there are none.

    Labelling components costs more than all the rest; a tenth of the picture is labelled in a tenth of the time.
    """
    contours, _ = cv2.findContours(raw, cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_SIMPLE)
    boxes = np.array([cv2.boundingRect(contour) for contour in contours], dtype=np.int64).reshape(-1, 4)
    boxes = boxes[boxes[:, 2] * boxes[:, 3] >= min_area]
    if len(boxes) == 0:
        return None
    left, top = boxes[:, :2].min(axis=0)
    right, bottom = (boxes[:, :2] + boxes[:, 2:]).max(axis=0)
    return slice(int(top), int(bottom)), slice(int(left), int(right))


def _largest_and_near(
    labels: npt.NDArray[np.int32], areas: npt.NDArray[np.int32], keep: npt.NDArray[np.bool_], gap: int
) -> tuple[npt.NDArray[np.bool_], bool]:
    """Narrow `keep`, a flag for each label, to the largest and the others within `gap` of it; tell if there are any."""
    largest = np.arange(len(areas)) == areas.argmax()
    if gap == 0 or keep.sum() < 2:
        return keep & largest, False
    body = (largest.astype(np.uint8))[labels]
    near = np.zeros(len(areas), np.bool_)
    near[labels[np.asarray(cv2.dilate(body, square(gap))) != 0]] = True
    return keep & near, bool((keep & near).sum() > 1)


def _fill_holes(mask: Mask, max_hole: int) -> None:
    """Fill, in place, the 4-connected holes of fewer than `max_hole` pixels."""
    outside = cv2.copyMakeBorder(~mask, 1, 1, 1, 1, cv2.BORDER_CONSTANT, value=255)
    _, labels, stats, _ = cv2.connectedComponentsWithStats(outside, connectivity=FOUR)
    small = stats[:, cv2.CC_STAT_AREA] < max_hole
    small[0] = small[labels[0, 0]] = False  # the figure, and the ring around the box with all that opens onto it
    mask[small[labels[1:-1, 1:-1]]] = 255
