"""Starts the measuring process, ends it at the time limit, and takes its answer."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from typing import IO

from pipelines.bench.cell import Cell, Run


def measure_apart(cell: Cell, data: Path | None, seed: int, limit: float, arrays: Path) -> Run:
    """Measure a cell in a fresh process.

    Parameters
    ----------
    cell : Cell
    data : Path or None
        The folder of data.
    seed : int
    limit : float
        Seconds for the work itself; drawing the problem, warming up and checking the result are not counted.
    arrays : Path
        The .npz file that the arrays of the finding, if any, are written to.

    Returns
    -------
    Run
        A process that crashes or is killed for its memory is an "error" too.
    """
    request = {
        "task": cell.task,
        "parameters": cell.parameters,
        "data": None if data is None else str(data.absolute()),
        "seed": seed,
        "arrays": str(arrays.absolute()),
    }
    command = [sys.executable, "-m", "pipelines.bench.worker", json.dumps(request)]
    # A file, as a full pipe that nobody reads would stop the process.
    with (
        tempfile.TemporaryFile("w+", errors="replace") as log,
        subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=log, text=True) as process,
    ):
        expired = threading.Event()

        def end() -> None:
            expired.set()
            process.kill()

        timer = threading.Timer(limit, end)
        answer = None
        try:
            assert process.stdout is not None
            for line in process.stdout:
                event = json.loads(line)
                if event["event"] == "started":
                    timer.start()
                elif event["event"] == "solved":
                    timer.cancel()
                else:
                    answer = event
            process.wait()
        except BaseException:
            process.kill()
            raise
        finally:
            timer.cancel()
        if answer is not None:
            return Run(answer["outcome"], limit, answer.get("measures", {}), " ".join(answer.get("remark", "").split()))
        if expired.is_set():
            return Run("limit", limit, remark=f"not done in {limit:g} s")
        return Run("error", limit, remark=_last_words(process.returncode, log))


def _last_words(code: int, log: IO[str]) -> str:
    """Say how a process ended that gave no answer."""
    if code < 0:
        hint = " (out of memory?)" if -code == getattr(signal, "SIGKILL", None) else ""
        return f"killed by {signal.Signals(-code).name}{hint}"
    log.seek(0)
    lines = log.read().strip().splitlines()
    return f"exit code {code}: {lines[-1] if lines else 'no message'}"
