"""`pose predict` stopped half-way: by a full disk, a kill or another run; the same command goes on from there."""

import os
import signal
import subprocess
import sys

import h5py
import pytest
from films import figure, picture, scene, walk, write_film
from results_read import frames_of

from pipelines.prediction.journal import Journal

pytestmark = pytest.mark.filterwarnings("default::UserWarning")  # they are lines on the error stream here


def test_a_full_disk_leaves_no_half_results_and_the_same_command_goes_on(predict, tmp_path, monkeypatch):
    write_film(tmp_path / "a.avi", walk(150))
    write = os.write
    written = []

    def fill_up(file, content):
        written.append(len(content))
        if len(written) > 3:  # a header and two batches
            write(file, content[: len(content) // 2])
            raise OSError(28, "No space left on device")
        return write(file, content)

    with monkeypatch.context() as patch:
        patch.setattr("pipelines.prediction.journal.os.write", fill_up)
        code, _, err = predict(tmp_path / "a.avi")
    assert code == 1
    assert "cannot be written (No space left on device); 128 frames are kept" in err
    assert [path.name for path in (tmp_path / "out").iterdir()] == [".a.pose-journal"]
    with monkeypatch.context() as patch:  # and full again when the results are to be written
        patch.setattr(
            "pipelines.prediction.result_files.write_csv", lambda *_: (_ for _ in ()).throw(OSError(28, "No space"))
        )
        code, _, err = predict(tmp_path / "a.avi")
    assert code == 1
    assert "a.csv: cannot be written (No space" in err
    assert [path.name for path in (tmp_path / "out").iterdir()] == [".a.pose-journal"]
    code, _, err = predict(tmp_path / "a.avi")
    assert code == 0, err
    assert "goes on behind the first 128 frames" in err
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["a.csv", "a.csv-metadata.json", "a.h5"]
    assert frames_of(tmp_path / "out/a.csv")[0] == list(range(150))


KILLED_HALF_WAY = """
import os, signal
from pipelines import cli
from pipelines.prediction.journal import Journal
append = Journal.append
def then_die(journal, batch):
    append(journal, batch)
    if len(journal) >= 128:
        os.write(journal._file, b"half a record")
        os.kill(os.getpid(), signal.SIGKILL)
Journal.append = then_die
cli.main()
"""


def written(out):
    """Return the bytes of the CSV file, and those of the poses in the HDF5 file, which are not rounded."""
    with h5py.File(out / "a.h5") as file:
        return [(out / "a.csv").read_bytes(), file["joints"][:].tobytes(), file["std"][:].tobytes()]


def test_killed_half_way_and_started_again_it_writes_the_same_bytes(predict, small_model, tmp_path, empty):
    path = write_film(tmp_path / "a.avi", walk(200))
    assert predict(path)[0] == 0
    whole = written(tmp_path / "out")
    for result in (tmp_path / "out").iterdir():
        result.unlink()
    arguments = ["predict", path, "-m", small_model, "-o", tmp_path / "out", "-b", empty]
    killed = subprocess.run([sys.executable, "-c", KILLED_HALF_WAY, *map(str, arguments)], capture_output=True)
    assert killed.returncode == -signal.SIGKILL
    assert [path.name for path in (tmp_path / "out").iterdir()] == [".a.pose-journal"]
    code, _, err = predict(path)
    assert code == 0, err
    assert "a.avi: goes on behind the first 128 frames" in err
    assert written(tmp_path / "out") == whole
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["a.csv", "a.csv-metadata.json", "a.h5"]


def test_a_background_that_learns_along_goes_on_where_it_was(predict, tmp_path, monkeypatch):
    passing = [picture(step, figure(step, 10 + step // 2 - step % 30)) for step in range(130)]
    path = write_film(tmp_path / "a.avi", [scene()] * 20 + passing)
    assert predict(path, background="running")[0] == 0
    whole = (tmp_path / "out/a.csv").read_bytes()
    assert whole.count(b",,,") < 15 * 40  # the figure is found in most of its frames
    for result in (tmp_path / "out").iterdir():
        result.unlink()
    append = Journal.append

    def stop(journal, batch):
        append(journal, batch)
        if len(journal) == 128:
            raise MemoryError

    with monkeypatch.context() as patch:
        patch.setattr(Journal, "append", stop)
        assert predict(path, background="running")[0] == 1
    code, _, err = predict(path, background="running")
    assert code == 0, err
    assert "goes on behind the first 128 frames" in err
    assert (tmp_path / "out/a.csv").read_bytes() == whole


def test_two_runs_on_one_output(predict, tmp_path):
    (tmp_path / "out").mkdir()
    for name in ("a", "b"):
        write_film(tmp_path / f"{name}.avi", walk(2))
    with Journal(tmp_path / "out/.a.pose-journal", "another run", 15, with_std=False):
        code, _, err = predict(tmp_path / "a.avi", tmp_path / "b.avi")
        assert code == 1
        assert "another run is writing the results a" in err
        results = ["b.csv", "b.csv-metadata.json", "b.h5"]
        assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [".a.pose-journal", *results]
    code, out, err = predict(tmp_path / "a.avi", tmp_path / "b.avi")
    assert code == 0, err
    assert "was finished: left as it is" in out
