"""The examples run, on data of small size, and print what they should."""

import contextlib
import subprocess
import sys
import tempfile
import warnings

import matplotlib.pyplot as plt
import pytest
from places import REPOSITORY

EXAMPLES = REPOSITORY / "examples"


@pytest.fixture
def example(monkeypatch, capsys, tmp_path):
    """Run a script as a user would, with other values for some of its names; gives what it printed."""
    plt.switch_backend("Agg")

    def call(script, *options, **smaller):
        text = (EXAMPLES / script).read_text(encoding="utf-8")
        for name, value in smaller.items():
            lines = [line for line in text.splitlines() if line.startswith(f"{name} = ")]
            assert len(lines) == 1, f"{script}: {name} is set in {len(lines)} lines"
            text = text.replace(lines[0], f"{name} = {value!r}")
        monkeypatch.setattr(sys, "argv", [script, *options])
        monkeypatch.chdir(tmp_path)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "FigureCanvasAgg is non-interactive", UserWarning)
            exec(compile(text, script, "exec"), {"__name__": "__main__"})
        plt.close("all")
        assert list(tmp_path.iterdir()) == []
        return capsys.readouterr().out

    return call


def value(printed, label):
    """The number behind a label."""
    line = next(line for line in printed.splitlines() if line.startswith(label))
    return float(line.removeprefix(label).strip(" :").split()[0].rstrip("%,"))


@pytest.mark.parametrize("script", sorted(path.name for path in EXAMPLES.glob("*.py")))
def test_an_example_is_short(script):
    assert len((EXAMPLES / script).read_text(encoding="utf-8").splitlines()) < 60


def test_fit_and_error_bars(example):
    printed = example("fit_and_error_bars.py", n_rows=200)
    assert value(printed, "standard deviation of the noise") == pytest.approx(0.2, abs=0.05)
    assert 90 <= value(printed, "observations within two deviations") <= 100


def test_a_hundred_thousand_rows_when_they_are_few(example):
    printed = example("hundred_thousand_rows.py", n_rows=400)
    assert printed.startswith("400 rows, 10 inputs; SquaredExponential")
    # Better than an observation, which errs by 1.
    assert 0 < value(printed, "error") < 0.8
    assert value(printed, "gradient") <= 1e-4


def test_both_regressors_agree(example):
    printed = example("versus_scikit_learn.py", "--size", "200")
    assert value(printed, "largest difference of the means") == pytest.approx(0, abs=1e-3)
    assert value(printed, "largest difference of the deviations") == pytest.approx(0, abs=1e-3)


def test_a_kernel_of_ones_own(example):
    printed = example("own_kernel.py", n_rows=300)
    assert float(printed.split("o'clock ")[1].split(",")[0]) == pytest.approx(1, abs=0.15)


def test_a_silhouette_becomes_a_histogram(example):
    printed = example("silhouette_to_histogram.py", n_words=20)
    assert "edge points (400, 2)" in printed
    # The figure is drawn from sin(step / 5), which repeats after 31.4 steps.
    assert value(printed, "of the steps from 20 on, the one most like step 8") in (39, 40)


def test_from_training_to_a_video(example, run, monkeypatch, tmp_path_factory):
    folder = tmp_path_factory.mktemp("video")
    start = subprocess.run

    def call(command, cwd=None, **options):
        if command[1:3] != ["-m", "pipelines.cli"]:
            return start(command, cwd=cwd, **options)
        with contextlib.chdir(cwd):
            code, _, errors = run(*command[3:])
        assert code == 0, errors
        return None

    # The commands run in this process, which saves the seconds that starting four others takes.
    monkeypatch.setattr(subprocess, "run", call)
    monkeypatch.setattr(tempfile, "mkdtemp", lambda: str(folder))
    assert "a person in" in example("train_to_video.py", n_frames=40)
    assert (folder / "results" / "Walking_1_(C1)_overlay.mp4").stat().st_size > 0
