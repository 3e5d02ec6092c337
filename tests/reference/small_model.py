"""A model of the figure of `films`: good enough to follow it, made in a second."""

from __future__ import annotations

from typing import Any

import numpy as np
from films import figure

from gbcd import GBCDRegressor, MatchingPursuitGP
from pipelines.features.histograms import new_histosc
from pipelines.model.model_file import SUMMARY
from pipelines.model.pose_model import PoseModel
from pipelines.settings import Config
from pipelines.training.calibration import calibrate
from pose.body.skeleton import HUMANEVA_15

N_WORDS = 20
N_POINTS = 60


def make_model() -> PoseModel:
    """Poses that swing as the figure's limbs do; they mean nothing else."""
    config = Config.model_validate({"descriptor": {"n_points": N_POINTS, "n_words": N_WORDS}})
    steps = np.repeat(np.arange(0, 60, 2), 2)
    masks = [figure(step, column) for step, column in zip(steps.tolist(), [30, 45] * 30, strict=True)]
    histosc = new_histosc(config).fit(masks)
    rest, reach = np.random.default_rng(0).uniform(-1, 1, (2, 15, 3))
    rest[0] = reach[0] = 0
    poses = 800 * rest + 200 * np.sin(steps / 4)[:, None, None] * reach
    outputs = poses.reshape(len(poses), -1)
    settings: dict[str, Any] = {"kernel": "isotropic", "gamma": 0.05, "noise": 1e-3}
    histograms = histosc.transform(masks)
    gp = GBCDRegressor(**settings, input_scaling="global", random_state=0).fit(histograms, outputs)
    mpgp = MatchingPursuitGP(**settings, input_scaling="global", n_regressors=10, random_state=0)
    mpgp.fit(histograms, outputs)
    blanks: dict[Any, Any] = {dict: {}, str: "a test", bool: True}
    summary = {name: blanks.get(kind, 1) for name, kind in SUMMARY.items()}
    return PoseModel(
        config, histosc, gp, mpgp, poses.mean(axis=0), HUMANEVA_15, summary, calibrate(gp, outputs, steps // 6)
    )
