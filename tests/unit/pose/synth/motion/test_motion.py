"""What an anatomist would check: bones that keep their lengths, joints that bend the right way, feet on the floor."""

import numpy as np
import pytest

from pose.body.skeleton import HUMANEVA_15
from pose.errors import DataError
from pose.humaneva.joints import HEAD_LENGTH
from pose.synth.body import NAMED_BODIES
from pose.synth.motion.actions import ACTIONS, generate
from pose.synth.motion.limbs import standing
from pose.synth.motion.motion import RATE

FRAMES = 1200
INDEX = {name: index for index, name in enumerate(HUMANEVA_15.names)}
MIRRORED = [
    INDEX[name.replace("left", "LEFT").replace("right", "left").replace("LEFT", "right")] for name in HUMANEVA_15.names
]


@pytest.fixture(scope="module", params=[(s, a) for s in NAMED_BODIES for a in ACTIONS], ids=" ".join)
def motion(request):
    subject, action = request.param
    return generate(action, NAMED_BODIES[subject], FRAMES, np.random.default_rng(7))


def flexion(motion, upper, middle, lower):
    first = motion.joint(middle) - motion.joint(upper)
    second = motion.joint(lower) - motion.joint(middle)
    cosine = np.sum(first * second, axis=1) / np.linalg.norm(first, axis=1) / np.linalg.norm(second, axis=1)
    return np.degrees(np.arccos(np.clip(cosine, -1, 1)))


def sole_heights(motion, side):
    """Heights of heel and ball over the floor, (2, T)."""
    body, foot = motion.body, motion.feet[:, side]
    ankle = motion.joint(("left_ankle", "right_ankle")[side])
    sole = ankle - body.ankle_height * foot[..., 2]
    return np.stack([(sole + ahead * foot[..., 0])[:, 2] for ahead in (-body.foot[0], body.foot[1])])


def test_shapes(motion):
    assert motion.joints.shape == (FRAMES, 15, 3)
    assert len(motion) == FRAMES
    assert np.isfinite(motion.joints).all()


def test_bones_keep_their_lengths(motion):
    for parent, child in HUMANEVA_15.bones:
        if HUMANEVA_15.names[child] == "head":  # hangs on the trunk's top, some mm from the thorax joint
            continue
        lengths = np.linalg.norm(motion.joints[:, child] - motion.joints[:, parent], axis=1)
        assert np.ptp(lengths) < 1e-6, HUMANEVA_15.names[child]
    head = np.linalg.norm(motion.joint("head") - motion.trunk_top, axis=1)
    np.testing.assert_allclose(head, HEAD_LENGTH)


def test_lengths_are_the_bodys(motion):
    body = motion.body
    for upper, lower, length in (
        ("hip", "knee", body.thigh),
        ("knee", "ankle", body.shin),
        ("shoulder", "elbow", body.upper_arm),
        ("elbow", "wrist", body.forearm),
    ):
        for side in ("left", "right"):
            found = np.linalg.norm(motion.joint(f"{side}_{upper}") - motion.joint(f"{side}_{lower}"), axis=1)
            np.testing.assert_allclose(found, length)


def test_no_jumps(motion):
    velocity = np.diff(motion.joints, axis=0) * RATE
    assert np.linalg.norm(velocity, axis=-1).max() < 8_000  # mm/s
    assert np.linalg.norm(np.diff(velocity, axis=0) * RATE, axis=-1).max() < 150_000  # mm/s²


@pytest.mark.parametrize("side", ["left", "right"])
def test_knees_bend_backward_and_within_their_limits(motion, side):
    assert flexion(motion, f"{side}_hip", f"{side}_knee", f"{side}_ankle").max() < 140
    hip, knee, ankle = (motion.joint(f"{side}_{part}") for part in ("hip", "knee", "ankle"))
    ahead = np.sum((knee - (hip + ankle) / 2) * motion.pelvis[..., 0], axis=1)
    assert ahead.min() > -20  # a foot turned outward takes its knee to the side


@pytest.mark.parametrize("side", ["left", "right"])
def test_elbows_bend_within_their_limits(request, motion, side):
    bend = flexion(motion, f"{side}_shoulder", f"{side}_elbow", f"{side}_wrist")
    assert bend.max() < 150
    if request.node.callspec.params["motion"][1] not in ("Walking", "Jog"):
        return
    # Hanging arms flex forward: the wrist stands ahead of the upper arm's line.
    shoulder, elbow, wrist = (motion.joint(f"{side}_{part}") for part in ("shoulder", "elbow", "wrist"))
    along = (elbow - shoulder) / motion.body.upper_arm
    beyond = (wrist - elbow) - np.sum((wrist - elbow) * along, axis=1, keepdims=True) * along
    assert np.sum(beyond * (motion.thorax[..., 0] + 0.5 * motion.thorax[..., 2]), axis=1).min() > 0


def test_feet_stay_on_the_floor_side(motion):
    for side in range(2):
        assert sole_heights(motion, side).min() > -15


def test_a_foot_is_near_the_floor_unless_in_flight(motion):
    lowest = np.minimum(motion.joint("left_ankle")[:, 2], motion.joint("right_ankle")[:, 2])
    near = lowest < motion.body.ankle_height + 80
    assert near.mean() > 0.75


@pytest.mark.parametrize("action", ["Walking", "Jog"])
def test_planted_feet_do_not_slide(action):
    motion = generate(action, NAMED_BODIES["S1"], FRAMES, np.random.default_rng(2))
    body = motion.body
    for side, name in enumerate(("left_ankle", "right_ankle")):
        foot = motion.feet[:, side]
        ball = motion.joint(name) + body.foot[1] * foot[..., 0] - body.ankle_height * foot[..., 2]
        planted = (ball[:-1, 2] < 3) & (ball[1:, 2] < 3)
        slide = np.linalg.norm(np.diff(ball[:, :2], axis=0), axis=1) * RATE
        assert planted.mean() > 0.15
        assert np.median(slide[planted]) < 40  # mm/s; the body passes at 1,300 and more


def test_walking_has_no_flight_and_jogging_has():
    def both_up(action):
        motion = generate(action, NAMED_BODIES["S1"], FRAMES, np.random.default_rng(3))
        lowest = np.min([sole_heights(motion, side) for side in range(2)], axis=(0, 1))
        return np.mean(lowest > 6)

    assert both_up("Walking") == 0
    assert 0.04 < both_up("Jog") < 0.4


def test_legs_and_arms_swing_against_each_other():
    motion = generate("Walking", NAMED_BODIES["S1"], FRAMES, np.random.default_rng(4))
    ahead = motion.pelvis[..., 0]
    legs = np.sum((motion.joint("left_ankle") - motion.joint("right_ankle")) * ahead, axis=1)
    arms = np.sum((motion.joint("left_wrist") - motion.joint("right_wrist")) * ahead, axis=1)
    assert np.corrcoef(legs, arms)[0, 1] < -0.7


def test_all_sides_are_seen():
    motion = generate("Walking", NAMED_BODIES["S1"], FRAMES, np.random.default_rng(5))
    yaw = np.degrees(np.arctan2(motion.pelvis[:, 1, 0], motion.pelvis[:, 0, 0]))
    assert set(np.floor(yaw / 45).astype(int)) == set(range(-4, 4))


def test_cycles_differ():
    motion = generate("Walking", NAMED_BODIES["S1"], 2400, np.random.default_rng(6))
    heights = motion.joint("left_ankle")[:, 2]
    peaks = heights[1:-1][(heights[1:-1] > heights[:-2]) & (heights[1:-1] >= heights[2:]) & (heights[1:-1] > 150)]
    assert len(peaks) > 10
    assert np.std(peaks) > 2


def test_same_seed_same_motion(request, motion):
    action = request.node.callspec.params["motion"][1]
    first, again, other = (generate(action, motion.body, 200, np.random.default_rng(seed)) for seed in (1, 1, 2))
    np.testing.assert_array_equal(first.joints, again.joints)
    assert np.abs(first.joints - other.joints).max() > 10


def test_the_t_pose_is_its_own_mirror_image():
    joints = standing(NAMED_BODIES["S2"], 1, arm_spread=np.pi / 2).joints[0]
    np.testing.assert_allclose(joints[MIRRORED] * [1, -1, 1], joints, atol=1e-9)
    wrist, shoulder = joints[INDEX["left_wrist"]], joints[INDEX["left_shoulder"]]
    assert abs(wrist[2] - shoulder[2]) < 5
    assert wrist[1] > shoulder[1] + 400


@pytest.mark.parametrize("subject", NAMED_BODIES)
def test_standing_is_as_tall_as_the_subject(subject):
    body = NAMED_BODIES[subject]
    motion = standing(body, 2)
    assert motion.joint("head")[0, 2] == pytest.approx(body.stature, abs=10)
    assert motion.joint("left_ankle")[0, 2] == pytest.approx(body.ankle_height, abs=2)


def test_unknown_names_are_refused_with_the_known_ones():
    with pytest.raises(DataError, match=r"'Dance'.*Walking, Jog, Box, Gestures, ThrowCatch"):
        generate("Dance", NAMED_BODIES["S1"], 10, np.random.default_rng(0))
