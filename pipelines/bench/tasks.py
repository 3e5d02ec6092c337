"""What the cells measure: a solve, a peer's solve, predictive variances. A task draws, warms up, works and checks.

The warm-up takes the same course on few rows, so that compiled loops, thread pools and BLAS buffers are there before
the clock and the memory are read.
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
from gbcd.system import auto_memory_budget
from pipelines.bench.cell import Finding, FloatArray, Job, Parameters, UnavailableError, Value
from pipelines.bench.peers import PEERS
from pipelines.bench.problems import Problem, draw

WARM_UP_ROWS = 2500
WARM_UP_POINTS = 300
WARM_UP_PASSES = 5.0

MAX_PASSES = 1e6
"""No limit: that of time ends what does not converge."""

Budget = int | Literal["auto"]


def solve_system(parameters: Parameters, data: Path | None, seed: int) -> Job[SolveResult]:
    """Solve by one of `gbcd`'s solvers.

    Parameters
    ----------
    parameters : dict
        `problem` (see `Catalogue.specify`), `solver`, `budget` (bytes or "auto"), `precision`, `tol`, and `keep`: true
        to keep the coefficients and the predictions of the test samples.
    data : Path or None
    seed : int
        Of the solver; the problem is the same for all.
    """
    solver = _solver(parameters)
    problem = draw(parameters["problem"], data)

    def run(X: FloatArray, Y: FloatArray, name: str, budget: Budget, max_passes: float) -> SolveResult:
        system = KernelSystem(X, problem.kernel, problem.noise, budget, parameters["precision"])
        with _unconverged():
            return solve(system, Y, name, tol=parameters["tol"], random_state=seed, max_passes=max_passes)

    few = _few_rows(problem)
    for name in {solver, "gbcd"} if solver == "auto" else {solver}:
        run(problem.X[few], problem.Y[few], name, _small_budget(parameters["budget"], problem), WARM_UP_PASSES)

    def check(result: SolveResult) -> Finding:
        measures: dict[str, Value] = {
            "kernel_passes": result.kernel_passes,
            "iterations": result.n_iter,
            "residual": exact_residual(problem, result.coef),
            "converged": result.converged,
            "choice": result.choice,
        }
        if solver == "auto":
            measures["remark"] = result.choice.partition(":")[0]
        if not parameters["keep"]:
            return Finding(measures)
        return Finding(measures, {"coef": result.coef, "predictions": _predict(problem, result.coef)})

    return Job(lambda: run(problem.X, problem.Y, solver, parameters["budget"], MAX_PASSES), check)


def solve_by_peer(parameters: Parameters, data: Path | None, seed: int) -> Job[FloatArray]:
    """Solve by another library: `problem`, `peer` (a name in `PEERS`) and `tol`."""
    del seed  # none of them draws
    peer = PEERS[parameters["peer"]]
    problem = draw(parameters["problem"], data)
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
        # They store K: each value is computed once.
        return Finding({"kernel_passes": 1.0, "residual": residual, "converged": residual <= parameters["tol"]})

    return Job(lambda: run(problem.X, problem.Y), check)


def variances(parameters: Parameters, data: Path | None, seed: int) -> Job[tuple[FloatArray, int]]:
    """Predictive variances of test samples: `problem`, `solver`, `budget`, `tol` and `n_test`."""
    solver = _solver(parameters)
    problem = draw(parameters["problem"], data, n_test=parameters["n_test"])

    def run(X: FloatArray, X_new: FloatArray, budget: Budget) -> tuple[FloatArray, int]:
        system = KernelSystem(X, problem.kernel, problem.noise, budget)
        with _unconverged():
            variance = predictive_variance(system, X_new, solver=solver, random_state=seed)
        return variance, system.kernel_evaluations

    budget = _small_budget(parameters["budget"], problem)
    run(problem.X[_few_rows(problem)], problem.X_test[:WARM_UP_POINTS], budget)

    def check(result: tuple[FloatArray, int]) -> Finding:
        variance, evaluations = result
        measures: dict[str, Value] = {
            "kernel_passes": evaluations / len(problem.X) ** 2,
            "mean_variance": float(variance.mean()),
        }
        return Finding(measures, {"variance": variance})

    return Job(lambda: run(problem.X, problem.X_test, parameters["budget"]), check)


def exact_residual(problem: Problem, alpha: FloatArray) -> float:
    """Return the infinity norm of Kbar @ alpha - Y in float64, from a system that no solver has touched.

    Raises
    ------
    ValueError
        If it is not finite.
    """
    system = KernelSystem(problem.X, problem.kernel, problem.noise, memory_budget=0, precision="float64")
    norm = float(np.abs(system.residual(alpha, problem.Y)).max())
    if not np.isfinite(norm):
        raise ValueError("the coefficients are not finite")
    return norm


def relative_rmse(variance: FloatArray, exact: FloatArray) -> float:
    """Return sqrt(mean((v - v_exact)^2) / mean(v_exact^2)), the error of variances (t,) as in eq. 17."""
    return float(np.sqrt(np.mean((variance - exact) ** 2) / np.mean(exact**2)))


def largest_difference(values: FloatArray, reference: FloatArray) -> float:
    """Return max |values - reference|."""
    return float(np.abs(values - reference).max())


def _predict(problem: Problem, alpha: FloatArray) -> FloatArray:
    system = KernelSystem(problem.X, problem.kernel, problem.noise, memory_budget=0, precision="float64")
    return system.cross(problem.X_test).T @ alpha


def _solver(parameters: Parameters) -> str:
    name: str = parameters["solver"]
    if name not in SOLVERS:
        raise UnavailableError("not in this version")
    return name


def _few_rows(problem: Problem) -> slice:
    return slice(min(WARM_UP_ROWS, len(problem.X)))


def _small_budget(budget: Budget, problem: Problem) -> int:
    """Return a budget for the warm-up that holds the same part of its smaller K."""
    share = _few_rows(problem).stop / len(problem.X)
    return int(share**2 * (auto_memory_budget() if budget == "auto" else budget))


@contextmanager
def _unconverged() -> Iterator[None]:
    """Let the table say what did not converge."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        yield
