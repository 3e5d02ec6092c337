"""Pictures of silhouettes and skeletons: what an overlay video is made of."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from pose.camera import Camera
from pose.skeleton import Skeleton

Image = NDArray[np.uint8]
FloatArray = NDArray[np.float64]
Colour = tuple[int, int, int]

#: Blue, green, red; told apart by colour-blind eyes too.
SIDE_COLOURS: dict[str, Colour] = {"left": (0, 130, 230), "right": (178, 114, 0), "middle": (110, 110, 110)}
CONTOUR_COLOUR: Colour = (115, 158, 0)
PAPER: Colour = (250, 250, 250)
INK: Colour = (60, 60, 60)
_SOLE = 80.0  # mm from the ankle to the floor
_PANEL_REACH = 1000.0  # mm from the root that a panel shows above and below
_SUBPIXEL_BITS = 4
_PLACING_STEPS = 20
_NEAREST = 200.0  # mm between the camera and the foremost joint


def draw_contour(image: Image, mask: NDArray[np.uint8]) -> None:
    """Draw the outlines of a mask, inner ones too, into `image`."""
    contours, _ = cv2.findContours(mask, cv2.RETR_CCOMP, cv2.CHAIN_APPROX_NONE)
    cv2.drawContours(image, contours, -1, CONTOUR_COLOUR, 2, cv2.LINE_AA)


def draw_skeleton(image: Image, pixels: FloatArray, skeleton: Skeleton, thickness: int = 4) -> None:
    """Draw bones and joints at `pixels` (J, 2) into `image`; those that are not finite are left out."""
    points = np.round(np.where(np.isfinite(pixels), pixels, 0) * 2**_SUBPIXEL_BITS).astype(int)
    known = [bool(np.isfinite(pixel).all()) for pixel in pixels]
    for parent, child in skeleton.bones:
        if known[parent] and known[child]:
            ends = (tuple(points[parent]), tuple(points[child]))
            for width, colour in ((thickness + 3, PAPER), (thickness, SIDE_COLOURS[skeleton.side(child)])):
                cv2.line(image, *ends, colour, width, cv2.LINE_AA, _SUBPIXEL_BITS)
    for joint in (index for index, drawn in enumerate(known) if drawn):
        radius = int((thickness * 0.9) * 2**_SUBPIXEL_BITS)
        colour = SIDE_COLOURS[skeleton.side(joint)]
        cv2.circle(image, tuple(points[joint]), radius, colour, -1, cv2.LINE_AA, _SUBPIXEL_BITS)


def fit_to_silhouette(pose: FloatArray, mask: NDArray[np.uint8]) -> FloatArray:
    """Pixels (J, 2) of a root-relative pose in camera axes, scaled and moved onto the silhouette.

    Without the person's depth a scaled orthographic view is all that can be drawn: the pose's height, soles included,
    becomes the silhouette's, and the mean column of the joints that of the mask.
    """
    rows = np.flatnonzero(mask.any(axis=1))
    columns = np.flatnonzero(mask.any(axis=0))
    weights = (mask[:, columns] > 0).sum(axis=0)
    top, bottom = pose[:, 1].min(), pose[:, 1].max() + _SOLE
    scale = (rows[-1] - rows[0]) / max(bottom - top, 1.0)
    x = (pose[:, 0] - pose[:, 0].mean()) * scale + np.average(columns, weights=weights)
    y = (pose[:, 1] - top) * scale + rows[0]
    return np.stack([x, y], axis=1)


def place_by_silhouette(pose: FloatArray, mask: NDArray[np.uint8], camera: Camera) -> FloatArray:
    """Pixels (J, 2) of a root-relative pose in camera axes, projected through the camera.

    A single silhouette does not tell how far away the person is. The root is put where the projected joints, soles
    included, are as high as the silhouette and stand at its height and mean column: as right as the pose's size is.
    """
    target = fit_to_silhouette(pose, mask)
    return _seen(camera, pose + root_by_pixels(pose, target, camera))


def root_by_pixels(pose: FloatArray, target: FloatArray, camera: Camera) -> FloatArray:
    """Where a root-relative pose in camera axes stands, (3,) mm in them, so that its projection is as `target` (J, 2).

    As high, and with the same mean column and middle row; found by a few steps, each of which takes the projection
    for a scaled orthographic one.
    """
    focal = np.array([camera.matrix[0, 0], camera.matrix[1, 1]])
    height = max(np.ptp(target[:, 1]), 1.0)
    depth = focal[1] * max(np.ptp(pose[:, 1]), 1.0) / height
    root = np.array([0.0, 0.0, max(depth, _NEAREST - pose[:, 2].min())])
    for _ in range(_PLACING_STEPS):
        pixels = _seen(camera, pose + root)
        off = _centre(target) - _centre(pixels)
        root[:2] += off * root[2] / focal
        root[2] = max(root[2] * np.ptp(pixels[:, 1]) / height, _NEAREST - pose[:, 2].min())
    return root


def _seen(camera: Camera, points: FloatArray) -> FloatArray:
    """Pixels (J, 2) of points in the camera's own axes."""
    return camera.project((points - camera.translation) @ camera.rotation)


def _centre(pixels: FloatArray) -> FloatArray:
    """Mean column and middle row."""
    return np.array([pixels[:, 0].mean(), (pixels[:, 1].min() + pixels[:, 1].max()) / 2])


def skeleton_panel(
    pose: FloatArray | None, skeleton: Skeleton, size: tuple[int, int], *, axes: str, turn: float, title: str
) -> Image:
    """A (height, width, 3) view of a root-relative pose on paper, turned about the vertical.

    Parameters
    ----------
    pose : ndarray of shape (J, 3) or None
        mm; None draws an empty panel.
    skeleton : Skeleton
    size : tuple of int
        Height and width, pixels.
    axes : str
        ``"camera"`` (y down) or ``"world"`` (z up).
    turn : float
        Degrees about the vertical.
    title : str
        Written into the upper left corner.
    """
    height, width = size
    panel: Image = np.full((height, width, 3), PAPER, dtype=np.uint8)
    cv2.putText(panel, title, (12, 24), cv2.FONT_HERSHEY_SIMPLEX, 0.5, INK, 1, cv2.LINE_AA)
    if pose is None:
        cv2.putText(panel, "no person", (12, height // 2), cv2.FONT_HERSHEY_SIMPLEX, 0.6, INK, 1, cv2.LINE_AA)
        return panel
    right, down, forward = pose.T if axes == "camera" else (pose[:, 0], -pose[:, 2], pose[:, 1])
    angle = np.deg2rad(turn)
    scale = height / (2 * _PANEL_REACH)
    horizontal = np.cos(angle) * right + np.sin(angle) * forward
    draw_skeleton(panel, np.stack([width / 2 + scale * horizontal, height / 2 + scale * down], axis=1), skeleton)
    return panel


def overlay_frame(
    image: Image,
    mask: NDArray[np.uint8] | None,
    pose: FloatArray | None,
    skeleton: Skeleton,
    axes: str,
    camera: Camera | None = None,
) -> Image:
    """The picture with contour and skeleton, and beside it the pose from the front and from the side.

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
        ``"camera"`` or ``"world"``; a pose in the world's axes can be laid onto the picture with a camera only.
    camera : Camera, optional
        Calibrated: the pose is then projected through it, from where it covers the silhouette.

    Returns
    -------
    ndarray of shape (height, 2 width, 3), uint8
    """
    picture = image.copy()
    if mask is not None and mask.any():
        draw_contour(picture, mask)
        if pose is not None and camera is not None:
            seen = camera.rotate_to_camera(pose) if axes == "world" else pose
            draw_skeleton(picture, place_by_silhouette(seen, mask, camera), skeleton)
        elif pose is not None and axes == "camera":
            draw_skeleton(picture, fit_to_silhouette(pose, mask), skeleton)
    height, width = image.shape[:2]
    titles = (
        ("as the camera sees it", "turned by 90 degrees")
        if axes == "camera"
        else ("along the world's y", "along its x")
    )
    panels = [
        skeleton_panel(pose, skeleton, (height, columns), axes=axes, turn=turn, title=title)
        for title, turn, columns in zip(titles, (0, 90), (width // 2, width - width // 2), strict=True)
    ]
    if pose is not None:
        for row, side in enumerate(("left", "right")):
            place = (12, height - 30 + 18 * row)
            cv2.putText(panels[0], side, place, cv2.FONT_HERSHEY_SIMPLEX, 0.5, SIDE_COLOURS[side], 1, cv2.LINE_AA)
    return np.concatenate([picture, *panels], axis=1)
