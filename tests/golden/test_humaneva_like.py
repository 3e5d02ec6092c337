"""Figures that must hold on the reference set: silhouettes against exact masks, poses against the mean pose."""

import cv2
import numpy as np
import pytest

from pipelines.evaluation.evaluate import evaluate
from pipelines.progress import Silent
from pipelines.settings import Config
from pipelines.training.train import train
from pose import GaussianBackground
from pose.humaneva import HumanEva
from pose.video.reader import read_frames

pytestmark = pytest.mark.shared


@pytest.fixture(scope="module")
def dev(shared):
    return shared / "humaneva-like" / "dev"


def test_silhouettes_match_the_exact_masks(dev):
    """Mean intersection over union, every fourth mask of one camera of each subject's trials."""
    tree = HumanEva(dev / "HumanEva_I")
    recordings = [(frame.image for frame in read_frames(path)) for path in tree.background_videos("C2")]
    background = GaussianBackground().fit(recordings)
    overlaps = []
    for sequence in tree.trials_with_video():
        stem = f"{sequence.subject.name}_{sequence.action}_1_(C2)"
        masks = {int(path.stem.rsplit("_F", 1)[1]): path for path in (dev / "truth" / "masks").glob(f"{stem}_F*.png")}
        for number, frame in sequence.read("C2", np.sort(list(masks))[::4]):
            true = cv2.imread(str(masks[number]), cv2.IMREAD_GRAYSCALE) > 0
            found = background.silhouette(frame.image) > 0
            overlaps.append((true & found).sum() / (true | found).sum())
    assert len(overlaps) > 70
    assert np.mean(overlaps) > 0.97
    assert np.min(overlaps) > 0.90


def test_poses_beat_the_sparse_rival_and_the_mean_pose(dev):
    """One camera, every fourth frame; with three cameras and every frame it is 88 mm against 196 mm."""
    config = Config.model_validate({"data": {"cameras": ["C1"], "stride": 4}, "mpgp": {"n_regressors": 300}})
    model = train(dev / "HumanEva_I", config, Silent())
    assert model.summary["n_train"] == pytest.approx(9315 / 12, rel=0.02)
    assert model.summary["converged"]
    errors = evaluate(dev / "HumanEva_I", model, Silent()).means()
    assert errors["mean_pose"] == pytest.approx(190, abs=2)
    assert errors["gbcd"] <= errors["mpgp"]
    assert errors["gbcd"] <= 0.62 * errors["mean_pose"]
