import gc
import weakref

import numpy as np
import pytest
import scipy.linalg
from sklearn.exceptions import ConvergenceWarning

from gbcd import KernelSystem, SquaredExponential, solve
from gbcd.solvers import CholeskyFactor
from gbcd.solvers import cholesky as module

NOTHING = 0


FLOAT32_FIRST = module.Cholesky(float64_rows=0)
"""At any size."""


@pytest.fixture
def factored(monkeypatch):
    """The precisions that were factored, in order."""
    seen = []

    def spy(matrix):
        seen.append(matrix.dtype)
        return original(matrix)

    original = module.cholesky_in_place
    monkeypatch.setattr(module, "cholesky_in_place", spy)
    return seen


def evaluations(X, kernel, noise, precision):
    """Of one whole Kbar, and of one float64 residual: half a pass each, by symmetry."""
    system = KernelSystem(X, kernel, noise, NOTHING, precision)
    system.dense()
    whole = system.kernel_evaluations
    system.residual(np.ones((len(X), 1)), np.ones((len(X), 1)))
    return whole, system.kernel_evaluations - whole


@pytest.mark.parametrize(("precision", "dtype", "steps"), [("mixed", np.float32, 2), ("float64", np.float64, 1)])
def test_it_factors_once_in_the_precision_of_the_system(problem, dense, factored, precision, dtype, steps):
    X, Y, kernel, noise = problem(1200, q=3)
    result = solve(KernelSystem(X, kernel, noise, NOTHING, precision), Y, FLOAT32_FIRST, tol=1e-7)
    assert factored == [dtype]
    assert result.converged
    assert len(result.trace) == steps
    whole, residual = evaluations(X, kernel, noise, precision)
    assert result.kernel_evaluations == whole + steps * residual
    assert result.kernel_passes <= 0.7 * (1 + steps)  # half a pass each, and the whole tiles on the diagonal
    Kbar = dense(X, kernel, noise)
    assert np.abs(Kbar @ result.coef - Y).max() <= 1e-7
    np.testing.assert_allclose(result.coef, np.linalg.solve(Kbar, Y), atol=1e-5)


def test_a_small_system_is_not_worth_float32(problem, factored):
    for n, dtype in [(300, np.float64), (301, np.float32)]:
        X, Y, kernel, noise = problem(n)
        solver = module.Cholesky(float64_rows=300)
        assert solve(KernelSystem(X, kernel, noise, NOTHING), Y, solver).converged
        assert factored.pop() == dtype


@pytest.mark.parametrize("scale", [1e-200, 1e200])
def test_float32_is_no_limit_on_the_size_of_the_outputs(problem, factored, scale):
    X, Y, kernel, noise = problem(300)
    result = solve(KernelSystem(X, kernel, noise, NOTHING), scale * Y, FLOAT32_FIRST, tol=1e-10 * scale)
    assert result.converged
    assert factored == [np.float32]


def test_where_float32_rounding_makes_kbar_indefinite_float64_takes_over(factored):
    X = np.random.default_rng(0).standard_normal((2000, 2))
    system = KernelSystem(X, SquaredExponential(1e-4), 1.1e-5, NOTHING)
    assert system.dtype == np.float32
    result = solve(system, X[:, 0], FLOAT32_FIRST)
    assert factored == [np.float32, np.float64]
    assert result.converged


class Blunt:
    """A factor so coarse that no step halves the residual."""

    def __init__(self, system, dtype=np.float64):
        if np.dtype(dtype) == np.float64:
            raise MemoryError("no room for this")

    def solve(self, Y):
        return 0.2 * Y


def test_without_room_for_float64_what_float32_reached_stands(monkeypatch, problem):
    X, Y, kernel, noise = problem(100)
    monkeypatch.setattr(module, "CholeskyFactor", Blunt)
    with pytest.warns(ConvergenceWarning, match="cholesky: the gradient's infinity norm is"):
        result = solve(KernelSystem(X, kernel, noise, NOTHING), Y, FLOAT32_FIRST)
    assert np.isfinite(result.coef).all()
    assert result.gradient_norm <= np.abs(Y).max()
    with pytest.raises(MemoryError, match="no room for this"):
        solve(KernelSystem(X, kernel, noise, NOTHING, "float64"), Y, FLOAT32_FIRST)


def test_a_stall_in_float32_goes_on_in_float64(monkeypatch, problem):
    class Coarse(CholeskyFactor):
        def __init__(self, system, dtype=np.float64):
            super().__init__(system, dtype)
            self.fraction = 0.2 if np.dtype(dtype) == np.float32 else 1.0

        def solve(self, Y):
            return self.fraction * super().solve(Y)

    X, Y, kernel, noise = problem(200)
    monkeypatch.setattr(module, "CholeskyFactor", Coarse)
    result = solve(KernelSystem(X, kernel, noise, NOTHING), Y, FLOAT32_FIRST, tol=1e-9)
    assert result.converged
    assert len(result.trace) == 2


@pytest.mark.parametrize("precision", ["mixed", "float64"])
def test_duplicated_rows_and_hardly_any_noise(factored, precision):
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((400, 3)), rng.standard_normal(400)
    system = KernelSystem(np.r_[X, X], SquaredExponential(0.5), 1e-8, NOTHING, precision)
    result = solve(system, np.r_[y, y], FLOAT32_FIRST, tol=1e-6)
    assert set(factored) == {np.dtype(np.float64)}  # float32 rounds by more than this noise
    assert result.converged


def test_steps_end_at_the_rounding_of_float64(problem):
    X, Y, kernel, _ = problem(300)
    with pytest.warns(ConvergenceWarning, match="above the tolerance"):
        result = solve(KernelSystem(X, kernel, 1e-9, NOTHING), Y, FLOAT32_FIRST, tol=1e-30)
    assert len(result.trace) < 10
    assert result.gradient_norm == min(entry.gradient_norm for entry in result.trace)


def test_the_callback_stops_the_refinement(problem):
    X, Y, kernel, noise = problem(300)
    with pytest.warns(ConvergenceWarning, match="the callback stopped it"):
        result = solve(
            KernelSystem(X, kernel, noise, NOTHING), Y, FLOAT32_FIRST, tol=1e-10, callback=lambda entry: True
        )
    assert len(result.trace) == 1


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_factor_serves_many_right_hand_sides(problem, dense, dtype):
    X, _, kernel, noise = problem(900)
    right = np.random.default_rng(0).standard_normal((900, 1000))
    solution = CholeskyFactor(KernelSystem(X, kernel, noise, NOTHING), dtype).solve(right)
    assert solution.dtype == np.float64
    lower = scipy.linalg.cho_factor(dense(X, kernel, noise), lower=True)
    accuracy = 1e-9 if dtype == np.float64 else 1e-2
    np.testing.assert_allclose(solution, scipy.linalg.cho_solve(lower, right), atol=accuracy)


def test_a_factor_beyond_memory_is_refused_before_it_is_made(monkeypatch, problem):
    X, Y, kernel, noise = problem(200)
    monkeypatch.setattr(module, "available_memory", lambda: 100 * 1024)
    system = KernelSystem(X, kernel, noise, NOTHING)
    with pytest.raises(MemoryError, match=r"200 rows needs 0\.0 GiB, 0\.0 GiB are available: use the solver 'gbcd'"):
        solve(system, Y, FLOAT32_FIRST)
    assert system.kernel_evaluations == 0


def test_a_failed_factor_leaves_its_memory_at_once(monkeypatch):
    kept = []

    def spy(matrix):
        kept.append(weakref.ref(matrix))
        return original(matrix)

    original = module.cholesky_in_place
    monkeypatch.setattr(module, "cholesky_in_place", spy)
    gc.disable()
    try:
        with pytest.raises(ValueError, match=r"\(1000 rows, noise 1e-18, float64\) is not positive definite"):
            CholeskyFactor(KernelSystem(np.ones((1000, 2)), SquaredExponential(1.0), 1e-18))
        assert kept[0]() is None
    finally:
        gc.enable()
