"""``.mp`` files."""

import pytest

from pose.errors import DataError
from pose.humaneva.files.mp import read_measurements

TEXT = "$Height = 1700.000000\r\n$LShoulderOffset = 45.0\n$RShoulderOffset=43.5\n\n"


def test_values_by_name(tmp_path):
    (tmp_path / "S1.mp").write_text(TEXT)
    assert read_measurements(tmp_path / "S1.mp") == {
        "Height": 1700.0,
        "LShoulderOffset": 45.0,
        "RShoulderOffset": 43.5,
    }


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("$LShoulderOffset = 45\n", "lacks RShoulderOffset"),
        ("", "lacks LShoulderOffset and RShoulderOffset"),
        (TEXT + "hello\n", "line 5: expected"),
        (TEXT.replace("45.0", "4x"), "line 2: expected"),
    ],
)
def test_faults_are_named(tmp_path, text, message):
    (tmp_path / "S1.mp").write_text(text)
    with pytest.raises(DataError, match=rf"S1\.mp.*{message}"):
        read_measurements(tmp_path / "S1.mp")


def test_other_ways_to_write_the_same(tmp_path):
    """Without the equals sign, with a subject's prefix, without the dollar."""
    (tmp_path / "S1.mp").write_text("$S1:LShoulderOffset = 45\n$RShoulderOffset 4.35e1\nHeadOffset=12\n")
    values = read_measurements(tmp_path / "S1.mp")
    assert values == {"LShoulderOffset": 45.0, "RShoulderOffset": 43.5, "HeadOffset": 12.0}


def test_two_values_of_one_name(tmp_path):
    (tmp_path / "S1.mp").write_text(TEXT + "$LShoulderOffset = 45.0\n")
    assert read_measurements(tmp_path / "S1.mp")["LShoulderOffset"] == 45.0
    (tmp_path / "S1.mp").write_text(TEXT + "$LShoulderOffset = 50.0\n")
    with pytest.raises(DataError, match=r"S1\.mp, line 5: LShoulderOffset is 50 here and 45 before"):
        read_measurements(tmp_path / "S1.mp")
