"""Matching shapes by their shape contexts: chi-square costs, optimal assignment, distances for retrieval.

After Belongie, Malik, Puzicha (2002), section 3, without their alignment by thin-plate splines and their appearance
term.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from joblib import effective_n_jobs
from scipy.optimize import linear_sum_assignment

from pose.descriptor.compiled_costs import chi_square
from pose.descriptor.edge_points import points_of_shape
from pose.descriptor.shape_context import ShapeContext, as_points
from pose.types import Float32Array, FloatArray, ShapeLike


class Match(NamedTuple):
    """A one-to-one match of two point sets.

    Parameters
    ----------
    distance
        Mean cost of the matched pairs, 0 to 1.
    first, second
        (min(n, m),) indices: point ``first[k]`` of the first set belongs to point ``second[k]`` of the second.
    """

    distance: float
    first: npt.NDArray[np.intp]
    second: npt.NDArray[np.intp]


def chi_square_costs(first: npt.ArrayLike, second: npt.ArrayLike) -> FloatArray:
    """Cost of matching each shape context of one set with each of another set.

    Parameters
    ----------
    first, second
        (n, d) and (m, d) counts or fractions, not negative; scaled here to sum to 1.

    Returns
    -------
    (n, m) float64: half the sum over bins of (a - b)^2 / (a + b), without bins that are empty in both; 0 for equal
    histograms, 1 for those without a common bin. An empty histogram costs 1/2 against any other.

    Raises
    ------
    ValueError
        If the two are not tables with the same number of columns, or hold numbers that are negative or not finite.
    """
    a, b = _fractions(first, "first"), _fractions(second, "second")
    if a.shape[1] != b.shape[1]:
        raise ValueError(f"first has {a.shape[1]} columns, second {b.shape[1]}: make both with the same ShapeContext")
    return _costs(a, b)


def match_shape_contexts(first: npt.ArrayLike, second: npt.ArrayLike) -> Match:
    """Match two sets of shape contexts one to one at the least total cost.

    Parameters
    ----------
    first, second
        (n, d) and (m, d), as for :func:`chi_square_costs`. If n and m differ, |n - m| points of the larger set stay
        unmatched at no cost: sample both shapes with the same number of points.

    Returns
    -------
    Match

    Raises
    ------
    ValueError
        As :func:`chi_square_costs`.
    """
    return _assign(chi_square_costs(first, second))


def shape_context_distance(
    first: ShapeLike, second: ShapeLike, n_points: int = 100, context: ShapeContext | None = None
) -> float:
    """Distance of two shapes: the mean chi-square cost of their best one-to-one match.

    Parameters
    ----------
    first, second
        A mask, a point set (k, 2), or (points, tangents), as :class:`pose.HistoSC` takes them.
    n_points
        Edge points of a mask.
    context
        How to describe the points; :class:`pose.ShapeContext` with its defaults if None. With ``rotation="tangent"``
        the distance does not depend on how the shapes are turned.

    Returns
    -------
    float, 0 to 1; symmetric; 0 for equal shapes. It is no metric: the triangle inequality may fail. Moving or scaling
    silhouettes of 180 pixels and more changes the distance by less than 0.1, with ``binning="soft"`` by less than 0.05,
    since their pixels then fall differently on their edges.

    Raises
    ------
    EmptySilhouetteError, ValueError
        For a shape that is empty or of the wrong kind.

    Examples
    --------
    >>> square = [[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]]
    >>> shape_context_distance(square, [[5.0 + 3.0 * x, 3.0 * y] for x, y in square])
    0.0
    """
    context = context or ShapeContext()
    one, other = (_fractions(_contexts_of(shape, n_points, context), "shape") for shape in (first, second))
    return _assign(_costs(one, other)).distance


def shape_context_distances(
    shapes: Sequence[ShapeLike],
    references: Sequence[ShapeLike] | None = None,
    n_points: int = 100,
    context: ShapeContext | None = None,
    flips: bool = False,
    n_jobs: int | None = 1,
) -> FloatArray:
    """Distances of every shape to every reference, for retrieval and nearest-neighbour classification.

    Parameters
    ----------
    shapes, references
        As for :func:`shape_context_distance`. Without references, the shapes among themselves.
    n_points, context
        As for :func:`shape_context_distance`.
    flips
        Take the least of three distances: of the shape as it is, mirrored left to right, and mirrored upside down.
        Without references the earlier shape of each pair is mirrored.
    n_jobs
        Threads, -1 for all processors; the result does not depend on it.

    Returns
    -------
    (len(shapes), len(references)) float64, the diagonal 0 where the shapes are compared among themselves.

    Raises
    ------
    EmptySilhouetteError, ValueError
        As :func:`shape_context_distance`; the message gives the position of the shape.
    """
    context = context or ShapeContext()
    turned = [(1.0, 1.0), (-1.0, 1.0), (1.0, -1.0)] if flips else [(1.0, 1.0)]
    described = [
        [_context_fractions(shapes, k, n_points, context, flip) for flip in turned] for k in range(len(shapes))
    ]
    among = references is None
    others = (
        [versions[0] for versions in described]
        if references is None
        else [_context_fractions(references, k, n_points, context) for k in range(len(references))]
    )
    distances = np.zeros((len(described), len(others)))

    def fill(row: int) -> None:
        # Half of the table is enough: mirroring both shapes leaves their distance unchanged.
        for column in range(row + 1 if among else 0, len(others)):
            distances[row, column] = min(
                _assign(_costs(version, others[column])).distance for version in described[row]
            )

    with ThreadPoolExecutor(effective_n_jobs(n_jobs)) as pool:
        list(pool.map(fill, range(len(described))))
    return distances + distances.T if among else distances


def _context_fractions(
    shapes: Sequence[ShapeLike],
    index: int,
    n_points: int,
    context: ShapeContext,
    flip: tuple[float, float] = (1.0, 1.0),
) -> FloatArray:
    try:
        return _fractions(_contexts_of(shapes[index], n_points, context, flip), "shape")
    except ValueError as error:
        raise type(error)(f"shape {index}: {error}") from None


def _contexts_of(
    shape: ShapeLike, n_points: int, context: ShapeContext, flip: tuple[float, float] = (1.0, 1.0)
) -> Float32Array:
    """Shape contexts (n, d) of a shape, mirrored along either axis where its factor is -1."""
    points, tangents = points_of_shape(shape, n_points)
    points = as_points(points) * flip
    if tangents is not None:
        # A mirror also reverses the direction of the edge, so that the inside stays on the left.
        tangents = np.asarray(tangents) * flip * (flip[0] * flip[1])
    return context.describe(points, tangents)


def _fractions(values: npt.ArrayLike, name: str) -> FloatArray:
    """Check shape contexts and scale each row to sum to 1; a row without counts stays 0."""
    array = np.array(values, dtype=np.float64, order="C")
    if array.ndim != 2 or 0 in array.shape:
        raise ValueError(f"{name} must be a non-empty (n, d) array of shape contexts, got shape {array.shape}")
    if not (np.isfinite(array) & (array >= 0)).all():
        raise ValueError(f"{name} has values that are negative, NaN or infinite")
    totals = array.sum(axis=1, keepdims=True)
    array /= np.where(totals > 0, totals, 1.0)
    return array


def _costs(first: FloatArray, second: FloatArray) -> FloatArray:
    costs: FloatArray = chi_square(first, np.ascontiguousarray(second.T))
    return costs


def _assign(costs: FloatArray) -> Match:
    rows, columns = linear_sum_assignment(costs)
    return Match(float(costs[rows, columns].mean()), rows, columns)
