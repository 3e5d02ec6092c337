"""The measuring process: it measures one cell after the other, as long as its parent process lives.

It is started by ``python -m pipelines.bench.runner.worker PARENT``, PARENT being the parent's process id.

A request is a line of JSON on the standard input with `task`, `parameters`, `data`, `seed` and `arrays` (the file for
arrays). The answer is lines of JSON: {"event": "started"}, {"event": "solved"} and {"event": "answer", ...}.
"""

from __future__ import annotations

import importlib
import json
import os
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pipelines.bench.runner.cell import Task, UnavailableError
from pipelines.bench.runner.memory import PeakMemory

Tell = Callable[..., None]

PR_SET_PDEATHSIG = 1
"""Option number of prctl(2) that sets the signal sent when the thread that started this process ends."""


def measure(request: dict[str, Any], tell: Tell) -> dict[str, Any]:
    """Do the task once, and return its measures, including time and memory."""
    module, _, function = request["task"].partition(":")
    task: Task = getattr(importlib.import_module(module), function)
    job = task(request["parameters"], None if request["data"] is None else Path(request["data"]), request["seed"])
    memory = PeakMemory()
    tell(event="started")
    cpu, clock = time.process_time(), time.perf_counter()
    result = job.work()
    seconds, cpu_seconds = time.perf_counter() - clock, time.process_time() - cpu
    growth = memory.growth()
    tell(event="solved")
    finding = job.check(result)
    if finding.arrays:
        import numpy as np

        np.savez(request["arrays"], **finding.arrays)  # type: ignore[arg-type]
    peak_mb = None if growth is None else growth / 1e6
    return {"seconds": seconds, "cpu_seconds": cpu_seconds, "peak_mb": peak_mb, **finding.measures}


def answer(request: dict[str, Any], tell: Tell) -> dict[str, Any]:
    """Return the event that answers a request; an exception becomes an answer too."""
    try:
        return {"outcome": "done", "measures": measure(request, tell)}
    except UnavailableError as error:
        return {"outcome": "unavailable", "remark": str(error)}
    except Exception as error:
        traceback.print_exc()
        return {"outcome": "error", "remark": f"{type(error).__name__}: {error}"}


def end_with(parent: int) -> None:
    """End this process when its parent ends or is killed: otherwise it would spoil the next run's times."""
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:  # the parent ended before prctl took effect
            os._exit(1)
    else:
        threading.Thread(target=_watch, args=(parent,), daemon=True).start()


def _watch(parent: int) -> None:
    """End this process soon after its parent has changed; a call that holds the interpreter lock delays it."""
    while os.getppid() == parent:
        time.sleep(1)
    os._exit(1)


def main() -> None:
    """Answer requests until the input ends."""
    end_with(int(sys.argv[1]))
    # Output that libraries print goes to the error stream, so that it is not taken for events.
    with os.fdopen(os.dup(1), "w") as channel:
        os.dup2(2, 1)

        def tell(**event: Any) -> None:
            print(json.dumps(event, allow_nan=False), file=channel, flush=True)

        for line in sys.stdin:
            found = answer(json.loads(line), tell)
            try:
                tell(event="answer", **found)
            except ValueError as error:  # a measure that is not finite
                tell(event="answer", outcome="error", remark=f"{type(error).__name__}: {error}")


if __name__ == "__main__":
    main()
