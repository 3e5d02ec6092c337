"""``python -m pipelines.bench.worker REQUEST``: one measurement, in a process that has done nothing else.

The request is a JSON object with `task`, `parameters`, `data`, `seed` and `arrays` (where arrays go). The answer is
lines of JSON: {"event": "started"}, {"event": "solved"} and {"event": "answer", ...}.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pipelines.bench.cell import Task, UnavailableError
from pipelines.bench.memory import PeakMemory

Tell = Callable[..., None]


def measure(request: dict[str, Any], tell: Tell) -> dict[str, Any]:
    """Do the task once; return its measures, those of time and memory among them."""
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


def main() -> None:
    """Answer the request on the command line; an exception is an answer too."""
    # What libraries print must not be taken for events.
    with os.fdopen(os.dup(1), "w") as channel:
        os.dup2(2, 1)

        def tell(**event: Any) -> None:
            print(json.dumps(event, allow_nan=False), file=channel, flush=True)

        try:
            answer = {"outcome": "done", "measures": measure(json.loads(sys.argv[1]), tell)}
        except UnavailableError as error:
            answer = {"outcome": "unavailable", "remark": str(error)}
        except Exception as error:
            traceback.print_exc()
            answer = {"outcome": "error", "remark": f"{type(error).__name__}: {error}"}
        tell(event="answer", **answer)


if __name__ == "__main__":
    main()
