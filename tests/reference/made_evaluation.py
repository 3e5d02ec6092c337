"""An evaluation whose errors are known by construction, for the tests of what is made of evaluations."""

import numpy as np

from pipelines.evaluation.evaluate import Evaluation
from pipelines.features.samples import Samples
from pose.body.skeleton import HUMANEVA_15


def make_evaluation(n=240, axes="camera", action="Walking"):
    """Two subjects before two cameras; the errors of GBCD are normal with 20 mm, those of the last frame 300 mm."""
    rng = np.random.default_rng(0)
    pose = np.zeros((15, 3))
    pose[:, 1] = np.array([0, -450, -430, -180, 40, -430, -180, 40, 0, 420, 820, 0, 420, 820, -700])
    pose[:, 0] = np.array([0, 0, 180, 220, 240, -180, -220, -240, 90, 100, 110, -90, -100, -110, 0])
    true = pose + rng.normal(scale=30, size=(n, 15, 3))
    true[:, 0] = 0
    gbcd = true + rng.normal(scale=20, size=true.shape)
    gbcd[:, 0] = 0
    gbcd[-1, 1:, 0] = true[-1, 1:, 0] + 300
    angle = np.linspace(0, 2 * np.pi, 40, endpoint=False)
    edges = np.stack([320 + 60 * np.cos(angle), 240 + 150 * np.sin(angle)], axis=1)
    half = n // 2
    samples = Samples(
        edges=np.repeat(edges[None], n, axis=0).astype(np.float32),
        poses=true,
        subject=np.array(["S1"] * half + ["S2"] * (n - half)),
        action=np.full(n, action),
        camera=np.array(["C1", "C2"] * half),
        trial=np.ones(n, dtype=int),
        frame=np.concatenate([np.arange(half), np.arange(n - half)]),
        n_empty=3,
        n_missing=0,
    )
    predictions = {"gbcd": gbcd, "mpgp": true + 25, "mean_pose": np.broadcast_to(pose, true.shape)}
    return Evaluation("Validate", HUMANEVA_15, samples, axes, predictions)
