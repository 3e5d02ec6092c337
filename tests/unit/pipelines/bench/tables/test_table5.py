"""Table 5: what its stages keep, and what they are of."""

import numpy as np
import pytest

from gbcd import SquaredExponential
from pipelines.bench.pose_experiment import Features, Part, Study, fingerprint
from pipelines.bench.tables.table5 import is_tree, prepare
from pipelines.errors import UsageError
from pipelines.progress import Silent
from pipelines.settings import Config


@pytest.fixture
def tree(tmp_path):
    folder = tmp_path / "tree" / "S1" / "Image_Data"
    folder.mkdir(parents=True)
    (folder / "Walking_1_(C1).avi").write_bytes(b"0123")
    return tmp_path / "tree"


def part(n, seed=0):
    rng = np.random.default_rng(seed)
    histograms = rng.dirichlet(np.ones(6), n)
    poses = np.concatenate([np.zeros((n, 3)), 300 * histograms @ rng.normal(size=(6, 42))], axis=1)
    return Part(histograms, poses, np.arange(n) // 10)


def test_a_changed_file_changes_the_fingerprint(tree):
    before = fingerprint(tree)
    assert fingerprint(tree) == before
    (tree / "S1" / "Image_Data" / "Walking_1_(C1).avi").write_bytes(b"01234")
    assert fingerprint(tree) != before


def test_a_study_is_read_as_it_was_written(tree, tmp_path):
    study = Study(tmp_path / "study", tree, Config.model_validate({"gp": {"kernel": "ard"}}), "Test")
    study.save()
    read = Study.load(tmp_path / "study")
    assert (read.tree, read.config, read.test, read.key) == (study.tree, study.config, "Test", study.key)


def test_features_are_found_again_but_not_those_of_another_study(tmp_path):
    features = Features(part(20), part(5, seed=1), 6)
    features.save(tmp_path / "features.npz", "this")
    assert Features.load(tmp_path / "features.npz", "other") is None
    read = Features.load(tmp_path / "features.npz", "this")
    assert read.n_words == 6
    for ours, theirs in ((read.train, features.train), (read.test, features.test)):
        for name, array in vars(theirs).items():
            np.testing.assert_array_equal(getattr(ours, name), array)


def test_damaged_stages_are_done_again(tree, tmp_path, monkeypatch):
    (tmp_path / "features.npz").write_bytes(b"PK\3\4 and no more")
    assert Features.load(tmp_path / "features.npz", "this") is None
    study = Study(tmp_path, tree, Config(), "Test")
    monkeypatch.setattr(Study, "features", lambda _: Features(part(20), part(5), 6))
    monkeypatch.setattr(Study, "fit_kernel", lambda *_: {"gamma": [2.0], "noise": 0.5})
    for content in ("", "x", "[]"):
        (tmp_path / "isotropic.json").write_text(content)
        assert study.kernel("isotropic")[1] == 0.5


@pytest.mark.parametrize("name", ["isotropic", "ard"])
def test_hyperparameters_are_fitted_once(tree, tmp_path, monkeypatch, name):
    study = Study(tmp_path / "study", tree, Config.model_validate({"gp": {"subset": 60}}), "Test")
    study.save()
    Features(part(120), part(5, seed=1), 6).save(tmp_path / "study" / "features.npz", study.key)
    kernel, noise = study.kernel(name)
    assert isinstance(kernel, SquaredExponential)
    assert np.size(kernel.gamma) == (1 if name == "isotropic" else 6)
    monkeypatch.setattr(Study, "fit_kernel", None)
    again, noise_again = study.kernel(name)
    np.testing.assert_array_equal(again.log_parameters, kernel.log_parameters)
    assert noise_again == noise > 0


def test_a_folder_that_is_no_tree_is_refused_before_anything_is_drawn(tmp_path, tree):
    (tmp_path / "S1.txt").touch()
    assert is_tree(tree)
    assert not is_tree(tmp_path)
    with pytest.raises(UsageError, match="not a HumanEva tree"):
        prepare("full", tmp_path / "out", tmp_path, Silent())
    assert not (tmp_path / "out").exists()


def test_the_papers_settings_are_the_default(tree, tmp_path):
    study = Study.load(prepare("full", tmp_path / "out", tree, Silent()))
    data, default = study.config.data, Config()
    assert (data.scheme, data.train_images, data.test_images, study.test) == ("blocked-75-25", 26_572, 8_757, "Test")
    descriptor = study.config.descriptor
    assert (descriptor.n_points, descriptor.n_words) == (400, 300)
    assert (descriptor.assignment, descriptor.hellinger, descriptor.rotation) == ("hard", False, "absolute")
    assert (study.config.mpgp, study.config.gp) == (default.mpgp, default.gp)
