"""A vocabulary of descriptors: k-means centres ("words") and the assignment of descriptors to them."""

from __future__ import annotations

import warnings
from typing import Self

import numba
import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator
from sklearn.cluster import KMeans, MiniBatchKMeans
from threadpoolctl import threadpool_limits

Floats = npt.NDArray[np.float32]
Words = npt.NDArray[np.int32]

MINI_BATCH_FROM = 50_000
"""Number of descriptors from which on k-means reads mini-batches instead of all of them in each round."""
BATCH_SIZE = 8192
CHUNK = 4096
"""Descriptors compared with the words at a time: bounds the table of scores to a few MB."""
RELOCATION_ROUNDS = 10


@numba.njit(cache=True, nogil=True)
def _nearest(
    scores: Floats, norms: npt.NDArray[np.float64], descriptors: Floats, centers: Floats, words: Words
) -> None:
    """Pick the nearest word of each descriptor from approximate scores; settle near ties exactly.

    `scores` (n, k) holds descriptor . centre in float32, whose last digits depend on how the BLAS splits the product.
    Words whose squared distance is within a bound of its rounding error of the best are compared again in float64, in a
    fixed order, so that the answer does not depend on the number of threads. Equal distances: the lower word.
    """
    n, k = scores.shape
    d = centers.shape[1]
    largest = 0.0
    for w in range(k):
        largest = max(largest, norms[w])
    for i in range(n):
        size = 0.0
        for c in range(d):
            size += descriptors[i, c] * descriptors[i, c]
        best = np.inf
        for w in range(k):
            best = min(best, norms[w] - 2.0 * scores[i, w])
        slack = 2.4e-7 * d * np.sqrt(size * largest) + 1e-30
        nearest = -1
        shortest = np.inf
        for w in range(k):
            if norms[w] - 2.0 * scores[i, w] <= best + slack:
                distance = 0.0
                for c in range(d):
                    difference = np.float64(descriptors[i, c]) - np.float64(centers[w, c])
                    distance += difference * difference
                if distance < shortest:
                    shortest = distance
                    nearest = w
        words[i] = nearest


class Codebook(BaseEstimator):
    """K-means vocabulary.

    Parameters
    ----------
    n_words
        Number of words. When the descriptors hold fewer distinct rows, their number is used instead, with a warning.
    random_state
        Seed. The same descriptors in the same order give the same words, for any number of threads.

    Attributes
    ----------
    centers_
        (n_words_, d) float32, the whole state.
    n_words_
        Number of words found.

    Notes
    -----
    Lloyd's k-means from k-means++ below 50,000 descriptors, mini-batch k-means (batches of 8,192) from there on. A word
    that no descriptor is nearest to is moved to the descriptor farthest from its own word.
    """

    def __init__(self, n_words: int = 300, random_state: int = 0) -> None:
        self.n_words = n_words
        self.random_state = random_state

    @classmethod
    def from_centers(cls, centers: npt.ArrayLike, random_state: int = 0) -> Self:
        """Rebuild a codebook from its `centers_`, (n_words, d)."""
        array = _as_descriptors(centers, "centers")
        codebook = cls(n_words=len(array), random_state=random_state)
        codebook._set_centers(array)
        return codebook

    def fit(self, descriptors: npt.ArrayLike, y: object = None) -> Self:  # noqa: ARG002
        """Find the words.

        Parameters
        ----------
        descriptors
            (n, d), n >= 1; read as float32.

        Raises
        ------
        ValueError
            If `n_words` is below 1 or the descriptors are not a finite, non-empty (n, d) array.
        """
        if self.n_words < 1:
            raise ValueError(f"n_words must be at least 1, got {self.n_words}")
        array = _as_descriptors(descriptors, "descriptors")
        distinct = _distinct_rows(array, self.n_words)
        if distinct is not None:
            warnings.warn(
                f"n_words={self.n_words} clipped to {len(distinct)}, the number of distinct descriptors",
                stacklevel=2,
            )
            self._set_centers(distinct)
            return self
        if len(array) < MINI_BATCH_FROM:
            kmeans = KMeans(self.n_words, n_init=1, random_state=self.random_state)
        else:
            kmeans = MiniBatchKMeans(
                self.n_words, batch_size=BATCH_SIZE, n_init=1, random_state=self.random_state, compute_labels=False
            )
        # Threads would add up the centres in another order, and rounding then leads k-means elsewhere.
        with threadpool_limits(limits=1):
            kmeans.fit(array)
        self._set_centers(kmeans.cluster_centers_.astype(np.float32))
        self._relocate_empty(array)
        return self

    def _set_centers(self, centers: Floats) -> None:
        self.centers_ = np.ascontiguousarray(centers)
        self.n_words_ = len(self.centers_)
        self.n_features_in_ = self.centers_.shape[1]
        self._transposed = np.ascontiguousarray(self.centers_.T)
        self._norms = np.einsum("wd,wd->w", self.centers_, self.centers_, dtype=np.float64)

    def _relocate_empty(self, descriptors: Floats) -> None:
        """Move words without descriptors to the descriptors farthest from their words."""
        for _ in range(RELOCATION_ROUNDS):
            words = self.predict(descriptors)
            empty = np.flatnonzero(np.bincount(words, minlength=self.n_words_) == 0)
            if empty.size == 0:
                return
            distance = np.empty(len(words))
            for start in range(0, len(words), CHUNK):
                part = slice(start, start + CHUNK)
                distance[part] = np.square(descriptors[part] - self.centers_[words[part]]).sum(axis=1)
            candidates = np.argsort(-distance, kind="stable")
            farthest = descriptors[candidates[: 50 * empty.size]]
            _, first = np.unique(farthest, axis=0, return_index=True)
            centers = self.centers_.copy()
            chosen = np.sort(first)[: empty.size]
            centers[empty[: len(chosen)]] = farthest[chosen]
            self._set_centers(centers)

    def predict(self, descriptors: npt.ArrayLike) -> Words:
        """Nearest word of each descriptor, by Euclidean distance; equal distances go to the lower word.

        Parameters
        ----------
        descriptors
            (n, d); read as float32.

        Returns
        -------
        (n,) int32 in 0..n_words_-1, the same for any number of threads.
        """
        if not hasattr(self, "centers_"):
            raise ValueError("this codebook is not fitted: call fit(descriptors) or from_centers(centers)")
        array = _as_descriptors(descriptors, "descriptors")
        if array.shape[1] != self.n_features_in_:
            raise ValueError(f"descriptors have {array.shape[1]} columns, the codebook has {self.n_features_in_}")
        words = np.empty(len(array), np.int32)
        for start in range(0, len(array), CHUNK):
            part = array[start : start + CHUNK]
            _nearest(part @ self._transposed, self._norms, part, self.centers_, words[start : start + CHUNK])
        return words


def _as_descriptors(values: npt.ArrayLike, name: str) -> Floats:
    """Check a table of descriptors and return it as contiguous float32."""
    array = np.ascontiguousarray(values, dtype=np.float32)
    if array.ndim != 2 or 0 in array.shape:
        raise ValueError(f"{name} must be a non-empty (n, d) array, got shape {array.shape}")
    if not np.isfinite(array).all():
        raise ValueError(f"{name} has values that are NaN or infinite")
    return array


def _distinct_rows(array: Floats, enough: int) -> Floats | None:
    """Return the distinct rows if there are fewer than `enough`, else None; look at all rows only if need be."""
    head = np.unique(array[: 4 * enough], axis=0)
    if len(head) >= enough:
        return None
    distinct: Floats = np.unique(array, axis=0)
    return distinct if len(distinct) < enough else None
