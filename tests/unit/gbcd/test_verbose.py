"""What a regressor says of its course."""

import time

from gbcd import GBCDRegressor


def test_what_it_prints_and_calls(data, capsys, monkeypatch):
    X, Y = data
    now = [0.0]
    monkeypatch.setattr(time, "perf_counter", lambda: now[0])
    entries = []

    def tick(entry):
        entries.append(entry)
        now[0] += 0.2

    GBCDRegressor(gamma=0.02, noise=0.1, verbose=True, block_size=30, random_state=0, callback=tick).fit(X, Y)
    first, *lines, last = capsys.readouterr().err.splitlines()
    assert first == "SquaredExponential(gamma=0.02), noise 0.1"
    # At 0, 0.6, 1.2 s and so on: never more than two a second.
    assert len(entries) > 6
    assert [line.split(":")[0] for line in lines] == [f"iteration {entry.iteration}" for entry in entries[::3]]
    assert last.startswith(f"gbcd: converged after {len(entries)} iterations, gradient ")


def test_silence_by_default(data, capsys):
    GBCDRegressor(random_state=0).fit(*data)
    assert capsys.readouterr() == ("", "")


def test_searches_deviations_and_draws_say_how_far_they_are(data, capsys):
    X, Y = data
    model = GBCDRegressor(verbose=True, random_state=0, subset=100).fit(X, Y)
    first, second, third, *_ = capsys.readouterr().err.splitlines()
    fit = model.hyperparameters_
    assert first == "hyperparameters: searching on up to 100 rows"
    assert second.startswith(f"hyperparameters: {fit.n_evaluations} evaluations on 100 rows in ")
    assert second.endswith(", amplitude " + ", ".join(f"{value:.3g}" for value in model.amplitude_))
    assert third.startswith("SquaredExponential(gamma=<10 values")
    model.predict(X[:7], return_std=True)
    lines = capsys.readouterr().err.splitlines()
    assert [line.rpartition(", ")[0] for line in lines] == [
        f"standard deviations: {done} of 7 points" for done in (0, 7)
    ]
    model.predict(X)
    assert capsys.readouterr().err == ""
    model.set_params(verbose=False).predict(X, return_std=True)
    assert capsys.readouterr().err == ""
