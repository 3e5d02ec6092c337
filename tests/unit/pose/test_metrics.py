"""Errors worked out by hand."""

import numpy as np
import pytest

from pose.metrics import joint_errors, mean_joint_error, mean_joint_error_without_root


def poses() -> tuple[np.ndarray, np.ndarray]:
    true = np.zeros((2, 3, 3))
    predicted = true.copy()
    predicted[0, 1] = [3, 4, 0]  # 5 mm
    predicted[1, 2] = [1, 2, 2]  # 3 mm
    return predicted, true


def test_joint_errors_are_euclidean_distances():
    np.testing.assert_allclose(joint_errors(*poses()), [[0, 5, 0], [0, 0, 3]])


def test_the_mean_counts_the_root_and_the_other_does_not():
    assert mean_joint_error(*poses()) == pytest.approx(8 / 6)
    assert mean_joint_error_without_root(*poses()) == pytest.approx(8 / 4)


def test_unlike_shapes_are_refused():
    with pytest.raises(ValueError, match=r"\(2, 3, 3\) and \(1, 3, 3\)"):
        joint_errors(poses()[0], np.zeros((1, 3, 3)))
