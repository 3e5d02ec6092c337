"""The examples run, on data of small size, and print what they should."""

import os
import subprocess
import sys

import pytest
from places import REPOSITORY

EXAMPLES = REPOSITORY / "examples"


def run(script, *options, **smaller):
    """Run a script as a user would, with other values for some of its names; returns what it printed."""
    text = (EXAMPLES / script).read_text(encoding="utf-8")
    for name, value in smaller.items():
        lines = [line for line in text.splitlines() if line.startswith(f"{name} = ")]
        assert len(lines) == 1, f"{script}: {name} is set in {len(lines)} lines"
        text = text.replace(lines[0], f"{name} = {value!r}")
    done = subprocess.run(
        [sys.executable, "-W", "error", "-W", "ignore:FigureCanvasAgg is non-interactive", "-", *options],
        input=text,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "MPLBACKEND": "Agg"},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def value(printed, label):
    """The number behind a label."""
    line = next(line for line in printed.splitlines() if line.startswith(label))
    return float(line.removeprefix(label).strip(" :").split()[0].rstrip("%,"))


@pytest.mark.parametrize("script", sorted(path.name for path in EXAMPLES.glob("*.py")))
def test_an_example_is_short(script):
    assert len((EXAMPLES / script).read_text(encoding="utf-8").splitlines()) < 60


def test_fit_and_error_bars():
    printed = run("fit_and_error_bars.py", n_rows=200)
    assert value(printed, "standard deviation of the noise") == pytest.approx(0.2, abs=0.05)
    assert 90 <= value(printed, "observations within two deviations") <= 100


def test_a_hundred_thousand_rows_when_they_are_few():
    printed = run("hundred_thousand_rows.py", n_rows=400)
    assert printed.startswith("400 rows, 10 inputs; SquaredExponential")
    # Better than an observation, which errs by 1.
    assert 0 < value(printed, "error") < 0.8
    assert value(printed, "gradient") <= 1e-4


def test_both_regressors_agree():
    printed = run("versus_scikit_learn.py", "--size", "200")
    assert value(printed, "largest difference of the means") == pytest.approx(0, abs=1e-3)
    assert value(printed, "largest difference of the deviations") == pytest.approx(0, abs=1e-3)
