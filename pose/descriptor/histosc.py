"""HistoSC: a silhouette as a histogram of shape-context words."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from joblib import effective_n_jobs
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.exceptions import NotFittedError

from pose.descriptor.codebook import ASSIGNMENTS, BATCH_SIZE, Codebook
from pose.descriptor.edge_points import ComponentChoice, points_of_shape
from pose.descriptor.shape_context import shape_context
from pose.types import Float32Array, FloatArray, ShapeLike

Rows = Float32Array | FloatArray
"""Result for one image: its shape contexts, or its histogram."""


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
    n_angular, n_radial, r_inner, r_outer, normalize, rotation, binning
        As for :class:`pose.ShapeContext`.
    components
        As for :func:`pose.sample_edges`.
    assignment
        ``"hard"``: each shape context counts for its nearest word. ``"soft"``: it is shared out among the words near
        it, see :class:`pose.Codebook`.
    hellinger
        Take the square root of every entry of a histogram, so that frequent words no longer outweigh the others. The
        Euclidean distance of two such rows is sqrt(2) times the Hellinger distance of the histograms.
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
    An image is a mask, as :func:`pose.sample_edges` takes it; a point set (k, 2), x to the right and y down, used as it
    is; or a tuple (points, tangents) such as :func:`pose.trace_edges` returns. With ``rotation="tangent"`` a point set
    needs its tangents. A two-dimensional array with two columns is a point set, unless it is bool or uint8.

    The shape contexts are divided by the number of other points (n_points - 1) before clustering and look-up, so a row
    is the *fraction* of the other points in each bin and sets of different size are comparable. Distances between rows
    are Euclidean. `fit` uses every point of every image.

    Moving or scaling a silhouette of 180 pixels and more changes less than 0.2 of its histogram (400 points, 100 words;
    0.05 typically), since its pixels then fall differently on its edge. Rotating it changes the histogram unless
    ``rotation="tangent"``; mirroring it always does.

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
        rotation: str = "absolute",
        binning: str = "hard",
        components: ComponentChoice = "largest",
        assignment: str = "hard",
        hellinger: bool = False,
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
        self.rotation = rotation
        self.binning = binning
        self.components = components
        self.assignment = assignment
        self.hellinger = hellinger

    @classmethod
    def from_codebook(cls, codebook: Codebook, **parameters: Any) -> Self:
        """Rebuild a fitted transformer from a fitted codebook and the parameters it was fitted with.

        Parameters
        ----------
        codebook
            Sets `n_words` and `random_state`.
        **parameters
            The other parameters that differ from their defaults.

        Raises
        ------
        ValueError
            If the words of the codebook do not have n_angular * n_radial entries.
        """
        histosc = cls(n_words=codebook.n_words, random_state=codebook.random_state, **parameters)
        if codebook.centers_.shape[1] != histosc.n_angular * histosc.n_radial:
            raise ValueError(
                f"the codebook's words have {codebook.centers_.shape[1]} entries, {histosc.n_angular} x "
                f"{histosc.n_radial} shape contexts have {histosc.n_angular * histosc.n_radial}"
            )
        histosc.codebook_ = codebook
        return histosc

    def describe(self, image: ShapeLike) -> Float32Array:
        """Shape contexts of one image, as fractions: (n, n_angular * n_radial) float32, one row for each edge point.

        Raises
        ------
        EmptySilhouetteError
            If the mask has no foreground.
        ValueError
            If the image is neither a mask nor a point set.
        """
        points, tangents = points_of_shape(image, self.n_points, self.components)
        counts = shape_context(
            points,
            self.n_angular,
            self.n_radial,
            self.r_inner,
            self.r_outer,
            self.normalize,
            self.rotation,
            self.binning,
            tangents,
        )
        counts /= np.float32(max(len(counts) - 1, 1))
        return counts

    def histogram(self, image: ShapeLike) -> FloatArray:
        """Histogram of one image: (n_words_,) float64 that sums to 1; with `hellinger` its squares do.

        Raises as :meth:`describe` does.
        """
        if not hasattr(self, "codebook_"):
            raise NotFittedError("this HistoSC is not fitted: call fit(images) or HistoSC.from_codebook(codebook)")
        counted = self.codebook_.histogram(self.describe(image), self.assignment)
        return np.sqrt(counted) if self.hellinger else counted

    def _each(self, function: Callable[[ShapeLike], Rows], images: Iterable[ShapeLike]) -> Iterator[Rows]:
        """Apply a function to the images in order, `n_jobs` at a time, and say which image it failed on."""
        if isinstance(images, np.ndarray) and images.ndim != 3:
            raise ValueError(
                f"images must be a sequence of masks or point sets; for one image of shape {images.shape} pass [image]"
            )
        n_jobs = effective_n_jobs(self.n_jobs)

        def checked(index: int, image: ShapeLike) -> Rows:
            try:
                return function(image)
            except ValueError as error:
                raise type(error)(f"image {index}: {error}") from None

        if n_jobs == 1:
            for index, image in enumerate(images):
                yield checked(index, image)
            return
        with ThreadPoolExecutor(n_jobs) as pool:
            waiting: deque[Future[Rows]] = deque()
            for index, image in enumerate(images):
                waiting.append(pool.submit(checked, index, image))
                if len(waiting) > 2 * n_jobs:  # a limit, so that a video is not read far ahead
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()

    def fit(self, images: Iterable[ShapeLike], y: object = None) -> Self:  # noqa: ARG002
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
        self._check_assignment()
        described = list(self._each(self.describe, images))
        if not described:
            raise ValueError("no images: HistoSC.fit needs at least one silhouette")
        descriptors = np.concatenate(described)
        del described  # a second copy, a third of a gigabyte at full size
        self.codebook_ = Codebook(self.n_words, self.random_state).fit(descriptors)
        return self

    def partial_fit(self, images: Iterable[ShapeLike], y: object = None) -> Self:  # noqa: ARG002
        """Go on building the vocabulary from more images, for long videos.

        Parameters
        ----------
        images
            As for :meth:`fit`; about twenty images of an iterator are in memory at a time.

        Raises
        ------
        EmptySilhouetteError, ValueError
            As :meth:`fit`. The images that come about twenty or more before the faulty one have been learnt.

        Notes
        -----
        See :meth:`pose.Codebook.partial_fit`. The words move with every call, so histograms made before and after a
        call cannot be compared: transform when the vocabulary is done.
        """
        self._check_assignment()
        codebook = self.codebook_ if hasattr(self, "codebook_") else Codebook(self.n_words, self.random_state)
        batch: list[Rows] = []
        n_images = 0
        for described in self._each(self.describe, images):
            batch.append(described)
            n_images += 1
            if sum(map(len, batch)) >= BATCH_SIZE:
                codebook.partial_fit(np.concatenate(batch))
                batch.clear()
        if n_images == 0:
            raise ValueError("no images: HistoSC.partial_fit needs at least one silhouette")
        if batch:
            codebook.partial_fit(np.concatenate(batch))
        self.codebook_ = codebook
        return self

    def _check_assignment(self) -> None:
        if self.assignment not in ASSIGNMENTS:  # checked before the words are learnt
            raise ValueError(f"assignment must be one of {', '.join(ASSIGNMENTS)}, got {self.assignment!r}")

    def fit_transform(self, images: Iterable[ShapeLike], y: object = None) -> FloatArray:
        """Fit, then transform the same images; an iterator is read once. Parameters and errors as for :meth:`fit`."""
        kept = list(images)
        return self.fit(kept, y).transform(kept)

    def transform(self, images: Iterable[ShapeLike]) -> FloatArray:
        """Histograms of images, one image in memory at a time when `images` is an iterator.

        Parameters
        ----------
        images
            As for :meth:`fit`.

        Returns
        -------
        (n, n_words) float64; each row sums to 1; with `hellinger` its squares do.

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
