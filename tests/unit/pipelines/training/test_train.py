"""What is held out together while hyperparameters are fitted, and training on very little."""

from pathlib import Path

import numpy as np
import pytest

from pipelines.progress import Silent
from pipelines.settings import Config
from pipelines.training.train import train

SMALL = {"descriptor": {"n_words": 20, "codebook_stride": 3}, "mpgp": {"n_regressors": 10}}


class Notes(Silent):
    """Keeps what is said."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def say(self, text: str) -> None:
        self.lines.append(text)


@pytest.fixture
def tree(walking_tree) -> Path:
    return walking_tree


def run(tree, **sections):
    notes = Notes()
    return train(tree, Config.model_validate(SMALL | sections), notes), notes.lines


def test_short_recordings_are_held_out_in_shorter_blocks(tree):
    model, lines = run(tree)
    # Frames 31 to 60 make 3 blocks of 15 and 5 of 7.
    assert "hyperparameters: blocks of 7 frames are held out, as the recordings are short" in lines
    assert model.summary["converged"]
    assert "standard deviations: blocks of 7 frames are held out, as the recordings are short" in lines
    factors = model.calibration.factors.reshape(15, 3)
    assert (factors[0] == 0).all()
    assert (factors[1:] > 0).all()
    assert 0 < model.calibration.unlike_above < 1
    assert "calibration" in model.summary["seconds"]


@pytest.mark.parametrize("stride", [10, 1000])
def test_too_few_instants_to_hold_out(tree, stride):
    model, lines = run(tree, data={"stride": stride})
    assert "hyperparameters: too few instants to hold any out; by marginal likelihood instead" in lines
    assert "standard deviations: too few instants to hold any out; the model gives none" in lines
    assert model.calibration is None
    points = tuple(np.random.default_rng(0).random((2, 50, 2)))
    assert np.isfinite(model.predict(model.histosc.transform([points]))).all()


def test_marginal_likelihood_takes_one_image_of_a_block(tree):
    model, _ = run(tree, gp={"hyperparameters": "marginal", "block_seconds": 0.1})
    assert len(model.gp.hyperparameters_.indices) < model.summary["n_train"] / 3


def test_counts_larger_than_the_data_are_clipped_with_one_line(tree):
    _, lines = run(tree, mpgp={"n_regressors": 5000})
    assert any(line.startswith("mpgp: 5000 regressors are clipped to") for line in lines)
    assert any(line.startswith("hyperparameters: the subset of 2000 is clipped to") for line in lines)
