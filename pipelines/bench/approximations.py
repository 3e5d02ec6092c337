"""Tasks of Table 4: training time, test error and time per variance of sparse approximations and the exact process."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from gbcd import (
    KernelSystem,
    MatchingPursuitGP,
    SolveResult,
    SubsetOfData,
    SubsetOfRegressors,
    predictive_variance,
    solve,
)
from pipelines.bench.data.problems import Problem
from pipelines.bench.runner.cell import Finding, Job, Parameters, Value
from pipelines.bench.tasks import WARM_UP_ROWS, draw_split, predict_mean, rmse
from pose.types import FloatArray

Estimator = SubsetOfData | SubsetOfRegressors | MatchingPursuitGP

ESTIMATORS: dict[str, type[SubsetOfData] | type[SubsetOfRegressors] | type[MatchingPursuitGP]] = {
    "SD": SubsetOfData,
    "SR": SubsetOfRegressors,
    "MPGP": MatchingPursuitGP,
}
WARM_UP_REGRESSORS = 100


def fit_sparse(parameters: Parameters, data: Path | None, seed: int) -> Job[Estimator]:
    """Train a sparse approximation: `problem`, `method` (in `ESTIMATORS`), `n_regressors`, `n_test`, `n_variances`.

    Variances are timed on the first split only: they may take longer than training, and take as long on any split.
    """
    problem = draw_split(parameters, data, seed)
    make = ESTIMATORS[parameters["method"]]

    def run(X: FloatArray, Y: FloatArray, n_regressors: int) -> Estimator:
        return make(
            kernel=problem.kernel,
            noise=problem.noise,
            input_scaling=None,
            n_regressors=n_regressors,
            random_state=seed,
        ).fit(X, Y)

    few = slice(WARM_UP_ROWS)
    run(problem.X[few], problem.Y[few], WARM_UP_REGRESSORS).predict(problem.X_test[:10], return_std=True)

    def check(model: Estimator) -> Finding:
        measures = _on_test_samples(
            problem,
            _timed_variances(parameters, seed),
            lambda X: np.asarray(model.predict(X)),
            lambda X: np.asarray(model.predict(X, return_std=True)[1]) ** 2,
        )
        measures["regressors"] = len(model.active_)
        measures["candidates"] = getattr(model, "n_candidates", None)
        measures["kernel_passes"] = model.kernel_evaluations_ / len(problem.X) ** 2
        return Finding(measures)

    return Job(lambda: run(problem.X, problem.Y, parameters["n_regressors"]), check)


def fit_exact(parameters: Parameters, data: Path | None, seed: int) -> Job[tuple[KernelSystem, SolveResult]]:
    """Train the exact process by the default solver: `problem`, `tol`, `n_test`, `n_variances`, as in `fit_sparse`."""
    problem = draw_split(parameters, data, seed)

    def run(X: FloatArray, Y: FloatArray) -> tuple[KernelSystem, SolveResult]:
        system = KernelSystem(X, problem.kernel, problem.noise)
        return system, solve(system, Y, tol=parameters["tol"], random_state=seed)

    few = slice(WARM_UP_ROWS)
    predictive_variance(run(problem.X[few], problem.Y[few])[0], problem.X_test[:10], solver="gbcd")

    def check(trained: tuple[KernelSystem, SolveResult]) -> Finding:
        system, result = trained
        passes = result.kernel_passes
        measures = _on_test_samples(
            problem,
            _timed_variances(parameters, seed),
            lambda _: predict_mean(problem, result.coef),
            lambda X: predictive_variance(system, X, random_state=seed),
        )
        return Finding(
            measures | {"regressors": len(problem.X), "kernel_passes": passes, "converged": result.converged}
        )

    return Job(lambda: run(problem.X, problem.Y), check)


def _timed_variances(parameters: Parameters, seed: int) -> int:
    return int(parameters["n_variances"]) if seed == 0 else 0


def _on_test_samples(
    problem: Problem,
    n_variances: int,
    predict: Callable[[FloatArray], FloatArray],
    variances: Callable[[FloatArray], FloatArray],
) -> dict[str, Value]:
    """Return the test error, and the milliseconds per variance (None if `n_variances` is 0)."""
    error = rmse(np.asarray(predict(problem.X_test)).reshape(problem.Y_test.shape), problem.Y_test)
    if n_variances == 0:
        return {"rmse": error, "variance_ms": None}
    started = time.perf_counter()
    points = problem.X_test[:n_variances]
    variances(points)
    return {"rmse": error, "variance_ms": 1e3 * (time.perf_counter() - started) / len(points)}
