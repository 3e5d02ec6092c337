"""Rotations, two-bone limbs and slow random drift, over whole motions at once.

Body axes everywhere in the package: x forward, y to the left, z up; angles in radians, lengths in mm.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.interpolate import CubicSpline

from pose.types import FloatArray

#: Shares of a limb's length: where its reach begins to ease off, and where it ends. At full length the middle joint
#: would move infinitely fast. A leg eases off late, because it has to stand where it is put. An arm eases off early,
#: because an arm that is thrown forward needs a longer way to come to rest.
LEG_REACH, ARM_REACH = (0.98, 0.999), (0.88, 0.985)
#: Smallest reach of a folded limb, as a share of its length: about 150 degrees of flexion.
_MIN_REACH = 0.27


def rotation(yaw: ArrayLike, pitch: ArrayLike = 0.0, roll: ArrayLike = 0.0) -> FloatArray:
    """Rotation matrices Rz(yaw) Ry(pitch) Rx(roll), shape (..., 3, 3).

    Parameters
    ----------
    yaw, pitch, roll : array_like
        Radians, broadcast together. A positive yaw turns left, a positive pitch leans forward (or points the toes
        down), a positive roll leans to the right.
    """
    yaw, pitch, roll = np.broadcast_arrays(
        np.asarray(yaw, dtype=float), np.asarray(pitch, dtype=float), np.asarray(roll, dtype=float)
    )
    cy, sy, cp, sp, cr, sr = np.cos(yaw), np.sin(yaw), np.cos(pitch), np.sin(pitch), np.cos(roll), np.sin(roll)
    rows = [
        [cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
        [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr],
        [-sp, cp * sr, cp * cr],
    ]
    return np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)


def turn(matrices: FloatArray, vectors: ArrayLike) -> FloatArray:
    """Vectors (..., 3) turned by matrices (..., 3, 3), leading axes broadcast."""
    turned: FloatArray = np.einsum("...ij,...j->...i", matrices, np.asarray(vectors, dtype=float))
    return turned


def unit(vectors: FloatArray) -> FloatArray:
    """Vectors (..., 3) scaled to length 1."""
    scaled: FloatArray = vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)
    return scaled


def axes(z: FloatArray, x_hint: FloatArray) -> FloatArray:
    """Right-handed frames (..., 3, 3) whose third column is along `z` and whose first is as near `x_hint` as can be."""
    z = unit(z)
    x = unit(x_hint - np.sum(x_hint * z, axis=-1, keepdims=True) * z)
    return np.stack([x, np.cross(z, x), z], axis=-1)


def two_bone(
    root: FloatArray,
    target: FloatArray,
    first: float,
    second: float,
    pole: FloatArray,
    reach: tuple[float, float] = LEG_REACH,
) -> tuple[FloatArray, FloatArray]:
    """Middle and end joint of a two-bone limb that reaches for a target.

    Parameters
    ----------
    root, target : ndarray of shape (..., 3)
        mm. A target out of reach is approached along the straight line to it.
    first, second : float
        Bone lengths, mm; they are kept exactly.
    pole : ndarray of shape (..., 3)
        The side to which the middle joint bends.
    reach : tuple of two floats
        `LEG_REACH` or `ARM_REACH`.

    Returns
    -------
    middle, end : ndarray of shape (..., 3)
        mm.
    """
    line = target - root
    distance = np.linalg.norm(line, axis=-1, keepdims=True)
    along = line / distance
    distance = _ease_reach(distance, first + second, reach)
    foot = (first**2 - second**2 + distance**2) / (2 * distance)
    height = np.sqrt(np.maximum(first**2 - foot**2, 0.0))
    aside = unit(pole - np.sum(pole * along, axis=-1, keepdims=True) * along)
    return root + along * foot + aside * height, root + along * distance


def _ease_reach(distance: FloatArray, length: float, reach: tuple[float, float]) -> FloatArray:
    soft, full = reach[0] * length, reach[1] * length
    eased = soft + (full - soft) * np.tanh((distance - soft) / (full - soft))
    return np.maximum(np.where(distance > soft, eased, distance), _MIN_REACH * length)


def smootherstep(x: ArrayLike) -> FloatArray:
    """0 below 0, 1 above 1, and between them a quintic whose first two derivatives vanish at both ends."""
    share: FloatArray = np.clip(np.asarray(x, dtype=float), 0.0, 1.0)
    return share**3 * (share * (6 * share - 15) + 10)


def smoothstep(x: ArrayLike) -> FloatArray:
    """As `smootherstep`, but a cubic: its acceleration jumps at the ends, and its top speed is 1.5 times the mean."""
    share: FloatArray = np.clip(np.asarray(x, dtype=float), 0.0, 1.0)
    return share**2 * (3 - 2 * share)


def drift(rng: np.random.Generator, times: FloatArray, sigma: float, seconds: float = 1.5) -> FloatArray:
    """A smooth random curve: a normal value every `seconds`, joined by a cubic spline.

    Parameters
    ----------
    rng : Generator
        Source of the values.
    times : ndarray of shape (T,)
        Increasing, seconds.
    sigma : float
        Standard deviation of the knots. They are clipped at twice this value, so that a body keeps its joint limits.
    seconds : float
        Spacing of the knots.
    """
    count = int(np.ceil((times[-1] - times[0]) / seconds)) + 4
    knots = times[0] + seconds * (np.arange(count) - 1 - rng.random())
    values = sigma * np.clip(rng.standard_normal(count), -2.0, 2.0)
    return np.asarray(CubicSpline(knots, values)(times), dtype=float)
