"""A calibrated pinhole camera with Brown distortion, in OpenCV's conventions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from pose.types import FloatArray

_NEWTON_STEPS = 20
"""Number of Newton steps that invert the lens model."""
_NEWTON_TOLERANCE = 1e-9
"""Largest error of an undistorted point, in focal lengths; a pixel is about 1e-3."""
_CENTRE_TOLERANCE = 0.25
"""Largest distance of the principal point from the picture's centre, as a share of its width and height."""


@dataclass(frozen=True, eq=False)
class Camera:
    """Intrinsics, distortion and pose of one camera.

    Parameters
    ----------
    name : str
        As the data set names it, e.g. ``"C1"``.
    matrix : ndarray of shape (3, 3)
        Intrinsic matrix K, pixels; the skew stands in ``K[0, 1]``.
    distortion : ndarray of shape (5,)
        k1, k2, p1, p2, k3, the order of OpenCV's ``distCoeffs``.
    rotation : ndarray of shape (3, 3)
        World to camera.
    translation : ndarray of shape (3,)
        mm; a world point X has the camera coordinates ``rotation @ X + translation``.
    """

    name: str
    matrix: FloatArray
    distortion: FloatArray
    rotation: FloatArray
    translation: FloatArray

    @property
    def centre(self) -> FloatArray:
        """The camera's centre in the world, mm, shape (3,)."""
        return -self.rotation.T @ self.translation

    def fits(self, width: int, height: int) -> bool:
        """Whether the principal point lies near the centre of a picture of this size, pixels."""
        size = np.array([width, height])
        return not bool((np.abs(self.matrix[:2, 2] - size / 2) > _CENTRE_TOLERANCE * size).any())

    def to_camera(self, points: ArrayLike) -> FloatArray:
        """World points (..., 3) in the camera's frame, mm: x right, y down, z forward."""
        return np.asarray(points, dtype=float) @ self.rotation.T + self.translation

    def rotate_to_camera(self, vectors: ArrayLike) -> FloatArray:
        """World directions or root-relative poses (..., 3) turned into the camera's axes."""
        return np.asarray(vectors, dtype=float) @ self.rotation.T

    def rotate_to_world(self, vectors: ArrayLike) -> FloatArray:
        """Camera directions or root-relative poses (..., 3) turned into the world's axes."""
        return np.asarray(vectors, dtype=float) @ self.rotation

    def project(self, points: ArrayLike) -> FloatArray:
        """Pixels (..., 2) of world points (..., 3); NaN where a point is not finite or lies behind the camera.

        The lens model is evaluated here rather than by ``cv2.projectPoints``, which knows no skew.
        """
        points = np.asarray(points, dtype=float)
        x, y, z = np.moveaxis(self.to_camera(points), -1, 0)
        with np.errstate(divide="ignore", invalid="ignore"):
            a, b = x / z, y / z
            distorted, _ = self._distort(np.stack([a, b], axis=-1))
        xd, yd = np.moveaxis(distorted, -1, 0)
        K = self.matrix
        pixels = np.stack([K[0, 0] * xd + K[0, 1] * yd + K[0, 2], K[1, 1] * yd + K[1, 2]], axis=-1)
        pixels[~(z > 0)] = np.nan
        return pixels

    def undistort(self, pixels: ArrayLike) -> FloatArray:
        """Points (..., 2) where the rays through pixels (..., 2) meet the camera's plane z = 1: inverts `project`.

        The lens model has no closed inverse. Newton's method inverts it to 1e-10, which the default criteria of
        ``cv2.undistortPoints`` do not reach. NaN where the pixel is not finite, or lies beyond the place where the lens
        model folds back.
        """
        pixels = np.asarray(pixels, dtype=float)
        K = self.matrix
        yd = (pixels[..., 1] - K[1, 2]) / K[1, 1]
        xd = (pixels[..., 0] - K[0, 2] - K[0, 1] * yd) / K[0, 0]
        target = np.stack([xd, yd], axis=-1)
        point = target.copy()
        with np.errstate(all="ignore"):
            for _ in range(_NEWTON_STEPS):
                value, jacobian = self._distort(point)
                determinant = jacobian[0] * jacobian[3] - jacobian[1] * jacobian[2]
                dx, dy = np.moveaxis(value - target, -1, 0)
                step = np.stack([jacobian[3] * dx - jacobian[1] * dy, jacobian[0] * dy - jacobian[2] * dx], axis=-1)
                step /= determinant[..., None]
                point = point - step
            value, jacobian = self._distort(point)
            determinant = jacobian[0] * jacobian[3] - jacobian[1] * jacobian[2]
            # A solution beyond the fold is a mirror image: the derivative is not positive definite there.
            error = np.abs(value - target).max(axis=-1)
            found = (error < _NEWTON_TOLERANCE) & (determinant > 0) & (jacobian[0] > 0)
        return np.asarray(np.where(np.expand_dims(found, -1), point, np.nan))

    def _distort(self, point: FloatArray) -> tuple[FloatArray, tuple[FloatArray, FloatArray, FloatArray, FloatArray]]:
        """Distorted image-plane points (..., 2), and the derivatives dxd/da, dxd/db, dyd/da, dyd/db."""
        a, b = np.moveaxis(point, -1, 0)
        k1, k2, p1, p2, k3 = self.distortion
        r2 = a * a + b * b
        radial = 1 + r2 * (k1 + r2 * (k2 + r2 * k3))
        slope = 2 * (k1 + r2 * (2 * k2 + r2 * 3 * k3))  # twice the derivative of `radial` by r2
        xd = a * radial + 2 * p1 * a * b + p2 * (r2 + 2 * a * a)
        yd = b * radial + p1 * (r2 + 2 * b * b) + 2 * p2 * a * b
        cross = a * b * slope + 2 * p1 * a + 2 * p2 * b
        across = radial + a * a * slope + 2 * p1 * b + 6 * p2 * a
        down = radial + b * b * slope + 6 * p1 * b + 2 * p2 * a
        return np.stack([xd, yd], axis=-1), (across, cross, cross, down)

    def rays(self, pixels: ArrayLike) -> FloatArray:
        """Unit directions (..., 3) in the world from the camera's centre through pixels (..., 2)."""
        point = self.undistort(pixels)
        directions = np.concatenate([point, np.ones((*point.shape[:-1], 1))], axis=-1)
        directions /= np.linalg.norm(directions, axis=-1, keepdims=True)
        return self.rotate_to_world(directions)

    def back_project(self, pixels: ArrayLike, depth: ArrayLike) -> FloatArray:
        """World points (..., 3), mm, seen at pixels (..., 2), at a depth (...) along the camera's z axis, mm."""
        point = self.undistort(pixels)
        depth = np.asarray(depth, dtype=float)[..., None]
        in_camera = np.concatenate([point * depth, np.broadcast_to(depth, (*point.shape[:-1], 1))], axis=-1)
        return self.rotate_to_world(in_camera - self.translation)

    def back_project_to_height(self, pixels: ArrayLike, height: float = 0.0) -> FloatArray:
        """World points (..., 3), mm, seen at pixels (..., 2), on the plane z = `height`, mm: by default the floor.

        NaN where the ray does not meet the plane in front of the camera.
        """
        directions = self.rays(pixels)
        with np.errstate(divide="ignore", invalid="ignore"):
            reach = (height - self.centre[2]) / directions[..., 2]
        points = self.centre + reach[..., None] * directions
        return np.asarray(np.where((reach > 0)[..., None], points, np.nan))


def triangulate(cameras: Sequence[Camera], pixels: ArrayLike) -> FloatArray:
    """World points (..., 3), mm, nearest to the rays through their pixels in several cameras.

    Parameters
    ----------
    cameras : sequence of Camera
    pixels : array_like of shape (n_cameras, ..., 2)
        NaN where a camera does not see the point; at least two must see it.

    Raises
    ------
    ValueError
        If there are not as many sets of pixels as cameras.
    """
    pixels = np.asarray(pixels, dtype=float)
    if len(pixels) != len(cameras):
        raise ValueError(f"{len(cameras)} cameras need as many sets of pixels, found {len(pixels)}")
    normal = np.zeros((*pixels.shape[1:-1], 3, 3))
    right = np.zeros((*pixels.shape[1:-1], 3))
    n_seen = np.zeros(pixels.shape[1:-1], dtype=int)
    for camera, seen in zip(cameras, pixels, strict=True):
        ray = camera.rays(seen)
        across = np.eye(3) - ray[..., :, None] * ray[..., None, :]  # removes the component along the ray
        known = np.asarray(np.isfinite(ray).all(axis=-1))
        across = np.where(known[..., None, None], across, 0.0)
        normal += across
        right += across @ camera.centre
        n_seen += known
    enough = n_seen >= 2
    points = np.full(right.shape, np.nan)
    if enough.any():
        points[enough] = np.linalg.solve(normal[enough], right[enough][..., None])[..., 0]
    return points
