"""Histograms of several cameras side by side: by instant, in the settings' order, in the first camera's axes."""

import numpy as np
import pytest

from pipelines.errors import UsageError
from pipelines.evaluation.evaluate import evaluate
from pipelines.features.samples import Samples
from pipelines.features.views import arrange_views
from pipelines.model.model_file import save_model
from pipelines.model.pose_model import PoseModel
from pipelines.progress import Silent
from pipelines.settings import Config, DataConfig
from pipelines.training.train import train
from pose.errors import DataError

SMALL = {"descriptor": {"n_words": 20, "codebook_stride": 3}, "mpgp": {"n_regressors": 10}}


def samples_of(cameras, frames, subjects=None):
    n = len(cameras)
    return Samples(
        edges=np.arange(n, dtype=np.float32)[:, None, None] * np.ones((1, 4, 2), np.float32),
        poses=np.arange(n, dtype=float)[:, None, None] * np.ones((1, 15, 3)),
        subject=np.array(subjects or ["S1"] * n),
        action=np.full(n, "Box"),
        camera=np.array(cameras),
        trial=np.ones(n, dtype=np.int64),
        frame=np.array(frames, dtype=np.int64),
        n_empty=3,
        n_missing=1,
    )


def test_single_views_stay_as_they_are():
    samples, histograms = samples_of(["C1", "C2"], [1, 1]), np.eye(2)
    assert arrange_views(samples, histograms, DataConfig()) == (samples, histograms)


def test_views_are_joined_by_instant_in_the_order_of_the_cameras():
    samples = samples_of(["C1", "C1", "C2", "C2", "C1", "C2"], [6, 7, 7, 6, 8, 6], ["S1", "S1", "S1", "S1", "S1", "S2"])
    histograms = np.arange(6.0)[:, None] + [0.0, 0.5]
    settings = DataConfig(views="concatenated", cameras=("C2", "C1"))
    joined, inputs = arrange_views(samples, histograms, settings)
    assert inputs.tolist() == [[3.0, 3.5, 0.0, 0.5], [2.0, 2.5, 1.0, 1.5]]  # frames 6 and 7; 8 and S2 lack a view
    assert joined.frame.tolist() == [6, 7]
    assert joined.poses[:, 0, 0].tolist() == [3.0, 2.0]  # C2's
    assert joined.edges[:, 0, 0].tolist() == [3.0, 2.0]
    assert joined.camera.tolist() == ["C2+C1"] * 2
    assert (joined.n_empty, joined.n_missing) == (3, 1)


def test_no_instant_that_all_cameras_show():
    settings = DataConfig(views="concatenated", cameras=("C1", "C2"))
    with pytest.raises(DataError, match=r"no instant has a person in all of C1, C2"):
        arrange_views(samples_of(["C1", "C2"], [6, 7]), np.eye(2), settings)


def test_a_model_of_several_views_is_kept_evaluated_and_refuses_single_ones(walking_tree, tmp_path):
    config = Config.model_validate(SMALL | {"data": {"views": "concatenated"}})
    model = train(walking_tree, config, Silent())
    assert model.gp.X_train_.shape[1] == 60
    assert set(model.summary["cameras"]) == {"C1+C2+C3"}
    save_model(tmp_path / "m.h5", model)
    again = PoseModel.load(tmp_path / "m.h5")
    evaluation = evaluate(walking_tree, again, Silent())
    assert evaluation.means()["gbcd"] < evaluation.means()["mean_pose"]
    histogram = again.histosc.transform([tuple(np.random.default_rng(0).random((2, 50, 2)))])
    with pytest.raises(UsageError, match="one pose from C1, C2, C3 together"):
        again.predict(histogram)
