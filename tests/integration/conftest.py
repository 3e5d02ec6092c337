"""The command line, called as a shell would call it."""

import sys
from pathlib import Path

import cv2
import pytest
from films import scene

from pipelines import cli
from pose.body.cal_file import write_cal
from pose.synth import takes
from pose.synth.pictures.rig import default_cameras


@pytest.fixture
def run(monkeypatch, capsys):
    """Call the command line as a shell would; returns exit code, output and error lines."""

    def call(*arguments):
        # As wide as a terminal that does not fold lines, so that a message is one line.
        monkeypatch.setattr(sys, "argv", ["pose", *map(str, arguments)])
        code = 0
        try:
            cli.main()
        except SystemExit as exit_:
            code = exit_.code or 0
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return call


@pytest.fixture
def empty(tmp_path) -> Path:
    path = tmp_path / "empty.png"
    path.write_bytes(cv2.imencode(".png", scene())[1].tobytes())
    return path


@pytest.fixture
def predict(run, small_model, tmp_path, empty):
    """`pose predict` with the small model, into ``out``; returns exit code, output and error lines."""

    def call(*arguments, background=empty):
        scene_of = () if background is None else ("-b", background)
        return run("predict", *arguments, "-m", small_model, "-o", tmp_path / "out", *scene_of)

    return call


@pytest.fixture
def one_camera(tmp_path, monkeypatch):
    """A folder with one camera, and short recordings of its empty room: as little as a data set can be."""
    monkeypatch.setattr(takes, "_BACKGROUND_FRAMES", 3)
    folder = tmp_path / "calibration"
    folder.mkdir()
    write_cal(folder / "C2.cal", default_cameras()["C2"])
    return folder
