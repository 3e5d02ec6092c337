"""``.cal`` files: the example that two public readers quote, and every way such a file can be wrong."""

import cv2
import numpy as np
import pytest

from pose.body.cal_file import read_cal, write_cal
from pose.errors import DataError

# S1, C1 of HumanEva-I as quoted by public readers.
S1_C1 = """765.789418 
765.330306 
299.773675 
232.347455 
0.000000 
-0.289415 
0.105962 
-0.001358 
0.001130 
0.000000 
-0.143362 
0.989627 
0.009217 
0.167173 
0.033395 
-0.985362 
-0.975449 
-0.139723 
-0.170226 
-88.085494 
804.781346 
4315.339452 
"""  # noqa: W291 (the release ends its lines with a blank)


@pytest.fixture
def cal(tmp_path):
    path = tmp_path / "C1.cal"
    path.write_text(S1_C1)
    return path


def test_the_published_camera_centre_comes_out(cal):
    camera = read_cal(cal)
    assert camera.name == "C1"
    np.testing.assert_allclose(camera.centre, [4062, 663, 1528], atol=1)
    np.testing.assert_allclose(camera.matrix, [[765.789418, 0, 299.773675], [0, 765.330306, 232.347455], [0, 0, 1]])
    np.testing.assert_allclose(camera.distortion, [-0.289415, 0.105962, -0.001358, 0.001130, 0])


def test_written_files_read_back(cal, tmp_path):
    camera = read_cal(cal)
    write_cal(tmp_path / "again.cal", camera)
    assert (tmp_path / "again.cal").read_text() == S1_C1


@pytest.mark.parametrize("variant", [S1_C1.replace("\n", "\r\n"), "\ufeff" + S1_C1, S1_C1.replace(" \n", "  ")])
def test_line_ends_and_byte_order_marks_do_not_matter(cal, variant):
    expected = read_cal(cal)
    cal.write_bytes(variant.encode())
    np.testing.assert_array_equal(read_cal(cal).rotation, expected.rotation)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("4315.339452 \n", "", "holds 21 numbers, expected 22"),
        ("4315.339452 \n", "4315.339452 \n1.0 \n", "holds 23 numbers"),
        ("299.773675", "299,773675", "line 3: '299,773675' is not a number; decimals take a point"),
        ("299.773675", "nan", "line 3: 'nan' is not finite"),
        ("765.330306", "-765.330306", "focal lengths must be positive"),
        ("0.989627", "0.889627", "no rotation matrix"),
        ("-0.143362", "0.143362", "no rotation matrix"),
    ],
)
def test_faults_are_named_with_their_line(cal, old, new, message):
    cal.write_text(S1_C1.replace(old, new))
    with pytest.raises(DataError, match=message) as fault:
        read_cal(cal)
    assert str(cal) in str(fault.value)


def test_missing_and_binary_files_are_named(tmp_path):
    with pytest.raises(DataError, match=r"C9\.cal: cannot be read \(No such file"):
        read_cal(tmp_path / "C9.cal")
    (tmp_path / "C1.cal").write_bytes(b"\x00\xff\xfe")
    with pytest.raises(DataError, match="not a text file"):
        read_cal(tmp_path / "C1.cal")


def test_all_22_numbers_project_as_opencv_does(cal):
    """With a k3 that is not 0; the skew is, as OpenCV knows none."""
    cal.write_text(S1_C1.replace("0.001130 \n0.000000", "0.001130 \n0.021000"))
    camera = read_cal(cal)
    points = np.random.default_rng(0).uniform([-1500, -1500, 0], [1500, 1500, 1900], (200, 3))
    rotation = cv2.Rodrigues(camera.rotation)[0]  # the nearest rotation to six decimals
    expected, _ = cv2.projectPoints(points, rotation, camera.translation, camera.matrix, camera.distortion)
    np.testing.assert_allclose(camera.project(points), expected[:, 0], atol=1e-3)
    assert camera.distortion[4] == 0.021


def test_the_published_camera_by_hand(cal):
    # A point on the optical axis, 1 m before the centre, shows at the principal point: all distortion is 0 there.
    camera = read_cal(cal)
    np.testing.assert_allclose(
        camera.project(camera.centre + 1000 * camera.rotation[2]), [299.773675, 232.347455], atol=1e-2
    )


def test_skew_is_the_fifth_number_times_fx(cal, tmp_path):
    cal.write_text(S1_C1.replace("232.347455 \n0.000000", "232.347455 \n0.002000"))
    camera = read_cal(cal)
    assert camera.matrix[0, 1] == pytest.approx(0.002 * 765.789418)
    write_cal(tmp_path / "again.cal", camera)
    np.testing.assert_allclose(read_cal(tmp_path / "again.cal").matrix, camera.matrix, atol=1e-5)
