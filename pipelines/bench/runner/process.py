"""Processes that measure: starting them, ending them at the time limit, and receiving their answers."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from types import TracebackType
from typing import Any

from pipelines.bench.runner.cell import Cell, Run


class MeasuringProcess:
    """Measures cells in a process of their own, which a crash or the time limit may end; a context manager.

    Parameters
    ----------
    fresh : bool
        Start a new process for each measurement, so that none profits from memory or caches of an earlier one.
        Otherwise one process serves as long as it lives, which spares a second or two of imports per measurement.
    """

    def __init__(self, fresh: bool = True) -> None:
        self._fresh = fresh
        self._process: subprocess.Popen[str] | None = None
        # A file and no pipe: nobody reads it meanwhile, and a full pipe would stop the process.
        self._log = tempfile.TemporaryFile("w+", errors="replace")  # noqa: SIM115 - closed with the process

    def __enter__(self) -> MeasuringProcess:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._end()
        self._log.close()

    def measure(self, cell: Cell, data: Path | None, seed: int, limit: float, arrays: Path) -> Run:
        """Measure a cell.

        Parameters
        ----------
        cell : Cell
        data : Path or None
            The folder of data.
        seed : int
        limit : float
            Seconds for the work itself; drawing the problem, warming up and checking the result are not counted.
        arrays : Path
            The .npz file to which the finding's arrays, if any, are written.

        Returns
        -------
        Run
            Its outcome is "error" also if the process crashes or is killed for its memory.
        """
        request = {
            "task": cell.task,
            "parameters": cell.parameters,
            "data": None if data is None else str(data.absolute()),
            "seed": seed,
            "arrays": str(arrays.absolute()),
        }
        if self._fresh:
            self._end()
        if self._process is None:
            self._process = self._start()
        answer, expired = self._ask(self._process, request, limit)
        if answer is not None:
            return Run(answer["outcome"], limit, answer.get("measures", {}), " ".join(answer.get("remark", "").split()))
        code = self._process.wait()
        self._end()
        if expired:
            return Run("limit", limit, remark=f"not done in {limit:g} s")
        return Run("error", limit, remark=self._last_words(code))

    def _start(self) -> subprocess.Popen[str]:
        self._log.seek(0)
        self._log.truncate()
        return subprocess.Popen(
            [sys.executable, "-m", "pipelines.bench.runner.worker", str(os.getpid())],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            text=True,
        )

    def _ask(
        self, process: subprocess.Popen[str], request: dict[str, Any], limit: float
    ) -> tuple[dict[str, Any] | None, bool]:
        """Return the answer (None if the process ended without one), and whether the time limit ended the process."""
        assert process.stdin is not None
        assert process.stdout is not None
        expired = threading.Event()

        def end() -> None:
            expired.set()
            process.kill()

        timer = threading.Timer(limit, end)
        try:
            print(json.dumps(request), file=process.stdin, flush=True)
            for line in process.stdout:
                event = json.loads(line)
                if event["event"] == "started":
                    timer.start()
                elif event["event"] == "solved":
                    timer.cancel()
                else:
                    return event, False
        except BrokenPipeError:
            pass  # the process ended before it read the request
        except BaseException:
            self._end()
            raise
        finally:
            timer.cancel()
        return None, expired.is_set()

    def _end(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None

    def _last_words(self, code: int) -> str:
        """Say how a process without an answer ended."""
        if code < 0:
            hint = " (out of memory?)" if -code == getattr(signal, "SIGKILL", None) else ""
            return f"killed by {signal.Signals(-code).name}{hint}"
        self._log.seek(0)
        lines = self._log.read().strip().splitlines()
        return f"exit code {code}: {lines[-1] if lines else 'no message'}"
