"""Whether joints lie on the person in the pictures: one pass through a video, a measured shift, and overlays.

If a trial's clock is wrong by a few frames, joints and pictures are right, but paired wrongly; no file shows it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np

from pose.body.camera import Camera
from pose.body.skeleton import HUMANEVA_15
from pose.drawing.colours import INK, PAPER
from pose.drawing.skeleton import draw_skeleton
from pose.errors import DataError
from pose.files import atomic_path
from pose.humaneva import Labels, Trial
from pose.silhouette.background_model import BackgroundModel
from pose.types import FloatArray, Image, IntArray
from pose.video.reader import read_frames

LARGEST_SHIFT = 12
"""Largest shift tried, in frames, to either side."""
_ON_PERSON_DISTANCE = 3.0
"""Distance of a joint from the silhouette, px, up to which the joint counts as on the person."""
_LARGEST_COUNTED = 30.0
"""Distance of a joint from the silhouette, px, at which larger ones are clipped: the silhouette may be lost there."""
_MIN_GAIN = 0.15
"""Least decrease of the mean distance, px, by which a shift is accepted."""
_MIN_RATIO = 0.9
"""Largest mean distance with an accepted shift, as a share of that without it."""
_MIN_FRAMES = 4
"""Least number of pictures from which a shift is measured."""
_CELL = 320
"""Side of one picture of an overlay, px."""
_MARGIN = 0.15
"""Margin around the person, as a share of the person's size."""
_TITLE = 22
"""Height of an overlay's title, px."""


@dataclass(frozen=True, eq=False)
class Look:
    """The result of one pass through a video.

    Parameters
    ----------
    n_frames : int
        Number of pictures decoded; of stills, up to the last.
    width, height : int
        Pixels.
    images : dict of int to ndarray
        The chosen pictures, by toolkit frame.
    """

    n_frames: int
    width: int
    height: int
    images: dict[int, Image]


def look_through(sequence: Trial, camera: str, numbers: Iterable[int]) -> Look:
    """Decode a whole video once, and keep the pictures of some toolkit frames.

    Raises
    ------
    DataError
        If the video cannot be decoded.
    """
    wanted, numbers = {}, list(numbers)
    if numbers and camera in sequence.clock.first_video_frame:
        offset = sequence.clock.video_index(camera, 0) + sequence.video_frame_shift
        wanted = {int(number) + offset: int(number) for number in numbers}
    images: dict[int, Image] = {}
    n_frames, shape = 0, (0, 0)
    for frame in read_frames(sequence.videos[camera]):
        n_frames, shape = frame.index + 1, frame.image.shape[:2]
        if frame.index in wanted:
            images[wanted[frame.index]] = frame.image
    return Look(n_frames, shape[1], shape[0], images)


def choose_frames(labels: Labels, count: int) -> IntArray:
    """Toolkit frames, about evenly spaced, at which the joints move fast: there a shift shows best.

    The usable frames are split into `count` parts, fewer if there are fewer frames; the fastest of each part is taken.
    """
    rows = np.flatnonzero(labels.usable)
    if len(rows) < 2:
        return labels.numbers[rows]
    relative = labels.joints[rows]
    speed = np.linalg.norm(np.gradient(relative, axis=0), axis=2).mean(axis=1)
    step = np.gradient(labels.numbers[rows].astype(float))
    speed = np.where(step == 1, speed, 0)  # a difference across a gap of the markers is no speed
    parts = np.array_split(np.arange(len(rows)), min(count, len(rows)))
    return labels.numbers[rows[[part[np.argmax(speed[part])] for part in parts]]]


@dataclass(frozen=True, eq=False)
class JointDistances:
    """Distances of projected joints from silhouettes, for each shift of the video against the motion capture.

    Parameters
    ----------
    scores : ndarray of shape (25,)
        Mean distance, px, with -12 ... 12 added to `video_frame_shift`; 0 for a joint on the silhouette.
    share_near : float
        Share of the joints on the silhouette or within 3 px of it, without a shift.
    """

    scores: FloatArray
    share_near: float


def best_shift(distances: Iterable[JointDistances], believed: int = 0) -> int | None:
    """The addition to `video_frame_shift`, one for all videos given, with which joints lie best on silhouettes.

    Returns
    -------
    int or None
        `believed` unless another shift is clearly better; None if all are about as good, as for a person who stands
        still.
    """
    scores = np.mean([distance.scores for distance in distances], axis=0)
    now, best = scores[LARGEST_SHIFT + believed], int(np.argmin(scores))
    if np.median(scores) - scores[best] < _MIN_GAIN:
        return None
    certain = now - scores[best] > _MIN_GAIN and scores[best] < _MIN_RATIO * now
    return best - LARGEST_SHIFT if certain else believed


def joint_distances(
    sequence: Trial, camera: Camera, images: dict[int, Image], background: BackgroundModel
) -> JointDistances | None:
    """Compare the picture of each chosen toolkit frame F with the joints of F - 12 ... F + 12.

    If the picture of F shows the joints of F + d, then d must be subtracted from the video's frame numbers.

    Returns
    -------
    JointDistances or None
        None if too few frames show a person with known joints.

    Raises
    ------
    DataError
        If the pictures do not fit the background.
    """
    try:
        maps = {number: _distance_to_person(background, image) for number, image in images.items()}
    except ValueError as error:
        raise DataError(f"{sequence.videos[camera.name]}: {error}") from error
    people = {number: far for number, far in maps.items() if far is not None}
    numbers = np.array(sorted(people), dtype=np.int64)
    if len(numbers) < _MIN_FRAMES:
        return None
    # A video that is late by k frames shows, at frame F, the joints of F - k.
    moved = numbers[:, None] - np.arange(-LARGEST_SHIFT, LARGEST_SHIFT + 1)
    wanted = np.unique(np.clip(moved, 1, sequence.last_mocap_number))
    pixels = dict(zip(wanted.tolist(), camera.project(sequence.labels(wanted).joints), strict=True))
    unknown = np.full((len(HUMANEVA_15), 2), np.nan)
    table = np.array(
        [
            [_sample(people[number], pixels.get(other, unknown)) for other in others]
            for number, others in zip(numbers.tolist(), moved.tolist(), strict=True)
        ]
    )
    known = np.asarray(np.isfinite(table).all(axis=(1, 2)))
    if known.sum() < _MIN_FRAMES:
        return None
    near = float(np.mean(table[known][:, LARGEST_SHIFT] <= _ON_PERSON_DISTANCE))
    return JointDistances(table[known].mean(axis=(0, 2)), near)


def _distance_to_person(background: BackgroundModel, image: Image) -> FloatArray | None:
    """Distance, px, of every pixel from the silhouette; None if nobody is found."""
    mask = background.silhouette(image)
    if not mask.any():
        return None
    outside = np.asarray(mask == 0, dtype=np.uint8)
    return np.asarray(cv2.distanceTransform(outside, cv2.DIST_L2, cv2.DIST_MASK_PRECISE), dtype=float)


def _sample(distance: FloatArray, pixels: FloatArray) -> FloatArray:
    """Distances (J,) at pixels, clipped at `_LARGEST_COUNTED`; NaN where a pixel is not known."""
    known = np.asarray(np.isfinite(pixels).all(axis=1))
    columns, rows = np.round(np.where(known[:, None], pixels, 0)).astype(int).T
    height, width = distance.shape
    inside = (rows >= 0) & (rows < height) & (columns >= 0) & (columns < width)
    found = np.where(inside, distance[rows.clip(0, height - 1), columns.clip(0, width - 1)], _LARGEST_COUNTED)
    return np.asarray(np.where(known, np.minimum(found, _LARGEST_COUNTED), np.nan))


def save_overlay(
    path: Path,
    sequence: Trial,
    pictures: dict[str, dict[int, Image]],
    cameras: dict[str, Camera],
    numbers: IntArray,
) -> None:
    """Draw the projected joints onto cut-out pictures, as PNG: one row per camera, one column per toolkit frame.

    Parameters
    ----------
    path : Path
    sequence : Trial
    pictures : dict of str to dict of int to ndarray
        Pictures by camera and toolkit frame; the cell of a missing one stays empty.
    cameras : dict of str to Camera
        A camera without calibration is shown without joints.
    numbers : ndarray of int
        Toolkit frames.

    Raises
    ------
    DataError
        If the file cannot be written.
    """
    joints = sequence.labels(numbers).joints
    rows = [
        np.hstack(
            [
                _cell(sequence, name, int(number), pictures[name].get(int(number)), cameras.get(name), pose)
                for number, pose in zip(numbers, joints, strict=True)
            ]
        )
        for name in pictures
    ]
    done, content = cv2.imencode(".png", np.vstack(rows))
    if not done:
        raise DataError(f"{path}: the overlay of {sequence.name} could not be made a picture")
    with atomic_path(path) as temporary:
        temporary.write_bytes(content.tobytes())


def _cell(
    sequence: Trial, name: str, number: int, image: Image | None, camera: Camera | None, pose: FloatArray
) -> Image:
    """One picture with its title."""
    cell: Image = np.full((_CELL + _TITLE, _CELL, 3), PAPER, dtype=np.uint8)
    title = f"{name}  frame {number}"
    if image is None:
        title += ": no picture"
    else:
        index = sequence.clock.video_index(name, number) + sequence.video_frame_shift
        title += f", video {index}" + ("" if np.isfinite(pose).all() else ": no joints")
        pixels = np.full((len(pose), 2), np.nan) if camera is None else camera.project(pose)
        cell[_TITLE:] = _cut_out(image, pixels)
    cv2.putText(cell, title, (6, 15), cv2.FONT_HERSHEY_SIMPLEX, 0.42, INK, 1, cv2.LINE_AA)
    return cell


def _cut_out(image: Image, pixels: FloatArray) -> Image:
    """The square of the picture around the joints, enlarged, with the skeleton; the whole picture without joints."""
    height, width = image.shape[:2]
    with np.errstate(invalid="ignore"):
        inside = np.asarray(((pixels >= 0) & (pixels < (width, height))).all(axis=1))  # False for NaN
    if inside.any():
        low, high = pixels[inside].min(axis=0), pixels[inside].max(axis=0)
        side = max((1 + 2 * _MARGIN) * (high - low).max(), 40.0)
        corner = (low + high - side) / 2
    else:
        side = float(max(height, width))
        corner = (np.array([width, height]) - side) / 2
    scale = _CELL / side
    transform = np.array([[scale, 0, -scale * corner[0]], [0, scale, -scale * corner[1]]])
    border = cv2.BORDER_CONSTANT
    part = cv2.warpAffine(image, transform, (_CELL, _CELL), flags=cv2.INTER_LINEAR, borderMode=border)
    cut: Image = np.asarray(part, dtype=np.uint8)
    draw_skeleton(cut, (pixels - corner) * scale, HUMANEVA_15, thickness=2)
    return cut
