import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from gbcd import KernelSystem, SquaredExponential, solve
from gbcd.solvers.auto import Auto
from gbcd.solvers.cholesky import Cholesky
from gbcd.solvers.column_factor import ColumnFactor
from gbcd.solvers.cost_model import ByPrecision, CostModel
from gbcd.threads import worker_limit

MB = 1 << 20


@pytest.mark.parametrize("n", [1, 2, 50, 700, 1500])
@pytest.mark.parametrize(("q", "noise"), [(1, 1e-1), (1, 1e-6), (3, 1e-3), (45, 1e-2)])
def test_auto_is_the_direct_solution_with_and_without_memory(problem, n, q, noise, agrees):
    X, Y, kernel, _ = problem(max(n, 5), q=q)
    X, Y = X[:n], Y[:n]
    Kbar = KernelSystem(X, kernel, noise).dense()
    budgets = [30 * MB] if noise < 1e-4 and n > 50 else [0, MB, 30 * MB]
    for budget in budgets:
        result = solve(KernelSystem(X, kernel, noise, budget), Y, "auto", random_state=0)
        assert result.converged
        assert agrees(result, Kbar, noise, Y)
        assert result.choice.name == ("cholesky" if 8 * n**2 <= budget else "gbcd")
        if q > 2:
            assert not result.coef[:, 2].any()


def test_auto_factors_small_systems_at_once(problem):
    X, Y, kernel, noise = problem(300)
    system = KernelSystem(X, kernel, noise)
    result = solve(system, Y, "auto")
    assert result.choice.name == "cholesky"
    assert result.choice.steps is None
    assert str(result.choice) == "cholesky: 300 rows are factored at once"
    # The matrix and one residual, both of one half; no column is drawn.
    assert result.kernel_evaluations <= 2 * 300**2


class Forecasts(CostModel):
    """Forecasts that are given."""

    def __init__(self, direct, blocks):
        super().__init__()
        self.__dict__.update(direct=direct, blocks=blocks)

    def cholesky_seconds(self, system, factor_dtype):
        return self.direct

    def block_seconds(self, system, n_outputs):
        return self.blocks


@pytest.mark.parametrize(
    ("direct", "blocks", "chosen"), [(1.0, 2.0, "cholesky"), (2.0, 1.0, "gbcd"), (np.inf, 9.0, "gbcd")]
)
def test_auto_takes_what_is_forecast_to_be_quicker(problem, dense, direct, blocks, chosen, agrees):
    X, Y, kernel, noise = problem(300, q=3)
    result = solve(KernelSystem(X, kernel, noise), Y, Auto(60, 0, Forecasts(direct, blocks)))
    assert result.converged
    assert agrees(result, dense(X, kernel, noise), noise, Y)
    assert result.solver == "auto"
    assert result.choice.name == chosen
    assert result.choice.seconds == min(direct, blocks)
    assert result.choice.steps.name == "greedy blocks"
    assert result.choice.steps.seconds == blocks
    if chosen == "cholesky":
        assert str(result.choice) == "cholesky: forecast 1 s, against 2 s for greedy blocks of 60"
    else:
        assert str(result.choice) == "gbcd: greedy blocks of 60"


def test_auto_factors_nothing_beyond_the_budget_where_float64_turns_out_to_be_needed(problem, monkeypatch):
    # A factor of 600 rows takes 1.4 MB in float32, 2.9 MB in float64.
    X, Y, kernel, noise = problem(600)
    # Descent is forecast to take long, whatever its steps.
    slow = CostModel(factor_at_once_seconds=0, block_passes=1e9, least_steps=1e9, error_reduction=np.inf)
    solver = Auto(random_state=0, cost_model=slow, direct=Cholesky(float64_rows=100))
    choices = []
    for needed in (False, True):
        monkeypatch.setattr(ColumnFactor, "needs_float64", needed)
        result = solve(KernelSystem(X, kernel, noise, 2_000_000), Y, solver)
        assert result.converged
        choices.append(result.choice.name)
    assert choices == ["cholesky", "gbcd"]


def test_auto_plans_full_vector_steps_too(problem):
    X, Y, kernel, noise = problem(1500)
    no_factor = CostModel(factor_seconds_per_row_cubed=ByPrecision(np.inf, np.inf))
    result = solve(KernelSystem(X, kernel, noise), Y, Auto(random_state=0, cost_model=no_factor))
    assert result.choice.name == "gbcd"
    assert result.choice.steps.name == "full-vector steps"
    assert result.choice.steps == solve(KernelSystem(X, kernel, noise), Y, random_state=0).choice
    assert str(result.choice) == f"gbcd: {result.choice.steps}"


@pytest.mark.parametrize("solver", ["pcg", "auto"])
@pytest.mark.parametrize("mb", [0, 30])
def test_a_seed_gives_the_same_coefficients_whatever_the_workers(problem, solver, mb):
    X, Y, kernel, _ = problem(1100, q=3)
    found = []
    for workers in (1, 2):
        with worker_limit(workers):
            found.append(solve(KernelSystem(X, kernel, 0.1, mb * MB), Y, solver, random_state=3))
    np.testing.assert_array_equal(found[0].coef, found[1].coef)
    assert found[0].kernel_evaluations == found[1].kernel_evaluations


@pytest.mark.parametrize("solver", ["pcg", "auto"])
def test_limits_are_obeyed(problem, solver):
    X, Y, kernel, _ = problem(700)

    def system():
        return KernelSystem(X, kernel, 1e-3, 2 * MB)

    with pytest.warns(ConvergenceWarning, match=f"{solver}: the gradient's infinity norm is"):
        result = solve(system(), Y, solver, tol=1e-9, max_passes=3, random_state=0)
    assert result.kernel_passes <= 5
    with pytest.warns(ConvergenceWarning, match="the callback stopped it"):
        result = solve(system(), Y, solver, tol=1e-9, random_state=0, callback=lambda entry: entry.iteration == 2)
    assert result.n_iter == 2


def test_auto_looks_at_a_coarse_block_no_longer_than_a_factor_is_worth():
    # In 60 dimensions no few columns stand for K: the coarse block would grow to half of all rows.
    rng = np.random.default_rng(0)
    X, Y = rng.standard_normal((6000, 60)), rng.standard_normal((6000, 10))
    direct, chosen = (
        solve(KernelSystem(X, SquaredExponential(1 / 240), 1e-3), Y, solver, random_state=0)
        for solver in ("cholesky", "auto")
    )
    assert chosen.choice.name == "cholesky"
    assert chosen.choice.steps is not None
    assert chosen.kernel_passes < direct.kernel_passes + 0.25
    np.testing.assert_allclose(chosen.coef, direct.coef, atol=1e-4)
