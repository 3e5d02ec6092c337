"""Pictures of a figure in a room: shaded, with a soft shadow, gain flicker and sensor noise, and exact masks."""

from __future__ import annotations

import cv2
import numpy as np

from pose.body.camera import Camera
from pose.synth.pictures.looks import Looks
from pose.synth.pictures.room import FRAME_SIZE
from pose.synth.pictures.solids import Figure, Part
from pose.types import BoolArray, FloatArray, Image, Int32Array

#: Factor by which bodies are drawn larger and then averaged down, so that edges fall between pixels.
_SUPERSAMPLING = 2
#: Bits of a fraction in OpenCV's fixed-point coordinates.
_SUBPIXEL_BITS = 4
#: Margin round the body's box, pixels.
_MARGIN = 3
#: Layers of a part, outermost first: size about its centre, shift towards the light (in half widths), brightness.
_SHADING = ((1.0, 0.0, 0.70), (0.80, 0.10, 0.86), (0.58, 0.22, 0.98), (0.30, 0.34, 1.08))
_FLAT = ((1.0, 0.0, 0.93),)
#: Direction of the light's source in the picture, x and y: above, a little to the left.
_LIGHT = np.array([-0.45, -0.75])
#: Horizontal shift of the shadow per unit of height, x and y.
_SHADOW_SLANT = np.array([0.22, -0.16])
#: The shadow's largest darkening, as a share; its softness, pixels; the factor by which it is drawn smaller.
_SHADOW_DEPTH, _SHADOW_SOFTNESS, _SHADOW_SHRINK = 0.16, 5.0, 4


class Renderer:
    """Draws a figure frame by frame as one camera sees it.

    Parameters
    ----------
    figure : Figure
        The body in motion.
    camera : Camera
        The camera that sees it.
    looks : Looks
        The body's colours.
    room : ndarray of shape (480, 640, 3), uint8
        The empty room, BGR.
    """

    def __init__(self, figure: Figure, camera: Camera, looks: Looks, room: Image) -> None:
        self._parts = figure.parts
        self._room = room
        self._outlines, depths = figure.project(camera)
        part_depths = np.stack([depths[:, part.nodes].mean(axis=1) for part in figure.parts], axis=1)
        self._far_to_near = np.argsort(-part_depths, axis=1, kind="stable")
        self._shadows = _shadow(figure, camera)
        self._colours = [looks.colour(part.material) for part in figure.parts]

    def __len__(self) -> int:
        return len(self._outlines)

    def draw(self, index: int) -> tuple[Image, BoolArray]:
        """Scene (480, 640, 3), uint8 BGR without sensor noise, and exact mask (480, 640) of one frame."""
        scene = self._room.copy()
        _darken(scene, self._shadows[index], self._parts)
        corner, body = self._body(index)
        box = tuple(slice(at, at + size) for at, size in zip(corner, body.shape[:2], strict=True))
        alpha = body[..., 3:].astype(np.uint16)
        blended = body[..., :3] + (scene[box] * (255 - alpha) + 127) // 255
        scene[box] = np.minimum(blended, 255).astype(np.uint8)
        mask = np.zeros(scene.shape[:2], dtype=bool)
        mask[box] = body[..., 3] >= 128
        return scene, mask

    def _body(self, index: int) -> tuple[tuple[int, int], Image]:
        """Top and left of the body's box, and its premultiplied BGRA picture there."""
        outlines = self._outlines[index]
        (left, top), (right, bottom) = _box(outlines)
        canvas = np.zeros(((bottom - top) * _SUPERSAMPLING, (right - left) * _SUPERSAMPLING, 4), dtype=np.uint8)
        layers = _layers(outlines, (left, top))
        for part in self._far_to_near[index]:
            nodes = self._parts[part].nodes
            shading = _FLAT if self._parts[part].joins else _SHADING
            for points, (_, _, brightness) in zip(layers, shading, strict=False):
                blue, green, red = np.minimum(self._colours[part] * brightness, 255.0)
                _fill(canvas, points[nodes], (blue, green, red, 255.0))
        small = cv2.resize(canvas, (right - left, bottom - top), interpolation=cv2.INTER_AREA)
        return (top, left), np.asarray(small, dtype=np.uint8)


def _box(outlines: FloatArray) -> tuple[tuple[int, int], tuple[int, int]]:
    """(left, top) and (right, bottom) of the picture's part that holds all outlines; never empty."""
    limit = np.array(FRAME_SIZE)
    low = np.clip(np.floor(outlines.min(axis=(0, 1))) - _MARGIN, 0, limit - 1).astype(int)
    high = np.clip(np.ceil(outlines.max(axis=(0, 1))) + _MARGIN, low + 1, limit).astype(int)
    return (int(low[0]), int(low[1])), (int(high[0]), int(high[1]))


def _fixed_point(points: FloatArray) -> Int32Array:
    fixed: Int32Array = np.rint(points * 2**_SUBPIXEL_BITS).astype(np.int32)
    return fixed


def _layers(outlines: FloatArray, corner: tuple[int, int]) -> Int32Array:
    """The outlines of every shading layer in the enlarged box, fixed point, (layers, N, OUTLINE, 2)."""
    # A pixel's centre has whole coordinates in the picture, and is the middle of its enlarged square in the box.
    enlarged = (outlines - corner + 0.5) * _SUPERSAMPLING - 0.5
    centres = enlarged.mean(axis=1, keepdims=True)
    spread = enlarged - centres
    half_width = np.linalg.norm(spread, axis=-1).min(axis=1)[:, None, None]
    return _fixed_point(
        np.stack([centres + size * spread + shift * half_width * _LIGHT for size, shift, _ in _SHADING])
    )


def _fill(canvas: Image, points: Int32Array, colour: tuple[float, ...]) -> None:
    """Fill the hulls of neighbouring nodes, (nodes, OUTLINE, 2) in fixed point."""
    for first in range(len(points) - 1):
        hull = cv2.convexHull(points[first : first + 2].reshape(-1, 1, 2))
        cv2.fillConvexPoly(canvas, hull, colour, lineType=cv2.LINE_8, shift=_SUBPIXEL_BITS)


def _shadow(figure: Figure, camera: Camera) -> FloatArray:
    """Outlines of the figure's shadow on the floor, in the picture, (T, N, points, 2)."""
    floor = figure.centres.copy()
    floor[..., :2] += floor[..., 2:] * _SHADOW_SLANT
    floor[..., 2] = 0.0
    radius = np.maximum(figure.radii, 0.0)
    for node, points in figure.rings.items():
        radius[node] = np.linalg.norm(points[0] - points[0].mean(axis=0), axis=-1).max()
    around = np.linspace(0.0, 2 * np.pi, 8, endpoint=False)
    circle = np.stack([np.cos(around), np.sin(around), np.zeros(8)], axis=-1)
    return camera.project(floor[:, :, None] + radius[:, None, None] * circle)


def _darken(scene: Image, outlines: FloatArray, parts: tuple[Part, ...]) -> None:
    """Draw the soft shadow into the scene; it is blurred at a fraction of the size, where blurring is cheap."""
    limit = np.array(FRAME_SIZE)
    pad = 3 * int(_SHADOW_SOFTNESS)
    low = np.clip(outlines.min(axis=(0, 1)) - pad, 0, limit - _SHADOW_SHRINK).astype(int)
    high = np.clip(outlines.max(axis=(0, 1)) + pad, low + _SHADOW_SHRINK, limit).astype(int)
    width, height = (int(size) for size in high - low)
    small = np.zeros((height // _SHADOW_SHRINK + 1, width // _SHADOW_SHRINK + 1), dtype=np.uint8)
    points = _fixed_point((outlines - low) / _SHADOW_SHRINK)
    for part in parts:
        _fill(small, points[part.nodes], (255.0 * _SHADOW_DEPTH,))
    soft = cv2.GaussianBlur(small, (0, 0), _SHADOW_SOFTNESS / _SHADOW_SHRINK)
    shade = cv2.resize(soft, (width, height), interpolation=cv2.INTER_LINEAR)
    region = scene[low[1] : high[1], low[0] : high[0]]
    light = cv2.merge([255 - shade] * 3)
    cv2.multiply(region, light, dst=region, scale=1 / 255)
