"""The place of a root-relative pose in the picture, found by the silhouette."""

from __future__ import annotations

import numpy as np

from pose.body.camera import Camera
from pose.types import FloatArray, Mask

_SOLE = 80.0
"""Millimetres from the ankle to the floor."""
_FIT_STEPS = 6
"""Number of corrections of a pose's place. A few body lengths away, each leaves about a tenth of the error."""
_MIN_DEPTH = 500.0
"""Least depth of a fitted pose, millimetres in front of the camera."""


def fit_to_silhouette(pose: FloatArray, mask: Mask) -> FloatArray:
    """Pixels (J, 2) of a root-relative pose in camera axes, scaled and moved onto the silhouette.

    The person's depth is not known, so the view is orthographic. The pose is scaled to the silhouette's height, soles
    included, and moved until the mean column of its joints is that of the mask.
    """
    rows = np.flatnonzero(mask.any(axis=1))
    columns = np.flatnonzero(mask.any(axis=0))
    weights = (mask[:, columns] > 0).sum(axis=0)
    top, bottom = pose[:, 1].min(), pose[:, 1].max() + _SOLE
    scale = (rows[-1] - rows[0]) / max(bottom - top, 1.0)
    x = (pose[:, 0] - pose[:, 0].mean()) * scale + np.average(columns, weights=weights)
    y = (pose[:, 1] - top) * scale + rows[0]
    return np.stack([x, y], axis=1)


def fit_through_camera(pose: FloatArray, mask: Mask, camera: Camera) -> FloatArray:
    """Pixels (J, 2) of a root-relative pose in camera axes, where a calibrated camera would see it.

    The pose is put where its first and last row, soles included, and its mean column are those of the mask. NaN where
    a joint cannot be projected.
    """
    rows, columns = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
    centre = np.average(columns, weights=(mask[:, columns] > 0).sum(axis=0))
    # The soles are one more point, below the lowest joint.
    points = np.concatenate([pose, pose[[pose[:, 1].argmax()]] + [0, _SOLE, 0]])
    depth = camera.matrix[1, 1] * float(np.ptp(points[:, 1])) / max(rows[-1] - rows[0], 1)
    place = np.array([0.0, 0.0, depth])
    for _ in range(_FIT_STEPS):
        pixels = camera.project(camera.rotate_to_world(points + place - camera.translation))
        top, bottom = pixels[:, 1].min(), pixels[:, 1].max()
        if not np.isfinite(pixels).all() or bottom <= top:
            break
        depth = max(place[2] * (bottom - top) / max(rows[-1] - rows[0], 1), _MIN_DEPTH - points[:, 2].min())
        moved = np.array([centre - pixels[:-1, 0].mean(), (rows[0] + rows[-1] - top - bottom) / 2])
        # The shift in the picture becomes mm at this depth; the place is then scaled to the new depth.
        place[:2] = (place[:2] + moved * place[2] / np.diag(camera.matrix)[:2]) * depth / place[2]
        place[2] = depth
    return camera.project(camera.rotate_to_world(pose + place - camera.translation))
