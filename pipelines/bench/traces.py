"""Tasks of the figures: the course of a solve, and the correlation of neighbours' gradients during a solve."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import KDTree

from gbcd import KernelSystem, LinearSystem, SolveResult, TraceEntry, solve
from gbcd.paper import ActiveSet, Cyclic, Gradient, RandomSubset, Selection
from gbcd.paper.algorithm1 import block_descent
from gbcd.progress.limits import Limits
from gbcd.progress.solve_run import SolveRun
from pipelines.bench.data.problems import Problem
from pipelines.bench.runner.cell import Finding, Job, Parameters
from pipelines.bench.tasks import MAX_PASSES, PREDICTED, WARM_UP_PASSES, WARM_UP_ROWS, draw_split, rmse, unconverged
from pose.types import Float32Array, FloatArray

STRONG_CORRELATION = 0.5
"""Correlation above which neighbours count as strongly correlated."""

ITERATIONS = 50
BLOCK = 500

SELECTIONS: dict[str, type[Cyclic] | type[Gradient] | type[RandomSubset]] = {
    "bcdc": Cyclic,
    "bcdg": Gradient,
    "gbcd-paper": RandomSubset,
}


GROWTH = 1.1
"""Factor by which iterations or time must grow until coefficients are kept again."""


class _Course:
    """Records a solve after each iteration; the time of recording is subtracted from the clock.

    The gradient and objective that a solve reports are running values, from rounded kernel values. Exact ones are
    computed afterwards, from coefficients kept at some iterations.
    """

    def __init__(self, K_test: Float32Array, targets: FloatArray, limit: float) -> None:
        self._K_test, self._targets, self._limit = K_test, targets, limit
        self._spent = 0.0
        self._due = (0.0, 0.0)
        self.entries: list[tuple[float, float, float]] = []
        self.kept: dict[int, FloatArray] = {}

    def __call__(self, entry: TraceEntry) -> bool:
        started = time.perf_counter()
        seconds = entry.seconds - self._spent
        assert entry.coef is not None
        error = rmse((self._K_test @ entry.coef.astype(np.float32)).astype(np.float64), self._targets)
        if entry.iteration >= self._due[0] or seconds >= self._due[1]:
            self.kept[len(self.entries)] = entry.coef.copy()
            self._due = GROWTH * entry.iteration, GROWTH * seconds
        self.entries.append((entry.iteration, seconds, error))
        self._spent += time.perf_counter() - started
        return seconds > self._limit

    def exact(self, problem: Problem, last: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return exact gradient norms and objectives where coefficients are kept and at the last (n, q); else NaN."""
        norms, objectives = np.full((2, len(self.entries)), np.nan)
        if self.entries:
            kept = self.kept | {len(self.entries) - 1: last}
            norms[list(kept)], objectives[list(kept)] = exact_values(problem, list(kept.values()))
        return norms, objectives


def exact_values(problem: Problem, coefs: list[FloatArray]) -> tuple[FloatArray, FloatArray]:
    """Return each alpha's infinity norm of the gradient g = Kbar alpha - y, and its objective, in float64.

    The objective is f(alpha) = sum_j 1/2 alpha_j' Kbar alpha_j - y_j' alpha_j = sum_j 1/2 alpha_j' (g_j - y_j).
    """
    system = KernelSystem(problem.X, problem.kernel, problem.noise, memory_budget=0, precision="float64")
    alphas, targets = np.concatenate(coefs, axis=1), np.tile(problem.Y, len(coefs))
    G = system.residual(alphas, targets)
    halves = 0.5 * np.einsum("ij,ij->j", alphas, G - targets)
    norms, objectives = np.abs(G).max(axis=0).reshape(len(coefs), -1), halves.reshape(len(coefs), -1)
    return norms.max(axis=1), objectives.sum(axis=1)


def follow_solve(parameters: Parameters, data: Path | None, seed: int) -> Job[tuple[_Course, SolveResult]]:
    """Solve a problem and record the course of the solve.

    Parameters
    ----------
    parameters : dict
        `problem`, `solver`, `budget`, `tol`, `n_test`, and `seconds`, after which the solve is stopped.
    data : Path or None
    seed : int
    """
    problem = draw_split(parameters, data, seed)
    K_test = _float32_rows(problem)

    def run(n: int, max_passes: float, seconds: float) -> tuple[_Course, SolveResult]:
        system = KernelSystem(problem.X[:n], problem.kernel, problem.noise, parameters["budget"])
        course = _Course(K_test[:, :n], problem.Y_test, seconds)
        with unconverged():
            result = solve(
                system,
                problem.Y[:n],
                parameters["solver"],
                tol=parameters["tol"],
                max_passes=max_passes,
                random_state=seed,
                callback=course,
            )
        return course, result

    run(min(WARM_UP_ROWS, len(problem.X)), WARM_UP_PASSES, parameters["seconds"])

    def check(found: tuple[_Course, SolveResult]) -> Finding:
        course, result = found
        columns = np.array(course.entries, dtype=np.float64).reshape(-1, 3).T
        arrays = dict(zip(("iteration", "time", "error"), columns, strict=True))
        arrays["norm"], arrays["objective"] = course.exact(problem, result.coef)
        return Finding(
            {
                "iterations": result.n_iter,
                "kernel_passes": result.kernel_passes,
                "norm": result.gradient_norm,
                "objective": result.objective,
                "rmse": float(columns[2, -1]) if columns.size else None,
                "converged": result.converged,
            },
            arrays,
        )

    return Job(lambda: run(len(problem.X), MAX_PASSES, parameters["seconds"]), check)


def _float32_rows(problem: Problem) -> Float32Array:
    """Return k between the test samples and the training samples, (t, n), in float32."""
    system = KernelSystem(problem.X, problem.kernel, problem.noise, memory_budget=0)
    rows = np.empty((len(problem.X_test), len(problem.X)), dtype=np.float32)
    for start in range(0, len(rows), PREDICTED):
        rows[start : start + PREDICTED] = system.cross(problem.X_test[start : start + PREDICTED]).T
    return rows


class _Recording:
    """A selection that records the gradient of some rows at each step."""

    def __init__(self, inner: Selection, rows: np.ndarray) -> None:
        self._inner, self._rows = inner, rows
        self.gradients: list[FloatArray] = []

    def select(self, system: LinearSystem, G: FloatArray, m: int, rng: np.random.Generator) -> ActiveSet:
        """Select as the wrapped selection does."""
        self.gradients.append(G[self._rows, 0].copy())
        return self._inner.select(system, G, m, rng)


def correlate_neighbours(parameters: Parameters, data: Path | None, seed: int) -> Job[FloatArray]:
    """Follow the gradients of inputs and their nearest neighbours through block descent.

    Parameters
    ----------
    parameters : dict
        `problem`, `solver` (in `SELECTIONS`), `right_hand_side` ("outputs", or "kernel": k_* of a test sample, the
        system of its variance), `n_inputs`, `n_neighbours`.
    data : Path or None
    seed : int
        Seed of the solver and of the choice of inputs.
    """
    problem = draw_split(parameters, data, seed)
    rng = np.random.default_rng(seed)
    inputs = rng.choice(len(problem.X), parameters["n_inputs"], replace=False)
    # Neighbours are nearest in the kernel's own metric.
    Z = problem.X * np.sqrt(problem.kernel.gamma)
    nearest: NDArray[np.intp] = np.asarray(KDTree(Z).query(Z[inputs], k=parameters["n_neighbours"] + 1)[1])
    neighbours = nearest[:, 1:]  # the first is the input itself
    others = rng.integers(len(problem.X), size=neighbours.shape)
    system = KernelSystem(problem.X, problem.kernel, problem.noise, memory_budget=0)
    right = problem.Y if parameters["right_hand_side"] == "outputs" else system.cross(problem.X_test[:1])

    def run() -> FloatArray:
        recording = _Recording(SELECTIONS[parameters["solver"]](), np.arange(len(problem.X)))
        limits = Limits(MAX_PASSES, callback=lambda entry: entry.iteration >= ITERATIONS)
        run = SolveRun(system, right, 0.0, limits)
        block_descent(run, recording, min(BLOCK, len(problem.X) // 10), rng)
        return np.array(recording.gradients).T

    def check(gradients: FloatArray) -> Finding:
        # All gradients shrink together, so each gradient's share of the whole norm is correlated too.
        shares = gradients / np.linalg.norm(gradients, axis=0)
        arrays = {
            "near": correlations(gradients[inputs], gradients[neighbours]),
            "far": correlations(gradients[inputs], gradients[others]),
            "near_share": correlations(shares[inputs], shares[neighbours]),
            "far_share": correlations(shares[inputs], shares[others]),
        }
        means = {name: float(values.mean()) for name, values in arrays.items()}
        strong = {f"{name}_strong": float((values > STRONG_CORRELATION).mean()) for name, values in arrays.items()}
        return Finding({**means, **strong, "iterations": gradients.shape[1]}, arrays)

    return Job(run, check)


def correlations(courses: FloatArray, others: FloatArray) -> FloatArray:
    """Return the correlation over time of each course (a, t) with each of its others (a, b, t), shape (a, b)."""
    a = courses - courses.mean(axis=1, keepdims=True)
    b = others - others.mean(axis=2, keepdims=True)
    lengths = np.linalg.norm(a, axis=1)[:, None] * np.linalg.norm(b, axis=2)
    inner = np.einsum("at,abt->ab", a, b)
    found: FloatArray = np.divide(inner, lengths, out=np.zeros_like(inner), where=lengths > 0)
    return found
