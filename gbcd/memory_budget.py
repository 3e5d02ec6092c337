"""Where the memory budget is decided: what `memory_budget` means in bytes, and how much memory is available.

How the bytes are spent is decided in `gbcd/system/storage.py` (kernel values) and `gbcd/solvers` (the preconditioner).
"""

from __future__ import annotations

import math
import os
from numbers import Real
from pathlib import Path

MEMORY_INFO = Path("/proc/meminfo")
"""The file in which Linux says how much memory is available."""

GROUP_LIMIT = Path("/sys/fs/cgroup/memory.max")
"""The file that says how many bytes a Linux container may use."""

AUTO_SHARE = 4
"""Available memory divided by the budget "auto"."""

MAX_AUTO_BUDGET = 4 << 30
"""Largest budget "auto", in bytes."""

FALLBACK_BUDGET = 1 << 30
"""Bytes of the budget "auto" where the system does not say how much memory there is."""


def available_memory() -> int | None:
    """Return the bytes of memory available without swapping, or None where the system does not say."""
    try:
        lines = MEMORY_INFO.read_text().splitlines()
        available = next(1024 * int(line.split()[1]) for line in lines if line.startswith("MemAvailable:"))
    except (OSError, StopIteration, ValueError, IndexError):
        try:
            available = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
        except (AttributeError, ValueError, OSError):
            return None
    try:
        return min(available, int(GROUP_LIMIT.read_text()))
    except (OSError, ValueError):
        return available


def auto_memory_budget() -> int:
    """Return a quarter of the memory now available, at most 4 GiB, in bytes."""
    available = available_memory()
    return FALLBACK_BUDGET if available is None else min(available // AUTO_SHARE, MAX_AUTO_BUDGET)


def budget_bytes(memory_budget: object) -> int:
    """Return the bytes that `memory_budget` stands for: "auto", or a whole number such as 1e8 (not 0.5 or True).

    Raises
    ------
    ValueError
        For anything else.
    """
    if isinstance(memory_budget, str) and memory_budget == "auto":
        return auto_memory_budget()
    is_number = isinstance(memory_budget, Real) and not isinstance(memory_budget, bool)
    number = float(memory_budget) if is_number else math.nan  # type: ignore[arg-type]
    if not (number >= 0 and number.is_integer()):
        raise ValueError(f"memory_budget must be 'auto' or a number of bytes, not {memory_budget!r}.")
    return int(number)
