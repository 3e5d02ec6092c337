"""Pictures of the best and worst frames: contour, predicted and true skeleton."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

from pipelines.evaluation.evaluate import Evaluation
from pipelines.evaluation.page.svg import drawing, element, path
from pipelines.evaluation.picture import front_view
from pose.types import FloatArray

_N_PICTURES = 6
"""Number of pictures of the best frames, and of the worst."""
_FRAMES_BETWEEN = 60
"""Least distance, in toolkit frames, of two pictures from one video; neighbours look alike."""
_WIDTH, _HEIGHT, _MARGIN = 150.0, 200.0, 8.0
"""Size and margin of a picture, in units of the drawing."""
_SOLE = 80.0
"""Height of the ankle above the floor, mm."""
_CONTOUR_GAP = 3.0
"""Distance between consecutive edge points, in median distances, above which a new contour begins."""


@dataclass(frozen=True)
class Picture:
    """A drawn frame, its error in mm, and where it is from."""

    drawing: Markup
    error: float
    place: str


def pictures(evaluation: Evaluation) -> tuple[list[Picture], list[Picture]]:
    """Pictures of the frames with the largest errors, and of those with the smallest, apart by `_FRAMES_BETWEEN`."""
    errors = evaluation.errors["gbcd"].poses("absolute")
    order = np.argsort(errors, kind="stable")
    best = _apart(evaluation, order)
    worst = [row for row in _apart(evaluation, order[::-1]) if row not in best or len(order) > 2 * _N_PICTURES]
    return [_picture(evaluation, row, errors[row]) for row in worst], [
        _picture(evaluation, row, errors[row]) for row in best
    ]


def _apart(evaluation: Evaluation, order: NDArray[np.intp]) -> list[int]:
    samples = evaluation.samples
    taken: list[int] = []
    for row in order.tolist():
        same = [
            other
            for other in taken
            if abs(samples.frame[other] - samples.frame[row]) < _FRAMES_BETWEEN
            and samples.subject[other] == samples.subject[row]
            and samples.action[other] == samples.action[row]
            and samples.trial[other] == samples.trial[row]
        ]
        if not same:
            taken.append(row)
        if len(taken) == _N_PICTURES:
            break
    return taken


def _picture(evaluation: Evaluation, row: int, error: float) -> Picture:
    samples = evaluation.samples
    place = (
        f"{samples.subject[row]} {samples.action[row]} {samples.trial[row]}, {samples.camera[row]}, "
        f"frame {samples.frame[row]}"
    )
    edges = np.asarray(samples.edges[row], dtype=float)
    true = front_view(samples.poses[row], evaluation.axes) * [1, -1]
    predicted = front_view(evaluation.predictions["gbcd"][row], evaluation.axes) * [1, -1]
    in_camera = evaluation.axes == "camera"
    # A pose in world axes is seen from another direction than the silhouette, so it is drawn beside the silhouette.
    half = _WIDTH if in_camera else _WIDTH / 2
    seen, skeletons = (0.0, 0.0) if in_camera else (0.0, half)
    parts = [path(line, class_="contour") for line in _contours(_boxed(edges, edges, half, seen))]
    box = np.concatenate([true, true + [0, _SOLE]])
    if in_camera:
        place_pose = _onto(true, box, _boxed(edges, edges, half, seen))
    else:
        place_pose = _box(np.concatenate([box, predicted]), half, skeletons)
    for pose, kind in ((true, "true"), (predicted, "")):
        points = pose * place_pose[0] + place_pose[1]
        for parent, child in evaluation.skeleton.bones:
            side = kind or evaluation.skeleton.side(child)
            (x1, y1), (x2, y2) = points[[parent, child]].tolist()
            parts.append(element("line", x1=x1, y1=y1, x2=x2, y2=y2, class_=f"bone {side}"))
    return Picture(drawing(_WIDTH, _HEIGHT, f"{place}: error {error:.0f} mm", parts), float(error), place)


def _box(points: FloatArray, width: float, left: float) -> tuple[float, FloatArray]:
    """Scale and shift that fit points into the part of the picture from `left` on, `width` wide."""
    low, high = points.min(axis=0), points.max(axis=0)
    room = np.array([width - 2 * _MARGIN, _HEIGHT - 2 * _MARGIN])
    scale = float((room / np.maximum(high - low, 1e-6)).min())
    centre = np.array([left + width / 2, _HEIGHT / 2])
    return scale, centre - scale * (low + high) / 2


def _boxed(points: FloatArray, reference: FloatArray, width: float, left: float) -> FloatArray:
    scale, shift = _box(reference, width, left)
    return points * scale + shift


def _onto(pose: FloatArray, box: FloatArray, silhouette: FloatArray) -> tuple[float, FloatArray]:
    """Scale and shift that lay the true pose, soles included, onto the silhouette; used for the predicted pose too."""
    top, bottom = silhouette[:, 1].min(), silhouette[:, 1].max()
    scale = float((bottom - top) / max(box[:, 1].max() - box[:, 1].min(), 1.0))
    return scale, np.array([silhouette[:, 0].mean() - scale * pose[:, 0].mean(), top - scale * box[:, 1].min()])


def _contours(points: FloatArray) -> list[FloatArray]:
    """Split edge points into contours, and close each."""
    steps = np.linalg.norm(np.diff(points, axis=0), axis=1)
    breaks = np.flatnonzero(steps > _CONTOUR_GAP * max(float(np.median(steps)), 1e-6)) + 1
    lines = [part for part in np.split(points, breaks) if len(part) > 1]
    return [np.concatenate([part, part[:1]]) for part in lines] or [points]
