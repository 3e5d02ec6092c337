"""Preconditioned steps of the whole coefficient vector, each conjugate to the last ones.

In exact arithmetic a step that is conjugate to the last direction is conjugate to all earlier ones. Rounding errors of
kernel values (16-bit codes, float32 tiles) spoil this, and so does replacing the gradient by a more exact one now and
then. On the arm (n = 10,000, rank 1,500) 39 steps became 78, or 54 when made conjugate to the last 20 directions.
"""

from __future__ import annotations

from collections import deque

import numpy as np

from gbcd.linalg.norms import infinity_norm
from gbcd.progress.solve_run import SolveRun
from gbcd.progress.tolerance import has_stalled
from gbcd.solvers.preconditioner import Preconditioner
from gbcd.threads import spans
from gbcd.types import Float64Array, FloatArray

MAX_DRIFT = 0.5
"""Largest drift of the running gradient, over its norm, with which the gradient is used. The drift estimates the
rounding errors gathered since the gradient was last evaluated."""

FINAL_NORM = 4.0
"""Norm of the running gradient, in tolerances, below which `MAX_FINAL_DRIFT` is the limit of the drift: the final check
comes soon, and the estimate of the drift is a cautious one."""

MAX_FINAL_DRIFT = 1.0
"""Largest drift of the running gradient, over its norm, with which the gradient is used just before the end."""

MAX_TILE_ERROR = 0.1
"""Largest error of a gradient evaluated in tile precision, over its norm, with which the gradient is used."""

NEGLIGIBLE_DRIFT = 1e-3
"""Largest drift, over the tolerance, with which the running gradient counts as exact."""

MAX_OUTPUTS_TOGETHER = 64
"""Largest number of outputs that share directions: more outputs cost more in small products than they save in steps."""

MIN_CURVATURE = 1e-6
"""Smallest eigenvalue of the curvature matrix of directions scaled to unit curvature: less is rounding."""

LARGEST_ERROR = 4.0
"""Largest of many rounding errors, in standard deviations."""


class Directions:
    """The last search directions D (n, q), scaled to D' Kbar D = I, and their products with Kbar.

    A step gives one direction for each output, and each output moves along all directions of its group. On 4,656
    HistoSC images (45 outputs, rank 1,000) 39 steps suffice, against 54 where each output moves along its own alone.

    Parameters
    ----------
    size : int
        Number of steps whose directions are kept.
    n_outputs : int
    """

    def __init__(self, size: int, n_outputs: int) -> None:
        self._kept: deque[tuple[FloatArray, FloatArray]] = deque(maxlen=size)
        self._groups = spans(n_outputs, MAX_OUTPUTS_TOGETHER)

    def conjugate(self, step: Float64Array) -> None:
        """Make the step (n, q) conjugate to the kept directions, in place."""
        for directions, products in self._kept:
            for j in self._groups:
                step[:, j] -= directions[:, j] @ (products[:, j].T @ step[:, j])

    def add(self, step: Float64Array, product: Float64Array, G: Float64Array) -> Float64Array:
        """Scale the step and its product with Kbar, in place, keep them, and minimise f along them.

        Returns
        -------
        array (n, q)
            The change of alpha. The gradient G is updated in place.
        """
        moves = np.zeros_like(G)
        for j in self._groups:
            basis = orthonormalising(step[:, j].T @ product[:, j])
            step[:, j], product[:, j] = step[:, j] @ basis, product[:, j] @ basis
            lengths = -(step[:, j].T @ G[:, j])
            moves[:, j] = step[:, j] @ lengths
            G[:, j] += product[:, j] @ lengths
        self._kept.append((step.astype(np.float32), product.astype(np.float32)))
        return moves

    def minimise(self, alpha: Float64Array, G: Float64Array) -> None:
        """Move alpha and its gradient, in place, to the minimum of f along the directions of each step."""
        for directions, products in self._kept:
            for j in self._groups:
                lengths = -(directions[:, j].T @ G[:, j])
                alpha[:, j] += directions[:, j] @ lengths
                G[:, j] += products[:, j] @ lengths


def orthonormalising(curvature: Float64Array) -> Float64Array:
    """Return T (q, q) with T' curvature T = I for a symmetric (q, q) matrix, except for columns of zeros.

    A column of zeros stands for a direction without curvature of its own in this precision. Its output has converged,
    or the direction depends linearly on the others.
    """
    diagonal = np.diagonal(curvature)
    scale = np.divide(1.0, np.sqrt(np.abs(diagonal)), out=np.zeros(len(diagonal)), where=diagonal > 0)
    values, vectors = np.linalg.eigh(scale[:, None] * (curvature + curvature.T) / 2 * scale)
    own = values > MIN_CURVATURE
    roots = np.divide(1.0, np.sqrt(np.abs(values)), out=np.zeros(len(values)), where=own)
    scaled: Float64Array = scale[:, None] * vectors * roots
    return scaled


def conjugate_descent(
    run: SolveRun, preconditioner: Preconditioner, window: int, max_steps: float = np.inf, whole: bool = False
) -> tuple[Float64Array, Float64Array]:
    """Descend until the float64 residual is within the tolerance, a limit is reached, or rounding stops it.

    Parameters
    ----------
    run : SolveRun
    preconditioner : Preconditioner
    window : int
        Number of earlier steps to whose directions a step is made conjugate.
    max_steps : float
        Steps after which to give up.
    whole : bool
        Whether all of K is kept, so that a step takes a small part of the time of an exact gradient.

    Returns
    -------
    alpha, gradient : array (n, q)
        The last coefficients and their exact float64 gradient.

    Notes
    -----
    The descent converges globally. A step minimises f over a space that contains -P^-1 g, so f falls by at least
    (g' P^-1 g)^2 / (2 g' P^-1 Kbar P^-1 g) >= |g|^2 / (2 lambda kappa), where lambda is the largest eigenvalue of P and
    kappa the condition number of P^-1/2 Kbar P^-1/2. This is the decrease of Theorem 2 with another constant.
    """
    descent = _Descent(run, Directions(window, run.problem.Y.shape[1]))
    steps = 0
    while not descent.converged and not run.exhausted and steps < max_steps:
        steps += 1
        descent.step(preconditioner)
        if not descent.converged and descent.needs_gradient(whole) and not descent.evaluate_gradient():
            break
    return descent.alpha, descent.exact_gradient()


class _Descent:
    """Coefficients and running gradient of one descent, and an estimate of the gradient's rounding errors.

    Parameters
    ----------
    run : SolveRun
    directions : Directions

    Attributes
    ----------
    alpha : array (n, q)
    """

    def __init__(self, run: SolveRun, directions: Directions) -> None:
        Y = run.problem.Y
        self.alpha = np.zeros_like(Y)
        self._run = run
        self._directions = directions
        self._G = -Y
        self._norm = self._exact_norm = infinity_norm(self._G)
        self._exact = True  # whether G is as good as a float64 residual
        self._moved = np.zeros_like(Y)  # change of alpha since G was evaluated
        self._evaluation_error = 0.0  # error of G when it was evaluated
        self._drift = 0.0  # error that G may have now
        self._stands_still = False

    @property
    def converged(self) -> bool:
        """Whether an exact gradient is within the tolerance."""
        return self._exact and self._run.problem.tolerance.is_met(self._norm)

    def exact_gradient(self) -> Float64Array:
        """Return the gradient in float64, newly evaluated unless the running one is as good."""
        problem = self._run.problem
        return self._G if self._exact else problem.system.residual(self.alpha, problem.Y)

    def step(self, preconditioner: Preconditioner) -> None:
        """Minimise f along -P^-1 g, made conjugate to earlier directions."""
        run = self._run
        system = run.problem.system
        step = -preconditioner.solve(self._G)
        self._directions.conjugate(step)
        product = system.matmul(step)
        run.count_columns(system.n)
        moves = self._directions.add(step, product, self._G)
        self.alpha += moves
        self._moved += moves
        self._stands_still = not moves.any()
        self._norm = run.record(self.alpha, self._G)
        self._drift = self._evaluation_error + _largest_error(system.product_error, self._moved)
        # In float64 the running gradient is as good as a newly evaluated one while its drift is negligible.
        self._exact = system.dtype == np.float64 and self._drift <= NEGLIGIBLE_DRIFT * run.problem.tolerance.exact

    @property
    def _apparently_converged(self) -> bool:
        """Whether an exact gradient is worth half a pass.

        A check that fails costs as much as several steps. So the sum of norm and drift must be within the tolerance, or
        the norm within half of the tolerance.
        """
        tol = self._run.problem.tolerance.running
        return self._norm <= max(tol - self._drift, 0.5 * tol) or self._stands_still

    def needs_gradient(self, whole: bool) -> bool:
        """Whether the gradient is to be evaluated: the descent has apparently converged, or the drift is too large.

        Where K is kept `whole`, an evaluation takes the time of many steps, and is put off near the end.
        """
        tol = self._run.problem.tolerance.exact
        ends_soon = self._norm <= FINAL_NORM * tol and self._drift <= MAX_FINAL_DRIFT * self._norm
        drifts_little = (whole and ends_soon) or self._drift <= MAX_DRIFT * self._norm
        return self._apparently_converged or not drifts_little

    def evaluate_gradient(self) -> bool:
        """Replace the running gradient by a newly evaluated one; return False where the descent ends with it.

        The gradient is evaluated in float64 at the end, and where tile precision is too coarse; else in tile precision.
        Float32 values err a hundred times less than codes, and take a third of the time of float64.
        """
        problem = self._run.problem
        system = problem.system
        tile_error = _largest_error(system.precision.tile_error, self.alpha)
        self._exact = self._apparently_converged or tile_error > MAX_TILE_ERROR * self._norm
        self._evaluation_error = 0.0 if self._exact else tile_error
        self._moved[:] = 0
        self._G = system.residual(self.alpha, problem.Y, exact=self._exact)
        self._run.count_columns(system.n)
        self._norm = infinity_norm(self._G)
        if self._exact:
            stalled, self._exact_norm = has_stalled(self._exact_norm, self._norm), self._norm
            if self.converged or (stalled and not system.raise_precision()):
                return False
        self._directions.minimise(self.alpha, self._G)
        # `minimise` updated the gradient with kept products, which are not exact.
        self._exact = False
        return True


def _largest_error(value_error: float, moved: Float64Array) -> float:
    """Estimate the largest error of K @ moved (n, q), given the standard deviation of a kernel value's error."""
    return LARGEST_ERROR * value_error * float(np.sqrt(np.einsum("ij,ij->j", moved, moved).max()))
