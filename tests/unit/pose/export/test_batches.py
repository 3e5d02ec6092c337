"""Files written in batches are those written at once; a full disk removes them and leaves the process alive."""

import dataclasses
import os
import subprocess
import sys
import textwrap
import tracemalloc

import h5py
import numpy as np
import pytest

from pose.export import SeriesWriter, metadata_path, read_series, write_csv, write_csv_metadata, write_series


def cut(series, start, stop):
    parts = {name: getattr(series, name)[start:stop] for name in ("frame", "time", "joints", "std", "quality")}
    return dataclasses.replace(series, **parts)


@pytest.mark.parametrize("suffix", [".csv", ".h5"])
def test_batches_make_the_same_file(tmp_path, make_series, suffix):
    series = make_series(n=700)
    write_series(tmp_path / f"whole{suffix}", series)
    with SeriesWriter(tmp_path / f"parts{suffix}") as writer:
        for start, stop in ((0, 0), (0, 1), (1, 257), (257, 257), (257, 700)):
            writer.append(cut(series, start, stop))
            assert not (tmp_path / f"parts{suffix}").exists()
    found = read_series(tmp_path / f"parts{suffix}")
    if suffix == ".csv":
        assert (tmp_path / "parts.csv").read_bytes() == (tmp_path / "whole.csv").read_bytes()
        write_csv(tmp_path / "bare.csv", series)
        assert (tmp_path / "bare.csv").read_bytes() == (tmp_path / "whole.csv").read_bytes()
        write_csv_metadata(metadata_path(tmp_path / "bare.csv"), series)
        texts = {metadata_path(tmp_path / f"{name}.csv").read_text().replace(name, "") for name in ("bare", "whole")}
        assert len(texts) == 1
    else:
        np.testing.assert_array_equal(found.joints, series.joints)
        with h5py.File(tmp_path / "parts.h5") as parts, h5py.File(tmp_path / "whole.h5") as whole:
            assert set(parts) == set(whole)
            assert all((parts[name][()].tobytes() == whole[name][()].tobytes()) for name in whole)
    assert found.quality.tolist() == series.quality.tolist()


@pytest.mark.parametrize("suffix", [".csv", ".h5"])
def test_an_error_leaves_nothing(tmp_path, series, suffix):
    def stop_half_way():
        with SeriesWriter(tmp_path / f"a{suffix}") as writer:
            writer.append(series)
            raise KeyError("unrelated")

    with pytest.raises(KeyError, match="unrelated"):
        stop_half_way()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("suffix", [".csv", ".h5"])
@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"axes": "world"}, "another skeleton or other axes"),
        ({"std": None}, "must come with all batches or none"),
        ({}, "frame 4 comes after frame 12"),
    ],
)
def test_a_batch_must_follow_the_others(tmp_path, series, suffix, change, fault):
    def append_both():
        with SeriesWriter(tmp_path / f"a{suffix}") as writer:
            writer.append(series)
            writer.append(dataclasses.replace(series, **change))

    with pytest.raises(ValueError, match=rf"a{suffix}: .*{fault}"):
        append_both()
    assert list(tmp_path.iterdir()) == []


def test_no_batch_is_an_error(tmp_path):
    with pytest.raises(ValueError, match=r"a\.csv: no frames were appended"), SeriesWriter(tmp_path / "a.csv"):
        pass
    with pytest.raises(ValueError, match=r"only \.csv and \.h5 are written in batches"):
        SeriesWriter(tmp_path / "a.json")


def test_provenance_cannot_take_the_names_of_hdf5_attributes(tmp_path, series):
    series.provenance["format"] = "x"
    with pytest.raises(ValueError, match="provenance cannot be named format in HDF5"):
        write_series(tmp_path / "a.h5", series)


@pytest.mark.parametrize("suffix", [".csv", ".h5"])
def test_memory_does_not_grow(tmp_path, make_series, suffix):
    series = make_series(n=50)
    with SeriesWriter(tmp_path / f"a{suffix}") as writer:
        writer.append(series)
        tracemalloc.start()
        for batch in range(1, 31):
            writer.append(dataclasses.replace(series, frame=series.frame + 50 * batch, time=series.time + batch))
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert peak < 0.7e6  # all of it: 1,500 frames, 1.1 MB as numbers, 1.6 MB as text


FULL = """
import dataclasses, resource, signal, sys
import numpy as np
from pathlib import Path
from pose.export import SeriesWriter
from pose.series.pose_series import PoseSeries
from pose.body.skeleton import HUMANEVA_15
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), resource.RLIM_INFINITY))
frames = np.arange(64)
try:
    with SeriesWriter(Path(sys.argv[1])) as writer:
        for batch in range(20):
            frame = frames + 64 * batch
            writer.append(PoseSeries(frame, frame / 60, np.zeros((64, 15, 3)), HUMANEVA_15, "camera"))
except Exception as error:
    print(type(error).__name__, error)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="limits the size of files, as POSIX can")
@pytest.mark.parametrize(("suffix", "limit"), [(".csv", 1000), (".h5", 0), (".h5", 3000), (".h5", 400_000)])
def test_a_full_disk(tmp_path, suffix, limit):
    """In a process of its own, which HDF5 would end if it learnt of the fault."""
    path = tmp_path / f"a{suffix}"
    command = [sys.executable, "-c", textwrap.dedent(FULL), path, str(limit)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=100, env=os.environ | {"PYTHONPATH": "."})
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == f"DataError {path}: cannot be written (File too large)\n"
    assert list(tmp_path.iterdir()) == []
