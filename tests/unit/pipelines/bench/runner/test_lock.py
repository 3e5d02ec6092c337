"""A folder of results takes one run at a time, and a run that was killed leaves it free."""

import os
import signal
import subprocess
import sys

import pytest

from pipelines.bench.runner import lock
from pipelines.bench.runner.lock import locked
from pipelines.errors import UsageError
from pose.errors import DataError

HOLD = """
import sys, time
from pathlib import Path
from pipelines.bench.runner.lock import locked
with locked(Path(sys.argv[1])):
    print("held", flush=True)
    time.sleep(600)
"""


@pytest.fixture
def holder(tmp_path):
    with subprocess.Popen([sys.executable, "-c", HOLD, str(tmp_path)], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "held\n"
        yield process
        process.kill()


def test_the_second_run_is_told_who_is_there_and_a_killed_one_leaves_the_folder_free(tmp_path, holder):
    with pytest.raises(UsageError) as caught, locked(tmp_path):
        pass
    assert str(caught.value) == (
        f"--out {tmp_path}: another run measures here (process {holder.pid}); wait for it, or give another folder"
    )
    os.kill(holder.pid, signal.SIGKILL)
    holder.wait()
    with locked(tmp_path):
        assert (tmp_path / lock.LOCK).read_text() == f"{os.getpid()}\n"


def test_a_folder_is_free_again_after_each_run(tmp_path):
    for _ in range(2):
        with pytest.raises(ZeroDivisionError), locked(tmp_path):
            1 / 0  # noqa: B018
        with locked(tmp_path):
            pass


def test_a_lock_file_that_cannot_be_written_is_named(tmp_path):
    (tmp_path / lock.LOCK).mkdir()
    with pytest.raises(DataError, match=r"\.lock: cannot be written"), locked(tmp_path):
        pass
