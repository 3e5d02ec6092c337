"""The descriptor written from its definition in NumPy, slowly: what `pose` is compared with.

The chain of edge pixels is OpenCV's; all that follows is written anew from the docstrings of `sample_edges`,
`ShapeContext` and `Codebook`, with other means than the compiled loops: whole arrays, angles by arctan2, distances to
all words in float64.
"""

from __future__ import annotations

import cv2
import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

N_ANGULAR, N_RADIAL = 15, 8
EDGES = 2.0 ** (np.arange(N_RADIAL) * 4 / 7 - 3)  # 1/8 to 2
TOLERANCE = 1e-9


def edge_points(mask: npt.NDArray[np.uint8], n_points: int) -> Floats:
    """Points (n, 2) on the contour that encloses the largest area and its holes of 0.2 % of that area and more."""
    chains, hierarchy = cv2.findContours(np.ascontiguousarray(mask), cv2.RETR_CCOMP, cv2.CHAIN_APPROX_NONE)
    areas = [cv2.contourArea(chain) for chain in chains]
    outer = max((k for k in range(len(chains)) if hierarchy[0, k, 3] < 0), key=lambda k: areas[k])
    lines = []
    for k, chain in enumerate(chains):
        if k == outer or (hierarchy[0, k, 3] == outer and areas[k] >= 0.002 * areas[outer]):
            line = chain[:, 0].astype(float)
            for _ in range(2 if len(line) >= 8 else 0):
                line = (np.roll(line, 1, axis=0) + 2 * line + np.roll(line, -1, axis=0)) / 4
            lines.append(np.vstack([line, line[:1]]))
    walked = [np.concatenate([[0.0], np.hypot(*np.diff(line, axis=0).T).cumsum()]) for line in lines]
    total = sum(lengths[-1] for lengths in walked)
    stations = (np.arange(n_points) + 0.5) * total / n_points
    parts = []
    start = 0.0
    for line, lengths in zip(lines, walked, strict=True):
        here = stations[(stations > start) & (stations <= start + lengths[-1])] - start
        parts.append(np.stack([np.interp(here, lengths, line[:, d]) for d in (0, 1)], axis=1))
        start += lengths[-1]
    return np.concatenate(parts)


def pair_places(points: Floats, tangents: Floats | None) -> tuple[Floats, Floats]:
    """Angle in sectors (0 to 15) and distance in mean distances of each point (column) seen from each (row)."""
    n = len(points)
    offset = points[None] - points[:, None]
    axis = np.tile([1.0, 0.0], (n, 1)) if tangents is None else tangents / np.hypot(*tangents.T)[:, None]
    left = np.stack([axis[:, 1], -axis[:, 0]], axis=1)  # a quarter turn to the left of the axis, y being down
    turn = np.arctan2(np.einsum("ijd,id->ij", offset, axis), np.einsum("ijd,id->ij", offset, left))
    distance = np.hypot(offset[..., 0], offset[..., 1])
    unit = distance.sum() / (n * (n - 1)) if n > 1 else 0.0
    with np.errstate(invalid="ignore", divide="ignore"):
        return (turn / (2 * np.pi) * N_ANGULAR) % N_ANGULAR, np.where(distance > 0, distance / unit, np.nan)


def shape_contexts(points: Floats, tangents: Floats | None = None) -> Floats:
    """Counts (n, 120)."""
    angle, distance = pair_places(points, tangents)
    ring = (distance[..., None] > EDGES * (1 + TOLERANCE)).sum(axis=2)
    edge = np.rint(angle)
    on_edge = np.abs(angle - edge) * 2 * np.pi / N_ANGULAR <= TOLERANCE
    counts = np.zeros((len(points), N_ANGULAR, N_RADIAL))
    row, column = np.nonzero(np.isfinite(distance) & (ring < N_RADIAL))
    for sector in (np.where(on_edge, edge - 1, np.floor(angle)), np.where(on_edge, edge, np.floor(angle))):
        np.add.at(counts, (row, sector[row, column].astype(int) % N_ANGULAR, ring[row, column]), 0.5)
    return counts.reshape(len(points), -1)


def soft_shape_contexts(points: Floats, tangents: Floats | None = None) -> Floats:
    """Counts (n, 120) of pairs that are shared out by hat functions around the centres of the bins."""
    angle, distance = pair_places(points, tangents)
    away = np.abs(angle[..., None] - (np.arange(N_ANGULAR) + 0.5))
    sectors = np.maximum(1 - np.minimum(away, N_ANGULAR - away), 0)
    counted = distance <= EDGES[-1] * (1 + TOLERANCE)
    place = np.log(np.where(counted, distance, 1.0) / EDGES[0]) / np.log(EDGES[1] / EDGES[0])
    centre = np.clip(place, -0.5, N_RADIAL - 1.5)  # ring k has its centre at k - 1/2
    rings = np.maximum(1 - np.abs(centre[..., None] - (np.arange(N_RADIAL) - 0.5)), 0)
    return np.einsum("ij,ija,ijr->iar", counted.astype(float), sectors, rings).reshape(len(points), -1)


def histogram(contexts: Floats, words: Floats) -> npt.NDArray[np.int64]:
    """How many of the shape contexts (n, 120), as fractions of the other points, have each word (w, 120) nearest."""
    fractions = contexts / (len(contexts) - 1)
    squares = ((fractions[:, None, :] - words[None].astype(float)) ** 2).sum(axis=2)
    return np.bincount(squares.argmin(axis=1), minlength=len(words))
