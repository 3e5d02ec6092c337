"""How the package's loops are compiled: the options of numba's `njit`, in one place.

Loops are compiled where NumPy would take several passes over an array, and where that was measured to matter. Each
stands beside what it serves: `kernels/compiled.py` (kernel values), `system/coded_loops.py` (16-bit codes),
`paper/greedy_pool.py` and `paper/smo.py` (picking the variables of a block or a pair). All run without Python's lock,
so that threads share the work, and are kept on disk between runs.
"""

from __future__ import annotations

from typing import Any

IN_ORDER: Any = {"nogil": True, "cache": True}
"""Every operation as written, in the order written."""

FAST: Any = IN_ORDER | {"error_model": "numpy", "fastmath": {"contract", "nsz"}}
"""A product and a sum may be rounded together, the sign of zero may change, and a division by zero is not an error."""

FAST_SUMS: Any = FAST | {"fastmath": {"contract", "nsz", "reassoc"}}
"""`FAST`, and sums are taken in any order: without it a dot product uses one number of a vector register at a time."""
