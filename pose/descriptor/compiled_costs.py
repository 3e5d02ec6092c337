"""The compiled loop of matching: the chi-square costs between shape contexts."""

from __future__ import annotations

import numba
import numpy as np

from pose.types import FloatArray


@numba.njit(cache=True, nogil=True)
def chi_square(first: FloatArray, transposed: FloatArray) -> FloatArray:
    """Costs (n, m) of the rows of `first` (n, d) against the columns of `transposed` (d, m), none negative.

    A cost, half the sum of (a - b)^2 / (a + b), is half the sum of a + b, minus the sum of 2 a b / (a + b). Empty bins
    add nothing to the last sum and are skipped.
    """
    n, d = first.shape
    m = transposed.shape[1]
    costs = np.empty((n, m))
    totals = np.zeros(m)
    for c in range(d):
        for j in range(m):
            totals[j] += transposed[c, j]
    common = np.empty(m)
    for i in range(n):
        total = 0.0
        common[:] = 0.0
        for c in range(d):
            a = first[i, c]
            total += a
            if a > 0.0:
                for j in range(m):
                    common[j] += a * transposed[c, j] / (a + transposed[c, j])
        for j in range(m):
            costs[i, j] = max(0.5 * (total + totals[j]) - 2.0 * common[j], 0.0)
    return costs
