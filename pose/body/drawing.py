"""Pictures of silhouettes and skeletons: what an overlay video is made of."""

from __future__ import annotations

import cv2
import numpy as np

from pose.body.camera import Camera
from pose.body.skeleton import Skeleton
from pose.series.pose_series import quality_words
from pose.types import FloatArray, Image, Mask

Colour = tuple[int, int, int]

#: Blue, green, red; told apart by colour-blind eyes too.
SIDE_COLOURS: dict[str, Colour] = {"left": (0, 130, 230), "right": (178, 114, 0), "middle": (110, 110, 110)}
CONTOUR_COLOUR: Colour = (115, 158, 0)
PAPER: Colour = (250, 250, 250)
INK: Colour = (60, 60, 60)
WARNING: Colour = (0, 60, 190)
_SOLE = 80.0  # mm from the ankle to the floor
_PANEL_REACH = 1000.0  # mm from the root that a panel shows above and below
_SUBPIXEL_BITS = 4
_FIT_STEPS = 6  # each leaves about a tenth of the error, of a person a few body lengths away
_NEAREST = 500.0  # mm that a fitted pose stays in front of the camera
_SPREAD = 0.3  # opacity of standard deviations


def draw_contour(image: Image, mask: Mask) -> None:
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


def fit_to_silhouette(pose: FloatArray, mask: Mask) -> FloatArray:
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


def fit_through_camera(pose: FloatArray, mask: Mask, camera: Camera) -> FloatArray:
    """Pixels (J, 2) of a root-relative pose in camera axes, where a calibrated camera would see it.

    The silhouette tells where it stands: at the distance at which its height, soles included, is that of the mask, and
    where its rows and mean column are the mask's. NaN where the lens model shows no point.
    """
    rows, columns = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
    centre = np.average(columns, weights=(mask[:, columns] > 0).sum(axis=0))
    # The soles are one more point: below the lowest joint.
    points = np.concatenate([pose, pose[[pose[:, 1].argmax()]] + [0, _SOLE, 0]])
    depth = camera.matrix[1, 1] * float(np.ptp(points[:, 1])) / max(rows[-1] - rows[0], 1)
    place = np.array([0.0, 0.0, depth])
    for _ in range(_FIT_STEPS):
        pixels = camera.project(camera.rotate_to_world(points + place - camera.translation))
        top, bottom = pixels[:, 1].min(), pixels[:, 1].max()
        if not np.isfinite(pixels).all() or bottom <= top:
            break
        depth = max(place[2] * (bottom - top) / max(rows[-1] - rows[0], 1), _NEAREST - points[:, 2].min())
        moved = np.array([centre - pixels[:-1, 0].mean(), (rows[0] + rows[-1] - top - bottom) / 2])
        # A shift of the picture at the new depth; what the body itself covers of it scales along.
        place[:2] = (place[:2] + moved * place[2] / np.diag(camera.matrix)[:2]) * depth / place[2]
        place[2] = depth
    return camera.project(camera.rotate_to_world(pose + place - camera.translation))


def skeleton_panel(
    pose: FloatArray | None,
    skeleton: Skeleton,
    size: tuple[int, int],
    *,
    axes: str,
    turn: float,
    title: str,
    std: FloatArray | None = None,
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
    std : ndarray of shape (J, 3), optional
        Standard deviations, mm: an ellipse of one about each joint.
    """
    height, width = size
    panel: Image = np.full((height, width, 3), PAPER, dtype=np.uint8)
    cv2.putText(panel, title, (12, 24), cv2.FONT_HERSHEY_SIMPLEX, 0.5, INK, 1, cv2.LINE_AA)
    if pose is None:
        cv2.putText(panel, "no person", (12, height // 2), cv2.FONT_HERSHEY_SIMPLEX, 0.6, INK, 1, cv2.LINE_AA)
        return panel
    scale = height / (2 * _PANEL_REACH)
    across, down = _seen_from(pose, axes, turn)
    pixels = np.stack([width / 2 + scale * across, height / 2 + scale * down], axis=1)
    if std is not None:
        # Deviations of independent coordinates add up as squares; signs of the turn do not matter.
        wide, high = np.sqrt(_seen_from(std**2, axes, turn, squared=True))
        _draw_spread(panel, pixels, scale * np.stack([wide, high], axis=1), skeleton)
    draw_skeleton(panel, pixels, skeleton)
    return panel


def _seen_from(pose: FloatArray, axes: str, turn: float, *, squared: bool = False) -> tuple[FloatArray, FloatArray]:
    """Across and down, (J,) each, of points turned about the vertical; of variances where `squared`."""
    right, down, forward = pose.T if axes == "camera" else (pose[:, 0], -pose[:, 2], pose[:, 1])
    cosine, sine = np.cos(np.deg2rad(turn)), np.sin(np.deg2rad(turn))
    if squared:
        return cosine**2 * right + sine**2 * forward, np.abs(down)
    return cosine * right + sine * forward, down


def _draw_spread(image: Image, centres: FloatArray, reach: FloatArray, skeleton: Skeleton) -> None:
    """Translucent ellipses with half axes `reach` (J, 2) into `image`."""
    filled = image.copy()
    for joint, (centre, axes) in enumerate(zip(centres, reach, strict=True)):
        if np.isfinite(centre).all() and np.isfinite(axes).all() and axes.max() >= 1:
            place, half = (tuple(np.round(v * 2**_SUBPIXEL_BITS).astype(int).tolist()) for v in (centre, axes))
            colour = SIDE_COLOURS[skeleton.side(joint)]
            cv2.ellipse(filled, place, half, 0, 0, 360, colour, -1, cv2.LINE_AA, _SUBPIXEL_BITS)
    cv2.addWeighted(filled, _SPREAD, image, 1 - _SPREAD, 0, dst=image)


def _write_quality(image: Image, flags: int) -> None:
    """What may be wrong with a frame, on paper, into the lower left corner; nothing where it is good."""
    if not flags:
        return
    text = ", ".join(quality_words(flags)).replace("_", " ")
    size = 0.5
    (width, height), below = cv2.getTextSize(text, cv2.FONT_HERSHEY_SIMPLEX, size, 1)
    size *= min(1.0, (image.shape[1] - 24) / max(width, 1))  # narrow pictures get small letters
    (width, height), below = cv2.getTextSize(text, cv2.FONT_HERSHEY_SIMPLEX, size, 1)
    bottom = image.shape[0] - 12
    cv2.rectangle(image, (6, bottom - height - 6), (18 + width, bottom + below), PAPER, -1)
    cv2.putText(image, text, (12, bottom - 2), cv2.FONT_HERSHEY_SIMPLEX, size, WARNING, 1, cv2.LINE_AA)


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
        ``"camera"`` or ``"world"``; a pose in world axes can be laid onto the picture of a calibrated camera alone.
    std : ndarray of shape (J, 3), optional
        Standard deviations, mm, drawn into the views beside the picture.
    quality : int
        `pose.series.pose_series.Quality` flags, written into the picture.
    camera : Camera, optional
        The calibrated camera: with it the skeleton is projected as its lens does, without it scaled onto the mask.

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
    _write_quality(picture, quality)
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
            place = (12, height - 30 + 18 * row)
            cv2.putText(panels[0], side, place, cv2.FONT_HERSHEY_SIMPLEX, 0.5, SIDE_COLOURS[side], 1, cv2.LINE_AA)
        if std is not None:
            text, place = "ellipses: 1 std. dev.", (12, height - 12)
            cv2.putText(panels[1], text, place, cv2.FONT_HERSHEY_SIMPLEX, 0.45, INK, 1, cv2.LINE_AA)
    return np.concatenate([picture, *panels], axis=1)


def _onto_picture(pose: FloatArray, mask: Mask, axes: str, camera: Camera | None) -> FloatArray | None:
    """Pixels of the joints, or None where nothing tells how the camera sees them."""
    if camera is not None:
        return fit_through_camera(pose if axes == "camera" else camera.rotate_to_camera(pose), mask, camera)
    return fit_to_silhouette(pose, mask) if axes == "camera" else None
