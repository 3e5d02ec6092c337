"""The default solver, and its full-vector steps."""

import importlib.util
import time
from dataclasses import replace

import numpy as np
import pytest
import scipy.linalg
from sklearn.exceptions import ConvergenceWarning

from gbcd import KernelSystem, SquaredExponential, solve
from gbcd.progress.result import Solution
from gbcd.solvers.cholesky import NotPositiveDefiniteError
from gbcd.solvers.coarse_descent import CoarseDescent
from gbcd.solvers.column_factor import ColumnFactor
from gbcd.solvers.cost_model import ByPrecision, CostModel
from gbcd.threads import worker_limit

MB = 1 << 20

CASES = [(q, noise, mb) for q in (1, 3) for noise in (1e-1, 1e-3, 1e-5) for mb in (0, 1, 30)]
CASES += [(45, noise, mb) for noise in (1e-1, 1e-3) for mb in (0, 30)]


def exact_gradient(X, Y, kernel, noise, coef):
    return KernelSystem(X, kernel, noise).dense() @ coef - Y


NO_BLOCKS = CostModel(block_passes=np.inf)
FULL_VECTOR = CoarseDescent(random_state=0, cost_model=NO_BLOCKS)
"""No forecast prefers blocks."""

CODES_AT_NO_COST = replace(
    NO_BLOCKS, coded_extra_steps=0.0, restart_evaluations_per_value=0.0, min_saving=0.0, saving_per_gib=0.0
)
IMPATIENT = replace(NO_BLOCKS, max_steps_over_forecast=0.0, min_steps=2.0)
"""Full-vector steps give way to blocks after two."""

NO_FACTOR = ByPrecision(np.inf, np.inf)


@pytest.fixture
def coded(monkeypatch):
    """K may be kept as codes, however coarse they are beside the noise."""
    monkeypatch.setattr("gbcd.system.precision.MAX_CODE_ROUNDING", np.inf)
    return CoarseDescent(random_state=0, cost_model=CODES_AT_NO_COST)


@pytest.mark.parametrize("n", [1, 2, 50, 700])
@pytest.mark.parametrize(("q", "noise", "mb"), CASES)
@pytest.mark.parametrize("precision", ["mixed", "float64"])
def test_the_solution_is_the_direct_one(problem, dense, n, q, noise, mb, precision):
    X, Y, kernel, _ = problem(max(n, 5), q=q)
    X, Y = X[:n], Y[:n]
    Kbar = dense(X, kernel, noise)
    direct = scipy.linalg.cho_solve(scipy.linalg.cho_factor(Kbar), Y)
    system = KernelSystem(X, kernel, noise, mb * MB, precision)
    result = solve(system, Y, random_state=0)
    assert result.converged
    assert result.choice
    residual = Kbar @ result.coef - Y
    assert result.gradient_norm == pytest.approx(np.abs(residual).max(), rel=1e-5, abs=1e-10)
    np.testing.assert_allclose(result.gradient, residual, rtol=0, atol=1e-9)
    # |K Kbar^-1| <= 1, so the fits differ by the residual at most.
    assert np.linalg.norm((Kbar - noise * np.eye(n)) @ (result.coef - direct)) <= 1.01 * np.linalg.norm(residual) + 1e-8
    if q > 2:
        assert not result.coef[:, 2].any()


@pytest.mark.parametrize("mb", [0, 1, 6, 9, 30, 200])
@pytest.mark.parametrize("noise", [1e-1, 1e-3])
@pytest.mark.parametrize("q", [1, 3])
def test_the_memory_decides_the_way_and_not_the_answer(problem, mb, noise, q):
    X, Y, kernel, _ = problem(1500, q=q)
    system = KernelSystem(X, kernel, noise, mb * MB)
    result = solve(system, Y, FULL_VECTOR)
    assert result.converged
    assert np.abs(exact_gradient(X, Y, kernel, noise, result.coef)).max() <= 1e-4
    assert result.choice.name == "full-vector steps"
    assert result.choice.rank > 0
    # Evaluated values: the more the less memory.
    assert result.kernel_passes <= (4 if mb >= 30 else 20)


def test_a_block_size_means_blocks(problem):
    X, Y, kernel, noise = problem(300)
    result = solve(KernelSystem(X, kernel, noise, 0), Y, block_size=70, random_state=0)
    assert str(result.choice) == "greedy blocks of 70"
    assert result.choice.reason == "a block size was given"
    assert all(len(entry.active) == 70 for entry in result.trace)


def test_the_cheaper_forecast_is_taken(problem):
    X, Y, kernel, noise = problem(600)
    no_time = CoarseDescent(random_state=0, cost_model=CostModel(block_passes=0.0))
    blocks = solve(KernelSystem(X, kernel, noise, 0), Y, no_time)
    assert blocks.choice.name == "greedy blocks"
    assert blocks.choice.seconds == 0
    assert str(blocks.choice) == "greedy blocks of 500"
    assert all(len(entry.active) == 500 for entry in blocks.trace)
    steps = solve(KernelSystem(X, kernel, noise, 0), Y, FULL_VECTOR)
    assert steps.choice.name == "full-vector steps"
    assert 0 < steps.choice.seconds < np.inf
    count, rank = round(steps.choice.n_steps), steps.choice.rank
    assert str(steps.choice) == f"about {count} full-vector steps after a coarse block of {rank:,}"
    assert all(entry.active is None for entry in steps.trace)
    assert blocks.converged
    assert steps.converged


@pytest.mark.parametrize("noise", [1e-2, 1e-4])
@pytest.mark.parametrize("mb", [0, 200])
def test_steps_that_take_too_long_give_way_to_blocks(problem, noise, mb):
    X, Y, kernel, _ = problem(700, q=3)
    solver = CoarseDescent(random_state=0, cost_model=replace(IMPATIENT, factor_seconds_per_row_cubed=NO_FACTOR))
    result = solve(KernelSystem(X, kernel, noise, mb * MB), Y, solver)
    assert result.choice.steps_gave_way
    assert str(result.choice).endswith(", then greedy blocks of 500")
    assert [entry.active is None for entry in result.trace[:3]] == [True, True, False]
    assert result.converged
    assert np.abs(exact_gradient(X, Y, kernel, noise, result.coef)).max() <= 1e-4
    # The blocks go on from what the steps have reached.
    assert result.trace[2].objective <= result.trace[1].objective * (1 + 1e-6) < 0


# In mixed precision the running value drifts, and is put right with the gradient.
@pytest.mark.parametrize(("precision", "mb", "drift"), [("mixed", 0, 2e-4), ("float64", 200, 1e-9)])
@pytest.mark.parametrize("q", [1, 4])
def test_the_objective_falls_with_every_step(problem, precision, mb, drift, q):
    X, Y, kernel, _ = problem(700, q=q)
    result = solve(KernelSystem(X, kernel, 1e-3, mb * MB, precision), Y, FULL_VECTOR)
    objectives = np.array([0.0] + [entry.objective for entry in result.trace])
    assert (np.diff(objectives) <= drift * np.abs(objectives[-1])).all()
    assert result.objective == pytest.approx(objectives[-1], rel=1e-5)


@pytest.mark.parametrize("noise", [1e-1, 1e-3, 1e-5])
@pytest.mark.parametrize("mb", [0, 30])
def test_a_seed_gives_the_same_coefficients_whatever_the_workers(problem, noise, mb):
    X, Y, kernel, _ = problem(1100, q=3)
    found = []
    for workers in (1, 2):
        with worker_limit(workers):
            found.append(solve(KernelSystem(X, kernel, noise, mb * MB), Y, random_state=3, max_passes=1000, tol=1e-3))
    np.testing.assert_array_equal(found[0].coef, found[1].coef)
    assert found[0].kernel_evaluations == found[1].kernel_evaluations
    assert found[0].choice == found[1].choice


@pytest.mark.parametrize("noise", [1e-1, 1e-3])
def test_codes_that_are_too_coarse_are_given_up(problem, coded, monkeypatch, noise):
    # Pretend that codes are far finer than they are: the running gradient is wrong, and only the exact one tells.
    n = 1500
    raised = []
    original = KernelSystem.raise_precision

    def spy(system):
        raised.append(system.precision.allows_codes)
        return original(system)

    monkeypatch.setattr(KernelSystem, "raise_precision", spy)
    monkeypatch.setattr("gbcd.system.coded_array.CodedArray.variance", property(lambda array: 1e-30))
    monkeypatch.setattr("gbcd.system.coded_array.encode", coarse_encode)
    X, Y, kernel, _ = problem(n, q=2)
    system = KernelSystem(X, kernel, noise, 30 * MB)
    result = solve(system, Y, coded)
    assert raised[:1] == [True]
    assert not system.precision.allows_codes
    assert result.converged
    assert np.abs(exact_gradient(X, Y, kernel, noise, result.coef)).max() <= 1e-4


def coarse_encode(values, codes, lows, steps):
    """Levels of a fifth, whatever the row."""
    codes[...] = np.rint(values * 5)
    lows[...] = 0
    steps[...] = 0.2


@pytest.mark.parametrize("noise", [1e-2, 1e-3])
def test_codes_coarser_than_is_allowed_still_arrive(problem, coded, noise):
    X, Y, kernel, _ = problem(1500, q=2)
    system = KernelSystem(X, kernel, noise, 30 * MB)
    result = solve(system, Y, coded, max_passes=1000)
    assert result.converged
    assert np.abs(exact_gradient(X, Y, kernel, noise, result.coef)).max() <= 1e-4


def test_max_passes_is_obeyed(problem):
    X, Y, kernel, _ = problem(700)
    system = KernelSystem(X, kernel, 1e-3, 0)
    with pytest.warns(ConvergenceWarning, match="gbcd: the gradient's infinity norm is"):
        result = solve(system, Y, FULL_VECTOR, tol=1e-9, max_passes=3)
    # A step and the exact gradient come after the limit at most, the coarse block before.
    assert result.n_iter <= 3
    assert result.kernel_passes <= 3 + 2
    assert not result.choice.steps_gave_way
    assert np.abs(result.gradient).max() == result.gradient_norm


def test_the_callback_stops_full_vector_steps(problem):
    X, Y, kernel, _ = problem(700)
    seen = []

    def stop(entry):
        seen.append(entry)
        return len(seen) == 2

    with pytest.warns(ConvergenceWarning, match="the callback stopped it"):
        result = solve(KernelSystem(X, kernel, 1e-3, 0), Y, FULL_VECTOR, tol=1e-9, callback=stop)
    assert result.n_iter == 2
    assert result.trace == seen
    np.testing.assert_array_equal(seen[1].coef, result.coef)


def test_time_that_runs_out_stops_full_vector_steps(problem, monkeypatch):
    X, Y, kernel, _ = problem(700)
    now = [0.0]
    monkeypatch.setattr(time, "perf_counter", lambda: now[0])

    def tick(entry):
        now[0] += 1.0

    system = KernelSystem(X, kernel, 1e-3, 0)
    with pytest.warns(ConvergenceWarning, match="the time of 2 s ran out"):
        result = solve(system, Y, FULL_VECTOR, tol=1e-9, callback=tick, max_time=2.0)
    assert result.n_iter == 2


def test_a_tolerance_beneath_rounding_ends(problem):
    X, Y, kernel, noise = problem(300, q=2)
    with pytest.warns(ConvergenceWarning):
        result = solve(KernelSystem(X, kernel, noise, 0), Y, FULL_VECTOR, tol=1e-30, max_passes=1e4)
    assert result.gradient_norm <= 1e-12


@pytest.mark.shared
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # the problems leave a file open
@pytest.mark.parametrize(
    ("name", "n", "mb", "passes"),
    [
        ("friedman1", 4000, 38, 2.3),
        ("arm8", 4000, 46, 4.0),
        # With less memory what does not fit is evaluated at every step.
        ("arm8", 4000, 38, 6.5),
        ("histosc", 2000, 1, 14.5),
        ("histosc", 2000, 38, 4.2),
    ],
)
def test_passes_on_reference_problems(shared, name, n, mb, passes):
    path = shared / "gp" / "problems.py"
    if not path.exists():
        pytest.skip(f"{path} is missing")
    spec = importlib.util.spec_from_file_location("reference_problems", path)
    problems = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(problems)
    X, Y, gamma, noise = problems.get(name, n)
    system = KernelSystem(X, SquaredExponential(gamma), noise, mb * MB)
    if name != "histosc":
        # A half in float32 does not fit beside what else there is.
        assert 4 * n * (n + 512) // 2 > system.storage.room - 8 * n * 300
    result = solve(system, Y, random_state=0)
    assert result.converged
    assert result.kernel_passes <= passes


@pytest.mark.parametrize("steps_first", [False, True])
@pytest.mark.parametrize("mb", [0, 200])
def test_blocks_give_way_to_a_factor_that_fits(problem, dense, steps_first, mb):
    X, Y, kernel, _ = problem(700, q=2)
    noise = 1e-3 if steps_first else 1e-8
    system = KernelSystem(X, kernel, noise, mb * MB)
    result = solve(system, Y, CoarseDescent(random_state=0, cost_model=IMPATIENT if steps_first else CostModel()))
    assert result.converged
    assert np.abs(dense(X, kernel, noise) @ result.coef - Y).max() <= 1.1e-4
    assert result.choice.steps_gave_way == steps_first
    assert result.choice.factor == ("instead of blocks" if mb else "")
    if mb:
        ending = "greedy blocks of 500: replaced by cholesky, whose factor fits the memory budget"
        assert str(result.choice).endswith(ending)
        assert result.kernel_passes <= 6
        assert all(entry.active is None for entry in result.trace)
    else:
        assert str(result.choice).endswith("greedy blocks of 500")
    given = solve(KernelSystem(X, kernel, noise, mb * MB), Y, block_size=650, random_state=0)
    assert str(given.choice) == "greedy blocks of 650"


class Direct:
    """A direct solver that comes to what it is told."""

    def __init__(self, outcome):
        self._outcome = outcome

    def first_dtype(self, system):
        return np.dtype(np.float64)

    def solve(self, run):
        return self._outcome(run.problem.Y)


def test_a_factor_that_is_no_use_leaves_the_blocks(problem):
    X, Y, kernel, noise = problem(300)
    # Blocks are forecast to be quick, and a factor to be quicker still.
    model = CostModel(
        block_passes=1e-9, factor_seconds_per_row_cubed=ByPrecision(0.0, 0.0), factor_evaluations_per_value=0.0
    )

    def indefinite(Y):
        raise NotPositiveDefiniteError("Kbar is not positive definite")

    def short(Y):
        return Solution(0 * Y, -Y)

    result = solve(KernelSystem(X, kernel, noise), Y, CoarseDescent(None, 0, model, Direct(indefinite)))
    assert result.converged
    assert result.choice.factor == ""
    assert str(result.choice) == "greedy blocks of 300"
    # One that stops short is the blocks' start.
    result = solve(KernelSystem(X, kernel, noise), Y, CoarseDescent(None, 0, model, Direct(short)))
    assert result.converged
    assert result.choice.factor == "before blocks"
    assert str(result.choice) == "greedy blocks of 300, after cholesky"


def test_a_very_smooth_kernel_is_left_to_float64(problem, dense):
    # What float32 leaves of it is a few large eigenvalues, far above the noise.
    X, Y, _, _ = problem(1500, q=2)
    kernel, noise = SquaredExponential([1e-3] * 5 + [1e-6] * 5), 1e-4
    factor = ColumnFactor(KernelSystem(X, kernel, noise, 30 * MB), np.random.default_rng(0))
    while factor.grow(256):
        pass
    assert factor.needs_float64
    system = KernelSystem(X, kernel, noise, 30 * MB)
    assert system.dtype == np.float32
    result = solve(system, Y, random_state=0)
    assert system.dtype == np.float64
    assert result.converged
    assert result.n_iter <= 5
    assert result.kernel_passes <= 3
    assert np.abs(dense(X, kernel, noise) @ result.coef - Y).max() <= 1.01e-4
    # A rough one is not.
    rough = ColumnFactor(KernelSystem(X, SquaredExponential(0.1), noise, 30 * MB), np.random.default_rng(0))
    while rough.grow(256):
        pass
    assert not rough.needs_float64


def test_float64_steps_need_no_gradient_afresh(problem, dense, monkeypatch, agrees):
    X, Y, kernel, noise = problem(1500, q=2)
    monkeypatch.setattr(KernelSystem, "residual", lambda *_: pytest.fail("evaluated again"))
    result = solve(KernelSystem(X, kernel, noise, 12 * MB, "float64"), Y, random_state=0)
    assert result.choice.name == "full-vector steps"
    assert result.converged
    assert agrees(result, dense(X, kernel, noise), noise, Y)
