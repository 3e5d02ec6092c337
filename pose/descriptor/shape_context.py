"""Shape contexts: log-polar histograms of where the other points lie, seen from each point.

After S. Belongie, J. Malik, J. Puzicha, "Shape Matching and Object Recognition Using Shape Contexts", IEEE TPAMI 24(4),
2002; 15 angular by 8 radial bins as in the pose papers built on them.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, TransformerMixin

from pose.arguments import check_count
from pose.descriptor.compiled_pairs import (
    EDGE_TOLERANCE,
    SHARES,
    count_pairs,
    count_turned_pairs,
    mean_distance,
    share_pairs,
)
from pose.types import Float32Array, FloatArray

NORMALIZATIONS = ("mean_distance", "none")
ROTATIONS = ("absolute", "tangent")
BINNINGS = ("hard", "soft")
PointSet = npt.ArrayLike | tuple[npt.ArrayLike, npt.ArrayLike]
"""Points (k, 2), or a pair of points and their tangents, (k, 2) each."""


def radial_edges(n_radial: int = 8, r_inner: float = 1 / 8, r_outer: float = 2.0) -> FloatArray:
    """Upper edges of the radial bins, evenly spaced in log radius from `r_inner` to `r_outer`, both included.

    Parameters
    ----------
    n_radial
        Number of bins, at least 1; a single bin reaches from 0 to `r_outer`.
    r_inner, r_outer
        First and last upper edge, 0 < r_inner < r_outer.

    Returns
    -------
    (n_radial,) float64.
    """
    check_count("n_radial", n_radial)
    if not 0 < r_inner < r_outer < np.inf:
        raise ValueError(f"radii must satisfy 0 < r_inner < r_outer, got r_inner={r_inner}, r_outer={r_outer}")
    return np.geomspace(r_inner, r_outer, n_radial) if n_radial > 1 else np.array([r_outer], dtype=np.float64)


def as_points(points: npt.ArrayLike) -> FloatArray:
    """Check a point set and return it as (n, 2) float64, n >= 1, finite.

    Raises
    ------
    ValueError
        For another shape, no points, or coordinates that are not finite numbers.
    """
    try:
        array = np.asarray(points, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"points must be an (n, 2) array of numbers: {error}") from None
    if array.ndim != 2 or array.shape[1] != 2:
        raise ValueError(f"points must have shape (n, 2), x and y, got {array.shape}")
    if array.shape[0] == 0:
        raise ValueError("points is empty: a shape context needs at least one point")
    if not np.isfinite(array).all():
        raise ValueError("points has coordinates that are NaN or infinite: remove them first")
    return array


def shape_context(
    points: npt.ArrayLike,
    n_angular: int = 15,
    n_radial: int = 8,
    r_inner: float = 1 / 8,
    r_outer: float = 2.0,
    normalize: str = "mean_distance",
    rotation: str = "absolute",
    binning: str = "hard",
    tangents: npt.ArrayLike | None = None,
) -> Float32Array:
    """Shape context of every point of a set; see :class:`ShapeContext` for parameters and conventions.

    Parameters
    ----------
    points
        (n, 2), x to the right and y down, any unit.
    n_angular, n_radial, r_inner, r_outer, normalize, rotation, binning
        As for :class:`ShapeContext`.
    tangents
        (n, 2) directions of the edge at the points, of any length but 0; needed by ``rotation="tangent"``, else unused.

    Returns
    -------
    (n, n_angular * n_radial) float32 counts.

    Raises
    ------
    ValueError
        If a parameter is out of range, the points are not finite (n, 2) numbers, or tangents are missing or do not fit.
    """
    array = as_points(points)
    check_count("n_angular", n_angular)
    for name, value, known in (
        ("normalize", normalize, NORMALIZATIONS),
        ("rotation", rotation, ROTATIONS),
        ("binning", binning, BINNINGS),
    ):
        if value not in known:
            raise ValueError(f"{name} must be one of {', '.join(known)}, got {value!r}")
    radii = radial_edges(n_radial, r_inner, r_outer)
    if normalize == "mean_distance":
        # Scaled to about 1, so that squared distances neither overflow nor vanish; a power of two causes no rounding.
        array = np.ldexp(array, -np.frexp(np.abs(array).max())[1])
    x = np.ascontiguousarray(array[:, 0])
    y = np.ascontiguousarray(array[:, 1])
    radii *= (mean_distance(x, y) if normalize == "mean_distance" else 1.0) * (1.0 + EDGE_TOLERANCE)
    axes = _unit_tangents(tangents, len(array)) if rotation == "tangent" else None
    if binning == "soft":
        if axes is None:
            axes = np.tile([1.0, 0.0], (len(array), 1))
        shares = share_pairs(x, y, axes, radii, n_angular)
        return np.asarray(shares / SHARES**2, dtype=np.float32)
    halves = count_pairs(x, y, radii, n_angular) if axes is None else count_turned_pairs(x, y, axes, radii, n_angular)
    counts: Float32Array = halves[:, :-1].astype(np.float32)
    counts *= np.float32(0.5)
    return counts


def _unit_tangents(tangents: npt.ArrayLike | None, n: int) -> FloatArray:
    """Check the tangents of `n` points and return them with length 1."""
    if tangents is None:
        raise ValueError(
            'rotation="tangent" needs the tangents of the points: give a mask, or what pose.trace_edges(mask) returns'
        )
    array = np.asarray(tangents, dtype=np.float64)
    if array.shape != (n, 2):
        raise ValueError(f"tangents must have the shape of the points, ({n}, 2), got {array.shape}")
    lengths = np.hypot(array[:, 0], array[:, 1])
    if not (np.isfinite(lengths) & (lengths > 0)).all():
        raise ValueError("tangents must be finite and longer than 0")
    return np.ascontiguousarray(array / lengths[:, None])


class ShapeContext(TransformerMixin, BaseEstimator):
    """Log-polar histograms of the other points, one for each point of a set.

    Parameters
    ----------
    n_angular
        Number of sectors of the full turn.
    n_radial
        Number of rings.
    r_inner, r_outer
        Upper edge of the innermost and of the outermost ring, in the unit that `normalize` sets.
    normalize
        ``"mean_distance"``: the unit is the mean Euclidean distance over all n(n-1)/2 pairs of the set (coincident
        points included, the point with itself not), which makes the result independent of scale.
        ``"none"``: the unit of the coordinates.
    rotation
        ``"absolute"``: angles are those of the image. ``"tangent"``: angles are taken in axes turned with the edge,
        which makes the result independent of rotation; points then need tangents.
    binning
        ``"hard"``: a pair counts in the bin it lies in. ``"soft"``: it is shared by the bins around it, so that a small
        move changes the histogram a little.

    Notes
    -----
    Conventions, for the pair from a point p to another point q:

    * Axes: x to the right, y **down**, as in images.
    * Angle: from the upward vertical (-y) of p, clockwise as seen in the image, so q straight above has 0 degrees, on
      the right 90, below 180. Sector k covers k*360/n_angular to (k+1)*360/n_angular degrees (24 each by default).
    * On an angular edge, within 1e-9 radians (every vertical pair among them): one half in each of the two sectors. A
      left-right mirror therefore exchanges sector k and n_angular-1-k exactly.
    * Radius: n_radial upper edges evenly spaced in log radius from r_inner to r_outer. The innermost ring is open to 0.
      A pair on an upper edge, within a relative 1e-9, belongs to the ring inside. Pairs beyond r_outer are not counted.
    * The point itself is not counted, nor is a coincident point, which has no direction.
    * With ``rotation="tangent"`` the x axis of each point runs along its tangent, and y is turned with it. So 0 degrees
      is to the left of the tangent, which is into the silhouette for the tangents of :func:`pose.trace_edges`. A
      left-right mirror exchanges sector k and n_angular-1-k here too, at each mirrored point.
    * Soft binning shares a pair between the two sectors and the two rings whose centres are next to it, in proportion
      to nearness in angle and in log radius (bilinear), in steps of 1/1024. The centre of a ring lies in the middle of
      its edges in log radius, that of the innermost ring half a ring inside r_inner. A pair inside the innermost
      centre belongs to the innermost ring alone, a pair outside the outermost centre to the outermost ring. A row has
      the same sum as with hard binning.
    * Columns are angular-major: column = sector * n_radial + ring, so ``h.reshape(n, n_angular, n_radial)``.
    * Values are counts (float32; multiples of one half with hard binning), as in Belongie et al.; a row sums to the
      number of other points that are within r_outer and not coincident. A single point has a row of zeros.

    Cost: O(n^2), about a millisecond for 400 points; the lock of the interpreter is released.

    Examples
    --------
    >>> h = ShapeContext().transform([[[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]]])[0]
    >>> h.shape
    (3, 120)
    """

    def __init__(
        self,
        n_angular: int = 15,
        n_radial: int = 8,
        r_inner: float = 1 / 8,
        r_outer: float = 2.0,
        normalize: str = "mean_distance",
        rotation: str = "absolute",
        binning: str = "hard",
    ) -> None:
        self.n_angular = n_angular
        self.n_radial = n_radial
        self.r_inner = r_inner
        self.r_outer = r_outer
        self.normalize = normalize
        self.rotation = rotation
        self.binning = binning

    def __sklearn_is_fitted__(self) -> bool:
        """Always True: there is nothing to learn."""
        return True

    def fit(self, point_sets: object = None, y: object = None) -> Self:  # noqa: ARG002
        """Do nothing: shape contexts learn nothing from data."""
        return self

    def describe(self, points: npt.ArrayLike, tangents: npt.ArrayLike | None = None) -> Float32Array:
        """Shape contexts of one point set.

        Parameters
        ----------
        points
            (n, 2), n >= 1.
        tangents
            (n, 2), for ``rotation="tangent"``.

        Returns
        -------
        (n, n_angular * n_radial) float32 counts.
        """
        return shape_context(points, **self.get_params(), tangents=tangents)

    def transform(self, point_sets: Iterable[PointSet]) -> list[Float32Array]:
        """Shape contexts of several point sets.

        Parameters
        ----------
        point_sets
            An iterable of (n_i, 2) arrays or of pairs (points, tangents), or one (m, n, 2) array.

        Returns
        -------
        list of (n_i, n_angular * n_radial) float32 arrays.

        Raises
        ------
        ValueError
            For a set that is not a finite, non-empty (n, 2) array; the message gives its position.
        """
        described = []
        for index, given in enumerate(point_sets):
            points, tangents = given if isinstance(given, tuple) else (given, None)
            try:
                described.append(self.describe(points, tangents))
            except ValueError as error:
                raise ValueError(f"point set {index}: {error}") from None
        return described

    def get_feature_names_out(self, input_features: object = None) -> npt.NDArray[np.object_]:  # noqa: ARG002
        """Names of the columns, ``angle{sector}_radius{ring}``."""
        names = [f"angle{a}_radius{r}" for a in range(self.n_angular) for r in range(self.n_radial)]
        return np.array(names, dtype=object)
