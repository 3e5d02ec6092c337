"""Predictive variance (eq. 2) of many test points at once."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator

import numpy as np
import numpy.typing as npt
import scipy.linalg
from sklearn.exceptions import ConvergenceWarning

from gbcd.linalg.cholesky import cholesky_in_place
from gbcd.memory_budget import available_memory
from gbcd.solvers.cholesky import CholeskyFactor, NotPositiveDefiniteError
from gbcd.solvers.column_factor import (
    MAX_DRAWN_PIVOTS,
    MIN_DRAWN_PIVOTS,
    MIN_FACTOR_BYTES,
    ColumnFactor,
    forecast_norm_left,
)
from gbcd.solvers.preconditioner import Preconditioner
from gbcd.system.protocol import LinearSystem
from gbcd.system.storage import WORKSPACE_BYTES
from gbcd.threads import blas_threads, parallel, spans
from gbcd.types import Float64Array, FloatArray, IntArray
from gbcd.validation import as_columns

RELATIVE_ERROR = 2e-3
"""Largest error of a variance, over the variance. This is a bound: most errors are a tenth of it."""

ABSOLUTE_ERROR = 1e-9
"""Further error that a variance may have, over k(x, x): smaller variances are rounding."""

RANK_FACTOR = 25.0
"""Rank of the preconditioner over sqrt(n): 2,500 at n = 10,000, where products with K take most of the time."""

NEGLIGIBLE_REMAINDER = 1e-2
"""Norm of K - L L', over the noise, below which L grows no more. A step then divides the error by 400."""

MAX_STEPS = 60
"""Largest number of steps for one chunk of points."""

MAX_CHUNK = 512
"""Largest number of points that are solved for together."""

MIN_CHUNK = 16
"""Least number of points that are solved for together, whatever the memory budget."""

ARRAYS_PER_POINT = 8
"""Number of float32 arrays of n values that are in use at once for each point."""

ROWS = 256
"""Training rows that a thread works on at a time."""

LANES = 8
"""Number of ranges of rows that are summed up in order, so that the number of threads makes no difference."""

RIDGE = 1e-5
"""First addition to the unit diagonal of the directions' curvature matrix: directions may nearly repeat."""

MAX_RIDGE = 1e4
"""Limit of the ridge, which is raised tenfold until the curvature matrix is definite. At the limit descent fails."""


def predictive_variance(
    system: LinearSystem,
    X_new: npt.ArrayLike,
    include_noise: bool = False,
    solver: str = "auto",
    random_state: int | np.random.Generator | None = None,
) -> Float64Array:
    """Return k(x, x) - k_*' Kbar^-1 k_* for each row x of X_new (eq. 2), in units of the standardised outputs.

    Parameters
    ----------
    system : KernelSystem
        System over the training inputs; another `LinearSystem` serves too.
    X_new : array (t, d)
        Scaled as the training inputs were.
    include_noise : bool
        False (the convention here): the variance of the latent function. True: the variance of a new
        observation, which is larger by sigma^2.
    solver : {"auto", "cholesky", "gbcd"}
        "gbcd" solves for many points together without storing K; "cholesky" factors Kbar (8 n^2 bytes); "auto" takes
        "cholesky" where its factor fits the memory budget.
    random_state : int, numpy.random.Generator, optional

    Returns
    -------
    array (t,)
        Never negative.

    Raises
    ------
    ValueError
        If X_new has another number of columns than the training inputs, or there is no such solver.

    Warns
    -----
    sklearn.exceptions.ConvergenceWarning
        Where the noise is too small for "gbcd" to reach its accuracy and memory too short for a factor.
    """
    points = as_columns(X_new, "X_new", system.X.shape[1])
    variance = Variances(system, solver, random_state).at(points)
    return variance + system.noise if include_noise else variance


class Variances:
    """What the variances of one system share, prepared on first use: a Cholesky factor or a preconditioner.

    Parameters
    ----------
    system : LinearSystem
    solver, random_state
        See `predictive_variance`.

    Notes
    -----
    Take any z, and g = Kbar z - k_*. The estimate

        k(x, x) - z' (k_* - g) = k(x, x) - k_*' Kbar^-1 k_* + g' Kbar^-1 g

    is never below the variance. The preconditioner P is never above Kbar, so the estimate errs by at most g' P^-1 g,
    which the descent computes anyway. All points of a chunk descend along common directions until this bound is small
    beside the estimate.
    """

    def __init__(
        self,
        system: LinearSystem,
        solver: str = "auto",
        random_state: int | np.random.Generator | None = None,
    ) -> None:
        if solver not in ("auto", "cholesky", "gbcd"):
            raise ValueError(f"The variance solver must be 'auto', 'cholesky' or 'gbcd', not {solver!r}.")
        self._system = system
        self._solver = solver
        self._rng = np.random.default_rng(random_state)
        self._direct: CholeskyFactor | None = None
        self._preconditioner: Preconditioner | None = None

    def at(self, points: Float64Array, progress: Callable[[int, int], None] | None = None) -> Float64Array:
        """Return the variances of the latent function at these points (t, d), shape (t,).

        `progress` is called with the numbers of points done and of all, before the first batch and after each.
        """
        if progress is not None:
            progress(0, len(points))
        system = self._system
        system.require_unchanged()
        prior = system.kernel.diagonal(points)
        variance = np.empty(len(points))
        with blas_threads(1):
            direct = self._is_direct()
            if not direct and self._preconditioner is None:
                self._preconditioner = _preconditioner(system, self._rng)
            for piece in spans(len(points), self._chunk()):
                if direct:
                    variance[piece] = prior[piece] - self._explained_directly(points[piece])
                else:
                    variance[piece] = self._descend(points[piece], prior[piece])
                if progress is not None:
                    progress(piece.stop, len(points))
        return np.maximum(variance, 0)

    def _is_direct(self) -> bool:
        system = self._system
        fits = 8 * system.n**2 + WORKSPACE_BYTES <= system.storage.budget
        # Where float32 is too coarse for the system, this preconditioner needs too many steps.
        hopeless = system.precision.beyond_float32 and _holds_factor(system)
        return self._solver == "cholesky" or (self._solver == "auto" and (fits or hopeless))

    def _chunk(self) -> int:
        taken = 0 if self._preconditioner is None else self._preconditioner.bytes
        affordable = (self._system.storage.room - taken) / (ARRAYS_PER_POINT * 4 * self._system.n)
        return int(np.clip(affordable, MIN_CHUNK, MAX_CHUNK))

    def _explained_directly(self, points: Float64Array) -> Float64Array:
        if self._direct is None:
            self._direct = CholeskyFactor(self._system)
        K_star = self._system.cross(points)
        explained: Float64Array = np.einsum("ij,ij->j", K_star, self._direct.solve(K_star))
        return explained

    def _descend(self, points: Float64Array, prior: Float64Array) -> Float64Array:
        system = self._system
        assert self._preconditioner is not None
        dtype = system.dtype
        G = -system.cross(points, dtype)
        Z = np.zeros_like(G)
        variance = prior.copy()
        everyone: IntArray = np.arange(len(points))
        open_, exact = everyone, True
        D = products = np.empty((system.n, 0), dtype=dtype)
        for _ in range(MAX_STEPS):
            steps, bound = self._steps(G, open_)
            still = bound > RELATIVE_ERROR * variance[open_] + ABSOLUTE_ERROR * prior[open_]
            if not still.any():
                if exact:
                    return variance
                # The running gradient has drifted by rounding in float32. The bound must hold for one evaluated anew.
                D = products = np.empty((system.n, 0), dtype=dtype)
                del G, steps
                G, variance = self._afresh(points, prior, Z)
                exact, open_ = True, everyone
                continue
            if not still.all():
                open_, steps = open_[still], np.ascontiguousarray(steps[:, still])
            _add_product(steps, D, -_inner(products, steps))
            D, products = steps, system.matmul(steps, wide=True)
            if not _orthonormalise(D, products):
                break
            lengths = -_inner(D, G)
            _add_product(G, products, lengths)
            _add_product(Z, D, lengths)
            variance, exact = np.maximum(variance - np.einsum("ij,ij->j", lengths, lengths), 0), False
        G, variance = self._afresh(points, prior, Z)
        bound = self._steps(G, everyone)[1]
        return self._give_up(points, variance, everyone[bound > RELATIVE_ERROR * variance + ABSOLUTE_ERROR * prior])

    def _afresh(self, points: Float64Array, prior: Float64Array, Z: FloatArray) -> tuple[FloatArray, Float64Array]:
        """Return Kbar Z - k_*, evaluated anew, and the variances it gives."""
        G = self._system.matmul(Z, wide=True)
        curvature = _dots(Z, G)
        K_star = self._system.cross(points, self._system.dtype)
        G -= K_star
        return G, np.maximum(prior - 2 * _dots(Z, K_star) + curvature, 0)

    def _steps(self, G: FloatArray, open_: IntArray) -> tuple[FloatArray, Float64Array]:
        """Return -P^-1 g and g' P^-1 g for the open columns of G."""
        assert self._preconditioner is not None
        gradients = G if len(open_) == G.shape[1] else np.ascontiguousarray(G[:, open_])
        steps = self._preconditioner.solve(gradients)
        np.negative(steps, out=steps)
        return steps, -_dots(gradients, steps)

    def _give_up(self, points: Float64Array, estimate: Float64Array, open_: IntArray) -> Float64Array:
        """Replace estimates (t,) outside their bounds by a direct solve, or warn where no factor exists or fits."""
        if not len(open_):
            return estimate
        if _holds_factor(self._system):
            try:
                estimate[open_] = self._system.kernel.diagonal(points[open_]) - self._explained_directly(points[open_])
            except NotPositiveDefiniteError:
                pass
            else:
                return estimate
        warnings.warn(
            f"{len(open_)} variances are not within {RELATIVE_ERROR:g} of their value after {MAX_STEPS} steps (noise "
            f"{self._system.noise:.3g}): they are too large rather than too small; raise the noise.",
            ConvergenceWarning,
            stacklevel=4,
        )
        return estimate


def _holds_factor(system: LinearSystem) -> bool:
    available = available_memory()
    return available is None or 8 * system.n**2 <= available


def _preconditioner(system: LinearSystem, rng: np.random.Generator) -> Preconditioner:
    factor = _grown(system, rng)
    if factor.needs_float64 and system.raise_precision():
        factor = _grown(system, rng)
    return Preconditioner(factor, system.noise)


def _grown(system: LinearSystem, rng: np.random.Generator) -> ColumnFactor:
    factor = ColumnFactor(system, rng)
    wanted = min(RANK_FACTOR * np.sqrt(system.n), system.n // 2)
    room = max(system.storage.room // 2, MIN_FACTOR_BYTES)
    # The next columns are evaluated beside L, and may take a fifth of the room.
    draws = int(
        np.clip(room / (5 * system.dtype.itemsize * system.n), MIN_DRAWN_PIVOTS, min(MAX_DRAWN_PIVOTS, system.n))
    )
    while factor.rank < wanted and factor.bytes + system.dtype.itemsize * draws * system.n <= room:
        if not factor.grow(draws):
            break
        if forecast_norm_left(system.n, factor.rank, factor.trace / system.noise) < NEGLIGIBLE_REMAINDER:
            break
        if factor.leaves_much:
            factor.compress()
    return factor


def _orthonormalise(D: FloatArray, products: FloatArray) -> bool:
    """Scale D (n, k) and Kbar D in place so that D' Kbar D is the identity, up to `RIDGE`; return False if it fails."""
    curvature = _inner(D, products)
    diagonal = np.maximum(np.diagonal(curvature), np.finfo(np.float32).tiny)
    scale = 1 / np.sqrt(diagonal)
    scaled = (curvature + curvature.T) / 2 * scale[:, None] * scale
    ridge = RIDGE
    lower = None
    while lower is None and ridge < MAX_RIDGE:
        try:
            lower = cholesky_in_place(scaled + ridge * np.eye(len(scaled)))
        except scipy.linalg.LinAlgError:
            ridge *= 10
    if lower is None:
        return False
    inverse = scipy.linalg.solve_triangular(lower, np.diag(scale), lower=True, check_finite=False).T
    basis = inverse.astype(D.dtype)

    def work(pieces: Iterator[slice]) -> None:
        for i in pieces:
            D[i] = D[i] @ basis
            products[i] = products[i] @ basis

    parallel(work, spans(len(D), ROWS))
    return True


def _add_product(C: FloatArray, A: FloatArray, M: Float64Array) -> None:
    """C += A @ M, rows shared out among the threads."""
    right = M.astype(C.dtype)

    def work(pieces: Iterator[slice]) -> None:
        for i in pieces:
            C[i] += A[i] @ right

    if right.size:
        parallel(work, spans(len(C), ROWS))


def _inner(A: FloatArray, B: FloatArray) -> Float64Array:
    """Return A' B in float64, (a, b), summed up in lanes of rows so that the number of threads makes no difference."""
    lanes = spans(len(A), max(1, -(-len(A) // LANES)))
    totals = np.zeros((len(lanes), A.shape[1], B.shape[1]))

    def work(mine: Iterator[int]) -> None:
        for lane in mine:
            for i in spans(lanes[lane].stop - lanes[lane].start, ROWS):
                rows = slice(lanes[lane].start + i.start, lanes[lane].start + i.stop)
                totals[lane] += A[rows].T @ B[rows]

    if totals.size:
        parallel(work, range(len(lanes)))
    total: Float64Array = totals.sum(axis=0)
    return total


def _dots(A: FloatArray, B: FloatArray) -> Float64Array:
    dots: Float64Array = np.einsum("ij,ij->j", A, B, dtype=np.float64)
    return dots
