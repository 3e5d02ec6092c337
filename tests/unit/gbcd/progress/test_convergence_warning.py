import pytest
from sklearn.exceptions import ConvergenceWarning

from gbcd import KernelSystem, solve


def test_a_solve_that_stops_short_says_what_else_there_is(problem, monkeypatch):
    X, Y, kernel, _ = problem(700)

    def message(noise, **options):
        with pytest.warns(ConvergenceWarning) as warned:
            solve(KernelSystem(X, kernel, noise, 0), Y, block_size=20, random_state=0, **options)
        return str(warned[0].message)

    advice = "try solver='cholesky', whose factor takes 3.9 MB, or a larger "
    assert f"{advice}noise, max_passes or tolerance" in message(1e-8, max_passes=2)
    assert f"ran out; the noise 1e-08 makes it hard: {advice}one" in message(1e-8, max_time=1e-9)
    assert "cholesky" not in message(0.1, max_time=1e-9)
    monkeypatch.setattr("gbcd.progress.convergence_warning.available_memory", lambda: 3_000_000)
    assert "(try a larger noise, max_passes or tolerance)" in message(1e-8, max_passes=2)
