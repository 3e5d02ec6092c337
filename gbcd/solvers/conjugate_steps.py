"""Preconditioned steps of the whole coefficient vector, each conjugate to the last ones.

In exact arithmetic conjugate gradients need one earlier direction. Here kernel values carry rounding errors (16-bit
codes, float32 tiles), and the gradient is replaced by a more exact one now and then. Both cost conjugacy: on the arm
(n = 10,000, rank 1,500) 39 steps became 78, and 54 with steps kept conjugate to the last 20 directions.
"""

from __future__ import annotations

from collections import deque

import numpy as np

from gbcd.linalg.norms import infinity_norm
from gbcd.progress.restarts import has_stalled
from gbcd.progress.solve_run import SolveRun
from gbcd.solvers.preconditioner import Preconditioner
from gbcd.threads import spans
from gbcd.types import Float64Array, FloatArray

MAX_DRIFT = 0.5
"""Drift over the norm of the running gradient up to which that is used. The drift is what rounding may have moved it by
since it was last evaluated."""

FINAL_NORM = 4.0
"""Norm of the running gradient, in tolerances, below which `MAX_FINAL_DRIFT` is the limit: the check that ends the
descent comes soon then, and the drift is estimated with caution."""

MAX_FINAL_DRIFT = 1.0
"""Drift over the norm of the running gradient up to which that is used just before the end."""

MAX_TILE_ERROR = 0.1
"""Error over the gradient's norm up to which a gradient evaluated in tile precision serves."""

NEGLIGIBLE_DRIFT = 1e-3
"""Drift over the tolerance up to which the running gradient is as good as the exact one."""

MAX_OUTPUTS_TOGETHER = 64
"""Outputs that share directions: more cost more in small products than they save in steps."""

MIN_CURVATURE = 1e-6
"""Curvature of a direction after those of the others are taken away, over its whole: less is rounding."""

LARGEST_ERROR = 4.0
"""The largest of many errors, in standard deviations."""


class Directions:
    """The last search directions D (n, q), scaled to D' Kbar D = I, and their products with Kbar.

    A step gives one direction for each output, and each output moves along those of its whole group: on 4,656 HistoSC
    images (45 outputs, rank 1,000) 39 steps do what takes 54 with a direction of its own for each output.

    Parameters
    ----------
    size : int
        Steps whose directions are kept.
    n_outputs : int
    """

    def __init__(self, size: int, n_outputs: int) -> None:
        self._kept: deque[tuple[FloatArray, FloatArray]] = deque(maxlen=size)
        self._groups = spans(n_outputs, MAX_OUTPUTS_TOGETHER)

    def conjugate(self, step: Float64Array) -> None:
        """Take from the step (n, q), in place, its components along the kept directions."""
        for directions, products in self._kept:
            for j in self._groups:
                step[:, j] -= directions[:, j] @ (products[:, j].T @ step[:, j])

    def add(self, step: Float64Array, product: Float64Array, G: Float64Array) -> Float64Array:
        """Scale the step and its product with Kbar, in place, keep them, and minimise f along them.

        Returns
        -------
        array (n, q)
            What alpha moves by; the gradient G has been changed accordingly.
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
    """Return T (q, q) with T' curvature T = I for a symmetric (q, q) matrix, but for columns of zeros.

    Those stand for directions without curvature of their own in this precision: of outputs that have arrived, or
    that follow from the others'.
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
        Earlier directions a step is kept conjugate to.
    max_steps : float
        Steps after which to give up.
    whole : bool
        K is kept whole, so that a step takes a small part of the time of an exact gradient.

    Returns
    -------
    alpha, gradient : array (n, q)
        The last coefficients and their exact float64 gradient.

    Notes
    -----
    Converges globally: a step minimises f over a space that contains -P^-1 g, so f falls by at least
    (g' P^-1 g)^2 / (2 g' P^-1 Kbar P^-1 g) >= |g|^2 / (2 largest(P) kappa), kappa the condition of
    P^-1/2 Kbar P^-1/2, which is Theorem 2's kind of decrease with another constant.
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
    """Coefficients and running gradient of one descent, and what rounding may have done to the gradient.

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
        self._moved = np.zeros_like(Y)  # what alpha has moved by since G was evaluated
        self._evaluation_error = 0.0  # of G when it was evaluated
        self._drift = 0.0  # of G now
        self._stands_still = False

    @property
    def converged(self) -> bool:
        """Whether an exact gradient is within the tolerance."""
        return self._exact and self._norm <= self._run.problem.tol

    def exact_gradient(self) -> Float64Array:
        """Return the gradient, evaluated in float64 unless it is as good as that."""
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
        # In float64 the running gradient is as good as one that is evaluated afresh.
        self._exact = system.dtype == np.float64 and self._drift <= NEGLIGIBLE_DRIFT * run.problem.tol

    @property
    def _apparently_converged(self) -> bool:
        """Whether an exact gradient is worth half a pass.

        One that is not within the tolerance costs several steps: the norm and the drift must be within it together, or
        the norm within half of it.
        """
        tol = self._run.problem.running_tol
        return self._norm <= max(tol - self._drift, 0.5 * tol) or self._stands_still

    def needs_gradient(self, whole: bool) -> bool:
        """Whether the gradient is to be evaluated: the descent has apparently converged, or the drift is too large.

        Where K is kept `whole`, an evaluation takes the time of many steps, and is put off near the end.
        """
        ends_soon = self._norm <= FINAL_NORM * self._run.problem.tol and self._drift <= MAX_FINAL_DRIFT * self._norm
        drifts_little = (whole and ends_soon) or self._drift <= MAX_DRIFT * self._norm
        return self._apparently_converged or not drifts_little

    def evaluate_gradient(self) -> bool:
        """Replace the running gradient by one evaluated afresh; return False where the descent ends with it.

        It is evaluated in float64 at the end, and where tile precision is too coarse. Else in tile precision: float32
        values err a hundred times less than codes, and take a third of the time of float64.
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
        # The gradient followed by what is kept of K's products, in tile precision.
        self._exact = False
        return True


def _largest_error(value_error: float, moved: Float64Array) -> float:
    """Return about the largest error of K @ moved (n, q) whose kernel values carry this error."""
    return LARGEST_ERROR * value_error * float(np.sqrt(np.einsum("ij,ij->j", moved, moved).max()))
