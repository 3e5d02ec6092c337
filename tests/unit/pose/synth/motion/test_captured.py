import numpy as np
import pytest

from pose.body.skeleton import HUMANEVA_15
from pose.synth.body import NAMED_BODIES, draw_body
from pose.synth.motion.actions import generate
from pose.synth.motion.captured import lowest_soles, on_body, perform, travels
from pose.synth.motion.motion import RATE
from pose.synth.motion_files import Landmarks

BODY = draw_body(np.random.default_rng(3))


def landmarks_of(motion, rate=RATE, every=1):
    """A generated motion as if a file had it."""
    points = {
        (part, side): motion.joint(f"{side}_{part}")[::every]
        for part in ("hip", "knee", "ankle", "shoulder", "elbow", "wrist")
        for side in ("left", "right")
    }
    points |= {("neck", ""): motion.trunk_top[::every], ("crown", ""): motion.joint("head")[::every]}
    frames = (motion.pelvis, motion.thorax, motion.head, motion.feet)
    return Landmarks(points, *(frame[::every] for frame in frames), rate / every)


@pytest.fixture(scope="module")
def walk():
    return generate("Walking", NAMED_BODIES["S1"], 400, np.random.default_rng(1))


@pytest.fixture(scope="module")
def gestures():
    return generate("Gestures", NAMED_BODIES["S1"], 400, np.random.default_rng(1))


def check_bones(motion):
    for parent, child in HUMANEVA_15.bones:
        if HUMANEVA_15.names[child] != "head":
            assert np.ptp(np.linalg.norm(motion.joints[:, child] - motion.joints[:, parent], axis=1)) < 1e-6
    speed = np.linalg.norm(np.diff(motion.joints, axis=0), axis=-1) * RATE
    assert speed.max() < 9_000  # mm/s


def test_on_its_own_body_a_motion_is_itself(walk):
    again = on_body(landmarks_of(walk), walk.body)
    shift = again.joints - walk.joints
    # Only the floor is found anew.
    np.testing.assert_allclose(shift[..., :2], 0, atol=1e-6)
    assert np.ptp(shift[..., 2], axis=1).max() < 1e-6
    assert np.abs(shift[..., 2]).max() < 12


def test_on_another_body_directions_stay_and_lengths_are_the_bodys(walk):
    other = on_body(landmarks_of(walk), BODY)
    check_bones(other)
    shin = other.joint("left_ankle") - other.joint("left_knee")
    np.testing.assert_allclose(np.linalg.norm(shin, axis=1), BODY.shin)
    theirs = walk.joint("left_ankle") - walk.joint("left_knee")
    np.testing.assert_allclose(shin / BODY.shin, theirs / walk.body.shin, atol=1e-9)
    soles = lowest_soles(other)
    assert soles.min() > -25
    assert np.median(soles) < 15


def test_a_walk_is_laid_along_the_path_and_shows_all_sides(walk):
    landmarks = landmarks_of(walk, every=2)  # 60 Hz
    assert travels(landmarks)
    motion = perform(landmarks, BODY, 1500, np.random.default_rng(0))
    assert len(motion) == 1500
    check_bones(motion)
    assert np.abs(motion.joints[..., :2]).max() < 2200
    yaw = np.degrees(np.arctan2(motion.pelvis[:, 1, 0], motion.pelvis[:, 0, 0]))
    assert set(np.floor(yaw / 45).astype(int)) == set(range(-4, 4))
    # He looks where he goes.
    way = np.gradient(motion.joint("pelvis"), axis=0)[:, :2]
    ahead = motion.pelvis[:, :2, 0]
    cosine = np.sum(way * ahead, axis=1) / np.linalg.norm(way, axis=1) / np.linalg.norm(ahead, axis=1)
    assert np.median(cosine) > 0.95


def test_a_clip_that_stays_faces_x_in_the_middle(gestures):
    landmarks = landmarks_of(gestures.turned(np.full(400, 2.0)))
    assert not travels(landmarks)
    motion = perform(landmarks, BODY, 900, np.random.default_rng(0))
    check_bones(motion)
    assert np.linalg.norm(motion.joint("pelvis")[:, :2].mean(axis=0)) < 700
    assert np.median(motion.pelvis[:, 0, 0]) > 0.5


@pytest.mark.parametrize("length", [40, 75, 130])
def test_short_clips_are_repeated_without_jumps(gestures, length):
    part = landmarks_of(gestures.crop(100, 100 + length))
    motion = perform(part, BODY, 600, np.random.default_rng(2))
    assert len(motion) == 600
    assert np.isfinite(motion.joints).all()


def test_the_same_seed_is_the_same_performance(walk):
    first, again, other = (perform(landmarks_of(walk), BODY, 200, np.random.default_rng(seed)) for seed in (1, 1, 2))
    np.testing.assert_array_equal(first.joints, again.joints)
    assert np.abs(first.joints - other.joints).max() > 10


def test_mirrored_and_turned():
    motion = generate("Box", NAMED_BODIES["S2"], 60, np.random.default_rng(0))
    mirrored = motion.mirrored()
    np.testing.assert_array_equal(mirrored.joint("left_wrist"), motion.joint("right_wrist") * [1, -1, 1])
    np.testing.assert_allclose(np.linalg.det(mirrored.feet), 1)
    np.testing.assert_array_equal(mirrored.mirrored().feet, motion.feet)
    turned = motion.turned(np.full(60, np.pi / 2))
    np.testing.assert_allclose(turned.joint("head")[:, 0], -motion.joint("head")[:, 1], atol=1e-9)
    np.testing.assert_allclose(turned.pelvis[:, 1, 0], motion.pelvis[:, 0, 0], atol=1e-12)
