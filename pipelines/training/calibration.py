"""How large the errors of a model are for a given predictive variance, measured on time blocks that are held out.

The Gaussian process has one variance for all outputs and thinks the noise the same everywhere; how far a wrist is off
is another matter. Each coordinate c therefore gets a factor of its own,

    std_c(x) = factor_c sqrt(v(x) + sigma^2),

such that +-1.645 std hold 90 % of the held-out errors. Errors have heavier tails than a Gaussian: matched at 90 %, the
intervals of 50 % are a little wide and those of 95 % a little narrow.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm

from gbcd import GBCDRegressor

LEVEL = 0.9
"""The interval that is matched."""

BLOCK_SECONDS = 2.0
"""Length of the blocks that are left out. On humaneva-like/dev held-out errors and variances are then those of the
evaluation partition; blocks of 1 s have closer neighbours, whose errors are a tenth smaller."""

N_IMAGES = 2000
"""Held-out images, evenly from all; more would come from the same instants."""

UNLIKE_QUANTILE = 0.99
"""Of held-out variances: images with larger ones are unlike the training set."""


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

    factors: NDArray[np.float64]
    noise: float
    unlike_above: float

    def std(self, variance: NDArray[np.float64]) -> NDArray[np.float64]:
        """Standard deviations (n, q), mm, of poses as they are observed, given the variances (n,)."""
        return np.sqrt(variance + self.noise)[:, None] * self.factors

    def unlike_training(self, variance: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Whether each input is farther from the training set than nearly all that was held out, (n,)."""
        return variance > self.unlike_above


def calibrate(gp: GBCDRegressor, outputs: NDArray[np.float64], blocks: NDArray[np.int64]) -> Calibration:
    """Measure the factors on training images, each predicted without the block that it is in.

    Parameters
    ----------
    gp : GBCDRegressor
        Fitted to `outputs`.
    outputs : ndarray of shape (n, q)
        Training outputs, mm.
    blocks : ndarray of int, shape (n,)
        Images of one block are left out together; two blocks at least.

    Notes
    -----
    The predictions are those of the nearest images outside the block (`LocalVariances.leave_group_out`): no second
    training, and every block has its turn. Their mean joint error is within 1 % of the whole process's.
    """
    rows = np.unique(np.linspace(0, len(outputs) - 1, min(N_IMAGES, len(outputs))).round().astype(np.int64))
    centred = outputs - gp.y_mean_
    mean, variance = gp.posterior_.neighbours.leave_group_out(rows, blocks, centred)
    ratios = np.abs(centred[rows] - mean) / np.sqrt(variance + gp.noise_)[:, None]
    factors = np.quantile(ratios, LEVEL, axis=0) / half_width(LEVEL)
    return Calibration(factors, float(gp.noise_), float(np.quantile(variance, UNLIKE_QUANTILE)))


def half_width(level: float) -> float:
    """Half the width of the Gaussian interval that holds `level`, in standard deviations."""
    return float(norm.ppf((1 + level) / 2))
