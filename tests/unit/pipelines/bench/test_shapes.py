"""Retrieval scores by hand, and the whole measurement on a few drawn shapes."""

from __future__ import annotations

from pathlib import Path

import cv2
import numpy as np
import pytest

from pipelines.bench import shapes
from pipelines.bench.data.problems import Catalogue
from pipelines.bench.runner import run
from pipelines.bench.runner.run import run_benchmark
from pipelines.bench.shapes import bulls_eye, nearest_neighbour_accuracy, read_shapes
from pipelines.errors import UsageError
from pipelines.progress import Silent
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


def test_measures_what_it_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "pictures").mkdir()
    draw(tmp_path / "pictures")
    read = read_shapes(tmp_path / "pictures")
    assert read.classes == ["bar", "box"]
    assert all(mask.mean() < 0.2 for mask in read.masks), "the inverted pictures are put right"
    # Of two classes every third is the first alone.
    monkeypatch.setitem(shapes.EVERY_MATCHED, "full", 1)
    outcome = run_benchmark("shapes", tmp_path / "out", Silent(), data=tmp_path / "pictures")
    assert (outcome.failed, outcome.left_out) == (0, [])
    everything, matched = outcome.sheets
    assert everything.title == matched.title == "Retrieval among 6 shapes of 2 classes"
    assert [row[:5] for row in everything.rows] == [
        ["HistoSC histograms", "absolute", "6", "100.0%", "100.0%"],
        ["HistoSC histograms", "tangent", "6", "100.0%", "100.0%"],
        ["Belongie et al. (2002)", "–", "1,400", "–", "76.5%"],
    ]
    assert everything.rows[2][5:] == ["–", "–", "as published"]
    assert [row[:5] for row in matched.rows[2:]] == [
        ["points matched", "absolute", "6", "100.0%", "100.0%"],
        ["points matched", "tangent", "6", "100.0%", "100.0%"],
    ]
    assert "| Belongie et al. (2002) | – | 1,400 | – | 76.5% |" in (tmp_path / "out" / "RESULTS.md").read_text()


def test_a_quick_run_takes_some_classes(tmp_path: Path) -> None:
    draw(tmp_path)
    everything, matched = shapes.tables("quick", Catalogue(tmp_path, tmp_path / "fitted.json", Silent()))
    assert everything.title == matched.title == "Retrieval among 3 shapes of 1 classes"
    cell = matched.rows[-1].cell
    assert cell is not None
    finding = (job := shapes.match_points(cell.parameters, tmp_path, 0)).check(job.work())
    assert finding.measures["matched shapes"] == 3
    cv2.imwrite(str(tmp_path / "box-9.png"), np.eye(30, dtype=np.uint8) * 255)
    with pytest.raises(DataError, match="not what they were"):
        shapes.match_points(cell.parameters, tmp_path, 0)


def test_without_pictures_it_says_what_it_needs_and_all_goes_without_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for data in (None, tmp_path):
        with pytest.raises(UsageError, match=r"^shapes: needs --data with the pictures of MPEG-7 CE-Shape-1 part B"):
            run_benchmark("shapes", tmp_path / "out", Silent(), data=data)
    assert not (tmp_path / "out").exists()
    monkeypatch.setattr(run, "BENCHMARKS", {"shapes": run.BENCHMARKS["shapes"]})
    outcome = run_benchmark("all", tmp_path / "out", Silent(), data=tmp_path)
    assert outcome == run.Outcome([], 0, [])


def test_faults_are_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no pictures"):
        read_shapes(tmp_path)
    draw(tmp_path)
    (tmp_path / "bat-1.png").write_bytes(b"nothing")
    with pytest.raises(DataError, match=r"bat-1\.png: is not a picture"):
        read_shapes(tmp_path)
    cv2.imwrite(str(tmp_path / "bat-1.png"), np.eye(30, dtype=np.uint8) * 255)
    with pytest.raises(DataError, match="a single picture of bat"):
        read_shapes(tmp_path)
