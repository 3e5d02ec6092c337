"""Retrieval of the MPEG-7 silhouettes: what the descriptor is worth on shapes that are no people.

``python -m pipelines.bench.shapes FOLDER``, with the 1,400 pictures of MPEG-7 CE-Shape-1 part B (70 classes of 20,
``bat-1.png`` and so on) in the folder. Half an hour on two cores, most of it for ``shape_context_distance``, which
``--every 35`` applies to two classes alone.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray

from pipelines.errors import UsageError
from pose import HistoSC, ShapeContext, shape_context_distances, trace_edges
from pose.contours import EdgePoints
from pose.errors import DataError
from pose.matching import chi_square_costs
from pose.silhouette import as_mask

Floats = NDArray[np.float64]
Labels = NDArray[np.int64]

BELONGIE_BULLS_EYE = 0.7651
"""Belongie, Malik and Puzicha (2002), all 70 classes, with alignment by thin-plate splines and an appearance cost."""
EVERY = 3
"""The classes matched point by point: every third in alphabetical order, 24 of 70."""
MATCHED_POINTS = 100


@dataclass(frozen=True)
class Shapes:
    """Silhouettes with their classes.

    Parameters
    ----------
    masks : list of ndarray of bool
    labels : ndarray of int, shape (n,)
        Index into `classes`.
    classes : list of str
        In alphabetical order.
    """

    masks: list[NDArray[np.bool_]]
    labels: Labels
    classes: list[str]


def read_shapes(folder: Path) -> Shapes:
    """Read all pictures ``CLASS-NUMBER.png`` of a folder; foreground is bright.

    A picture whose whole border is bright shows a dark shape and is inverted (``rat-09`` of MPEG-7).

    Raises
    ------
    DataError
        If the folder has no such pictures, one cannot be read, or a class has fewer than two.
    """
    paths = sorted(folder.glob("*-*.png"))
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


def nearest_neighbour_accuracy(distances: Floats, labels: Labels) -> float:
    """Share of shapes whose nearest other shape is of their class; `distances` (n, n)."""
    others = distances + np.diag(np.full(len(distances), np.inf))
    return float((labels[others.argmin(axis=1)] == labels).mean())


def bulls_eye(distances: Floats, labels: Labels) -> float:
    """Bull's-eye score: how much of a class is among the nearest 2 x (its size), the shape itself included."""
    sizes = np.bincount(labels)[labels]
    order = np.argsort(distances, axis=1, kind="stable")
    found = [(labels[row[: 2 * size]] == label).sum() for row, size, label in zip(order, sizes, labels, strict=True)]
    return float((np.array(found) / sizes).mean())


def histogram_distances(edges: Sequence[EdgePoints], rotation: str, n_jobs: int) -> Floats:
    """Chi-square distances between HistoSC histograms, of words learnt from the same shapes, their classes unseen."""
    histograms = HistoSC(rotation=rotation, n_jobs=n_jobs).fit_transform(edges)
    return chi_square_costs(histograms, histograms)


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print, one line a method."""
    parser = argparse.ArgumentParser(prog="python -m pipelines.bench.shapes", description=__doc__)
    parser.add_argument("folder", type=Path, help="the pictures of MPEG-7 CE-Shape-1 part B")
    parser.add_argument("--every", type=int, default=EVERY, help="match every k-th class point by point (default 3)")
    parser.add_argument("--jobs", type=int, default=2, help="threads")
    options = parser.parse_args(arguments)
    if options.every < 1:
        raise UsageError(f"--every {options.every}: must be at least 1")
    shapes = read_shapes(options.folder)
    subset = np.flatnonzero(shapes.labels % options.every == 0)
    names = shapes.classes[:: options.every]
    print(f"{len(shapes.masks)} shapes of {len(shapes.classes)} classes; subset: {len(subset)} of {', '.join(names)}")
    print(f"{'':46}{'shapes':>7}{'nearest neighbour':>19}{'bulls-eye':>11}{'seconds':>9}")
    dense = [trace_edges(mask) for mask in shapes.masks]
    sparse = [trace_edges(shapes.masks[k], MATCHED_POINTS) for k in subset]
    labels = shapes.labels[subset]
    for rotation in ("absolute", "tangent"):
        start = time.perf_counter()
        table = histogram_distances(dense, rotation, options.jobs)
        _line(f"HistoSC histograms, {rotation}", table, shapes.labels, start)
        _line(f"HistoSC histograms, {rotation}, subset", table[np.ix_(subset, subset)], labels, start)
    for rotation in ("absolute", "tangent"):
        start = time.perf_counter()
        table = shape_context_distances(
            sparse, context=ShapeContext(rotation=rotation), flips=True, n_jobs=options.jobs
        )
        _line(f"shape_context_distance, {rotation}, subset", table, labels, start)
    print(f"{'Belongie et al. 2002, with alignment':46}{1400:7d}{'':19}{BELONGIE_BULLS_EYE:10.2%}")


def _line(name: str, distances: Floats, labels: Labels, start: float) -> None:
    nearest, score = nearest_neighbour_accuracy(distances, labels), bulls_eye(distances, labels)
    print(f"{name:46}{len(labels):7d}{nearest:18.2%}{score:11.2%}{time.perf_counter() - start:10.0f}", flush=True)


if __name__ == "__main__":
    try:
        main()
    except (DataError, UsageError) as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(2 if isinstance(error, UsageError) else 1)
