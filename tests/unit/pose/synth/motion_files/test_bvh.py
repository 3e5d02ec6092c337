import numpy as np
import pytest
from motion_texts import bvh_text

from pose.errors import DataError
from pose.synth.motion_files import read_clip

TWO = """HIERARCHY
ROOT a
{
  OFFSET 0 0 0
  CHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation
  JOINT b
  {
    OFFSET 0 10 0
    CHANNELS 3 Zrotation Xrotation Yrotation
    End Site
    {
      OFFSET 5 0 0
    }
  }
}
MOTION
Frames: 2
Frame Time: 0.02
0 0 0 0 0 0 0 0 0
1 2 3 90 0 0 0 90 0
"""


def test_angles_turn_by_hand(write):
    clip = read_clip(write("two.bvh", TWO))
    assert clip.rate == pytest.approx(50)
    assert len(clip) == 2
    np.testing.assert_allclose(clip.points["b end"][0], [5, 10, 0])
    # Turned left by 90 degrees about z, y becomes -x; b's end along x becomes y, which the turn about x leaves alone.
    np.testing.assert_allclose(clip.points["b"][1], [1 - 10, 2, 3], atol=1e-12)
    np.testing.assert_allclose(clip.points["b end"][1], [1 - 10, 2 + 5, 3], atol=1e-12)
    np.testing.assert_allclose(clip.rest["b end"], [5, 10, 0])


def test_the_first_listed_rotation_is_outermost(write):
    # x by 90, then z by 90 within: x -> y (z turn) -> z (x turn).
    text = TWO.replace("Zrotation Xrotation Yrotation", "Xrotation Zrotation Yrotation").replace(
        "1 2 3 90 0 0 0 90 0", "0 0 0 90 90 0 0 0 0"
    )
    clip = read_clip(write("order.bvh", text))
    np.testing.assert_allclose(clip.points["b end"][1] - clip.points["b"][1], [0, 0, 5], atol=1e-12)


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.replace("\n", "\r\n"),
        lambda text: "\ufeff" + text,
        lambda text: text.replace("Frames:", "FRAMES :").replace("rotation", "Rotation").replace("MOTION", "Motion"),
        lambda text: text.replace("\n", "\n\n") + "\n \n",
    ],
    ids=["CRLF", "BOM", "case", "blank lines"],
)
def test_harmless_differences_do_not_matter(write, change):
    plain, other = read_clip(write("a.bvh", TWO)), read_clip(write("b.BVH", change(TWO)))
    np.testing.assert_array_equal(plain.points["b end"], other.points["b end"])


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("1 2 3 90 0 0 0 90 0\n", "", r"line 17: 2 frames are promised, 1 follow"),
        ("1 2 3 90 0 0 0 90 0", "1 2 3 90 0", r"line 20: frame 2 has 5 numbers, the skeleton has 9 channels; is the"),
        ("1 2 3 90 0 0 0 90 0", "1 2 3 nan 0 0 0 90 0", r"line 20: frame 2: nan is not a finite number"),
        ("1 2 3 90 0 0 0 90 0", "1 2 3 9O 0 0 0 90 0", r"line 20: frame 2: '9O' is not a number"),
        ("ROOT a", "BONE a", r"line 2: 'BONE a' is not expected here; the root must be called ROOT"),
        ("CHANNELS 3 Z", "CHANNELS 4 Z", r"line 9: CHANNELS of b promises 4 names, 3 follow"),
        ("CHANNELS 3 Zrotation", "CHANNELS 3 Wrotation", r"line 9: unknown channel 'Wrotation'"),
        ("Frame Time: 0.02", "Frame Time: 0", r"line 18: 'Frame Time: SECONDS' expected"),
        ("Frames: 2", "Frames: two", r"line 17: 'Frames: NUMBER' expected"),
        ("Frames: 2", "Frames: ²", r"line 17: 'Frames: NUMBER' expected"),
        ("Frames: 2", f"Frames: {'9' * 5000}", r"line 17: 'Frames: NUMBER' expected"),
        ("CHANNELS 3 Z", "CHANNELS ³ Z", r"line 9: CHANNELS of b promises ³ names, 3 follow"),
        ("OFFSET 0 10 0", "OFFSET 0 10", r"line 8: OFFSET of b has 2 numbers"),
        ("JOINT b", "JOINT a", r"line 6: two joints are called 'a'"),
        ("HIERARCHY\n", "", r"line 1: a BVH file starts with HIERARCHY"),
        (TWO[TWO.index("MOTION") :], "", r"line 15: the file ends here"),
        ("}\nMOTION", "MOTION", r"line 15: MOTION comes before the hierarchy is closed"),
        ("MOTION", "ROOT c\nMOTION", r"line 16: a second ROOT"),
    ],
)
def test_faults_are_told_with_their_line(write, old, new, message):
    assert old in TWO
    path = write("bad.bvh", TWO.replace(old, new))
    with pytest.raises(DataError, match=message) as caught:
        read_clip(path)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("content", "message"), [(b"", "is empty"), (b"\n \r\n", "is empty"), (b"RIFF\0\0", "no text")]
)
def test_files_without_text_are_refused(write, content, message):
    with pytest.raises(DataError, match=message):
        read_clip(write("empty.bvh", content))


def test_other_files_are_refused(write, tmp_path):
    with pytest.raises(DataError, match=r"no motion file that can be read \(\.bvh, \.amc, \.c3d can\)"):
        read_clip(write("a.fbx", "x"))
    with pytest.raises(DataError, match="without motion; give the"):
        read_clip(write("a.ASF", "x"))
    with pytest.raises(DataError, match="no such motion file"):
        read_clip(tmp_path / "none.bvh")
    (tmp_path / "folder.bvh").mkdir()
    with pytest.raises(DataError, match="no such motion file"):
        read_clip(tmp_path / "folder.bvh")


def test_a_whole_person_is_read(write):
    clip = read_clip(write("person.bvh", bvh_text()))
    assert len(clip) == 3
    np.testing.assert_allclose(clip.points["LeftHand"][0], [5 + 13 + 28 + 25, 95 + 10 + 20 + 15 + 5, 0])
