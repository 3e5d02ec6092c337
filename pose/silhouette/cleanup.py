"""The clean-up of a raw foreground, all that differs from the background, into one silhouette."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import cv2
import numpy as np

from pose.silhouette.connected_components import Components, find_components, paint, touched
from pose.types import BoolArray, Mask

Box = tuple[slice, slice]
"""Rows and columns of a part of a picture."""
Region = tuple[int, int, int, int]
"""Top, left, bottom, right of a part of a picture, pixels; bottom and right are exclusive."""


@dataclass(frozen=True)
class CleanUp:
    """How the raw foreground becomes one silhouette. Lengths are in pixels, areas in square pixels.

    Attributes
    ----------
    closing, opening
        Diameters of the discs of the first two steps, a morphological closing and an opening; 0 leaves a step out.
    largest
        Keep only the largest 8-connected component, and what `gap` joins to it.
    gap
        Widest gap that may cut a body in two, as where a belt has the colour of the wall. A component of at least
        `min_area` within this distance of the largest is joined to it by a closing.
    min_area
        Least area of a component; smaller ones are dropped. A frame without a larger one has an empty mask.
    max_hole
        Least area of a hole (4-connected) that stays, as between an arm on the hip and the body; smaller holes are
        filled.
    edge
        Distance from the raw edge within which pixels are decided again, by the share of the person's colour in them; 0
        leaves the raw edge.
    edge_window
        Radius of the window in which the person's colour is averaged to refine the edge.
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


def square_element(radius: int) -> Mask:
    """A structuring element of (2 radius + 1)^2 pixels."""
    return np.ones((2 * radius + 1, 2 * radius + 1), np.uint8)


def _disc(diameter: int) -> Mask:
    return np.asarray(cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (diameter, diameter)), dtype=np.uint8)


def enlarged(box: Box, margin: int, shape: tuple[int, ...]) -> Box:
    """A box of rows and columns with a margin around it, cut at the edge of a picture of this shape."""
    rows, columns = (
        slice(max(0, side.start - margin), min(size, side.stop + margin)) for side, size in zip(box, shape, strict=True)
    )
    return rows, columns


class Tidied(NamedTuple):
    """A raw foreground after its clean-up."""

    mask: Mask
    """(h, w), 0 or 255."""
    box: Box | None
    """Rows and columns that bound the mask's foreground; None if the mask is empty."""
    other: float
    """Area of the largest component that was left out, as a share of the person's; 0 without one."""


def tidy(raw: Mask, clean: CleanUp) -> Tidied:
    """Clean a raw foreground by morphology, choice of components and filling of holes."""
    found = find_components(_closed_and_opened(raw, clean))
    smallest = max(clean.min_area, 1)
    large = found.area >= smallest
    result = np.zeros_like(raw)
    if not large.any():
        return Tidied(result, None, 0.0)
    region = _region(found, smallest)
    keep = _largest_and_near(found, large, clean.gap, region) if clean.largest else large
    if clean.largest and keep.sum() > 1:
        box = _paint_joined(found, keep, clean.gap, region, result)
    else:
        box = _paint_apart(found, keep, result)
    if clean.max_hole:
        _fill_holes(result[box], clean.max_hole)
    others = found.area[large & ~keep]
    return Tidied(result, box, float(others.max() / found.area[keep].sum()) if len(others) else 0.0)


def _closed_and_opened(mask: Mask, clean: CleanUp) -> Mask:
    if clean.closing:
        mask = np.asarray(cv2.morphologyEx(mask, cv2.MORPH_CLOSE, _disc(clean.closing)), dtype=np.uint8)
    if clean.opening:
        mask = np.asarray(cv2.morphologyEx(mask, cv2.MORPH_OPEN, _disc(clean.opening)), dtype=np.uint8)
    return mask


def _region(found: Components, smallest: int) -> Region:
    """The box around all components that may have `smallest` pixels: no part of the person lies outside it."""
    extent = found.box[:, 2:] - found.box[:, :2]
    candidates = found.box[extent[:, 0] * extent[:, 1] >= smallest]
    top, left = (int(side) for side in candidates[:, :2].min(axis=0))
    bottom, right = (int(side) for side in candidates[:, 2:].max(axis=0))
    return top, left, bottom, right


def _paint_joined(found: Components, keep: BoolArray, gap: int, region: Region, out: Mask) -> Box:
    """Paint the components to keep, joined over gaps by a closing, into `out`; returns the box around them."""
    top, left, bottom, right = region
    person = np.zeros((bottom - top, right - left), np.uint8)
    paint(found.runs, found.label, keep, 255, person, top, left)
    person = np.asarray(cv2.morphologyEx(person, cv2.MORPH_CLOSE, _disc(2 * gap + 1)), dtype=np.uint8)
    out[top:bottom, left:right] = person
    x, y, width, height = cv2.boundingRect(person)
    return slice(top + y, top + y + height), slice(left + x, left + x + width)


def _paint_apart(found: Components, keep: BoolArray, out: Mask) -> Box:
    """Paint the components to keep, as they are, into `out`; returns the box around them."""
    paint(found.runs, found.label, keep, 255, out, 0, 0)
    sides = found.box[keep]
    (top, left), (bottom, right) = sides[:, :2].min(axis=0), sides[:, 2:].max(axis=0)
    return slice(int(top), int(bottom)), slice(int(left), int(right))


def _largest_and_near(found: Components, large: BoolArray, gap: int, region: Region) -> BoolArray:
    """Flags (n,) of the largest component and of other large ones within `gap` of it."""
    largest = np.zeros(len(large), np.bool_)
    largest[found.area.argmax()] = True
    if gap == 0 or large.sum() < 2:
        return largest
    top, left, bottom, right = region
    body = np.zeros((bottom - top, right - left), np.uint8)
    paint(found.runs, found.label, largest, 255, body, top, left)
    around = np.asarray(cv2.dilate(body, square_element(gap)), dtype=np.uint8)
    return large & touched(found.runs, found.label, len(large), around, top, left)


def _fill_holes(mask: Mask, max_hole: int) -> None:
    """Fill, in place, the 4-connected holes of fewer than `max_hole` pixels."""
    outside = find_components(mask, connectivity=4, foreground=False)
    height, width = mask.shape
    box = outside.box
    enclosed = (box[:, 0] > 0) & (box[:, 1] > 0) & (box[:, 2] < height) & (box[:, 3] < width)
    small = enclosed & (outside.area < max_hole)
    if small.any():
        paint(outside.runs, outside.label, small, 255, mask, 0, 0)
