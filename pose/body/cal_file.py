"""``.cal`` files: 22 numbers that calibrate one camera."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from pose.body.camera import Camera
from pose.errors import DataError
from pose.text_files import read_numbers

_ROTATION_TOLERANCE = 1e-3
"""Largest error accepted in det R and in the entries of R R'. Files carry six decimals, so a rotation errs by 1e-6."""


def read_cal(path: str | Path, name: str | None = None) -> Camera:
    """Read a HumanEva ``.cal`` file.

    Parameters
    ----------
    path : path-like
        Text file of fx fy cx cy skew, k1 k2 p1 p2 k3, R (row-major, world to camera), t (mm).
    name : str, optional
        The camera's name; by default the file's stem.

    Raises
    ------
    DataError
        If there are not exactly 22 finite numbers, a focal length is not positive, or R is no rotation.
    """
    path = Path(path)
    values = read_numbers(path, 22, "fx fy cx cy skew, k1 k2 p1 p2 k3, 9 of R, 3 of t")
    fx, fy, cx, cy, skew = values[:5]
    rotation = values[10:19].reshape(3, 3)
    if fx <= 0 or fy <= 0:
        raise DataError(f"{path}: focal lengths must be positive, found fx = {fx:g}, fy = {fy:g}")
    determinant_error = abs(np.linalg.det(rotation) - 1)
    orthogonality_error = np.abs(rotation @ rotation.T - np.eye(3)).max()
    if max(determinant_error, orthogonality_error) > _ROTATION_TOLERANCE:
        raise DataError(
            f"{path}: numbers 11-19 are no rotation matrix "
            f"(det R - 1 = {np.linalg.det(rotation) - 1:.2g}, |R R' - I| = {orthogonality_error:.2g})"
        )
    matrix = np.array([[fx, skew * fx, cx], [0.0, fy, cy], [0.0, 0.0, 1.0]])
    return Camera(name or path.stem, matrix, values[5:10], rotation, values[19:22])


def write_cal(path: str | Path, camera: Camera) -> None:
    """Write a camera as a ``.cal`` file, one number a line."""
    K = camera.matrix
    values = np.concatenate(
        [
            [K[0, 0], K[1, 1], K[0, 2], K[1, 2], K[0, 1] / K[0, 0]],
            camera.distortion,
            camera.rotation.ravel(),
            camera.translation,
        ]
    )
    Path(path).write_text("".join(f"{value:.6f} \n" for value in values))
