"""Peak memory of a piece of work, beyond what the process held before."""

from __future__ import annotations

import ctypes
import gc
import sys
from pathlib import Path

STATUS = Path("/proc/self/status")
CLEAR_REFS = Path("/proc/self/clear_refs")


class PeakMemory:
    """Peak memory since this object was made.

    On Linux the kernel's high-water mark is reset first. Elsewhere this is impossible: the figure is then the rise of
    the high-water mark, which is too small if earlier work took more.
    """

    def __init__(self) -> None:
        gc.collect()
        _return_free_memory()
        try:
            CLEAR_REFS.write_text("5")  # proc(5): resets the high-water mark to the current use
        except OSError:
            self._before = _high_water_mark()
        else:
            self._before = _status_bytes("VmRSS")

    def growth(self) -> int | None:
        """Return how far the peak exceeds the memory at the start, bytes; None if the system does not say."""
        peak = _high_water_mark()
        return None if peak is None or self._before is None else max(0, peak - self._before)


def _return_free_memory() -> None:
    """Return the allocator's free memory to the system: work that reused it would seem to need less."""
    if sys.platform == "linux":
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)  # glibc has it
        if trim is not None:
            trim(0)


def _high_water_mark() -> int | None:
    """Return the most memory that this process has held, bytes."""
    # Not `ru_maxrss` on Linux: a new process inherits its parent's.
    if STATUS.exists():
        return _status_bytes("VmHWM")
    try:
        import resource
    except ImportError:  # Windows
        return None
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def _status_bytes(name: str) -> int | None:
    for line in STATUS.read_text().splitlines():
        if line.startswith(f"{name}:"):
            return 1024 * int(line.split()[1])
    return None
