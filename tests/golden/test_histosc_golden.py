"""Histograms of fixed figures against a stored file: a change of any convention of the descriptor shows here.

The numbers on file come from the definition in NumPy (``tests/reference``), not from `pose`. The words are random shape
contexts, not k-means centres, so that the file does not depend on a library's k-means. To renew it after an intended
change, of the definition too: ``PYTHONPATH=tests/reference python tests/golden/test_histosc_golden.py``.
"""

from __future__ import annotations

import json
from pathlib import Path

import cv2
import numpy as np
import numpy.typing as npt
from descriptor_by_definition import edge_points, histogram, shape_contexts

from pose import Codebook, HistoSC

FILE = Path(__file__).with_name("histosc.json")
N_POINTS = 400
N_WORDS = 60


def figures() -> list[npt.NDArray[np.uint8]]:
    """Draw a man with an arm on the hip, a ring, and an L."""
    man = np.zeros((240, 160), np.uint8)
    cv2.ellipse(man, (80, 30), (14, 18), 0, 0, 360, 255, -1)
    cv2.fillPoly(man, [np.array([[58, 50], [102, 50], [96, 130], [64, 130]])], 255)
    cv2.polylines(man, [np.array([[60, 55], [30, 85], [66, 118]])], False, 255, 10)
    cv2.line(man, (100, 56), (124, 120), 255, 10)
    cv2.line(man, (72, 128), (60, 225), 255, 16)
    cv2.line(man, (90, 128), (112, 225), 255, 16)
    ring = np.zeros((160, 160), np.uint8)
    # Not round: on a circle points see mirrored surroundings, and are equally far from words that are mirror images.
    cv2.ellipse(ring, (80, 80), (66, 48), 33, 0, 360, 255, 25)
    corner = np.zeros((100, 130), np.uint8)
    corner[10:90, 10:40] = 255
    corner[70:90, 10:120] = 255
    return [man, ring, corner]


def vocabulary() -> npt.NDArray[np.float32]:
    """Random shape contexts of the mirrored figures, as fractions, by definition."""
    points = [edge_points(figure[:, ::-1], N_POINTS) for figure in figures()]
    pool = np.concatenate([shape_contexts(each) / (N_POINTS - 1) for each in points]).astype(np.float32)
    return pool[np.random.default_rng(20020401).choice(len(pool), N_WORDS, replace=False)]


def counts_by_definition() -> list[list[int]]:
    words = vocabulary()
    return [histogram(shape_contexts(edge_points(figure, N_POINTS)), words).tolist() for figure in figures()]


def counts() -> npt.NDArray[np.int64]:
    histosc = HistoSC.from_codebook(Codebook.from_centers(vocabulary()), n_points=N_POINTS)
    return np.rint(histosc.transform(figures()) * N_POINTS).astype(np.int64)


def test_histograms_are_those_on_file() -> None:
    stored = np.array(json.loads(FILE.read_text())["counts"])
    moved = np.abs(counts() - stored).sum(axis=1) / 2
    assert moved.max() <= 4, "points that changed their word; a few may under another OpenCV's drawing"


def test_histograms_are_those_of_the_definition_to_the_last_count() -> None:
    np.testing.assert_array_equal(counts(), counts_by_definition())


if __name__ == "__main__":
    FILE.write_text(json.dumps({"n_points": N_POINTS, "n_words": N_WORDS, "counts": counts_by_definition()}) + "\n")
