"""A model file written at commit 9aa4017, by `small_model.make_model`, still loads and gives what it gave then."""

import numpy as np
import pytest
from films import figure
from places import REPOSITORY

from pipelines.model.pose_model import PoseModel


def test_an_earlier_model_file_gives_the_same_poses():
    model = PoseModel.load(REPOSITORY / "tests/golden/model_of_version_1.h5")
    histograms = model.histosc.transform([figure(7, 40)])
    poses = model.predict_with_std(histograms)
    thorax = [-938.6508312253131, 633.2514384719245, 774.3518495304227]  # mm
    np.testing.assert_allclose(poses.joints[0, 1], thorax, atol=1e-4)
    assert poses.std[0, 1] == pytest.approx([6.207239417184947, 4.963649099444579, 4.284023228639878], rel=1e-4)
    rival = [-938.2482743879775, 632.9295319449132, 774.0740186419936]
    np.testing.assert_allclose(model.predict_mpgp(histograms)[0, 1], rival, atol=1e-4)
