"""Retrieval of the MPEG-7 silhouettes: the descriptor's quality on shapes other than people.

The folder of data holds the 1,400 pictures of MPEG-7 CE-Shape-1 part B (70 classes of 20), ``bat-1.png`` and so on.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np

from pipelines.bench.data.problems import Catalogue
from pipelines.bench.runner.cell import Cell, Column, Finding, Job, Parameters, Row, Size, Table, Value
from pipelines.bench.tables.rows import TIME
from pose import HistoSC, ShapeContext, shape_context_distances, trace_edges
from pose.descriptor.edge_points import EdgePoints
from pose.descriptor.matching import chi_square_costs
from pose.errors import DataError
from pose.silhouette.masks import as_mask
from pose.types import BoolArray, FloatArray, IntArray

PICTURES = "*-*.png"

EVERY = {"full": 1, "quick": 7}
"""Step through the classes in alphabetical order; classes between are not used."""
EVERY_MATCHED = {"full": 3, "quick": 14}
"""Step through the classes that are matched point by point: 24 classes of 70, or 5, since matching takes long."""
MATCHED_POINTS = 100
WARM_UP_SHAPES = 3

ROTATIONS = ("absolute", "tangent")
HISTOGRAMS, MATCHING = (f"pipelines.bench.shapes:{name}" for name in ("compare_histograms", "match_points"))

BELONGIE: dict[str, Value] = {"shapes": 1400, "bulls_eye": 0.7651}
"""Score of Belongie, Malik and Puzicha (2002), all 70 classes, aligned by thin-plate splines, with appearance cost."""


@dataclass(frozen=True)
class Shapes:
    """Silhouettes with their classes.

    Parameters
    ----------
    masks : list of ndarray of bool
    labels : ndarray of int, shape (n,)
        Index into `classes`.
    classes : list of str
        Names of the classes, in alphabetical order.
    """

    masks: list[BoolArray]
    labels: IntArray
    classes: list[str]


def read_shapes(folder: Path) -> Shapes:
    """Read all pictures ``CLASS-NUMBER.png`` of a folder; foreground is bright.

    A picture whose whole border is bright shows a dark shape and is inverted (``rat-09`` of MPEG-7).

    Raises
    ------
    DataError
        If the folder has no such pictures, a picture cannot be read, or a class has fewer than two.
    """
    paths = sorted(folder.glob(PICTURES))
    if not paths:
        raise DataError(f"{folder}: no pictures named CLASS-NUMBER.png")
    masks = []
    for path in paths:
        picture = cv2.imread(str(path), cv2.IMREAD_UNCHANGED)
        if picture is None:
            raise DataError(f"{path}: is not a picture, or is damaged")
        mask = as_mask(picture)
        border = np.concatenate([mask[0], mask[-1], mask[:, 0], mask[:, -1]])
        masks.append(~mask if border.all() else mask)
    names = [path.stem.rsplit("-", 1)[0] for path in paths]
    classes = sorted(set(names))
    labels = np.array([classes.index(name) for name in names])
    single = [classes[k] for k in np.flatnonzero(np.bincount(labels) < 2)]
    if single:
        raise DataError(f"{folder}: a single picture of {', '.join(single)}: nothing to find it by")
    return Shapes(masks, labels, classes)


def nearest_neighbour_accuracy(distances: FloatArray, labels: IntArray) -> float:
    """Share of shapes whose nearest other shape is of the same class, from distances (n, n)."""
    others = distances + np.diag(np.full(len(distances), np.inf))
    return float((labels[others.argmin(axis=1)] == labels).mean())


def bulls_eye(distances: FloatArray, labels: IntArray) -> float:
    """Bull's-eye score: share of a class among a shape's nearest 2 x (class size) shapes, itself included; the mean."""
    sizes = np.bincount(labels)[labels]
    order = np.argsort(distances, axis=1, kind="stable")
    found = [(labels[row[: 2 * size]] == label).sum() for row, size, label in zip(order, sizes, labels, strict=True)]
    return float((np.array(found) / sizes).mean())


def histogram_distances(edges: Sequence[EdgePoints], rotation: str, n_jobs: int, seed: int = 0) -> FloatArray:
    """Chi-square distances between HistoSC histograms; the words are learnt from the shapes, without their classes."""
    histograms = HistoSC(rotation=rotation, n_jobs=n_jobs, random_state=seed).fit_transform(edges)
    return chi_square_costs(histograms, histograms)


def lacks(folder: Path | None) -> str:
    """Return words for the data that the benchmark lacks; empty if it lacks none."""
    if folder is not None and any(folder.glob(PICTURES)):
        return ""
    return "needs --data with the pictures of MPEG-7 CE-Shape-1 part B, CLASS-NUMBER.png (bat-1.png and so on)"


def tables(size: Size, catalogue: Catalogue) -> list[Table]:
    """Return the table of all shapes, and the table of the classes that are matched point by point too.

    Raises
    ------
    DataError
        As `read_shapes`, or if there is no folder.
    """
    folder = catalogue.folder
    if folder is None:
        raise DataError(f"shapes: {lacks(folder)}")
    shapes = read_shapes(folder)
    shared = {"pictures": _digest(folder), "every": EVERY[size], "every_matched": EVERY_MATCHED[size]}
    by_histogram, by_points = (
        [Row((method, rotation), Cell(task, shared | {"rotation": rotation})) for rotation in ROTATIONS]
        for method, task in (("HistoSC histograms", HISTOGRAMS), ("points matched", MATCHING))
    )
    literature = Row(("Belongie et al. (2002)", "–"), None, "as published", quoted=BELONGIE)
    scores = "Nearest: the share of shapes whose nearest other one is of their class. Bull's-eye: how much of a class "
    return [
        Table(
            f"Retrieval among {_in_words(shapes, EVERY[size])}",
            ("method", "rotation"),
            (Column("shapes", "shapes", ",.0f"), *_scores(""), *TIME),
            (*by_histogram, literature),
            f"{scores}is among the nearest 2 x its size, the shape itself included. The words are learnt from the "
            "shapes themselves, their classes unseen; rotation: shape contexts as they stand, or along the tangent. "
            "Belongie et al. match points, and align the shapes by thin-plate splines first.",
        ),
        Table(
            f"Retrieval among {_in_words(shapes, EVERY_MATCHED[size])}",
            ("method", "rotation"),
            (Column("shapes", "matched shapes", ",.0f"), *_scores("matched "), *TIME),
            (*by_histogram, *by_points),
            f"Every {EVERY_MATCHED[size]}th class of the alphabet. Histograms: those of the first table, with its "
            f"seconds. Points: shape_context_distances of {MATCHED_POINTS} points, mirrored too.",
        ),
    ]


def compare_histograms(parameters: Parameters, data: Path | None, seed: int) -> Job[FloatArray]:
    """Score HistoSC: `pictures` (a digest), `every`, `every_matched`, `rotation`."""
    shapes = _drawn(parameters, data, parameters["every"])
    edges = [trace_edges(mask) for mask in shapes.masks]

    def run(some: Sequence[EdgePoints]) -> FloatArray:
        return histogram_distances(some, parameters["rotation"], n_jobs=-1, seed=seed)

    def check(distances: FloatArray) -> Finding:
        matched = np.flatnonzero(_taken(shapes, parameters["every_matched"]))
        few = distances[np.ix_(matched, matched)]
        return Finding(_measures("", distances, shapes.labels) | _measures("matched ", few, shapes.labels[matched]))

    run(edges[:WARM_UP_SHAPES])
    return Job(lambda: run(edges), check)


def match_points(parameters: Parameters, data: Path | None, seed: int) -> Job[FloatArray]:  # noqa: ARG001 - a `Task`
    """Score `shape_context_distances`: `pictures` (a digest), `every_matched`, `rotation`."""
    shapes = _drawn(parameters, data, parameters["every_matched"])
    edges = [trace_edges(mask, MATCHED_POINTS) for mask in shapes.masks]
    context = ShapeContext(rotation=parameters["rotation"])

    def run(some: Sequence[EdgePoints]) -> FloatArray:
        return shape_context_distances(some, context=context, flips=True, n_jobs=-1)

    run(edges[:WARM_UP_SHAPES])
    return Job(lambda: run(edges), lambda distances: Finding(_measures("matched ", distances, shapes.labels)))


def _drawn(parameters: Parameters, folder: Path | None, every: int) -> Shapes:
    """Return the shapes of every `every`-th class; labels stay indices into all classes."""
    if folder is None or _digest(folder) != parameters["pictures"]:
        raise DataError("shapes: the pictures are not what they were when this run began")
    shapes = read_shapes(folder)
    taken = _taken(shapes, every)
    return Shapes([shapes.masks[k] for k in np.flatnonzero(taken)], shapes.labels[taken], shapes.classes)


def _taken(shapes: Shapes, every: int) -> BoolArray:
    return np.asarray(shapes.labels % every == 0)


def _in_words(shapes: Shapes, every: int) -> str:
    return f"{_taken(shapes, every).sum():,} shapes of {len(shapes.classes[::every])} classes"


def _measures(prefix: str, distances: FloatArray, labels: IntArray) -> dict[str, Value]:
    return {
        f"{prefix}shapes": len(labels),
        f"{prefix}nearest": nearest_neighbour_accuracy(distances, labels),
        f"{prefix}bulls_eye": bulls_eye(distances, labels),
    }


def _scores(prefix: str) -> tuple[Column, Column]:
    return Column("nearest", f"{prefix}nearest", ".1%"), Column("bull's-eye", f"{prefix}bulls_eye", ".1%")


def _digest(folder: Path) -> str:
    """Return a digest of the names and contents of all pictures."""
    found = hashlib.sha256()
    for path in sorted(folder.glob(PICTURES)):
        found.update(path.name.encode() + path.read_bytes())
    return found.hexdigest()[:16]
