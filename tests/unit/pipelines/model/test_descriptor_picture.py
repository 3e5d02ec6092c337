"""`pose describe`: a picture from a mask, and one line for every way that it cannot be made."""

from __future__ import annotations

import sys
from pathlib import Path

import cv2
import numpy as np
import pytest

from pipelines import cli
from pipelines.errors import UsageError
from pipelines.model.descriptor_picture import Description, draw_description, read_mask
from pose.errors import DataError


@pytest.fixture
def mask(tmp_path: Path) -> Path:
    drawn = np.zeros((120, 90), np.uint8)
    cv2.ellipse(drawn, (45, 60), (20, 40), 15, 0, 360, 255, -1)
    cv2.line(drawn, (45, 60), (80, 20), 255, 9)
    path = tmp_path / "a mask.png"
    assert cv2.imwrite(str(path), drawn)
    return path


def test_makes_a_picture(mask: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.png"
    assert draw_description(mask, out, n_words=5, at=(80, 20)) == Description(400, 5, 5)
    picture = cv2.imread(str(out))
    assert picture is not None
    assert picture.shape[1] > 1000
    assert len(np.unique(picture.reshape(-1, 3), axis=0)) > 20
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a mask.png", "out.png"]


def test_a_cut_out_is_a_mask(mask: Path, tmp_path: Path) -> None:
    drawn = cv2.imread(str(mask), cv2.IMREAD_GRAYSCALE)
    cut_out = np.dstack([np.full_like(drawn, 40)] * 3 + [drawn])
    cv2.imwrite(str(tmp_path / "cut.png"), cut_out)
    np.testing.assert_array_equal(read_mask(tmp_path / "cut.png"), drawn > 0)


def test_a_shape_of_few_kinds_of_points_has_fewer_words(tmp_path: Path) -> None:
    pixel = np.zeros((9, 9), np.uint8)
    pixel[4, 4] = 1
    cv2.imwrite(str(tmp_path / "dot.png"), pixel)
    assert draw_description(tmp_path / "dot.png", tmp_path / "out.png") == Description(400, 1, 1)


def test_faults_of_the_request_and_of_the_data_are_told_apart(mask: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.png"
    with pytest.raises(UsageError, match=r"none\.png: no such file"):
        draw_description(tmp_path / "none.png", out)
    with pytest.raises(UsageError, match="is a folder"):
        draw_description(tmp_path, out)
    with pytest.raises(UsageError, match="--words 0"):
        draw_description(mask, out, n_words=0)
    (tmp_path / "text.png").write_text("no picture")
    (tmp_path / "empty.png").write_bytes(b"")
    cv2.imwrite(str(tmp_path / "black.png"), np.zeros((9, 9), np.uint8))
    for name, message in (
        ("text", "not a picture"),
        ("empty", "not a picture"),
        ("black", "^[^:]*: the mask is empty"),
    ):
        with pytest.raises(DataError, match=message):
            draw_description(tmp_path / f"{name}.png", out)
    with pytest.raises(DataError, match=r"none\.h5: no such model"):
        draw_description(mask, out, model=tmp_path / "none.h5")
    assert not out.exists()


@pytest.mark.parametrize(
    ("arguments", "code", "line"),
    [
        (
            ("a mask.png", "--out", "out.png", "--words", "4", "--at", "45", "20"),
            0,
            "400 edge points, 4 of 4 words occur",
        ),
        (("a mask.png", "--out", "out.jpg"), 2, "must end in .png"),
        (("none.png", "--out", "out.png"), 2, "none.png: no such file"),
        (("text.png", "--out", "out.png"), 1, "text.png: is not a picture"),
    ],
)
def test_command(
    arguments: tuple[str, ...],
    code: int,
    line: str,
    mask: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(mask.parent)
    Path("text.png").write_text("no picture")
    monkeypatch.setattr(sys, "argv", ["pose", "describe", *arguments])
    found = 0
    try:
        cli.main()
    except SystemExit as exit_:
        found = int(exit_.code or 0)
    captured = capsys.readouterr()
    assert found == code, captured
    assert line in (captured.out if code == 0 else captured.err)
    assert Path("out.png").exists() == (code == 0)
    assert "Traceback" not in captured.err
