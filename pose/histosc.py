"""HistoSC: a silhouette as a histogram of shape-context words."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Self

import numpy as np
import numpy.typing as npt
from joblib import effective_n_jobs
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.exceptions import NotFittedError

from pose.codebook import Codebook
from pose.contours import sample_edges
from pose.shape_context import shape_context

Image = npt.ArrayLike
Floats = npt.NDArray[np.float32] | npt.NDArray[np.float64]


class HistoSC(TransformerMixin, BaseEstimator):
    """Histogram of shape contexts of a silhouette (Agarwal and Triggs' descriptor), a scikit-learn transformer.

    Points are sampled evenly along the contours, each is described by its shape context, each shape context is replaced
    by the nearest of `n_words` k-means words, and the words are counted.

    Parameters
    ----------
    n_points
        Edge points for each silhouette.
    n_words
        Size of the vocabulary; clipped, with a warning, to the number of distinct shape contexts.
    n_angular, n_radial, r_inner, r_outer, normalize
        As for :class:`pose.ShapeContext`.
    random_state
        Seed of k-means.
    n_jobs
        Threads over images in `fit` and `transform`, -1 for all processors; the result does not depend on it.

    Attributes
    ----------
    codebook_
        The fitted :class:`pose.Codebook`; its `centers_` and the parameters are the whole state.

    Notes
    -----
    An image is either a mask, as :func:`pose.sample_edges` takes it, or a point set (k, 2), x to the right and y down,
    used as it is. A two-dimensional array with two columns is a point set, unless it is bool or uint8.

    The shape contexts are divided by the number of other points (n_points - 1) before clustering and look-up, so a row
    is the *fraction* of the other points in each bin and sets of different size are comparable. Distances between them
    are Euclidean. `fit` uses every point of every image it is given.

    Examples
    --------
    >>> histosc = HistoSC(n_words=300).fit(training_masks)  # doctest: +SKIP
    >>> histosc.transform(masks).shape  # doctest: +SKIP
    (n, 300)
    """

    def __init__(
        self,
        n_points: int = 400,
        n_words: int = 300,
        n_angular: int = 15,
        n_radial: int = 8,
        r_inner: float = 1 / 8,
        r_outer: float = 2.0,
        normalize: str = "mean_distance",
        random_state: int = 0,
        n_jobs: int | None = 1,
    ) -> None:
        self.n_points = n_points
        self.n_words = n_words
        self.n_angular = n_angular
        self.n_radial = n_radial
        self.r_inner = r_inner
        self.r_outer = r_outer
        self.normalize = normalize
        self.random_state = random_state
        self.n_jobs = n_jobs

    @classmethod
    def from_codebook(
        cls,
        codebook: Codebook,
        n_points: int = 400,
        n_angular: int = 15,
        n_radial: int = 8,
        r_inner: float = 1 / 8,
        r_outer: float = 2.0,
        normalize: str = "mean_distance",
        n_jobs: int | None = 1,
    ) -> Self:
        """Rebuild a fitted transformer from a fitted codebook and the parameters it was fitted with.

        Raises
        ------
        ValueError
            If the words of the codebook do not have n_angular * n_radial entries.
        """
        if codebook.centers_.shape[1] != n_angular * n_radial:
            raise ValueError(
                f"the codebook's words have {codebook.centers_.shape[1]} entries, "
                f"{n_angular} x {n_radial} shape contexts have {n_angular * n_radial}"
            )
        histosc = cls(
            n_points=n_points,
            n_words=codebook.n_words,
            n_angular=n_angular,
            n_radial=n_radial,
            r_inner=r_inner,
            r_outer=r_outer,
            normalize=normalize,
            random_state=codebook.random_state,
            n_jobs=n_jobs,
        )
        histosc.codebook_ = codebook
        return histosc

    def describe(self, image: Image) -> npt.NDArray[np.float32]:
        """Shape contexts of one image, as fractions: (n, n_angular * n_radial) float32, one row for each edge point.

        Raises
        ------
        EmptySilhouetteError
            If the mask has no foreground.
        ValueError
            If it is neither a mask nor a point set.
        """
        array = np.asarray(image)
        is_points = array.ndim == 2 and array.shape[1] == 2 and array.dtype not in (np.bool_, np.uint8)
        points = array if is_points else sample_edges(array, self.n_points)
        counts = shape_context(points, self.n_angular, self.n_radial, self.r_inner, self.r_outer, self.normalize)
        counts /= np.float32(max(len(counts) - 1, 1))
        return counts

    def histogram(self, image: Image) -> npt.NDArray[np.float64]:
        """Histogram of one image: (n_words_,) float64, sums to 1. Raises as :meth:`describe` does."""
        if not hasattr(self, "codebook_"):
            raise NotFittedError("this HistoSC is not fitted: call fit(images) or HistoSC.from_codebook(codebook)")
        words = self.codebook_.predict(self.describe(image))
        counts = np.bincount(words, minlength=self.codebook_.n_words_)
        return np.asarray(counts / len(words), dtype=np.float64)

    def _each(self, function: Callable[[Image], Floats], images: Iterable[Image]) -> Iterator[Floats]:
        """Apply a function to the images in order, `n_jobs` at a time, and say which image it failed on."""
        if isinstance(images, np.ndarray) and images.ndim != 3:
            raise ValueError(
                f"images must be a sequence of masks or point sets; for one image of shape {images.shape} pass [image]"
            )
        n_jobs = effective_n_jobs(self.n_jobs)

        def checked(index: int, image: Image) -> Floats:
            try:
                return function(image)
            except ValueError as error:
                raise type(error)(f"image {index}: {error}") from None

        if n_jobs == 1:
            for index, image in enumerate(images):
                yield checked(index, image)
            return
        with ThreadPoolExecutor(n_jobs) as pool:
            waiting: deque[Future[Floats]] = deque()
            for index, image in enumerate(images):
                waiting.append(pool.submit(checked, index, image))
                if len(waiting) > 2 * n_jobs:  # a bound, so that an iterator over a video is not read ahead
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()

    def fit(self, images: Iterable[Image], y: object = None) -> Self:  # noqa: ARG002
        """Build the vocabulary from every shape context of every image.

        Parameters
        ----------
        images
            Masks or point sets: a list, an array (n, h, w) or an iterator; read once.

        Raises
        ------
        EmptySilhouetteError, ValueError
            For an image without foreground or of the wrong kind (the message gives its position), or no images.
        """
        described = list(self._each(self.describe, images))
        if not described:
            raise ValueError("no images: HistoSC.fit needs at least one silhouette")
        descriptors = np.concatenate(described)
        del described  # at full size this is a third of a gigabyte, twice
        self.codebook_ = Codebook(self.n_words, self.random_state).fit(descriptors)
        return self

    def fit_transform(self, images: Iterable[Image], y: object = None) -> npt.NDArray[np.float64]:
        """Fit, then transform the same images; an iterator is read once. Parameters and errors as for :meth:`fit`."""
        kept = list(images)
        return self.fit(kept, y).transform(kept)

    def transform(self, images: Iterable[Image]) -> npt.NDArray[np.float64]:
        """Histograms of images, one image in memory at a time when `images` is an iterator.

        Parameters
        ----------
        images
            As for :meth:`fit`.

        Returns
        -------
        (n, n_words) float64; each row sums to 1.

        Raises
        ------
        EmptySilhouetteError, ValueError
            As :meth:`fit`; also if not fitted.
        """
        if not hasattr(self, "codebook_"):
            raise NotFittedError("this HistoSC is not fitted: call fit(images) or HistoSC.from_codebook(codebook)")
        rows = list(self._each(self.histogram, images))
        return np.stack(rows) if rows else np.empty((0, self.codebook_.n_words_))

    def get_feature_names_out(self, input_features: object = None) -> npt.NDArray[np.object_]:  # noqa: ARG002
        """Names of the columns, ``word0`` and so on."""
        if not hasattr(self, "codebook_"):
            raise NotFittedError("this HistoSC is not fitted: the number of words is not known yet")
        return np.array([f"word{k}" for k in range(self.codebook_.n_words_)], dtype=object)
