import numpy as np
import pytest
from motion_texts import MIXAMO, amc_text, bvh_text

from pose.errors import DataError
from pose.synth.motion_files import find_landmarks, read_clip, read_motion

MOVING = tuple({"position": f"{k} 95 0", "LeftArm": (k, 0, 0)} for k in range(6))


def person(write, name="person.bvh", **options):
    return write(name, bvh_text(frames=MOVING, **options))


def test_a_person_in_mm_and_upright(write):
    found = read_motion(person(write))
    assert found.title == "Mixamo"
    assert found.rate == pytest.approx(100)
    # z up, in mm; he faces the file's z, which becomes x, and his left is y.
    np.testing.assert_allclose(found.points["knee", "left"][0], [0, 90, 950 - 40 - 430])
    np.testing.assert_allclose(found.points["wrist", "right"][0], [0, -710, 950 + 450 + 50])
    np.testing.assert_allclose(found.points["crown", ""][0], [0, 0, 950 + 850])
    for frames in (found.pelvis, found.chest, found.head, found.feet[:, 0]):
        np.testing.assert_allclose(frames[0], np.eye(3), atol=1e-9)


@pytest.mark.parametrize("factor", [10.0, 1.0, 1 / 2.54, 10 * 0.45 / 25.4, 0.01], ids=["mm", "cm", "inch", "cmu", "m"])
def test_the_unit_is_found_out(write, factor):
    rows = [line.split() for line in MIXAMO.split("\n") if line]
    table = "\n".join(" ".join([*row[:2], *(f"{float(v) * factor:.6f}" for v in row[2:])]) for row in rows)
    frames = tuple({"position": f"{k * factor} {95 * factor} 0"} for k in range(4))
    found = read_motion(write("unit.bvh", bvh_text(table, frames)))
    np.testing.assert_allclose(found.points["crown", ""][0], [0, 0, 1800], atol=0.1)


def test_a_wrong_unit_is_refused_and_a_right_one_taken(write):
    path = person(write)
    with pytest.raises(DataError, match=r"with 1 mm a unit the legs are 85 mm long.*--motion-unit"):
        read_motion(path, unit_mm=1.0)
    assert read_motion(path, unit_mm=10.5).points["crown", ""][0, 2] == pytest.approx(1890)


def test_up_and_rate_as_stated(write):
    path = person(write)
    assert read_motion(path, rate=30).rate == 30
    head_down = read_motion(write("z.bvh", bvh_text(frames=({"Hips": (0, 90, 0)},) * 4)), up="y")
    np.testing.assert_allclose(head_down.points["crown", ""][0], [850, 0, 950], atol=1e-9)
    on_his_back = tuple({"Hips": (0, 45, 0), "position": f"{k} 95 0"} for k in range(4))
    with pytest.raises(DataError, match=r"nobody stands upright.*--motion-up"):
        read_motion(write("b.bvh", bvh_text(frames=on_his_back)))


def test_a_rest_pose_in_the_first_frame_is_passed_over(write):
    frames = ({}, *({"LeftArm": (80 + k, 0, 0), "RightArm": (-80, 0, 0)} for k in range(5)))
    assert len(read_motion(write("rest.bvh", bvh_text(frames=frames)))) == 5
    assert len(read_motion(write("none.bvh", bvh_text(frames=frames[1:])))) == 5


@pytest.mark.parametrize("prefix", ["mixamorig:", "mixamorig_", "Man:", "Character1|"])
def test_prefixes_and_case_do_not_matter(write, prefix):
    if prefix == "Man:":
        path = person(write, rename=lambda name: prefix + name.upper())
    elif prefix == "mixamorig_":
        path = person(write, rename=lambda name: prefix + name)
    else:
        path = person(write, rename=lambda name: prefix + name)
    assert read_motion(path).title == "Mixamo"


def test_an_unknown_skeleton_is_refused_with_what_does_not_match(write):
    names = {"LeftUpLeg": "thigh_l_x", "RightHand": "grip"}
    path = person(write, rename=lambda name: names.get(name, name))
    with pytest.raises(DataError) as caught:
        read_motion(path)
    message = str(caught.value)
    assert str(path) in message
    assert "it lacks left hip (LeftUpLeg or LeftUpperLeg), right wrist (RightHand)" in message
    assert "its bones without a match are" in message
    assert "thigh_l_x" in message
    assert "grip" in message
    assert "\n" not in message


def test_acclaim_and_its_rate(acclaim):
    path = acclaim(amc_text([{"root": [0, 15, k, 0, 0, 0]} for k in range(4)]))
    found = read_motion(path)
    assert found.title == "CMU ASF"
    assert found.rate == 120
    assert read_motion(path, rate=60).rate == 60
    step = found.points["crown", ""][1] - found.points["crown", ""][0]
    np.testing.assert_allclose(step, [25.4 / 0.5, 0, 0], atol=1e-9)  # forward


def test_a_lean_of_the_spine_leans_the_chest(write):
    # Spine turned by 30 degrees about x (forward, as he faces z), and with it the two above it.
    frames = tuple({"Spine": (0, 30, 0), "position": f"{k} 95 0"} for k in range(4))
    found = read_motion(write("lean.bvh", bvh_text(frames=frames)))
    np.testing.assert_allclose(found.chest[0, :, 2], [np.sin(np.pi / 6), 0, np.cos(np.pi / 6)], atol=1e-9)
    np.testing.assert_allclose(found.pelvis[0], np.eye(3), atol=1e-9)


def test_resampling_keeps_the_ends_and_the_lengths(write):
    found = read_motion(person(write))
    finer = found.resampled(250.0)
    assert len(finer) == 13
    assert finer.rate == 250
    # Frame 2.4 k of the finer one is frame k of the other.
    np.testing.assert_allclose(finer.points["wrist", "left"][12], found.at(np.array([4.8])).points["wrist", "left"][0])
    np.testing.assert_allclose(finer.points["wrist", "left"][0], found.points["wrist", "left"][0], atol=1e-9)
    assert np.abs(np.linalg.det(finer.head) - 1).max() < 1e-9


@pytest.mark.shared
def test_bvh_and_amc_of_one_take_are_the_same_motion(shared):
    from pose.synth.body import NAMED_BODIES
    from pose.synth.motion.captured import on_body

    bvh, amc = (read_clip(shared / "mocap" / f"01_01.{kind}") for kind in ("bvh", "amc"))
    assert len(bvh) == len(amc) + 1
    # The legs, and the arms from the shoulders, are the same points; the trunk is not: the BVH file lacks the length of
    # the thorax bone (its Neck has the offset 0 0 0), so that all above stands 116.6 mm lower along it.
    for ours, theirs in {"LeftLeg": "lfemur", "RightFoot": "rtibia", "Spine1": "upperback"}.items():
        np.testing.assert_allclose(bvh.points[ours][1:], amc.points[theirs], atol=1e-3)
    arm = [
        clip.points[a] - clip.points[b] for clip, a, b in ((bvh, "LeftHand", "LeftArm"), (amc, "lradius", "lclavicle"))
    ]
    np.testing.assert_allclose(arm[0][1:], arm[1], atol=1e-3)
    # On a body of ours, which has its own lengths, all 15 joints agree.
    motions = [on_body(find_landmarks(clip), NAMED_BODIES["S1"]) for clip in (bvh, amc)]
    assert len(motions[0]) == len(motions[1])
    assert np.linalg.norm(motions[0].joints - motions[1].joints, axis=-1).max() < 0.1  # mm


@pytest.mark.parametrize(("frame_time", "rate"), [("100", None), ("1e-300", None), ("0.01", 0.5), ("0.01", np.nan)])
def test_a_rate_that_no_motion_has_is_refused(write, frame_time, rate):
    path = write("person.bvh", bvh_text().replace("Frame Time: 0.01", f"Frame Time: {frame_time}"))
    with pytest.raises(DataError, match=r"frames a second, 1 to 1000 can be; state the rate \(--motion-rate\)"):
        read_motion(path, rate=rate)


def test_a_single_frame_is_no_motion(write):
    with pytest.raises(DataError, match="1 frame at 100 a second are no motion"):
        read_motion(write("person.bvh", bvh_text(frames=({},))))
    with pytest.raises(DataError, match="3 frames at 1000 a second are no motion"):
        read_motion(write("person.bvh", bvh_text()), rate=1000)


def test_a_joint_that_flies_off_is_refused(write):
    frames = ({}, {"position": "0 1e300 0"}, {})
    with pytest.raises(DataError, match=r"line \d+: in 1 of 3 frames, first frame 2, a joint is more than 10 km"):
        read_motion(write("person.bvh", bvh_text(frames=frames)))


def test_an_up_axis_along_the_hips_is_refused(write):
    with pytest.raises(DataError, match=r"with x up it cannot be told which way the body faces"):
        read_motion(write("person.bvh", bvh_text()), up="x")
