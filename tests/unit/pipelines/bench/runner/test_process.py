"""A measurement in a process of its own: whatever happens there is an answer."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from pipelines.bench.runner import worker
from pipelines.bench.runner.cell import Cell
from pipelines.bench.runner.process import MeasuringProcess

TASKS = """
import ctypes, os, time
from pathlib import Path
import numpy as np
from pipelines.bench.runner.cell import Finding, Job, UnavailableError

def allocate(parameters, data, seed):
    print('{"event": "answer", "outcome": "error"}', flush=True)  # as a library may
    earlier = np.ones(20_000_000)  # 160 MB that the work does not take
    del earlier
    return Job(
        lambda: np.ones(parameters["numbers"]),
        lambda found: Finding({"sum": float(found.sum()), "seed": seed, "data": str(data)}, {"few": found[:3]}),
    )

def fail(parameters, data, seed):
    raise ValueError("two\\nlines")

def lack(parameters, data, seed):
    raise UnavailableError("not installed")

def sleep(parameters, data, seed):
    return Job(lambda: time.sleep(600), lambda _: Finding({}))

def leave(parameters, data, seed):
    return Job(lambda: os._exit(3), lambda _: Finding({}))

def crash(parameters, data, seed):
    return Job(lambda: ctypes.string_at(0), lambda _: Finding({}))

def identify(parameters, data, seed):
    return Job(os.getpid, lambda found: Finding({"process": found}))

def stay(parameters, data, seed):
    Path(parameters["mark"]).write_text(str(os.getpid()))
    return Job(lambda: np.linalg.svd(np.random.rand(6000, 6000)), lambda _: Finding({}))

def infinite(parameters, data, seed):
    return Job(lambda: None, lambda _: Finding({"value": float("nan")}))
"""


@pytest.fixture(params=[True, False], ids=["fresh", "reused"])
def measure(request, tmp_path, monkeypatch):
    (tmp_path / "bench_fakes.py").write_text(TASKS)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    with MeasuringProcess(fresh=request.param) as process:

        def call(task, limit=300.0, seed=0, data=None, **parameters):
            cell = Cell(f"bench_fakes:{task}", parameters)
            return process.measure(cell, data, seed, limit, tmp_path / "arrays.npz")

        call.fresh = request.param
        yield call


def test_a_measurement_has_time_memory_and_what_the_task_found(measure, tmp_path):
    run = measure("allocate", numbers=5_000_000, seed=4, data=tmp_path)
    assert (run.outcome, run.remark) == ("done", "")
    assert run.measures["sum"] == 5_000_000
    assert (run.measures["seed"], run.measures["data"]) == (4, str(tmp_path))
    assert run.measures["seconds"] > 0
    assert run.measures["cpu_seconds"] >= 0
    # 40 MB, and little else: neither the interpreter nor what was freed before.
    assert 39 < run.measures["peak_mb"] < 50
    with np.load(tmp_path / "arrays.npz") as held:
        np.testing.assert_array_equal(held["few"], np.ones(3))


def test_the_time_limit_is_the_works_alone_and_ends_it(measure):
    run = measure("sleep", limit=0.05)
    assert (run.outcome, run.limit) == ("limit", 0.05)
    assert run.remark == "not done in 0.05 s"
    assert run.measures == {}


@pytest.mark.parametrize(
    ("task", "outcome", "remark"),
    [
        ("fail", "error", "ValueError: two lines"),
        ("lack", "unavailable", "not installed"),
        ("leave", "error", "exit code 3: no message"),
        ("crash", "error", "killed by SIGSEGV"),
        ("infinite", "error", "ValueError: Out of range float values are not JSON compliant"),
        ("nothing", "error", "has no attribute 'nothing'"),
    ],
)
def test_what_fails_says_so_in_one_line(measure, task, outcome, remark):
    run = measure(task)
    assert run.outcome == outcome
    assert remark in run.remark
    assert "\n" not in run.remark


def test_a_process_is_reused_until_it_ends(measure):
    first, second = (measure("identify").measures["process"] for _ in range(2))
    assert (first == second) == (not measure.fresh)
    assert measure("fail").outcome == "error"
    assert (measure("identify").measures["process"] == second) == (not measure.fresh)
    assert measure("sleep", limit=0.05).outcome == "limit"
    assert measure("crash").remark.startswith("killed by")
    assert measure("identify").measures["process"] not in (first, second)


PARENT = """
import sys
from pathlib import Path
from pipelines.bench.runner.cell import Cell
from pipelines.bench.runner.process import MeasuringProcess
with MeasuringProcess() as process:
    process.measure(Cell("bench_fakes:stay", {"mark": sys.argv[1]}), None, 0, 600.0, Path(sys.argv[2]))
"""


def wait_for(what):
    for _ in range(600):
        if what():
            return
        time.sleep(0.1)
    pytest.fail("waited for a minute")


def is_running(process):
    # As a zombie it waits for whoever adopts it, and computes no more.
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere it takes as long as one call of a library")
def test_a_worker_ends_with_its_parent_however_that_ends(tmp_path, monkeypatch):
    (tmp_path / "bench_fakes.py").write_text(TASKS)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")]))
    mark = tmp_path / "worker.txt"
    with subprocess.Popen([sys.executable, "-c", PARENT, str(mark), str(tmp_path / "arrays.npz")]) as parent:
        wait_for(lambda: mark.exists() and mark.read_text())
        child = int(mark.read_text())
        assert is_running(child)
        os.kill(parent.pid, signal.SIGKILL)
        parent.wait()
    wait_for(lambda: not is_running(child))


def test_where_the_system_does_not_help_the_parent_is_watched(monkeypatch):
    def leave(code):
        raise SystemExit(code)

    parents = iter([7, 7, 1])
    monkeypatch.setattr(worker.os, "getppid", lambda: next(parents))
    monkeypatch.setattr(worker.os, "_exit", leave)
    monkeypatch.setattr(worker.time, "sleep", lambda seconds: None)
    with pytest.raises(SystemExit):
        worker._watch(7)
    assert list(parents) == []
