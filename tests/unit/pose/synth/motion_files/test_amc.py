import numpy as np
import pytest
from motion_texts import ASF_BONES, amc_text, asf_text

from pose.errors import DataError
from pose.synth.motion_files import read_clip

UNIT = 25.4 / 0.5


def test_the_rest_pose_by_hand(acclaim):
    clip = read_clip(acclaim())
    assert clip.unit == pytest.approx(UNIT)
    assert clip.rate is None
    hip = np.array([2.0, -1.0, 0.0]) / np.sqrt(1.25) / 1.0
    hip *= 2 / np.linalg.norm(hip)
    np.testing.assert_allclose(clip.points["lhipjoint"][0], hip)
    np.testing.assert_allclose(clip.points["lfoot"][0], hip + [0, -16, 3])


def test_a_bone_turns_about_its_own_axes(acclaim):
    # The shin's axes are turned by 90 degrees about z: its x axis is the world's y, about which it does not move down;
    # the foot, which hangs on it, is turned from z to x.
    clip = read_clip(acclaim(amc_text([{}, {"ltibia": [90]}])))
    moved = clip.points["lfoot"][1] - clip.points["ltibia"][1]
    np.testing.assert_allclose(clip.points["ltibia"][1], clip.points["ltibia"][0], atol=1e-12)
    np.testing.assert_allclose(moved, [3, 0, 0], atol=1e-12)


def test_the_root_turns_about_x_first(acclaim):
    clip = read_clip(acclaim(amc_text([{"root": [1, 2, 3, 90, 0, 90]}])))
    np.testing.assert_allclose(clip.points["root"][0], [1, 2, 3])
    # up (y) -> z by the turn about x, which the turn about z leaves alone.
    np.testing.assert_allclose(clip.points["lowerback"][0] - [1, 2, 3], [0, 0, 2], atol=1e-12)


def test_radians_and_degrees(acclaim):
    degrees = read_clip(acclaim(amc_text([{"ltibia": [57.29577951308232]}]), name="person_01.amc"))
    radians = read_clip(acclaim(amc_text([{"ltibia": [1.0]}], ":RADIANS"), name="person_02.amc"))
    np.testing.assert_allclose(degrees.points["lfoot"], radians.points["lfoot"])
    # A skeleton in radians turns the axes of its bones by them.
    bones = ASF_BONES.replace("0 0 90", "0 0 1.5707963267948966")
    skeleton = asf_text(bones).replace("angle deg", "angle rad")
    both = read_clip(acclaim(amc_text([{"ltibia": [1.0]}], ""), skeleton, name="person_03.amc"))
    np.testing.assert_allclose(both.points["lfoot"], radians.points["lfoot"])


def test_line_ends_marks_and_case(acclaim, write):
    plain = read_clip(acclaim())
    text = "\ufeff" + amc_text().replace("\n", "\r\n")
    other = read_clip(acclaim(text, asf_text().replace("\n", "\r\n"), name="person_9.AMC"))
    np.testing.assert_array_equal(plain.points["head"], other.points["head"])


def test_the_skeleton_is_found_beside_the_motion(write):
    path = write("07_02.amc", amc_text())
    with pytest.raises(DataError, match=r"its skeleton 07\.asf is not beside it; put it there"):
        read_clip(path)
    write("01.asf", asf_text())
    read_clip(path)  # the only one there is
    write("02.asf", asf_text())
    with pytest.raises(DataError, match=r"07\.asf is not beside it \(there are 01\.asf, 02\.asf\)"):
        read_clip(path)
    write("07.ASF", asf_text())
    read_clip(path)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("ltibia 0\n", "ltibia nan\n", r"line 7: ltibia: nan is not a finite number"),
        ("ltibia 0\n", "ltibia 0 0\n", r"line 7: ltibia has 2 numbers, the skeleton gives it 1"),
        ("ltibia 0\n", "wing 0\n", r"line 7: bone 'wing' does not move in the skeleton"),
        ("ltibia 0\n", "lfemur 0 0 0\n", r"line 7: lfemur is there twice in one frame"),
        ("ltibia 0\n", "", r"line 4: the frame that starts here lacks ltibia"),
        ("1\nroot", "root", r"line 4: 'root' comes before the first frame's number"),
        ("3\nroot", "4\nroot", r"line 32: frame 4 follows frame 2; are frames missing\?"),
        ("3\nroot", "2\nroot", r"line 32: frame 2 follows frame 2; are frames missing\?"),
        ("1\nroot", "one\nroot", r"line 4: 'one': a frame's number expected"),
    ],
)
def test_faults_of_the_motion(acclaim, old, new, message):
    text = amc_text()
    assert old in text
    path = acclaim(text.replace(old, new, 1))
    with pytest.raises(DataError, match=message) as caught:
        read_clip(path)
    assert str(path) in str(caught.value)


def test_a_truncated_motion(acclaim):
    text = amc_text()
    with pytest.raises(DataError, match=r"lacks .*rradius; is the file truncated\?"):
        read_clip(acclaim(text[: text.rindex("lfoot")]))
    with pytest.raises(DataError, match="the file ends without a frame"):
        read_clip(acclaim(":DEGREES\n"))
    with pytest.raises(DataError, match="is empty"):
        read_clip(acclaim("\n"))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            "root lhipjoint",
            "hip lhipjoint",
            r"'hip' has children before it has a parent; the root must be called 'root'",
        ),
        ("lfemur ltibia", "lfemur wing", r"bone 'wing' is not described in :bonedata"),
        ("lfemur ltibia\n", "lfemur ltibia ltibia\n", r"bone 'ltibia' has two parents"),
        ("    rfemur rtibia\n    rtibia rfoot\n", "", r"no parent in :hierarchy for rfoot, rtibia"),
        ("dof rx ry rz", "dof rx ry l", r"dof of lfemur: l \(rx, ry and rz are known\)"),
        ("name lfemur", "name ltibia", r"bone 'ltibia' is there twice"),
        ("direction 0 0 1", "direction 0 0 0", r"direction of lfoot is 0"),
        ("direction 0 0 1", "direction 0 1", r"lfoot needs 'direction' with 3 numbers"),
        ("length 8", "length inf", r"length of lfemur: inf is not a finite number"),
        ("length 0.5", "length 0", r"the unit of length is 0"),
        ("angle deg", "angle gon", r"unit of angles 'gon'"),
        ("order TX TY TZ RX RY RZ", "order TX TY", r"the root needs 'order'"),
        ("axis 0 0 90 XYZ", "axis 0 0 90 XXZ", r"ltibia: order of axes 'xxz'"),
        (asf_text()[asf_text().index(":hierarchy") :], "", r"the file ends without :hierarchy"),
    ],
)
def test_faults_of_the_skeleton(acclaim, old, new, message):
    assert old in asf_text()
    with pytest.raises(DataError, match=r"person\.asf, line \d+: .*" + message):
        read_clip(acclaim(asf=asf_text().replace(old, new, 1)))
