"""Bone lengths in a file: read in any order, and every fault named at once."""

import numpy as np
import pytest

from pose.errors import DataError
from pose.series.bone_lengths_file import bone_names, read_bone_lengths, write_bone_lengths

LENGTHS = np.arange(14) * 10.0 + 200


def test_what_is_written_is_read_in_whatever_order(tmp_path):
    path = tmp_path / "bones.csv"
    write_bone_lengths(path, LENGTHS)
    head, *rows = path.read_text().splitlines()
    assert (head, rows[0]) == ("bone,length_mm", "pelvis-thorax,200.0")
    path.write_text("\n".join(["\ufeff" + head, *reversed(rows), "", ","]), encoding="utf-8")
    assert read_bone_lengths(path).tolist() == LENGTHS.tolist()


@pytest.mark.parametrize("length", ["", "abc", "-1", "nan", "inf", "0", "300,5"])
def test_all_faults_come_at_once(tmp_path, length):
    path = tmp_path / "bones.csv"
    rows = [f"{name},300" for name in bone_names()]
    path.write_text("\n".join(["bone,length_mm", *rows[2:], rows[2], f"{bone_names()[1]},{length}", "tail,3"]))
    with pytest.raises(DataError) as raised:
        read_bone_lengths(path)
    for part in (
        str(path),
        f"{bone_names()[2]} twice",
        f"{bone_names()[1]} needs one positive length, found {length or 'none'}",
        "no bone 'tail'",
        "missing: pelvis-thorax",
    ):
        assert part in str(raised.value)


@pytest.mark.parametrize("unit", [10, 25.4, 1000])
def test_other_units_are_noticed(tmp_path, unit):
    path = tmp_path / "bones.csv"
    write_bone_lengths(path, LENGTHS / unit)
    with pytest.raises(DataError, match="no person; are they mm"):
        read_bone_lengths(path)


@pytest.mark.parametrize(
    ("content", "message"),
    [(b"", "begin with the line bone,length_mm"), (b"frame,joint\n", "begin with"), (b"\xff\xfe\x00", "no CSV")],
)
def test_another_file_is_none(tmp_path, content, message):
    path = tmp_path / "bones.csv"
    path.write_bytes(content)
    with pytest.raises(DataError, match=message):
        read_bone_lengths(path)
    with pytest.raises(DataError, match="cannot be read"):
        read_bone_lengths(tmp_path)
