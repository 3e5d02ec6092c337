"""Histograms of fixed figures against a stored file: a change of any convention of the descriptor shows here.

The words are random shape contexts, not k-means centres, so that the file does not depend on a library's k-means.
To renew it after an intended change: ``python tests/golden/test_histosc_golden.py``.
"""

from __future__ import annotations

import json
from pathlib import Path

import cv2
import numpy as np
import numpy.typing as npt

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
    cv2.circle(ring, (80, 80), 60, 255, 25)
    corner = np.zeros((100, 130), np.uint8)
    corner[10:90, 10:40] = 255
    corner[70:90, 10:120] = 255
    return [man, ring, corner]


def counts() -> list[list[int]]:
    describe = HistoSC(n_points=N_POINTS).describe
    pool = np.concatenate([describe(figure[:, ::-1]) for figure in figures()])
    words = pool[np.random.default_rng(20020401).choice(len(pool), N_WORDS, replace=False)]
    histosc = HistoSC.from_codebook(Codebook.from_centers(words), n_points=N_POINTS)
    return [[int(c) for c in row] for row in np.rint(histosc.transform(figures()) * N_POINTS)]


def test_histograms_are_those_on_file() -> None:
    stored = np.array(json.loads(FILE.read_text())["counts"])
    moved = np.abs(np.array(counts()) - stored).sum(axis=1) / 2
    assert moved.max() <= 4, "points that changed their word; a few may under another OpenCV's drawing"


if __name__ == "__main__":
    FILE.write_text(json.dumps({"n_points": N_POINTS, "n_words": N_WORDS, "counts": counts()}) + "\n")
