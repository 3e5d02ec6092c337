"""A series refuses arrays that do not belong together."""

import numpy as np
import pytest

from pose.body.skeleton import HUMANEVA_15
from pose.series.pose_series import PoseSeries, Quality


def series(n_frames=3, n_times=3, joints=(3, 15, 3), std=None, quality=None):
    return PoseSeries(np.arange(n_frames), np.zeros(n_times), np.zeros(joints), HUMANEVA_15, "camera", {}, std, quality)


@pytest.mark.parametrize(
    ("shapes", "wrong"),
    [
        ({"n_times": 2}, "time"),
        ({"joints": (2, 15, 3)}, "joints"),
        ({"joints": (3, 14, 3)}, "joints"),
        ({"joints": (3, 45)}, "joints"),
        ({"std": np.zeros((3, 15))}, "std"),
        ({"quality": np.zeros(2, int)}, "quality"),
    ],
)
def test_arrays_that_do_not_agree_are_named(shapes, wrong):
    with pytest.raises(ValueError, match=rf"^{wrong} has the shape .*, expected "):
        series(**shapes)


def test_all_faults_are_listed_at_once():
    with pytest.raises(ValueError, match=r"time has .*; joints has "):
        series(n_times=2, joints=(2, 15, 3))


def test_standard_deviations_and_flags_go_with_the_frames():
    flags = np.array([Quality.GOOD, Quality.NO_PERSON, Quality.TOUCHES_BORDER | Quality.UNLIKE_TRAINING])
    assert series(std=np.ones((3, 15, 3)), quality=flags).quality.tolist() == [0, 1, 12]
