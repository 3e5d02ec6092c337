"""Norms of arrays (n, q) that have a row for each training input and a column for each output."""

from __future__ import annotations

import numpy as np

from gbcd.types import Float64Array, FloatArray


def infinity_norm(G: FloatArray) -> float:
    """Return the largest |g_ij| of G (n, q), zero if G is empty. Tolerances limit this norm."""
    return float(np.abs(G).max(initial=0.0))


def squared_norms(G: FloatArray) -> Float64Array:
    """Return |g_i|^2 over the outputs of each row of G (n, q): shape (n,)."""
    norms: Float64Array = np.einsum("ij,ij->i", G, G)
    return norms
