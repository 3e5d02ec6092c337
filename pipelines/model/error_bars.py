"""What turns the process's variance into standard deviations of a pose."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.stats import norm

from pose.types import BoolArray, FloatArray


@dataclass(frozen=True, eq=False)
class Calibration:
    """What turns the process's variance into standard deviations of a pose.

    Parameters
    ----------
    factors : ndarray of shape (q,)
        Standard deviation of each output, mm, where variance and noise make 1; 0 for an output that is always right.
    noise : float
        sigma^2 of the process.
    unlike_above : float
        The variance (of the latent function, between 0 and 1) above which an input is unlike the training set.
    """

    factors: FloatArray
    noise: float
    unlike_above: float

    def std(self, variance: FloatArray) -> FloatArray:
        """Standard deviations (n, q), mm, of poses as they are observed, given the variances (n,)."""
        return np.sqrt(variance + self.noise)[:, None] * self.factors

    def unlike_training(self, variance: FloatArray) -> BoolArray:
        """Whether each input is farther from the training set than nearly all that was held out, (n,)."""
        return variance > self.unlike_above


def half_width(level: float) -> float:
    """Half the width of the Gaussian interval that holds `level`, in standard deviations."""
    return float(norm.ppf((1 + level) / 2))
