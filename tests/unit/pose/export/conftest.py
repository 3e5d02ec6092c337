"""A series with all that a series may have."""

import numpy as np
import pytest

from pose.body.skeleton import HUMANEVA_15
from pose.series.pose_series import PoseSeries


def _series(n=9, rate=60.0, step=1, first=4, axes="camera", skeleton=HUMANEVA_15, std=True, quality=True):
    """Random poses at the rate of a video of which every `step`-th frame is taken; nobody in the third frame."""
    rng = np.random.default_rng(0)
    frame = first + step * np.arange(n)
    joints = rng.normal(scale=500, size=(n, len(skeleton), 3))
    joints[:, skeleton.root] = 0
    deviations = rng.uniform(1, 60, size=joints.shape)
    flags = np.arange(n) * 2 % 16
    if n > 2:
        joints[2] = deviations[2] = np.nan
        flags[2] = 1
    provenance = {"model": "größe (C1).h5", "model_hash": "0" * 64, "config": '{"gp": {"noise": 1.0}}', "software": "1"}
    return PoseSeries(
        frame, frame / rate, joints, skeleton, axes, provenance, deviations if std else None, flags if quality else None
    )


@pytest.fixture
def make_series():
    return _series


@pytest.fixture
def series():
    return _series()
