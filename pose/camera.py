"""A calibrated pinhole camera with Brown distortion, in OpenCV's conventions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

FloatArray = NDArray[np.float64]


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
        mm, so that a world point X stands at ``rotation @ X + translation`` in the camera.
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

    def to_camera(self, points: ArrayLike) -> FloatArray:
        """World points (..., 3) in the camera's frame, mm: x right, y down, z forward."""
        return np.asarray(points, dtype=float) @ self.rotation.T + self.translation

    def rotate_to_camera(self, vectors: ArrayLike) -> FloatArray:
        """World directions or root-relative poses (..., 3) turned into the camera's axes."""
        return np.asarray(vectors, dtype=float) @ self.rotation.T

    def rotate_to_world(self, vectors: ArrayLike) -> FloatArray:
        """Directions or root-relative poses (..., 3) of the camera's frame turned into the world's axes."""
        return np.asarray(vectors, dtype=float) @ self.rotation

    def project(self, points: ArrayLike) -> FloatArray:
        """Pixels (..., 2) of world points (..., 3); NaN where a point is not finite or lies behind the camera.

        The lens model is evaluated here rather than by ``cv2.projectPoints``, which knows no skew.
        """
        points = np.asarray(points, dtype=float)
        x, y, z = np.moveaxis(self.to_camera(points), -1, 0)
        with np.errstate(divide="ignore", invalid="ignore"):
            a, b = x / z, y / z
        k1, k2, p1, p2, k3 = self.distortion
        r2 = a * a + b * b
        radial = 1 + r2 * (k1 + r2 * (k2 + r2 * k3))
        xd = a * radial + 2 * p1 * a * b + p2 * (r2 + 2 * a * a)
        yd = b * radial + p1 * (r2 + 2 * b * b) + 2 * p2 * a * b
        K = self.matrix
        pixels = np.stack([K[0, 0] * xd + K[0, 1] * yd + K[0, 2], K[1, 1] * yd + K[1, 2]], axis=-1)
        pixels[~(z > 0)] = np.nan
        return pixels
