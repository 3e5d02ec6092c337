import numpy as np
import pytest

from pose.synth.kinematics import axes, drift, rotation, smootherstep, turn, two_bone


@pytest.mark.parametrize(
    ("angles", "vector", "expected"),
    [
        ((np.pi / 2, 0, 0), (1, 0, 0), (0, 1, 0)),  # yaw turns left
        ((0, np.pi / 2, 0), (0, 0, 1), (1, 0, 0)),  # pitch leans forward
        ((0, 0, np.pi / 2), (0, 0, 1), (0, -1, 0)),  # roll leans to the right
    ],
)
def test_signs_of_the_angles(angles, vector, expected):
    np.testing.assert_allclose(turn(rotation(*angles), vector), expected, atol=1e-12)


def test_rotations_are_orthonormal():
    angles = np.random.default_rng(0).normal(size=(3, 50))
    matrices = rotation(*angles)
    np.testing.assert_allclose(
        matrices @ np.swapaxes(matrices, -1, -2), np.broadcast_to(np.eye(3), (50, 3, 3)), atol=1e-12
    )
    np.testing.assert_allclose(np.linalg.det(matrices), 1.0)


def test_axes_are_right_handed_and_keep_z():
    rng = np.random.default_rng(1)
    z, hint = rng.normal(size=(2, 20, 3))
    frame = axes(z, hint)
    np.testing.assert_allclose(np.linalg.det(frame), 1.0)
    np.testing.assert_allclose(frame[..., 2], z / np.linalg.norm(z, axis=-1, keepdims=True))
    assert (np.sum(frame[..., 0] * hint, axis=-1) > 0).all()


def test_two_bone_reaches_what_is_in_reach_and_bends_to_the_pole():
    root, target, pole = np.zeros((1, 3)), np.array([[0.0, 0.0, -700.0]]), np.array([[1.0, 0.0, 0.3]])
    middle, end = two_bone(root, target, 430.0, 420.0, pole)
    np.testing.assert_allclose(end, target)
    assert middle[0, 0] > 100
    assert np.linalg.norm(middle) == pytest.approx(430.0)
    assert np.linalg.norm(end - middle) == pytest.approx(420.0)


@pytest.mark.parametrize("distance", [50.0, 800.0, 830.0, 845.0, 3000.0])
def test_two_bone_keeps_its_lengths_beyond_its_reach(distance):
    middle, end = two_bone(np.zeros(3), np.array([distance, 0.0, 0.0]), 430.0, 420.0, np.array([0.0, 0.0, 1.0]))
    assert np.linalg.norm(middle) == pytest.approx(430.0)
    assert np.linalg.norm(end - middle) == pytest.approx(420.0)
    assert middle[2] > 0


def test_two_bone_eases_into_full_length():
    distances = np.linspace(700.0, 1000.0, 3001)
    target = np.stack([distances, 0 * distances, 0 * distances], axis=-1)
    _, end = two_bone(np.zeros((3001, 3)), target, 430.0, 420.0, np.array([0.0, 0.0, 1.0]))
    steps = np.diff(end[:, 0])
    assert (steps >= 0).all()
    assert steps.max() < 0.11


def test_smootherstep_is_flat_at_both_ends():
    x = np.linspace(-0.5, 1.5, 2001)
    y = smootherstep(x)
    assert y[0] == 0
    assert y[-1] == 1
    assert (np.diff(y) >= 0).all()
    assert np.abs(np.diff(y, 2)).max() < 1e-5


def test_drift_is_smooth_bounded_and_reproducible():
    times = np.arange(6000) / 120
    first, again, other = (drift(np.random.default_rng(seed), times, 2.0) for seed in (3, 3, 4))
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other)
    assert 0.5 < first.std() < 3.0
    assert np.abs(np.diff(first)).max() < 0.2
    assert np.abs(first).max() < 8.0
