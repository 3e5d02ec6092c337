import numpy as np
import pytest

from gbcd import KernelSystem, solve

MB = 1 << 20


@pytest.mark.parametrize("n", [1, 2, 50, 700])
@pytest.mark.parametrize("q", [1, 3, 45])
@pytest.mark.parametrize("noise", [1e-1, 1e-3])
@pytest.mark.parametrize("precision", ["mixed", "float64"])
def test_pcg_is_the_direct_solution(problem, dense, n, q, noise, precision, agrees):
    X, Y, kernel, _ = problem(max(n, 5), q=q)
    X, Y = X[:n], Y[:n]
    result = solve(KernelSystem(X, kernel, noise, 30 * MB, precision), Y, "pcg", random_state=0)
    assert result.converged
    assert agrees(result, dense(X, kernel, noise), noise, Y)
    if q > 2:
        assert not result.coef[:, 2].any()


@pytest.mark.parametrize("mb", [0, 1])
def test_pcg_without_room_for_columns_is_cg(problem, dense, mb, agrees):
    X, Y, kernel, noise = problem(700, q=2)
    system = KernelSystem(X, kernel, noise, mb * MB)
    assert system.storage.room < 4 * 512 * 700
    plain, pcg = (solve(KernelSystem(X, kernel, noise, mb * MB), Y, name, random_state=0) for name in ("cg", "pcg"))
    assert pcg.converged
    assert agrees(pcg, dense(X, kernel, noise), noise, Y)
    # The noise alone as P: the same steps but for rounding.
    assert pcg.n_iter == pytest.approx(plain.n_iter, rel=0.15)


def test_pcg_takes_a_small_part_of_the_iterations(problem):
    X, Y, kernel, noise = problem(1500)
    counts = [solve(KernelSystem(X, kernel, noise, 60 * MB), Y, name, random_state=0).n_iter for name in ("cg", "pcg")]
    assert counts[1] <= 0.1 * counts[0]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("noise", [1e-4, 1e-6])
@pytest.mark.parametrize("mb", [0, 1, 30])
def test_pcg_ends_without_nan_where_rounding_wins(problem, noise, mb):
    X, Y, kernel, _ = problem(700, q=3)
    result = solve(KernelSystem(X, kernel, noise, mb * MB), Y, "pcg", random_state=0, max_passes=60)
    assert np.isfinite(result.coef).all()
    assert result.kernel_passes <= 62
    assert np.abs(result.gradient).max() == result.gradient_norm
