"""The room that the cameras look into: walls, floor and furniture, drawn once per camera by casting rays."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from pose.body.camera import Camera
from pose.types import BoolArray, FloatArray, Image

#: Width and height of the colour cameras' pictures, pixels.
FRAME_SIZE = (640, 480)


@dataclass(frozen=True)
class _Block:
    """An axis-aligned box, mm; its colour is blue, green, red."""

    low: tuple[float, float, float]
    high: tuple[float, float, float]
    colour: tuple[float, float, float]
    shelf: float  # distance of the grooves on its sides, mm

    def spread(self, size: float, top: float = 0.0) -> _Block:
        """The box at its place in a room that is `size` times as wide; it ends above `top` if that is given."""
        low, high = ((size * x, size * y, z) for x, y, z in (self.low, self.high))
        return _Block(low, (*high[:2], max(high[2], top + _OVER_CAMERAS) if top else high[2]), self.colour, self.shelf)


_ROOM = _Block((-6200.0, -5900.0, 0.0), (6000.0, 6100.0, 3000.0), (0.0, 0.0, 0.0), 0.0)
_FURNITURE = (
    _Block((-5700.0, -900.0, 0.0), (-5050.0, 700.0, 760.0), (74.0, 118.0, 158.0), 380.0),
    _Block((-5600.0, -350.0, 760.0), (-5250.0, 150.0, 1080.0), (70.0, 66.0, 62.0), 600.0),
    _Block((-6000.0, 1900.0, 0.0), (-5300.0, 2800.0, 1350.0), (98.0, 128.0, 96.0), 340.0),
    _Block((1700.0, -5800.0, 0.0), (2900.0, -5200.0, 900.0), (140.0, 122.0, 104.0), 300.0),
    _Block((-1400.0, -5800.0, 0.0), (-500.0, -5300.0, 1700.0), (112.0, 140.0, 162.0), 425.0),
    _Block((300.0, 5350.0, 0.0), (1500.0, 6000.0, 1450.0), (120.0, 136.0, 148.0), 360.0),
    _Block((3000.0, 5300.0, 0.0), (3700.0, 5900.0, 620.0), (66.0, 74.0, 150.0), 310.0),
    _Block((-3400.0, 5500.0, 0.0), (-2200.0, 6000.0, 1000.0), (132.0, 112.0, 96.0), 500.0),
)
#: Distances of the cameras from the nearest wall and from the ceiling, mm.
_BEHIND_CAMERAS, _OVER_CAMERAS = 700.0, 300.0
_CEILING, _FLOOR = (198.0, 206.0, 206.0), (124.0, 122.0, 118.0)
_WALL, _WAINSCOT = (158.0, 172.0, 174.0), (150.0, 138.0, 126.0)
#: Height of the wainscot, and widths of wall panels and floor tiles, mm.
_WAINSCOT_HEIGHT, _WALL_PANEL, _FLOOR_TILE = 1050.0, 1200.0, 900.0
#: Yellow line round the capture area: half the area's sides and half the line's width, mm; its colour.
_AREA, _LINE, _LINE_COLOUR = (2000.0, 1500.0), 25.0, (96.0, 180.0, 190.0)
#: Half the width of tile joints and panel edges, mm.
_GROOVE = 9.0
_LAMP = np.array([500.0, -400.0, 2900.0])
_AMBIENT = 0.58


def room_size(rig: Iterable[Camera]) -> float:
    """Factor by which our room must be widened to hold all cameras; 1 if it holds them."""
    reach = max(float(np.abs(camera.centre[:2]).max()) for camera in rig)
    return max(1.0, (reach + _BEHIND_CAMERAS) / min(abs(end) for end in (*_ROOM.low[:2], *_ROOM.high[:2])))


def draw_room(camera: Camera, rng: np.random.Generator, size: float = 1.0) -> Image:
    """The empty room as the camera sees it, without sensor noise: (480, 640, 3), BGR.

    Parameters
    ----------
    camera : Camera
        Inside the room.
    rng : Generator
        Source of posters and stains.
    size : float
        Factor of the room's width, see `room_size`; the furniture stays by the walls.
    """
    directions = _rays(camera)
    origin = camera.centre
    distance, colour = _room_surface(origin, directions, rng, _ROOM.spread(size, camera.centre[2]))
    for block in (_block.spread(size) for _block in _FURNITURE):
        near, axis = _block_surface(block, origin, directions)
        hit = near < distance
        distance[hit] = near[hit]
        colour[hit] = _block_colour(block, axis[hit], origin[2] + near[hit] * directions[hit][:, 2])
    points = origin + distance[..., None] * directions
    colour *= (_AMBIENT + 0.5 / (1 + (np.linalg.norm(points - _LAMP, axis=-1) / 5200.0) ** 2))[..., None]
    colour *= _dirt(points, rng)[..., None]
    # The lens is a little softer than the pixel grid.
    return np.asarray(cv2.GaussianBlur(np.clip(colour, 0, 255).astype(np.uint8), (0, 0), 0.7), dtype=np.uint8)


def _rays(camera: Camera) -> FloatArray:
    """World directions of all pixels, (480, 640, 3), not normalised."""
    width, height = FRAME_SIZE
    grid = np.stack(np.meshgrid(np.arange(width), np.arange(height)), axis=-1).astype(np.float64)
    flat = cv2.undistortPoints(grid.reshape(-1, 1, 2), camera.matrix, camera.distortion)
    rays = np.concatenate([flat.reshape(height, width, 2), np.ones((height, width, 1))], axis=-1)
    return camera.rotate_to_world(rays)


def _slab(block: _Block, origin: FloatArray, directions: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Distances at which rays cross the three pairs of planes: nearer and farther, (H, W, 3) each."""
    with np.errstate(divide="ignore"):
        first, second = (np.array(block.low) - origin) / directions, (np.array(block.high) - origin) / directions
    return np.minimum(first, second), np.maximum(first, second)


def _grooved(first: FloatArray, second: FloatArray, spacing: float) -> BoolArray:
    """Where either of two coordinates lies on a multiple of `spacing`."""
    return np.logical_or(
        *(np.abs((value + spacing / 2) % spacing - spacing / 2) < _GROOVE for value in (first, second))
    )


def _room_surface(
    origin: FloatArray, directions: FloatArray, rng: np.random.Generator, walls: _Block
) -> tuple[FloatArray, FloatArray]:
    """Distance (H, W) and colour (H, W, 3) of floor, walls and ceiling, where rays leave the room."""
    exits = _slab(walls, origin, directions)[1]
    axis = np.argmin(exits, axis=-1)
    distance = np.take_along_axis(exits, axis[..., None], axis=-1)[..., 0]
    x, y, z = np.moveaxis(origin + distance[..., None] * directions, -1, 0)

    along = np.where(axis == 0, y, x)
    colour = np.where((z < _WAINSCOT_HEIGHT)[..., None], _WAINSCOT, _WALL).astype(float)
    colour[_grooved(along, np.full_like(z, 0.5 * _WALL_PANEL), _WALL_PANEL)] *= 0.86
    colour[np.abs(z - _WAINSCOT_HEIGHT) < 2 * _GROOVE] *= 0.75
    colour[(axis == 1)] *= 0.94  # walls that the lamp grazes
    for centre in np.arange(-5000.0, 5001.0, 2000.0):
        middle = centre + rng.uniform(-300.0, 300.0)
        half = rng.uniform(200.0, 420.0)
        poster = (axis < 2) & (np.abs(along - middle) < half) & (np.abs(z - rng.uniform(1600.0, 1850.0)) < 240.0)
        stripes = np.floor((along + z) / rng.uniform(60.0, 110.0)) % 2
        colour[poster] = (rng.uniform(80.0, 200.0, 3) * (0.85 + 0.25 * stripes[..., None]))[poster]

    overhead = (axis == 2) & (z > 1.0)
    floor = (axis == 2) & ~overhead
    colour[overhead] = _CEILING
    tone = 1 + 0.05 * np.sin(3.1 * np.floor(x / _FLOOR_TILE) + 5.7 * np.floor(y / _FLOOR_TILE))
    ground = np.asarray(_FLOOR) * tone[..., None]
    ground[_grooved(x, y, _FLOOR_TILE)] *= 0.88
    line = np.maximum(np.abs(x) - _AREA[0], np.abs(y) - _AREA[1])
    ground[np.abs(line) < _LINE] = _LINE_COLOUR
    colour[floor] = ground[floor]
    return distance, colour


def _block_surface(block: _Block, origin: FloatArray, directions: FloatArray) -> tuple[FloatArray, NDArray[np.intp]]:
    """Distance (H, W), infinite where a ray misses, and the axis that the surface faces along (H, W)."""
    near, far = _slab(block, origin, directions)
    axis = np.argmax(near, axis=-1)
    entry = near.max(axis=-1)
    distance = np.where((entry < far.min(axis=-1)) & (entry > 0), entry, np.inf)
    return distance, axis


def _block_colour(block: _Block, axis: NDArray[np.intp], z: FloatArray) -> FloatArray:
    """Colour (n, 3) of points on a block at heights z: lit by the side they face, with grooves between shelves."""
    shade = np.array([0.95, 0.82, 1.12])[axis]
    shade[_grooved(z, np.full_like(z, block.shelf / 2), block.shelf) & (axis < 2)] *= 0.7
    colour: FloatArray = shade[:, None] * np.array(block.colour)
    return colour


def _dirt(points: FloatArray, rng: np.random.Generator) -> FloatArray:
    """A factor near 1 for every surface point, (H, W): stains and grain fixed to the surfaces."""
    table = rng.standard_normal((256, 256)).astype(np.float32)
    factor = np.ones(points.shape[:2])
    # Two skewed coordinates tell the three kinds of planes apart well enough for a stain.
    u, v = points[..., 0] + 0.71 * points[..., 2], points[..., 1] + 0.83 * points[..., 2]
    for size, strength in ((420.0, 0.022), (90.0, 0.025), (22.0, 0.03)):
        x, y = ((value / size % 256).astype(np.float32) for value in (u, v))
        factor += strength * cv2.remap(table, x, y, cv2.INTER_LINEAR, borderMode=cv2.BORDER_WRAP)
    return factor
