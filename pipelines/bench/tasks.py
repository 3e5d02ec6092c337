"""Tasks that cells measure: a solve, a solve by another library, predictive variances.

A task draws its problem, warms up, works, and checks the result. The warm-up does the same work on few rows, so that
compiled loops, thread pools and BLAS buffers exist before clock and memory are read.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from gbcd import SOLVERS, KernelSystem, SolveResult, predictive_variance, solve
from pipelines.bench.data.problems import Problem, draw
from pipelines.bench.peers import PEERS
from pipelines.bench.runner.cell import Finding, Job, Parameters, UnavailableError, Value
from pose.types import FloatArray

WARM_UP_ROWS = 2500
WARM_UP_POINTS = 300
WARM_UP_PASSES = 5.0
"""Rows, test points and kernel passes of the warm-up, which compiles and loads everything before the clock starts."""

PREDICTED = 500
"""Number of test samples predicted at a time."""

MAX_PASSES = 1e6
"""Kernel passes, more than any solver reaches: the time limit ends a solve that does not converge."""

Budget = int | Literal["auto"]


def solve_system(parameters: Parameters, data: Path | None, seed: int) -> Job[SolveResult]:
    """Solve by one of `gbcd`'s solvers.

    Parameters
    ----------
    parameters : dict
        `problem` (see `Catalogue.specify`), `solver`, `budget` (bytes or "auto"), `precision`, `tol`, and `keep`: true
        to keep the coefficients and the predictions of the test samples. With `n_test`, the error on so many test
        samples is measured, and each seed splits the samples anew. `max_passes` limits the kernel passes.
    data : Path or None
    seed : int
        Seed of the solver, and with `n_test` of the split.
    """
    solver = _solver(parameters)
    problem = draw_split(parameters, data, seed)

    def run(X: FloatArray, Y: FloatArray, name: str, budget: Budget, max_passes: float) -> SolveResult:
        system = KernelSystem(X, problem.kernel, problem.noise, budget, parameters["precision"])
        with unconverged():
            return solve(system, Y, name, tol=parameters["tol"], random_state=seed, max_passes=max_passes)

    max_passes = parameters.get("max_passes", MAX_PASSES)
    few = _few_rows(problem)
    for name in {solver, "gbcd"} if solver == "auto" else {solver}:
        run(problem.X[few], problem.Y[few], name, _small_budget(parameters["budget"], problem), WARM_UP_PASSES)

    def check(result: SolveResult) -> Finding:
        measures: dict[str, Value] = {
            "kernel_passes": result.kernel_passes,
            "update_passes": _update_passes(result),
            "iterations": result.n_iter,
            "residual": exact_residual(problem, result.coef),
            "converged": result.converged,
            "choice": str(result.choice),
            **_test_error(parameters, problem, result.coef),
        }
        if solver == "auto":
            measures["remark"] = result.choice.name
        if not parameters["keep"]:
            return Finding(measures)
        return Finding(measures, {"coef": result.coef, "predictions": predict_mean(problem, result.coef)})

    return Job(lambda: run(problem.X, problem.Y, solver, parameters["budget"], max_passes), check)


def solve_by_peer(parameters: Parameters, data: Path | None, seed: int) -> Job[FloatArray]:
    """Solve by another library: `problem`, `peer` (a name in `PEERS`), `tol`, and `n_test` as in `solve_system`."""
    peer = PEERS[parameters["peer"]]
    problem = draw_split(parameters, data, seed)
    gamma = np.broadcast_to(problem.kernel.gamma, problem.X.shape[1])

    def run(X: FloatArray, Y: FloatArray) -> FloatArray:
        return peer(X, Y, gamma, problem.noise, parameters["tol"])

    few = _few_rows(problem)
    try:
        run(problem.X[few], problem.Y[few])
    except ImportError as error:
        raise UnavailableError("not installed") from error

    def check(alpha: FloatArray) -> Finding:
        residual = exact_residual(problem, alpha)
        measures: dict[str, Value] = {"residual": residual, "converged": residual <= parameters["tol"]}
        # The other libraries store K, so each kernel value is computed once.
        return Finding({"kernel_passes": 1.0, **measures, **_test_error(parameters, problem, alpha)})

    return Job(lambda: run(problem.X, problem.Y), check)


def variances(parameters: Parameters, data: Path | None, seed: int) -> Job[tuple[FloatArray, int]]:
    """Predictive variances of test samples: `problem`, `solver`, `budget`, `tol` and `n_test`."""
    solver = _solver(parameters)
    problem = draw(parameters["problem"], data, n_test=parameters["n_test"])

    def run(X: FloatArray, X_new: FloatArray, budget: Budget) -> tuple[FloatArray, int]:
        system = KernelSystem(X, problem.kernel, problem.noise, budget)
        with unconverged():
            variance = predictive_variance(system, X_new, solver=solver, random_state=seed)
        return variance, system.kernel_evaluations

    budget = _small_budget(parameters["budget"], problem)
    run(problem.X[_few_rows(problem)], problem.X_test[:WARM_UP_POINTS], budget)

    return Job(
        lambda: run(problem.X, problem.X_test, parameters["budget"]), lambda found: _of_variances(problem, *found)
    )


def variances_one_by_one(parameters: Parameters, data: Path | None, seed: int) -> Job[tuple[FloatArray, int]]:
    """Predictive variances by a solve for each test sample, k(x, x) - k_*' z with Kbar z = k_*.

    The parameters are those of `variances`, and `n_points`: the first so many test samples are taken.
    """
    solver = _solver(parameters)
    problem = draw(parameters["problem"], data, n_test=parameters["n_test"])

    def run(X: FloatArray, X_new: FloatArray, max_passes: float) -> tuple[FloatArray, int]:
        system = KernelSystem(X, problem.kernel, problem.noise, parameters["budget"])
        K_star = system.cross(X_new)
        variance = problem.kernel.diagonal(X_new)
        for j in range(len(X_new)):
            with unconverged():
                z = solve(
                    system, K_star[:, j], solver, tol=parameters["tol"], random_state=seed, max_passes=max_passes
                ).coef
            variance[j] -= K_star[:, j] @ z[:, 0]
        return variance, system.kernel_evaluations

    run(problem.X[_few_rows(problem)], problem.X_test[:1], WARM_UP_PASSES)

    points = problem.X_test[: parameters["n_points"]]
    return Job(lambda: run(problem.X, points, MAX_PASSES), lambda found: _of_variances(problem, *found))


def draw_split(parameters: Parameters, data: Path | None, seed: int) -> Problem:
    """Draw the cell's problem; with `n_test`, the seed determines the split."""
    n_test = parameters.get("n_test")
    return draw(parameters["problem"], data) if n_test is None else draw(parameters["problem"], data, n_test, seed)


def rmse(predictions: FloatArray, targets: FloatArray) -> float:
    """Return the root mean square error of eq. 16, in units of the standardised outputs."""
    return float(np.sqrt(np.mean((predictions - targets) ** 2)))


def exact_residual(problem: Problem, alpha: FloatArray) -> float:
    """Return the infinity norm of Kbar @ alpha - Y in float64, from a system that no solver has touched.

    Raises
    ------
    ValueError
        If the norm is not finite.
    """
    system = KernelSystem(problem.X, problem.kernel, problem.noise, memory_budget=0, precision="float64")
    norm = float(np.abs(system.residual(alpha, problem.Y)).max())
    if not np.isfinite(norm):
        raise ValueError("the coefficients are not finite")
    return norm


def relative_rmse(variance: FloatArray, exact: FloatArray) -> float:
    """Return sqrt(mean((v - v_exact)^2) / mean(v_exact^2)), the error of variances (t,) as in eq. 17.

    The exact variances are (s,), s >= t; the first t are used.
    """
    exact = exact[: len(variance)]
    return float(np.sqrt(np.mean((variance - exact) ** 2) / np.mean(exact**2)))


def largest_difference(values: FloatArray, reference: FloatArray) -> float:
    """Return max |values - reference|."""
    return float(np.abs(values - reference).max())


def _of_variances(problem: Problem, variance: FloatArray, evaluations: int) -> Finding:
    measures: dict[str, Value] = {
        "kernel_passes": evaluations / len(problem.X) ** 2,
        "mean_variance": float(variance.mean()),
        "points": len(variance),
    }
    return Finding(measures, {"variance": variance})


def _test_error(parameters: Parameters, problem: Problem, alpha: FloatArray) -> dict[str, Value]:
    if "n_test" not in parameters or not len(problem.X_test):
        return {}
    return {"rmse": rmse(predict_mean(problem, alpha), problem.Y_test)}


def _update_passes(result: SolveResult) -> float:
    """Return the number of columns of K that the steps used, divided by n: passes of the updates alone."""
    n = len(result.coef)
    return sum(n if entry.active is None else len(entry.active) for entry in result.trace) / n


def predict_mean(problem: Problem, alpha: FloatArray) -> FloatArray:
    """Return the predictions (t, q) for the test samples, in float64."""
    system = KernelSystem(problem.X, problem.kernel, problem.noise, memory_budget=0, precision="float64")
    pieces = [problem.X_test[start : start + PREDICTED] for start in range(0, len(problem.X_test), PREDICTED)]
    return np.concatenate([system.cross(piece).T @ alpha for piece in pieces])


def _solver(parameters: Parameters) -> str:
    name: str = parameters["solver"]
    if name not in SOLVERS:
        raise UnavailableError("not in this version")
    return name


def _few_rows(problem: Problem) -> slice:
    return slice(min(WARM_UP_ROWS, len(problem.X)))


def _small_budget(budget: Budget, problem: Problem) -> int:
    """Return the warm-up's budget, bytes: it holds the same share of the smaller K as the full budget of the full K."""
    share = _few_rows(problem).stop / len(problem.X)
    return int(share**2 * KernelSystem(problem.X, problem.kernel, problem.noise, budget).storage.budget)


@contextmanager
def unconverged() -> Iterator[None]:
    """Silence convergence warnings: the table shows what did not converge."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        yield
