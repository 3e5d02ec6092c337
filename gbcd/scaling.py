"""How inputs are scaled before the kernel sees them."""

from __future__ import annotations

from typing import Literal

import numpy as np

from gbcd.types import Float64Array

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


def centre(X: Float64Array) -> Float64Array:
    """Return the mean (d,) of the rows of X (n, d), whose sum may overflow."""
    with np.errstate(over="ignore", invalid="ignore"):
        mean: Float64Array = X.mean(axis=0)
    return mean if np.isfinite(mean).all() else (X / len(X)).sum(axis=0)


def standardisation(Y: Float64Array) -> tuple[Float64Array, Float64Array]:
    """Return the mean and scale (q,) that standardise each column of Y (n, q).

    A column that is constant to rounding gets its own value as mean and scale 1, so it becomes exactly
    zero, its coefficients too, and it is predicted as exactly that value.
    """
    # Sums and squares of large numbers overflow, squares of small ones vanish: a power of two, which rounds nothing,
    # brings every column below 1 first.
    exponent = np.frexp(np.abs(Y).max(axis=0))[1]
    small = np.ldexp(Y, -exponent)
    mean: Float64Array = np.ldexp(small.mean(axis=0), exponent)
    scale: Float64Array = np.ldexp(small.std(axis=0), exponent)
    # Rounding alone gives a constant column a standard deviation of some epsilons of its size.
    constant = (Y[0] == Y).all(axis=0) | (scale <= 10 * np.finfo(np.float64).eps * np.abs(mean))
    mean[constant] = Y[0, constant]
    scale[constant] = 1
    return mean, scale
