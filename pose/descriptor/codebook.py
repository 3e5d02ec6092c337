"""A vocabulary of descriptors: k-means centres ("words") and the assignment of descriptors to them."""

from __future__ import annotations

import warnings
from typing import Self

import numpy as np
import numpy.typing as npt
from scipy.spatial.distance import cdist
from sklearn.base import BaseEstimator
from sklearn.cluster import KMeans, MiniBatchKMeans
from threadpoolctl import threadpool_limits

from pose.arguments import check_count
from pose.descriptor.compiled_words import mean_shares, nearest_words, word_exponents
from pose.types import Float32Array, FloatArray, Int32Array

MINI_BATCH_FROM = 50_000
"""Least number of descriptors for which k-means reads mini-batches, rather than all descriptors in each round."""
BATCH_SIZE = 8192
"""Descriptors in a mini-batch."""
CHUNK = 4096
"""Descriptors whose distances are computed together; their differences take a few MB."""
RELOCATION_ROUNDS = 10
"""Largest number of rounds in which words without descriptors are moved."""
ASSIGNMENTS = ("hard", "soft")


class Codebook(BaseEstimator):
    """K-means vocabulary.

    Parameters
    ----------
    n_words
        Number of words. Fewer distinct descriptors give fewer words, one for each, with a warning.
    random_state
        Seed. The same descriptors in the same order give the same words, for any number of threads.

    Attributes
    ----------
    centers_
        (n_words_, d) float32; the whole state, apart from what :meth:`partial_fit` remembers.
    n_words_
        Number of words found.
    bandwidth_
        Width of soft assignment: half the median distance between a word and the word nearest to it.

    Notes
    -----
    Hard assignment gives a descriptor to its nearest word. Soft assignment shares a descriptor among all words by the
    weights exp(-distance^2 / (2 bandwidth_^2)), scaled to sum to 1: halfway between two words, half to each.

    The words are found by Lloyd's k-means, started by k-means++; from 50,000 descriptors on by mini-batch k-means
    (batches of 8,192). A word that no descriptor is nearest to is moved to the descriptor farthest from its own word.
    """

    _online: MiniBatchKMeans | None = None  # the running means of partial_fit
    _seen: Float32Array | None = None  # the distinct descriptors, while partial_fit has fewer than n_words

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
        array = self._checked(descriptors)
        self._online = self._seen = None
        distinct = _distinct_rows(array, self.n_words)
        if distinct is not None:
            warnings.warn(
                f"n_words={self.n_words} clipped to {len(distinct)}, the number of distinct descriptors",
                stacklevel=2,
            )
            self._set_centers(distinct)
            return self
        by_batches = len(array) >= MINI_BATCH_FROM
        kmeans = (
            MiniBatchKMeans(
                self.n_words, batch_size=BATCH_SIZE, n_init=1, random_state=self.random_state, compute_labels=False
            )
            if by_batches
            else KMeans(self.n_words, n_init=1, random_state=self.random_state)
        )
        # Several threads would add up in another order, and rounding would lead k-means to other words.
        with threadpool_limits(limits=1):
            kmeans.fit(array)
        self._set_centers(kmeans.cluster_centers_.astype(np.float32))
        if by_batches:
            self._relocate_empty(array)
        return self

    def partial_fit(self, descriptors: npt.ArrayLike, y: object = None) -> Self:  # noqa: ARG002
        """Move the words by one batch of descriptors, where memory does not hold all descriptors.

        Parameters
        ----------
        descriptors
            (n, d), n >= 1; read as float32. Some thousands at a time do well.

        Raises
        ------
        ValueError
            As :meth:`fit`; also if the descriptors have another number of columns than those before.

        Notes
        -----
        Mini-batch k-means; the words depend on the order of the batches. While there are fewer than `n_words` distinct
        descriptors, each of them is a word; then k-means++ draws the words from them. After :meth:`fit` or
        :meth:`from_centers` the words found are the start, and the first batch may move them freely.
        """
        array = self._checked(descriptors)
        if hasattr(self, "centers_"):
            self._expect_columns(array)
        if self._online is None:
            start: str | Float32Array = "k-means++"
            if self._seen is None and hasattr(self, "centers_") and self.n_words_ == self.n_words:
                start = self.centers_
            else:
                array = array if self._seen is None else np.concatenate([self._seen, array])
                distinct = _distinct_rows(array, self.n_words)
                if distinct is not None:
                    self._seen = distinct
                    self._set_centers(distinct)
                    return self
            self._seen = None
            self._online = MiniBatchKMeans(
                self.n_words, init=start, batch_size=BATCH_SIZE, n_init=1, random_state=self.random_state
            )
        with threadpool_limits(limits=1):
            for first in range(0, len(array), BATCH_SIZE):
                self._online.partial_fit(array[first : first + BATCH_SIZE])
        self._set_centers(self._online.cluster_centers_.astype(np.float32))
        return self

    def _checked(self, descriptors: npt.ArrayLike) -> Float32Array:
        check_count("n_words", self.n_words)
        return _as_descriptors(descriptors, "descriptors")

    def _expect_columns(self, array: Float32Array) -> None:
        if array.shape[1] != self.n_features_in_:
            raise ValueError(f"descriptors have {array.shape[1]} columns, the codebook has {self.n_features_in_}")

    def _set_centers(self, centers: Float32Array) -> None:
        self.centers_ = np.ascontiguousarray(centers)
        self.n_words_ = len(self.centers_)
        self.n_features_in_ = self.centers_.shape[1]
        self._transposed = np.ascontiguousarray(self.centers_.T)
        norms = np.einsum("wd,wd->w", self.centers_, self.centers_, dtype=np.float64)
        self._half_norms = (0.5 * norms).astype(np.float32)
        self.bandwidth_ = _half_spacing(self.centers_)

    def _relocate_empty(self, descriptors: Float32Array) -> None:
        """Move words without descriptors to the descriptors farthest from their words.

        `KMeans` does so itself; `MiniBatchKMeans` may leave words empty where descriptors repeat. An example: 60 points
        repeated 1,000 times, 20 further points and 75 words. It leaves 13 words empty, at a mean squared distance of
        6.7; moving those words lowers the distance to 0.76.
        """
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

    def predict(self, descriptors: npt.ArrayLike) -> Int32Array:
        """Nearest word of each descriptor, by Euclidean distance; equal distances go to the lower word.

        Parameters
        ----------
        descriptors
            (n, d); read as float32.

        Returns
        -------
        (n,) int32 in 0..n_words_-1, the same for any number of threads.
        """
        words: Int32Array = nearest_words(self._checked_for_words(descriptors), self._transposed, self._half_norms)
        return words

    def memberships(self, descriptors: npt.ArrayLike) -> FloatArray:
        """Shares of each descriptor in the words, by soft assignment (see the class's notes).

        Parameters
        ----------
        descriptors
            (n, d); read as float32.

        Returns
        -------
        (n, n_words_) float64, not negative, rows sum to 1; the same for any number of threads.
        """
        weights = self._weights(descriptors)
        shares: FloatArray = weights / weights.sum(axis=1, dtype=np.float64)[:, None]
        return shares

    def _weights(self, descriptors: npt.ArrayLike) -> Float32Array:
        """Weights (n, n_words_) of the words for each descriptor, scaled so that the nearest word's is 1."""
        array = self._checked_for_words(descriptors)
        exponents: Float32Array = word_exponents(array, self._transposed, self._half_norms, self.bandwidth_)
        return np.exp(exponents, out=exponents)

    def histogram(self, descriptors: npt.ArrayLike, assignment: str = "hard") -> FloatArray:
        """How much of a set of descriptors falls to each word.

        Parameters
        ----------
        descriptors
            (n, d), n >= 1; read as float32.
        assignment
            ``"hard"`` or ``"soft"``.

        Returns
        -------
        (n_words_,) float64, sums to 1.
        """
        if assignment not in ASSIGNMENTS:
            raise ValueError(f"assignment must be one of {', '.join(ASSIGNMENTS)}, got {assignment!r}")
        if assignment == "soft":
            return np.asarray(mean_shares(self._weights(descriptors)))
        words = self.predict(descriptors)
        return np.asarray(np.bincount(words, minlength=self.n_words_) / len(words), dtype=np.float64)

    def _checked_for_words(self, descriptors: npt.ArrayLike) -> Float32Array:
        """Check that the codebook is fitted, and the descriptors that are looked up in it."""
        if not hasattr(self, "centers_"):
            raise ValueError("this codebook is not fitted: call fit(descriptors) or from_centers(centers)")
        array = _as_descriptors(descriptors, "descriptors")
        self._expect_columns(array)
        return array


def _half_spacing(centers: Float32Array) -> float:
    """Half the median distance to the nearest other centre; 1 where there is none (one centre) or it is 0."""
    if len(centers) < 2:
        return 1.0
    distances = cdist(centers, centers)
    np.fill_diagonal(distances, np.inf)
    spacing = float(np.median(distances.min(axis=1)))
    return 0.5 * spacing if spacing > 0 else 1.0


def _as_descriptors(values: npt.ArrayLike, name: str) -> Float32Array:
    """Check a table of descriptors and return it as contiguous float32."""
    array = np.ascontiguousarray(values, dtype=np.float32)
    if array.ndim != 2 or 0 in array.shape:
        raise ValueError(f"{name} must be a non-empty (n, d) array, got shape {array.shape}")
    if not np.isfinite(array).all():
        raise ValueError(f"{name} has values that are NaN or infinite")
    return array


def _distinct_rows(array: Float32Array, enough: int) -> Float32Array | None:
    """Return the distinct rows if there are fewer than `enough`, else None."""
    # The first rows alone mostly hold enough.
    head = np.unique(array[: 4 * enough], axis=0)
    if len(head) >= enough:
        return None
    distinct: Float32Array = np.unique(array, axis=0)
    return distinct if len(distinct) < enough else None
