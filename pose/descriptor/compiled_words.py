"""The compiled loops of the codebook: from descriptors to their nearest words.

Every sum has one fixed order and there is no ``fastmath``, so that near ties fall the same way on every processor and
for any number of threads.
"""

from __future__ import annotations

import numba
import numpy as np

from pose.types import Float32Array, FloatArray, Int32Array


@numba.njit(cache=True, nogil=True)
def _scores(descriptor: Float32Array, transposed: Float32Array, half_norms: Float32Array, scores: Float32Array) -> None:
    """Write ``x . c - |c|^2 / 2`` for every centre c: the larger, the nearer.

    Not a BLAS product: shape contexts are mostly zeros, which are skipped, and a BLAS adds up in an order of its own.
    """
    for w in range(scores.shape[0]):
        scores[w] = -half_norms[w]
    for c in range(descriptor.shape[0]):
        value = descriptor[c]
        if value != 0.0:
            for w in range(scores.shape[0]):
                scores[w] += value * transposed[c, w]


@numba.njit(cache=True, nogil=True)
def nearest_words(descriptors: Float32Array, transposed: Float32Array, half_norms: Float32Array) -> Int32Array:
    """Pick the nearest centre of each descriptor (n, d), the lower word if equal; `transposed` is (d, n_words)."""
    n = descriptors.shape[0]
    words = np.empty(n, np.int32)
    scores = np.empty(transposed.shape[1], np.float32)
    for i in range(n):
        _scores(descriptors[i], transposed, half_norms, scores)
        nearest = 0
        for w in range(1, scores.shape[0]):
            if scores[w] > scores[nearest]:
                nearest = w
        words[i] = nearest
    return words


@numba.njit(cache=True, nogil=True)
def word_exponents(
    descriptors: Float32Array, transposed: Float32Array, half_norms: Float32Array, bandwidth: float
) -> Float32Array:
    """Exponents -distance^2 / (2 bandwidth^2) of soft assignment, (n, n_words), each row shifted to a maximum of 0.

    NumPy then takes their exponentials, several at once.
    """
    n = descriptors.shape[0]
    exponents = np.empty((n, transposed.shape[1]), np.float32)
    rate = np.float32(1.0 / (bandwidth * bandwidth))
    for i in range(n):
        _scores(descriptors[i], transposed, half_norms, exponents[i])
        best = exponents[i].max()
        for w in range(exponents.shape[1]):
            exponents[i, w] = (exponents[i, w] - best) * rate
    return exponents


@numba.njit(cache=True, nogil=True)
def mean_shares(weights: Float32Array) -> FloatArray:
    """Mean of the rows (n, n_words), each divided by its sum: (n_words,)."""
    n = weights.shape[0]
    mean = np.zeros(weights.shape[1])
    for i in range(n):
        total = 0.0
        for w in range(weights.shape[1]):
            total += weights[i, w]
        share = 1.0 / (n * total)
        for w in range(weights.shape[1]):
            mean[w] += weights[i, w] * share
    return mean
