import subprocess
import sys

import pytest
from places import REPOSITORY

EXAMPLES = REPOSITORY / "examples"


def run(name, *options):
    done = subprocess.run(
        [sys.executable, "-W", "error", EXAMPLES / name, *options], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return dict(line.split(maxsplit=1) for line in done.stdout.splitlines()), done.stdout


def test_a_hundred_thousand_points_when_they_are_few(tmp_path):
    words, text = run("hundred_thousand.py", "--size", "400", "--checkpoint", str(tmp_path / "fit.npz"))
    assert text.startswith("400 points, 10 inputs; SquaredExponential")
    # Better than an observation, which errs by 1.
    assert 0 < float(words["error"].split()[0]) < 0.8
    assert text.count("+-") == 5
    assert list(tmp_path.iterdir()) == []


def test_both_regressors_agree():
    _, text = run("versus_scikit_learn.py", "--size", "200")
    means, deviations = (float(line.split()[-1]) for line in text.splitlines()[-2:])
    assert means == pytest.approx(0, abs=1e-3)
    assert deviations == pytest.approx(0, abs=1e-3)
