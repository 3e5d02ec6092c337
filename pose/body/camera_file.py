"""Calibrated cameras from files: HumanEva's ``.cal``, and what OpenCV's tools write."""

from __future__ import annotations

from pathlib import Path

import cv2
import numpy as np

from pose.body.cal_file import read_cal
from pose.body.camera import Camera
from pose.errors import DataError

_MATRIX_NAMES = ("camera_matrix", "Camera_Matrix", "cameraMatrix", "K")
_DISTORTION_NAMES = ("distortion_coefficients", "Distortion_Coefficients", "distCoeffs", "dist_coeffs", "D")
_LENS = 5
"""Number of distortion coefficients, k1 k2 p1 p2 k3; OpenCV's longer lens models have more."""


def read_camera(path: str | Path) -> Camera:
    """Read one camera: a ``.cal`` file, or OpenCV's YAML, XML or JSON.

    From OpenCV's files, as `cv2.FileStorage` writes them, ``camera_matrix`` (or ``cameraMatrix``, ``K``) and
    ``distortion_coefficients`` (or ``distCoeffs``, ``D``; zeros if missing) are read. Their camera stands at the
    world's origin.

    Raises
    ------
    DataError
        If the file is missing, cannot be read, or holds no valid camera.
    """
    path = Path(path)
    if not path.is_file():
        raise DataError(f"{path}: no such calibration")
    if path.suffix.lower() == ".cal":
        return read_cal(path)
    matrix, distortion = _read_opencv(path)
    if matrix is None:
        raise DataError(f"{path}: holds no camera matrix ({', '.join(_MATRIX_NAMES)})")
    if matrix.shape != (3, 3) or not np.isfinite(matrix).all() or not (matrix[[0, 1], [0, 1]] > 0).all():
        raise DataError(f"{path}: the camera matrix must be 3 x 3 with positive focal lengths, found {matrix.tolist()}")
    lens = np.zeros(0) if distortion is None else distortion.ravel()
    if not np.isfinite(lens).all() or lens[_LENS:].any():
        raise DataError(f"{path}: the distortion must be k1 k2 p1 p2 k3, found {lens.tolist()}")
    padded = np.concatenate([lens, np.zeros(_LENS)])[:_LENS]
    return Camera(path.stem, matrix / matrix[2, 2], padded, np.eye(3), np.zeros(3))


def _read_opencv(path: Path) -> tuple[np.ndarray | None, np.ndarray | None]:
    """Camera matrix and distortion coefficients; None for one that is missing."""
    try:
        # Read from memory: OpenCV cannot open every path, and recognises the format by the text.
        storage = cv2.FileStorage(path.read_text(encoding="utf-8-sig"), cv2.FILE_STORAGE_READ | cv2.FILE_STORAGE_MEMORY)
        found = []
        for names in (_MATRIX_NAMES, _DISTORTION_NAMES):
            matrices = [storage.getNode(name).mat() for name in names if not storage.getNode(name).empty()]
            found.append(np.asarray(matrices[0], dtype=np.float64) if matrices and matrices[0] is not None else None)
        storage.release()
    except (OSError, UnicodeDecodeError, cv2.error, SystemError) as error:
        raise DataError(
            f"{path}: cannot be read as a calibration (HumanEva's .cal, OpenCV's YAML, XML or JSON)"
        ) from error
    return found[0], found[1]
