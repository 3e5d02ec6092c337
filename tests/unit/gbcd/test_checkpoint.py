import os
import subprocess
import sys

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from gbcd import GBCDRegressor, KernelSystem, SquaredExponential, solve
from gbcd.checkpoint import Checkpoint, fingerprint

ALWAYS = 1e-9
"""Seconds between two writings: after every iteration."""


@pytest.fixture
def path(tmp_path):
    return tmp_path / "unfinished.npz"


@pytest.fixture
def stopped(problem, path):
    """Leave a checkpoint of a solve that was stopped after three iterations; return the arguments of that solve."""
    X, Y, kernel, noise = problem(300, q=2)
    with pytest.warns(ConvergenceWarning):
        solve(
            KernelSystem(X, kernel, noise),
            Y,
            block_size=40,
            callback=lambda entry: entry.iteration == 3,
            checkpoint=path,
        )
    assert path.exists()
    return X, Y, kernel, noise


def killed(script, *arguments):
    """Run a script until it prints a line, then kill it as `kill -9` does."""
    child = subprocess.Popen(
        [sys.executable, "-c", script, *map(str, arguments)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    with child:
        assert child.stdout.readline() == "three iterations\n"
        child.kill()
    assert child.returncode != 0


WAIT = """
import sys
import numpy as np
from gbcd import GBCDRegressor, KernelSystem, SquaredExponential, solve

def wait(entry):
    if entry.iteration == 3:
        print("three iterations", flush=True)
        sys.stdin.read()

data, path = np.load(sys.argv[1]), sys.argv[2]
"""


def test_a_killed_solve_is_resumed(problem, dense, tmp_path, path):
    X, Y, kernel, noise = problem(400, q=3)
    np.savez(tmp_path / "data.npz", X=X, Y=Y, gamma=kernel.gamma)
    script = """
system = KernelSystem(data["X"], SquaredExponential(data["gamma"]), 0.1, 0)
solve(system, data["Y"], block_size=30, random_state=0, callback=wait, checkpoint=path, checkpoint_seconds=1e-9)
"""
    killed(WAIT + script, tmp_path / "data.npz", path)
    abandoned = tmp_path / f".{path.name}.tmp"
    abandoned.write_bytes(b"what a kill in the middle of writing left in an older version")
    result = solve(KernelSystem(X, kernel, noise, 0), Y, block_size=30, random_state=0, checkpoint=path)
    assert result.resumed
    assert result.converged
    assert not path.exists()
    assert not abandoned.exists()
    plain = solve(KernelSystem(X, kernel, noise, 0), Y, block_size=30, random_state=0)
    assert not plain.resumed
    # It begins where three iterations had come to.
    assert result.trace[0].objective < plain.trace[2].objective < plain.trace[0].objective
    Kbar = dense(X, kernel, noise)
    direct = np.linalg.solve(Kbar, Y)
    assert np.abs((Kbar - noise * np.eye(400)) @ (result.coef - direct)).max() <= 1e-3
    assert result.objective == pytest.approx(0.5 * np.vdot(result.coef, Kbar @ result.coef) - np.vdot(Y, result.coef))


def test_a_killed_fit_is_resumed_with_its_hyperparameters(problem, tmp_path, path, monkeypatch, capsys):
    X, Y, _, _ = problem(400, q=2)
    np.savez(tmp_path / "data.npz", X=X, Y=Y)
    parameters = {"block_size": 30, "subset": 100, "checkpoint": path, "checkpoint_seconds": ALWAYS}
    script = """
parameters = {"block_size": 30, "subset": 100, "checkpoint": path, "checkpoint_seconds": 1e-9}
GBCDRegressor(callback=wait, memory_budget=0, **parameters).fit(data["X"], data["Y"])
"""
    killed(WAIT + script, tmp_path / "data.npz", path)
    # Without a random_state another fit would draw another subset.
    monkeypatch.setattr(
        "gbcd.hyperparameters.request.fit_hyperparameters", lambda *_, **__: pytest.fail("fitted again")
    )
    model = GBCDRegressor(verbose=True, **parameters).fit(X, Y)
    assert f"found the checkpoint {path}" in capsys.readouterr().err
    assert model.solve_result_.resumed
    assert not path.exists()
    assert model.hyperparameters_.kernel is model.kernel_
    assert len(model.hyperparameters_.indices) == 100
    assert model.hyperparameters_.n_iter > 0
    direct = GBCDRegressor(kernel=model.kernel_, noise=model.noise_, solver="cholesky").fit(X, Y)
    np.testing.assert_allclose(model.predict(X), direct.predict(X), atol=2e-3)


def test_hyperparameters_that_are_stored_are_those_of_a_fit_without_a_checkpoint(problem, path):
    X, Y, _, _ = problem(200)
    plain = GBCDRegressor(random_state=0).fit(X, Y)
    kept = GBCDRegressor(random_state=0, checkpoint=path).fit(X, Y)
    np.testing.assert_allclose(kept.kernel_.gamma, plain.kernel_.gamma, rtol=1e-12)
    assert kept.noise_ == plain.noise_
    assert not path.exists()


@pytest.mark.parametrize("solver", ["gbcd", "bcdc", "cg", "cholesky", "smo"])
def test_any_solver_goes_on(stopped, path, solver):
    X, Y, kernel, noise = stopped
    result = solve(KernelSystem(X, kernel, noise), Y, solver, block_size=40, checkpoint=path)
    assert result.resumed
    assert result.converged
    assert not path.exists()


def test_it_wins_over_coef_init_and_is_written_when_time_or_passes_run_out(stopped, path):
    X, Y, kernel, noise = stopped
    first = path.read_bytes()
    with pytest.warns(ConvergenceWarning):
        again = solve(
            KernelSystem(X, kernel, noise),
            Y,
            block_size=20,
            max_passes=1.2,
            coef_init=np.zeros_like(Y),
            checkpoint=path,
        )
    assert again.resumed
    assert path.read_bytes() != first
    result = solve(KernelSystem(X, kernel, noise), Y, "cg", checkpoint=path, tol=1e3)
    np.testing.assert_array_equal(result.coef, again.coef)


def test_an_interrupt_keeps_the_last_iteration(problem, path):
    X, Y, kernel, noise = problem(300)

    def interrupt(entry):
        if entry.iteration == 4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        solve(KernelSystem(X, kernel, noise), Y, block_size=20, callback=interrupt, checkpoint=path)
    assert solve(KernelSystem(X, kernel, noise), Y, block_size=20, checkpoint=path).resumed


@pytest.mark.parametrize("change", ["X", "Y", "gamma", "noise", "rows"])
def test_a_checkpoint_of_something_else_is_refused(stopped, path, change):
    X, Y, kernel, noise = (value.copy() if isinstance(value, np.ndarray) else value for value in stopped)
    if change == "X":
        X[7, 2] += 1e-12
    elif change == "Y":
        Y[7, 1] = 0
    elif change == "gamma":
        kernel = SquaredExponential(2 * kernel.gamma)
    elif change == "noise":
        noise = 0.2
    else:
        X, Y = X[1:], Y[1:]
    before = path.read_bytes()
    with pytest.raises(ValueError, match=r"unfinished\.npz was left by an unfinished fit of other data or settings"):
        solve(KernelSystem(X, kernel, noise), Y, checkpoint=path)
    assert path.read_bytes() == before


def test_a_regressor_refuses_what_is_not_its_own(stopped, path):
    X, Y, _, _ = stopped
    # The file holds no hyperparameters: another fit left it.
    with pytest.raises(ValueError, match="other data or settings"):
        GBCDRegressor(checkpoint=path).fit(X, Y)
    path.unlink()
    model = GBCDRegressor(checkpoint=path, block_size=20, callback=lambda entry: True, random_state=0)
    with pytest.warns(ConvergenceWarning):
        model.fit(X, Y)
    for other in ({"subset": 50}, {"noise": 0.1}, {"kernel": "isotropic"}, {"gamma": 0.01}):
        with pytest.raises(ValueError, match="other data or settings"):
            GBCDRegressor(checkpoint=path, **other).fit(X, Y)
    # The solver and its limits may change.
    assert GBCDRegressor(checkpoint=path, solver="cg").fit(X, Y).solve_result_.resumed


def test_every_damage_is_one_clear_line(path):
    alpha = np.arange(6.0).reshape(3, 2)
    Checkpoint(path).store("solve", "mark", {"alpha": alpha})
    whole = path.read_bytes()
    assert len(whole) < 1000
    np.testing.assert_array_equal(Checkpoint(path).load("solve", "mark", {"alpha": (3, 2)})["alpha"], alpha)
    damaged = [whole[:length] for length in range(0, len(whole), 7)]
    damaged += [whole[:i] + bytes([whole[i] ^ 0xFF]) + whole[i + 1 :] for i in range(0, len(whole), 3)]
    damaged += [b"", b"not a checkpoint", whole[:-22] + b"PK\x05\x06" + bytes(18)]
    messages = []
    for content in damaged:
        path.write_bytes(content)
        try:
            # Some bytes carry nothing (times, the version of the packer).
            np.testing.assert_array_equal(Checkpoint(path).load("solve", "mark", {"alpha": (3, 2)})["alpha"], alpha)
        except ValueError as error:
            messages.append(str(error))
    assert len(messages) > 0.7 * len(damaged)
    assert all(str(path) in message and "\n" not in message for message in messages)
    path.unlink()
    path.mkdir()
    with pytest.raises(ValueError, match="cannot be read"):
        Checkpoint(path)


def test_a_folder_that_is_missing_or_read_only_is_noticed_at_once(problem, tmp_path, monkeypatch):
    X, Y, _, _ = problem(50)
    with pytest.raises(ValueError, match="its folder does not exist"):
        GBCDRegressor(checkpoint=tmp_path / "no" / "a.npz").fit(X, Y)
    monkeypatch.setattr(os, "access", lambda *_: False)
    with pytest.raises(ValueError, match="its folder may not be written to"):
        Checkpoint(tmp_path / "a.npz")


def test_a_full_disk_is_a_warning_and_the_solve_goes_on(problem, path, monkeypatch):
    X, Y, kernel, noise = problem(300)

    def full(file, **arrays):
        file.write(b"half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(np, "savez", full)
    with pytest.warns(RuntimeWarning, match="was not written .No space left on device.; the fit goes on"):
        result = solve(
            KernelSystem(X, kernel, noise), Y, block_size=40, checkpoint=path, checkpoint_seconds=ALWAYS, random_state=0
        )
    assert result.converged
    assert list(path.parent.iterdir()) == []


def test_nothing_is_written_before_it_is_due(problem, path):
    X, Y, kernel, noise = problem(300)
    seen = []
    solve(
        KernelSystem(X, kernel, noise), Y, block_size=40, checkpoint=path, callback=lambda _: seen.append(path.exists())
    )
    assert not any(seen)
    with pytest.raises(ValueError, match="checkpoint_seconds must be a positive number, not 0"):
        solve(KernelSystem(X, kernel, noise), Y, checkpoint=path, checkpoint_seconds=0)


def test_fingerprints_tell_values_types_and_shapes_apart():
    a = np.arange(6.0)
    marks = [
        fingerprint(part)
        for part in (a, a + 1e-12, a.reshape(2, 3), a.astype(np.float32), a[:5], None, "", "none", 0.1, 0.2)
    ]
    assert len(set(marks)) == len(marks) - 1  # None is written as "none"
    assert fingerprint(a, a) == fingerprint(a.copy(), a[::-1][::-1])
    assert fingerprint("ab", "c") != fingerprint("a", "bc")


def dead_process():
    child = subprocess.Popen([sys.executable, "-c", ""])
    child.wait()
    return child.pid


def test_what_a_kill_in_the_middle_of_writing_left_is_cleared_away(path):
    gone, ours, theirs, other = (
        path.with_name(f".{name}.tmp")
        for name in (
            f"{path.name}.{dead_process()}-3",
            f"{path.name}.{os.getpid()}-{10**9}",  # an earlier process had our number
            f"{path.name}.{os.getppid()}-0",
            "other.npz.1-1",
        )
    )
    for file in (gone, ours, theirs, other):
        file.write_bytes(b"half")
    Checkpoint(path).store("solve", "mark", {"alpha": np.ones(3)})
    # A living process may still be writing, and other checkpoints are none of ours.
    assert sorted(path.parent.iterdir()) == sorted([theirs, other, path])


def test_two_at_once_write_under_names_of_their_own(path, monkeypatch):
    names, save = [], np.savez

    def nested(file, **arrays):
        names.append(file.name)
        if len(names) == 1:
            # Another fit begins, and writes, while the first one is writing.
            Checkpoint(path).store("solve", "second", {"alpha": np.zeros(2)})
        save(file, **arrays)

    monkeypatch.setattr(np, "savez", nested)
    Checkpoint(path).store("solve", "first", {"alpha": np.ones(2)})
    assert len(set(names)) == 2
    np.testing.assert_array_equal(Checkpoint(path).load("solve", "first", {"alpha": (2,)})["alpha"], 1)
    assert list(path.parent.iterdir()) == [path]


@pytest.mark.parametrize(
    "alpha", [None, np.array(["a", "b"]), np.ones((300, 3)), np.ones(600), np.full((300, 2), np.nan)]
)
def test_a_file_without_proper_coefficients_is_damaged(stopped, path, alpha):
    X, Y, kernel, noise = stopped
    with np.load(path) as file:
        held = {name: file[name] for name in file.files if name != "solve/alpha"}
    np.savez(path, **held, **({} if alpha is None else {"solve/alpha": alpha}))
    with pytest.raises(ValueError, match=r"unfinished\.npz is damaged .alpha.: delete it to start anew"):
        solve(KernelSystem(X, kernel, noise), Y, checkpoint=path)


@pytest.mark.parametrize("name", ["log_parameters", "indices", "numbers"])
def test_hyperparameters_that_lack_a_part_are_damaged(problem, path, name):
    X, Y, _, _ = problem(100)
    model = GBCDRegressor(checkpoint=path, block_size=20, callback=lambda entry: True, random_state=0)
    with pytest.warns(ConvergenceWarning):
        model.fit(X, Y)
    with np.load(path) as file:
        np.savez(path, **{key: file[key] for key in file.files if key != f"hyperparameters/{name}"})
    with pytest.raises(ValueError, match=rf"is damaged .{name}.: delete it"):
        GBCDRegressor(checkpoint=path, block_size=20).fit(X, Y)
