"""How inputs are scaled before the kernel sees them."""

from __future__ import annotations

from typing import Literal

import numpy as np

from gbcd._arrays import Float64Array, standardisation

InputScaling = Literal["column", "global"]

MAX_MAGNITUDE = 1e307
"""Differences of larger numbers overflow."""

MAX_SCALED = 1e30
"""Of training inputs: squared distances of larger ones come near the end of the range."""

FAR = 1e40
"""Where new inputs beyond it are taken to be: as far from all training inputs as anything."""


def input_scale(X: Float64Array, scaling: str | None) -> tuple[Float64Array, Float64Array]:
    """Return offset and scale (d,) of the inputs (n, d); a constant column keeps scale 1.

    Raises
    ------
    ValueError
        For another scaling than "column", "global" and None, or inputs beyond `MAX_SCALED` after it.
    """
    d = X.shape[1]
    if scaling is None:
        offset, scale = np.zeros(d), np.ones(d)
    elif scaling == "column":
        offset, scale = standardisation(X)
    elif scaling == "global":
        offset, scale = np.zeros(d), np.full(d, standardisation(X.reshape(-1, 1))[1])
    else:
        raise ValueError(f"input_scaling must be 'column', 'global' or None, not {scaling!r}.")
    if np.abs(scaled(X, offset, scale)).max() > MAX_SCALED:
        raise ValueError(
            f"X exceeds {MAX_SCALED:g} after input_scaling={scaling!r}, too much for squared distances: divide it, or "
            f"use input_scaling='column'."
        )
    return offset, scale


def scaled(X: Float64Array, offset: Float64Array, scale: Float64Array) -> Float64Array:
    """Return (X - offset) / scale, at most `FAR` in size, so that a finite input never becomes infinite."""
    with np.errstate(over="ignore"):
        values: Float64Array = np.clip((X - offset) / scale, -FAR, FAR)
    return values


def require_moderate(values: Float64Array, name: str) -> None:
    """Refuse numbers whose differences overflow.

    Raises
    ------
    ValueError
        Naming the largest.
    """
    largest = float(np.abs(values).max(initial=0.0))
    if largest > MAX_MAGNITUDE:
        raise ValueError(f"{name} reaches {largest:.3g}, too close to the largest number there is: divide it first.")
