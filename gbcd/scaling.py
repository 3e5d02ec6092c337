"""How inputs are scaled before the kernel sees them, and outputs before the solver does."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Self

import numpy as np

from gbcd.types import Float64Array

InputScaling = Literal["column", "global"]

MAX_MAGNITUDE = 1e307
"""Largest input or output in size: differences of larger numbers overflow."""

MAX_SCALED = 1e30
"""Largest training input, in size, after scaling: squared distances beyond it approach the range of floats."""

MAX_NEW_INPUT = 1e40
"""Largest new input, in size, after scaling. Larger ones are clipped to it, which is far from all training inputs."""


@dataclass(frozen=True, eq=False)
class Scaling:
    """Offsets and scales that were learnt from the training data.

    Attributes
    ----------
    x_offset, x_scale : array (d,)
        The kernel takes inputs as (x - x_offset) / x_scale.
    y_mean, y_scale : array (q,)
        The solver takes outputs as (y - y_mean) / y_scale.
    """

    x_offset: Float64Array
    x_scale: Float64Array
    y_mean: Float64Array
    y_scale: Float64Array

    @classmethod
    def learnt(cls, X: Float64Array, Y: Float64Array, input_scaling: str | None) -> Self:
        """Learn offsets and scales from training inputs (n, d) and outputs (n, q).

        Raises
        ------
        ValueError
            See `input_scale`.
        """
        return cls(*input_scale(X, input_scaling), *standardisation(Y))

    def inputs(self, X: Float64Array) -> Float64Array:
        """Return inputs (t, d) as the kernel takes them."""
        return scaled(X, self.x_offset, self.x_scale)

    def standardised(self, Y: Float64Array) -> Float64Array:
        """Return outputs (n, q) as the solver takes them."""
        standard: Float64Array = (Y - self.y_mean) / self.y_scale
        return standard

    def in_units(self, standardised: Float64Array) -> Float64Array:
        """Return standardised outputs (t, q) in the units of the data."""
        outputs: Float64Array = standardised * self.y_scale + self.y_mean
        return outputs


def input_scale(X: Float64Array, scaling: str | None) -> tuple[Float64Array, Float64Array]:
    """Return offset and scale (d,) of the inputs (n, d); a constant column keeps scale 1.

    Raises
    ------
    ValueError
        For a scaling other than "column", "global" or None, or inputs that exceed `MAX_SCALED` when scaled.
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
    """Return (X - offset) / scale, clipped to `MAX_NEW_INPUT` in size: a finite input never becomes infinite."""
    with np.errstate(over="ignore"):
        values: Float64Array = np.clip((X - offset) / scale, -MAX_NEW_INPUT, MAX_NEW_INPUT)
    return values


def require_moderate(values: Float64Array, name: str) -> None:
    """Refuse numbers whose differences overflow.

    Raises
    ------
    ValueError
        Naming the largest number.
    """
    largest = float(np.abs(values).max(initial=0.0))
    if largest > MAX_MAGNITUDE:
        raise ValueError(f"{name} reaches {largest:.3g}, too close to the largest number there is: divide it first.")


def centre(X: Float64Array) -> Float64Array:
    """Return the mean (d,) of the rows of X (n, d), also where their sum overflows."""
    with np.errstate(over="ignore", invalid="ignore"):
        mean: Float64Array = X.mean(axis=0)
    return mean if np.isfinite(mean).all() else (X / len(X)).sum(axis=0)


def standardisation(Y: Float64Array) -> tuple[Float64Array, Float64Array]:
    """Return the mean and scale (q,) that standardise each column of Y (n, q).

    A column that is constant to rounding gets its own value as mean, and scale 1. It then becomes exactly zero, its
    coefficients are zero, and it is predicted as exactly its value.
    """
    # Sums and squares of large numbers overflow, squares of small ones underflow. So every column is first brought
    # below 1 by a power of two, which rounds nothing.
    exponent = np.frexp(np.abs(Y).max(axis=0))[1]
    small = np.ldexp(Y, -exponent)
    mean: Float64Array = np.ldexp(small.mean(axis=0), exponent)
    scale: Float64Array = np.ldexp(small.std(axis=0), exponent)
    # Rounding alone may give a constant column a standard deviation of a few epsilons of its size.
    constant = (Y[0] == Y).all(axis=0) | (scale <= 10 * np.finfo(np.float64).eps * np.abs(mean))
    mean[constant] = Y[0, constant]
    scale[constant] = 1
    return mean, scale
