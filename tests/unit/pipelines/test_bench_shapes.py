"""Retrieval scores by hand, and the whole measurement on a few drawn shapes."""

from __future__ import annotations

from pathlib import Path

import cv2
import numpy as np
import pytest

from pipelines.bench.shapes import bulls_eye, main, nearest_neighbour_accuracy, read_shapes
from pipelines.errors import UsageError
from pose.errors import DataError

LABELS = np.array([0, 0, 1, 1])
# Shapes on a line at 0, 1, 3 and 9: the nearest others are 1, 0, 1 (of the other class) and 2. All four are within
# reach of the bull's eye, which is twice the size of a class.
DISTANCES = np.abs(np.subtract.outer([0.0, 1.0, 3.0, 9.0], [0.0, 1.0, 3.0, 9.0]))


def test_nearest_neighbour_by_hand() -> None:
    assert nearest_neighbour_accuracy(DISTANCES, LABELS) == 0.75


def test_bulls_eye_by_hand() -> None:
    assert bulls_eye(DISTANCES, LABELS) == 1.0
    # Three classes of two, at 0, 10 | 1, 2 | 3, 4. The nearest four of each are: 0 1 2 3, 10 4 3 2, 1 0 2 3, 2 1 3 0 (0
    # ties with 4 and stands before it), 3 2 4 1, 4 3 2 1: found 1, 1, 2, 2, 2, 2 of 2.
    places = np.array([0.0, 10.0, 1.0, 2.0, 3.0, 4.0])
    table = np.abs(np.subtract.outer(places, places))
    assert bulls_eye(table, np.array([0, 0, 1, 1, 2, 2])) == pytest.approx(10 / 12)


def draw(folder: Path) -> None:
    for k in range(3):
        for name, corners in (
            ("bar", [[20, 50], [90, 50], [90, 62], [20, 62]]),
            ("box", [[30, 30], [80, 80], [30, 80]]),
        ):
            picture = np.zeros((120, 120), np.uint8)
            cv2.fillPoly(picture, [np.array(corners) + 3 * k], 255)
            cv2.imwrite(str(folder / f"{name}-{k}.png"), 255 - picture if k == 2 else picture)


def test_measures_what_it_says(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    draw(tmp_path)
    shapes = read_shapes(tmp_path)
    assert shapes.classes == ["bar", "box"]
    assert all(mask.mean() < 0.2 for mask in shapes.masks), "the inverted pictures are put right"
    main([str(tmp_path), "--every", "1"])
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "6 shapes of 2 classes; subset: 6 of bar, box"
    assert len([line for line in lines if "100.00%" in line]) == 6
    assert "76.51%" in lines[-1]


def test_faults_are_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no pictures"):
        read_shapes(tmp_path)
    draw(tmp_path)
    with pytest.raises(UsageError, match="--every 0"):
        main([str(tmp_path), "--every", "0"])
    (tmp_path / "bat-1.png").write_bytes(b"nothing")
    with pytest.raises(DataError, match=r"bat-1\.png: is not a picture"):
        read_shapes(tmp_path)
    cv2.imwrite(str(tmp_path / "bat-1.png"), np.eye(30, dtype=np.uint8) * 255)
    with pytest.raises(DataError, match="a single picture of bat"):
        read_shapes(tmp_path)
