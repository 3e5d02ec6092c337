"""Description of the machine that measured the figures, without anything that names the machine or its owner."""

from __future__ import annotations

import os
import platform
import re
from importlib.metadata import version
from pathlib import Path

import joblib
import numpy as np  # noqa: F401 - both bring a BLAS, which must be loaded to be found
import scipy.linalg  # noqa: F401
from threadpoolctl import threadpool_info

CPU_INFO = Path("/proc/cpuinfo")
PACKAGES = ("numpy", "scipy", "numba", "scikit-learn")


def this_machine() -> dict[str, str]:
    """Return processor, cores, memory, and the versions of Python and the numerical libraries."""
    return {
        "processor": _processor(),
        "cores": str(joblib.cpu_count()),
        "memory": _memory(),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        **{name: version(name) for name in PACKAGES},
        "blas": _blas(),
    }


def _processor() -> str:
    try:
        lines = CPU_INFO.read_text().splitlines()
    except OSError:
        lines = []
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


def _memory() -> str:
    try:
        return f"{os.sysconf('SC_PHYS_PAGES') * os.sysconf('SC_PAGE_SIZE') / 2**30:.0f} GiB"
    except (AttributeError, ValueError, OSError):
        return "unknown"


def _blas() -> str:
    pools = [pool for pool in threadpool_info() if pool["user_api"] == "blas"]
    # Only NumPy's and SciPy's BLAS count, as OpenCV may have loaded one of its own. If neither has one in its folder,
    # the system's is used.
    pools = [pool for pool in pools if {"numpy", "scipy"} & set(re.split(r"\W", pool["filepath"]))] or pools
    names = {f"{pool['internal_api']} {pool['version']} ({pool.get('architecture', 'unknown')})" for pool in pools}
    return ", ".join(sorted(names))
