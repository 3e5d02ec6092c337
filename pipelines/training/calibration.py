"""The size of a model's errors at a given predictive variance, measured on held-out time blocks.

The Gaussian process has one variance for all outputs and the same noise everywhere, but errors differ from joint to
joint. Each coordinate c therefore gets a factor of its own,

    std_c(x) = factor_c sqrt(v(x) + sigma^2),

such that +-1.645 std hold 90 % of the held-out errors. Errors have heavier tails than a Gaussian: matched at 90 %, the
intervals of 50 % are a little wide and those of 95 % a little narrow.
"""

from __future__ import annotations

import numpy as np

from gbcd import GBCDRegressor
from pipelines.model.error_bars import Calibration, half_width
from pose.types import FloatArray, IntArray

LEVEL = 0.9
"""Share of the held-out errors that the calibrated interval holds."""

BLOCK_SECONDS = 2.0
"""Seconds of a held-out time block. On humaneva-like/dev the held-out errors and variances are then those of the
evaluation partition. Blocks of 1 s have closer neighbours: their errors are a tenth smaller."""

N_IMAGES = 2000
"""Number of held-out images, spread evenly. More would come from the same instants."""

UNLIKE_QUANTILE = 0.99
"""Quantile of the held-out variances above which an image is unlike the training set."""


def calibrate(gp: GBCDRegressor, outputs: FloatArray, blocks: IntArray) -> Calibration:
    """Measure the factors on training images, each predicted without its own block.

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
    An image is predicted from the nearest images outside its block (`LocalVariances.leave_group_out`). Nothing is
    trained again, and every block has its turn. The mean joint error is within 1 % of that of the whole process.
    """
    rows = np.unique(np.linspace(0, len(outputs) - 1, min(N_IMAGES, len(outputs))).round().astype(np.int64))
    centred = outputs - gp.y_mean_
    mean, variance = gp.posterior_.neighbours.leave_group_out(rows, blocks, centred)
    ratios = np.abs(centred[rows] - mean) / np.sqrt(variance + gp.noise_)[:, None]
    factors = np.quantile(ratios, LEVEL, axis=0) / half_width(LEVEL)
    return Calibration(factors, float(gp.noise_), float(np.quantile(variance, UNLIKE_QUANTILE)))
