"""An overlay: a frame with contour and skeleton drawn into it, and two views of the pose beside it."""

from __future__ import annotations

import numpy as np

from pose.body.camera import Camera
from pose.body.skeleton import Skeleton
from pose.drawing.colours import SIDE_COLOURS
from pose.drawing.contour import draw_contour
from pose.drawing.panel import skeleton_panel
from pose.drawing.placement import fit_through_camera, fit_to_silhouette
from pose.drawing.skeleton import draw_skeleton
from pose.drawing.text import write_quality, write_text
from pose.types import FloatArray, Image, Mask


def overlay_frame(
    image: Image,
    mask: Mask | None,
    pose: FloatArray | None,
    skeleton: Skeleton,
    axes: str,
    *,
    std: FloatArray | None = None,
    quality: int = 0,
    camera: Camera | None = None,
) -> Image:
    """A frame with contour and skeleton, and beside it the pose from the front and from the side.

    Parameters
    ----------
    image : ndarray of shape (height, width, 3), uint8
        The video's frame, BGR.
    mask : ndarray of shape (height, width), uint8, or None
        The silhouette.
    pose : ndarray of shape (J, 3) or None
        mm, relative to the root; None where no person was found.
    skeleton : Skeleton
    axes : str
        ``"camera"`` or ``"world"``. A pose in world axes needs `camera` to be drawn into the picture.
    std : ndarray of shape (J, 3), optional
        Standard deviations, mm, drawn into the views beside the picture.
    quality : int
        `pose.series.pose_series.Quality` flags, written into the picture.
    camera : Camera, optional
        The calibrated camera, through which the skeleton is projected. Without one it is scaled onto the mask.

    Returns
    -------
    ndarray of shape (height, 2 width, 3), uint8
    """
    picture = image.copy()
    if mask is not None and mask.any():
        draw_contour(picture, mask)
        if pose is not None:
            pixels = _onto_picture(pose, mask, axes, camera)
            if pixels is not None:
                draw_skeleton(picture, pixels, skeleton)
    write_quality(picture, quality)
    height, width = image.shape[:2]
    titles = (
        ("as the camera sees it", "turned by 90 degrees")
        if axes == "camera"
        else ("along the world's y", "along its x")
    )
    panels = [
        skeleton_panel(pose, skeleton, (height, columns), axes=axes, turn=turn, title=title, std=std)
        for title, turn, columns in zip(titles, (0, 90), (width // 2, width - width // 2), strict=True)
    ]
    if pose is not None:
        for row, side in enumerate(("left", "right")):
            write_text(panels[0], side, (12, height - 30 + 18 * row), colour=SIDE_COLOURS[side])
        if std is not None:
            write_text(panels[1], "ellipses: 1 std. dev.", (12, height - 12), size=0.45)
    return np.concatenate([picture, *panels], axis=1)


def _onto_picture(pose: FloatArray, mask: Mask, axes: str, camera: Camera | None) -> FloatArray | None:
    """Pixels (J, 2) of the joints; None for a pose in world axes without a camera."""
    if camera is not None:
        return fit_through_camera(pose if axes == "camera" else camera.rotate_to_camera(pose), mask, camera)
    return fit_to_silhouette(pose, mask) if axes == "camera" else None
