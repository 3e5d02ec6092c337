"""Conversions as a person asks for them."""

import sys

import numpy as np
import pytest

from pipelines import cli
from pose.body.skeleton import HUMANEVA_15
from pose.export import read_series, write_series
from pose.series.pose_series import PoseSeries


@pytest.fixture
def series():
    joints = np.random.default_rng(0).normal(scale=400, size=(6, 15, 3))
    joints[:, 0] = 0
    return PoseSeries(np.arange(6), np.arange(6) / 30, joints, HUMANEVA_15, "camera", {"model": "m.h5"})


@pytest.fixture
def run(monkeypatch, capsys):
    """Exit code, output and error lines of `pose export`."""

    def call(*arguments):
        monkeypatch.setattr(sys, "argv", ["pose", "export", *map(str, arguments)])
        code = 0
        try:
            cli.main()
        except SystemExit as exit_:
            code = exit_.code or 0
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return call


def test_a_file_beside_its_input(run, tmp_path, series):
    write_series(tmp_path / "Gehen [1].h5", series)
    code, _, err = run(tmp_path / "Gehen [1].h5", "--to", "trc")
    assert code == 0
    assert err == f"{tmp_path}/Gehen [1].h5 -> {tmp_path}/Gehen [1].trc: 6 frames of 15 joints\n"
    assert read_series(tmp_path / "Gehen [1].trc").axes == "camera-y-up"


def test_a_named_file_says_its_format(run, tmp_path, series):
    write_series(tmp_path / "a.csv", series)
    assert run(tmp_path / "a.csv", "--out", tmp_path / "b.c3d", "--axes", "y-up")[0] == 0
    found = read_series(tmp_path / "b.c3d")
    assert (found.axes, found.provenance) == ("camera-y-up", {"model": "m.h5"})
    assert run(tmp_path / "b.c3d", "--out", tmp_path / "c.json", "--axes", "native", "--rate", "60")[0] == 0
    found = read_series(tmp_path / "c.json")
    np.testing.assert_allclose(found.joints[::2], series.joints, atol=0.006)
    assert len(found.frame) == 11


def test_one_bad_file_does_not_stop_the_rest(run, tmp_path, series):
    write_series(tmp_path / "a.npz", series)
    (tmp_path / "b.npz").write_bytes(b"nothing")
    write_series(tmp_path / "c.json", series)
    out = tmp_path / "new" / "folder"
    code, _, err = run(tmp_path / "a.npz", tmp_path / "b.npz", tmp_path / "c.json", "--to", "h5", "--out", out)
    assert code == 1
    assert err.splitlines()[1] == f"error: {tmp_path}/b.npz: is not an .npz file, or is truncated"
    assert len(err.splitlines()) == 3
    assert sorted(path.name for path in out.iterdir()) == ["a.h5", "c.h5"]


def test_uneven_frames_name_the_input_and_the_way_out(run, tmp_path, series):
    series.time[3] += 0.02
    write_series(tmp_path / "a.npz", series)
    code, _, err = run(tmp_path / "a.npz", "--to", "c3d")
    assert code == 1
    assert f"{tmp_path}/a.npz" in err
    assert "name a rate to interpolate to (--rate)" in err
    assert len(err.splitlines()) == 1
    assert run(tmp_path / "a.npz", "--to", "c3d", "--rate", "30")[0] == 0


@pytest.mark.parametrize(
    ("arguments", "faults"),
    [
        (["a.npz"], ["which format? --to csv, npz, h5, json, trc, c3d"]),
        (["a.npz", "--to", "bvh"], ["--to bvh: there are csv, npz"]),
        (["a.npz", "b.txt", "--to", "csv"], ["b.txt: the names of poses end in .csv"]),
        (["no.npz", "--to", "csv", "--axes", "up", "--rate", "-2"], ["no such file: no.npz", "--axes up", "--rate -2"]),
        (["a.npz", "--to", "npz"], ["a.npz: would replace itself"]),
        (["a.npz", "--to", "json"], ["already there: a.json; choose another folder, or --overwrite"]),
        (["a.npz", "sub/a.npz", "--to", "trc", "--out", "o"], ["several inputs would become o/a.trc"]),
        (["a.npz", "sub/a.npz", "--out", "o.trc"], ["is one file, but there are 2 inputs"]),
        (["a.npz", "--to", "csv", "--out", "o.trc"], ["its name says another format than --to csv"]),
        (["a.npz", "--to", "csv", "--out", "b.txt"], ["b.txt: is a file of no known format"]),
    ],
)
def test_requests_that_cannot_be_met(run, tmp_path, series, monkeypatch, arguments, faults):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sub").mkdir()
    for name in ("a.npz", "a.json", "sub/a.npz"):
        write_series(tmp_path / name, series)
    (tmp_path / "b.txt").write_text("")
    before = sorted(tmp_path.rglob("*"))
    code, _, err = run(*arguments)
    assert code == 2
    assert len(err.splitlines()) == 1
    assert all(fault in err for fault in faults), err
    assert sorted(tmp_path.rglob("*")) == before


def test_how_many_frames_are_written_is_what_is_said(run, tmp_path, series):
    write_series(tmp_path / "a.npz", series)
    _, _, err = run(tmp_path / "a.npz", "--to", "csv", "--rate", "6")
    assert err == f"{tmp_path}/a.npz -> {tmp_path}/a.csv: 2 frames of 15 joints\n"


@pytest.mark.parametrize("rate", ["1e300", "1e-9", "nan"])
def test_rates_that_no_file_can_hold(run, tmp_path, series, rate):
    write_series(tmp_path / "a.npz", series)
    code, _, err = run(tmp_path / "a.npz", "--to", "csv", "--rate", rate)
    assert (code, err) == (2, f"error: --rate {float(rate):g}: 0.001 to 100000 frames a second\n")


def test_more_frames_than_memory_holds(run, tmp_path, series):
    series.time[-1] = 1e6
    write_series(tmp_path / "a.npz", series)
    code, _, err = run(tmp_path / "a.npz", "--to", "csv", "--rate", "1e5")
    assert code == 1
    assert "1e+06 s at 100000 frames/s are more than 5000000 frames: lower the rate" in err


def test_overwrite(run, tmp_path, series):
    write_series(tmp_path / "a.npz", series)
    (tmp_path / "a.csv").write_text("old")
    assert run(tmp_path / "a.npz", "--to", "csv")[0] == 2
    assert run(tmp_path / "a.npz", "--to", "csv", "--overwrite")[0] == 0
    assert len(read_series(tmp_path / "a.csv").frame) == 6


def test_a_folder_that_cannot_be_made(run, tmp_path, series):
    write_series(tmp_path / "a.npz", series)
    (tmp_path / "file").write_text("")
    code, _, err = run(tmp_path / "a.npz", "--to", "csv", "--out", tmp_path / "file" / "folder")
    assert code == 1
    assert err.startswith(
        f"error: {tmp_path}/a.npz: {tmp_path}/file/folder: the folder cannot be made (Not a directory)"
    )
