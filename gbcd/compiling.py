"""How the package's loops are compiled: the options of numba's `njit`, in one place.

Loops are compiled where NumPy would take several passes over an array, and where that was measured to matter. Each loop
stands beside the code that uses it: `kernels/compiled.py` (kernel values), `system/coded_loops.py` (16-bit codes),
`paper/greedy_pool.py` and `paper/smo.py` (picking the variables of a block or a pair). All loops run without Python's
global lock, so that threads share the work. The compiled code is cached on disk between runs.
"""

from __future__ import annotations

from typing import Any

IN_ORDER: Any = {"nogil": True, "cache": True}
"""Options of `njit` for loops whose operations run as written, in the order written."""

FAST: Any = IN_ORDER | {"error_model": "numpy", "fastmath": {"contract", "nsz"}}
"""Options of `njit` for loops where a product and a sum may be rounded together, the sign of zero may change, and a
division by zero is not an error."""

FAST_SUMS: Any = FAST | {"fastmath": {"contract", "nsz", "reassoc"}}
"""Options `FAST`, and sums may be taken in any order, so that a dot product uses whole vector registers."""
