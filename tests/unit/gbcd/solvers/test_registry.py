import importlib.util
import time

import numpy as np
import pytest
import scipy.linalg
from places import SHARED
from sklearn.exceptions import ConvergenceWarning

from gbcd import SOLVERS, KernelSystem, SquaredExponential, predictive_variance, solve
from gbcd.paper.algorithm1 import solve_block
from gbcd.solvers.coarse_descent import CoarseDescent

PROBLEMS = SHARED / "gp" / "problems.py"
KEEP, NOTHING = 1 << 30, 0


@pytest.mark.parametrize("solver", sorted(SOLVERS))
@pytest.mark.parametrize("q", [1, 3, 45])
@pytest.mark.parametrize("budget", [KEEP, NOTHING], ids=["kept", "tiles"])
def test_every_solver_equals_the_direct_one(problem, dense, solver, q, budget):
    # The gradient rule picks near-copies together: it needs an easy problem to arrive at all.
    X, Y, kernel, noise = problem(400, q=q, noise=3.0 if solver == "bcdg" else 0.3)
    Kbar = dense(X, kernel, noise)
    direct = scipy.linalg.cho_solve(scipy.linalg.cho_factor(Kbar), Y)
    result = solve(KernelSystem(X, kernel, noise, budget), Y, solver, block_size=120, random_state=0)
    assert result.converged
    residual = np.abs(Kbar @ result.coef - Y).max()
    assert residual <= 1e-4
    # The reported norm is this residual, not the running value of float32 tiles.
    assert result.gradient_norm == pytest.approx(residual, rel=1e-6, abs=1e-11)
    K = Kbar - noise * np.eye(400)
    assert np.abs(K @ (result.coef - direct)).max() <= 1e-3
    if q > 2:
        assert not result.coef[:, 2].any()  # a constant column, standardised, is zero and stays it


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("solver", ["gbcd", "gbcd-paper", "bcdc", "bcdg"])
def test_the_objective_never_rises(problem, solver):
    X, Y, kernel, noise = problem(400, q=2)
    system = KernelSystem(X, kernel, noise, NOTHING, "float64")
    result = solve(system, Y, solver, block_size=40, tol=1e-2, max_passes=20, random_state=0)
    objectives = [0.0] + [entry.objective for entry in result.trace]
    assert (np.diff(objectives) <= 1e-9).all()
    assert result.objective == pytest.approx(objectives[-1])


def test_the_trace_and_the_counters_tell_what_happened(problem):
    X, Y, kernel, noise = problem(600)
    system = KernelSystem(X, kernel, noise, NOTHING)
    system.block(np.arange(3), np.arange(3))  # evaluations before the solve are not the solve's
    seen = []
    result = solve(system, Y, block_size=100, random_state=0, callback=seen.append)
    assert seen == result.trace
    np.testing.assert_array_equal(seen[-1].coef, result.coef)
    assert all(entry.coef is None for entry in result.trace)
    assert result.n_iter == len(seen) == seen[-1].iteration
    assert result.kernel_evaluations == system.kernel_evaluations - 9
    assert result.kernel_passes == result.kernel_evaluations / 600**2
    assert all(len(entry.active) == 100 for entry in seen)
    assert sorted(entry.seconds for entry in seen) == [entry.seconds for entry in seen]


def test_cyclic_blocks_count_exactly(problem):
    X, Y, kernel, noise = problem(600, noise=10.0)
    result = solve(KernelSystem(X, kernel, noise, NOTHING, "float64"), Y, "bcdc", block_size=100)
    checks = result.kernel_evaluations - result.n_iter * (600 * 100 + 100**2)
    # What is left are whole float64 residuals.
    system = KernelSystem(X, kernel, noise, NOTHING, "float64")
    system.residual(Y, Y)
    assert checks > 0
    assert checks % system.kernel_evaluations == 0


def test_a_random_state_gives_the_same_answer_again(problem):
    X, Y, kernel, noise = problem(500)
    first, second = (solve(KernelSystem(X, kernel, noise, NOTHING), Y, block_size=50, random_state=7) for _ in range(2))
    # Threads add their tiles to disjoint rows, so only the sum of the final check may round otherwise.
    np.testing.assert_allclose(first.coef, second.coef, atol=1e-9)
    assert first.kernel_evaluations == second.kernel_evaluations


def test_float32_tiles_are_refined_to_a_tolerance_they_alone_cannot_reach(problem, dense):
    X, Y, kernel, noise = problem(600, noise=1e-3)
    result = solve(KernelSystem(X, kernel, noise, NOTHING), Y, block_size=200, tol=1e-8, random_state=0)
    assert result.converged
    exact = np.abs(dense(X, kernel, noise) @ result.coef - Y).max()
    assert exact <= 1e-8
    assert result.gradient_norm == pytest.approx(exact, rel=1e-2)


def test_passes_on_friedman1_are_few(problem):
    X, Y, kernel, noise = problem(2000)
    ours, paper = (
        solve(KernelSystem(X, kernel, noise, NOTHING), Y, name, block_size=200, random_state=0).kernel_passes
        for name in ("gbcd", "gbcd-paper")
    )
    assert ours <= paper
    assert ours <= 7


@pytest.mark.shared
def test_histograms_with_45_outputs_converge():
    if not PROBLEMS.exists():
        pytest.skip(f"{PROBLEMS} is missing: the reference problems are not beside this repository")
    spec = importlib.util.spec_from_file_location("reference_problems", PROBLEMS)
    assert spec is not None
    assert spec.loader is not None
    problems = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(problems)
    X, Y, gamma, noise = problems.get("histosc", 2000)
    result = solve(KernelSystem(X, SquaredExponential(gamma), noise, NOTHING), Y, random_state=0)
    assert result.gradient_norm <= 1e-4
    assert result.kernel_passes <= 17


def hard_inputs():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((300, 3)), rng.standard_normal((300, 2))
    kernel = SquaredExponential(0.5)
    return {
        "one row": (X[:1], y[:1], kernel, 0.1),
        "fewer rows than a block": (X[:7], y[:7], kernel, 0.1),
        "every row twice": (np.r_[X, X], np.r_[y, y + 0.1], kernel, 1e-2),
        "duplicates without noise to speak of": (np.r_[X, X], np.r_[y, y], kernel, 1e-8),
        "all rows the same": (np.ones((50, 3)), y[:50], kernel, 1e-6),
        "a constant feature": (np.c_[X, np.full(300, 1e6)], y, SquaredExponential([0.5] * 4), 0.1),
        "huge outputs": (X, 1e12 * y, kernel, 0.1),
        "tiny outputs": (X, 1e-12 * y, kernel, 0.1),
        "outputs whose squares overflow": (X, 1e200 * y, kernel, 0.1),
        "outputs whose squares vanish": (X, 1e-200 * y, kernel, 0.1),
        "zero outputs": (X, 0 * y, kernel, 0.1),
        "far apart": (1e6 * X, y, kernel, 0.1),
    }


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("case", hard_inputs())
@pytest.mark.parametrize("solver", ["gbcd", "gbcd-paper", "cg", "cholesky"])
@pytest.mark.parametrize("block_size", [50, None])
def test_hard_inputs_end_and_end_without_nan(case, solver, block_size):
    X, Y, kernel, noise = hard_inputs()[case]
    scale = max(np.abs(Y).max(), 1e-300)
    system = KernelSystem(X, kernel, noise, NOTHING)
    result = solve(system, Y, solver, tol=1e-4 * scale, block_size=block_size, max_passes=40, random_state=0)
    assert np.isfinite(result.coef).all()
    assert np.isfinite(result.gradient_norm)
    assert result.objective <= 0  # f(0) = 0: never worse than where it began
    if solver in ("gbcd", "cholesky") and noise >= 1e-3:
        assert result.converged


def test_a_block_that_is_singular_to_rounding_still_descends():
    matrix = np.ones((5, 5))
    gradient = np.ones((5, 1))
    step = solve_block(matrix, gradient)
    assert np.isfinite(step).all()
    assert (gradient * step).sum() + 0.5 * (step * (matrix @ step)).sum() < -0.49


@pytest.mark.parametrize("solver", ["gbcd", "gbcd-paper", "bcdc", "bcdg", "cg"])
def test_stopping_short_is_a_warning_with_the_norm_that_was_reached(problem, solver):
    X, Y, kernel, noise = problem(500, noise=1e-3)
    with pytest.warns(ConvergenceWarning, match=rf"{solver}: the gradient's infinity norm is .* above the tolerance"):
        result = solve(KernelSystem(X, kernel, noise, NOTHING), Y, solver, block_size=20, max_passes=1, tol=1e-10)
    assert not result.converged
    assert np.abs(result.gradient).max() == result.gradient_norm


def test_a_tolerance_below_rounding_ends_in_a_warning(problem):
    X, Y, kernel, noise = problem(300)
    with pytest.warns(ConvergenceWarning):
        solve(KernelSystem(X, kernel, noise, NOTHING), Y, tol=1e-30, block_size=100, max_passes=1e4)


def test_the_callback_can_stop(problem):
    X, Y, kernel, noise = problem(500)
    with pytest.warns(ConvergenceWarning, match="the callback stopped it"):
        result = solve(KernelSystem(X, kernel, noise), Y, block_size=20, callback=lambda entry: entry.iteration == 3)
    assert result.n_iter == 3


def test_cholesky_names_the_noise_when_rounding_wins():
    system = KernelSystem(np.ones((30, 2)), SquaredExponential(1.0), 1e-18)
    with pytest.raises(ValueError, match="not positive definite to rounding: raise the noise"):
        solve(system, np.ones(30), "cholesky")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"solver": "newton"}, "no solver 'newton': choose from auto, bcdc, bcdg, cg, cholesky, gbcd"),
        ({"solver": 3}, "no solver 3: choose from auto"),
        ({"solver": CoarseDescent(), "block_size": 5}, r"give them to CoarseDescent\(...\) instead"),
        ({"solver": CoarseDescent(), "random_state": 0}, r"give them to CoarseDescent\(...\) instead"),
        ({"tol": 0}, "tol must be a positive number, not 0"),
        ({"tol": np.inf}, "tol must be a positive number, not inf"),
        ({"max_passes": 0}, "max_passes must be a positive number, not 0"),
        ({"block_size": 0}, "block_size must be at least 1"),
        ({"block_size": 1.5}, "block_size must be an integer, not 1.5"),
        ({"block_size": "a"}, "block_size must be an integer, not 'a'"),
        ({"max_time": 0}, "max_time must be a positive number, not 0"),
        ({"coef_init": np.ones(3)}, r"coef_init must have shape \(4,\) or \(4, q\)"),
        ({"coef_init": np.ones((4, 2))}, "coef_init must have the 1 columns of Y, not 2"),
        ({"coef_init": [0, np.inf, 0, 0]}, "coef_init contains infinity at row 1, column 0"),
        ({"Y": np.ones(3)}, r"shape \(4,\) or \(4, q\)"),
        ({"Y": [0, 1, np.nan, 0]}, "Y contains NaN at row 2, column 0"),
    ],
)
def test_impossible_requests_are_refused(arguments, message):
    system = KernelSystem(np.arange(4.0)[:, None], SquaredExponential(1.0), 0.1)
    with pytest.raises(ValueError, match=message):
        solve(system, **{"Y": np.ones(4), **arguments})


@pytest.mark.parametrize("solver", sorted(SOLVERS))
def test_every_solver_goes_on_from_a_start(problem, dense, solver):
    X, Y, kernel, noise = problem(400, q=3, noise=3.0 if solver == "bcdg" else 0.3)
    Kbar = dense(X, kernel, noise)
    direct = np.linalg.solve(Kbar, Y)
    start = direct + 1e-3 * np.random.default_rng(0).standard_normal(Y.shape)
    start[:, 2] = 0
    result = solve(KernelSystem(X, kernel, noise, NOTHING), Y, solver, block_size=120, random_state=0, coef_init=start)
    assert result.converged
    assert result.n_iter > 0
    assert np.abs((Kbar - noise * np.eye(400)) @ (result.coef - direct)).max() <= 1e-3
    # Gradient and objective are those of the whole alpha, in the result and in the trace.
    np.testing.assert_allclose(result.gradient, Kbar @ result.coef - Y, atol=1e-9)
    values = [0.5 * np.vdot(alpha, Kbar @ alpha) - np.vdot(Y, alpha) for alpha in (result.coef, start)]
    assert result.objective == pytest.approx(values[0], rel=1e-9)
    assert result.trace[-1].objective == pytest.approx(values[0], rel=1e-5)
    assert result.trace[-1].gradient_norm <= 1e-4
    assert result.trace[0].objective < values[1]
    assert not result.coef[:, 2].any()
    assert not result.resumed


@pytest.mark.parametrize("solver", sorted(SOLVERS))
def test_a_start_within_the_tolerance_is_the_answer(problem, dense, solver):
    X, Y, kernel, noise = problem(300, q=2)
    direct = np.linalg.solve(dense(X, kernel, noise), Y)
    system = KernelSystem(X, kernel, noise, NOTHING)
    result = solve(system, Y, solver, coef_init=direct)
    assert result.converged
    assert result.n_iter == 0
    np.testing.assert_array_equal(result.coef, direct)
    # One symmetric residual.
    assert result.kernel_evaluations <= 300**2


def test_a_start_saves_work(problem):
    X, Y, kernel, noise = problem(1500)
    system = KernelSystem(X, kernel, noise, NOTHING)
    loose = solve(system, Y, block_size=150, tol=1e-3, random_state=0)
    again, anew = (
        solve(system, Y, block_size=150, tol=1e-4, random_state=0, coef_init=start) for start in (loose.coef, None)
    )
    assert again.kernel_evaluations < 0.8 * anew.kernel_evaluations


@pytest.mark.parametrize("size", [1e3, 1e200])
def test_a_start_worse_than_zero_is_left(problem, size):
    X, Y, kernel, noise = problem(300)
    system = KernelSystem(X, kernel, noise, NOTHING)
    bad, none = (
        solve(system, Y, block_size=50, random_state=0, coef_init=start) for start in (np.full_like(Y, size), 0 * Y)
    )
    np.testing.assert_allclose(bad.coef, none.coef, atol=1e-9)
    assert bad.n_iter == none.n_iter


@pytest.mark.parametrize("solver", sorted(set(SOLVERS) - {"cholesky", "auto"}))
def test_time_that_runs_out_stops_after_that_iteration(problem, solver, monkeypatch):
    X, Y, kernel, noise = problem(500, noise=1e-3)
    now = [0.0]
    monkeypatch.setattr(time, "perf_counter", lambda: now[0])

    def tick(entry):
        now[0] += 1.0

    with pytest.warns(ConvergenceWarning, match=rf"{solver}: the gradient's infinity norm is .* \(the time of 3 s ran"):
        result = solve(KernelSystem(X, kernel, noise), Y, solver, block_size=20, tol=1e-10, callback=tick, max_time=3.0)
    assert result.n_iter == 3
    assert np.abs(result.gradient).max() == result.gradient_norm


@pytest.mark.parametrize("solver", sorted(SOLVERS))
def test_outputs_that_are_none_are_refused(problem, solver):
    X, _, kernel, noise = problem(50)
    system = KernelSystem(X, kernel, noise)
    for Y, message in (
        (np.empty((50, 0)), r"Y is empty .shape .50, 0..: give at least one column"),
        (np.ones(50) * 1j, "Complex data not supported: give the real part of Y"),
        ([10**400] * 50, "Y holds an integer beyond 1.8e308"),
    ):
        with pytest.raises(ValueError, match=message):
            solve(system, Y, solver)


@pytest.mark.parametrize("value", ["x", None, 0, -1, np.nan])
def test_impossible_limits_are_refused(problem, value):
    X, Y, kernel, noise = problem(50)
    with pytest.raises(ValueError, match="max_passes must be a positive number, not"):
        solve(KernelSystem(X, kernel, noise), Y, max_passes=value)
    with pytest.raises(ValueError, match="checkpoint_seconds must be a positive number, not"):
        solve(KernelSystem(X, kernel, noise), Y, checkpoint_seconds=value)
    assert solve(KernelSystem(X, kernel, noise), Y, max_passes=np.inf).converged


@pytest.mark.parametrize("noise", [1e-301, 1e31])
def test_a_noise_out_of_range_is_refused(problem, noise):
    X, _, kernel, _ = problem(5)
    with pytest.raises(ValueError, match=r"noise must be between 1e-300 and 1e\+30, not"):
        KernelSystem(X, kernel, noise)


@pytest.mark.parametrize("solver", ["gbcd", "pcg", "cholesky", "gbcd-paper", "smo"])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("noise", [1e-300, 1e30])
@pytest.mark.parametrize("spread", [1e-200, 1.0, 1e200])
def test_extreme_numbers_neither_warn_nor_spread(problem, solver, noise, spread):
    # Any floating-point warning is an error here.
    X, Y, kernel, _ = problem(120, q=2)
    system = KernelSystem(spread * X, kernel, noise, 10**6)
    if solver == "cholesky" and noise < 1 and spread < 1:
        with pytest.raises(ValueError, match="not positive definite to rounding"):
            solve(system, Y, solver)
    else:
        assert np.isfinite(solve(system, Y, solver, random_state=0, max_passes=5).coef).all()
    assert np.isfinite(predictive_variance(system, spread * X[:3], solver="gbcd", random_state=0)).all()


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_coefficients_out_of_range_are_refused(problem):
    X, _, kernel, _ = problem(50)
    with pytest.raises(ValueError, match=r"coefficients exceed 1.8e308.* too large for a noise of 1e-09. Divide Y"):
        # Rows that repeat with opposite outputs: coefficients of 1e305 / noise.
        solve(KernelSystem(np.repeat(X[:25], 2, axis=0), kernel, 1e-9), 1e305 * np.resize([1.0, -1.0], 50))
