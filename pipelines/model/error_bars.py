"""From the process's variance to standard deviations of a pose."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.stats import norm

from pose.types import BoolArray, FloatArray


@dataclass(frozen=True, eq=False)
class Calibration:
    """Factors and threshold that turn the process's variance into error bars of a pose.

    Parameters
    ----------
    factors : ndarray of shape (q,)
        Standard deviation of each output, mm, at variance + noise = 1; 0 for an output that is always right.
    noise : float
        Noise variance sigma^2 of the process.
    unlike_above : float
        Variance of the latent function, 0 to 1, above which an input is unlike the training set.
    """

    factors: FloatArray
    noise: float
    unlike_above: float

    def std(self, variance: FloatArray) -> FloatArray:
        """Standard deviations (n, q), mm, of observed poses (noise included), from the latent variances (n,)."""
        return np.sqrt(variance + self.noise)[:, None] * self.factors

    def unlike_training(self, variance: FloatArray) -> BoolArray:
        """Whether each input's variance is above that of nearly all held-out images, (n,)."""
        return variance > self.unlike_above


def half_width(level: float) -> float:
    """Half-width, in standard deviations, of the central Gaussian interval of probability `level`."""
    return float(norm.ppf((1 + level) / 2))
