"""What the cells measure, against NumPy on small systems."""

import importlib
import json
import sys

import numpy as np
import pytest
from places import REPOSITORY

from pipelines.bench import approximations, tasks
from pipelines.bench.data.problems import Catalogue, draw
from pipelines.bench.peers import PEERS
from pipelines.bench.runner.cell import UnavailableError
from pipelines.progress import Silent


@pytest.fixture
def specified(tmp_path):
    def make(name="friedman1", n=300):
        return Catalogue(None, tmp_path / "fitted.json", Silent()).specify(name, n)

    return make


def dense(problem):
    gamma = problem.kernel.gamma
    squares = (((problem.X[:, None] - problem.X[None]) ** 2) * gamma).sum(axis=2)
    return np.exp(-squares) + problem.noise * np.eye(len(problem.X))


def parameters(problem, **more):
    return {"problem": problem, "tol": 1e-4, "budget": 10_000_000, "precision": "mixed", "keep": False, **more}


@pytest.mark.parametrize("solver", ["gbcd", "auto", "cholesky"])
def test_a_solve_is_checked_by_a_residual_of_its_own(specified, solver):
    job = tasks.solve_system(parameters(specified(), solver=solver, keep=True), None, 0)
    result = job.work()
    finding = job.check(result)
    problem = draw(specified(), None)
    residual = np.abs(dense(problem) @ result.coef - problem.Y).max()
    assert finding.measures["residual"] == pytest.approx(residual, rel=1e-3, abs=1e-12)
    assert finding.measures["converged"] is True
    assert finding.measures["kernel_passes"] == result.kernel_passes
    assert finding.measures.get("remark") == ("cholesky" if solver == "auto" else None)
    assert finding.arrays["coef"].shape == (300, 1)
    # Test outputs have no noise, so a good prediction is close.
    assert np.sqrt(np.mean((finding.arrays["predictions"] - problem.Y_test) ** 2)) < 0.25


def test_what_does_not_converge_is_no_warning_but_a_measure(specified):
    job = tasks.solve_system(parameters(specified(), solver="gbcd", tol=1e-30, budget="auto"), None, 0)
    finding = job.check(job.work())
    assert finding.measures["converged"] is False
    assert finding.arrays == {}


@pytest.mark.parametrize("peer", ["scipy", "sklearn GPR", "sklearn KernelRidge", "GPyTorch"])
@pytest.mark.parametrize("name", ["arm8", "friedman1_45"])
def test_peers_solve_the_same_system(specified, peer, name):
    if peer == "GPyTorch":
        pytest.importorskip("gpytorch")
    job = tasks.solve_by_peer({"problem": specified(name, 200), "peer": peer, "tol": 1e-4}, None, 0)
    alpha = job.work()
    problem = draw(specified(name, 200), None)
    np.testing.assert_allclose(dense(problem) @ alpha, problem.Y, atol=1e-4)
    measures = job.check(alpha).measures
    assert (measures["converged"], measures["kernel_passes"]) == (True, 1.0)


def test_a_peer_or_solver_that_is_not_there_is_no_fault(specified, monkeypatch):
    monkeypatch.setitem(sys.modules, "gpytorch", None)
    with pytest.raises(UnavailableError, match=r"^not installed$"):
        tasks.solve_by_peer({"problem": specified(), "peer": "GPyTorch", "tol": 1e-4}, None, 0)
    for task in (tasks.solve_system, tasks.variances):
        with pytest.raises(UnavailableError, match=r"^not in this version$"):
            task(parameters(specified(), solver="newton"), None, 0)
    assert "GPyTorch" in PEERS


def test_variances_agree_with_the_direct_ones(specified):
    found = {}
    for solver in ("cholesky", "gbcd"):
        job = tasks.variances(parameters(specified(), solver=solver, n_test=20), None, 0)
        finding = job.check(job.work())
        found[solver] = finding.arrays["variance"]
        assert finding.measures["kernel_passes"] > 0
    problem = draw(specified(), None, n_test=20)
    squares = (((problem.X[:, None] - problem.X_test[None]) ** 2) * problem.kernel.gamma).sum(axis=2)
    K_star = np.exp(-squares)
    exact = 1 - (K_star * np.linalg.solve(dense(problem), K_star)).sum(axis=0)
    np.testing.assert_allclose(found["cholesky"], exact, atol=1e-9)
    assert tasks.relative_rmse(found["gbcd"], exact) < 1e-4


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("method", ["SD", "SR", "MPGP", "gbcd"])
def test_approximations_by_all_rows_have_the_exact_error_and_variances_are_timed_once(specified, method, seed):
    shared = {"problem": specified(), "tol": 1e-6, "n_test": 40, "n_variances": 20}
    if method == "gbcd":
        job = approximations.fit_exact(shared, None, seed)
    else:
        job = approximations.fit_sparse(shared | {"method": method, "n_regressors": 300}, None, seed)
    measures = job.check(job.work()).measures
    problem = draw(specified(), None, 40, seed)
    squares = (((problem.X_test[:, None] - problem.X[None]) ** 2) * problem.kernel.gamma).sum(axis=2)
    errors = np.exp(-squares) @ np.linalg.solve(dense(problem), problem.Y) - problem.Y_test
    assert measures["rmse"] == pytest.approx(np.sqrt(np.mean(errors**2)), rel=1e-3)
    assert measures["regressors"] == 300
    assert (measures["variance_ms"] is None) == (seed > 0)


def test_coefficients_that_are_not_finite_are_an_error(specified):
    problem = draw(specified(), None)
    with pytest.raises(ValueError, match="not finite"):
        tasks.exact_residual(problem, np.full((300, 1), np.nan))


def test_measures_of_difference():
    assert tasks.relative_rmse(np.array([1.1, 2.0]), np.array([1.0, 2.0])) == pytest.approx(np.sqrt(0.01 / 5))
    assert tasks.largest_difference(np.array([[1.0, -3.0]]), np.array([[1.5, -1.0]])) == 2.0


@pytest.mark.parametrize("path", sorted((REPOSITORY / "docs/benchmarks").glob("*.json")), ids=lambda path: path.stem)
def test_the_tasks_that_stored_results_name_are_there(path):
    for task in {cell["task"] for cell in json.loads(path.read_text()).get("cells", [])}:
        module, _, function = task.partition(":")
        assert callable(getattr(importlib.import_module(module), function))
