"""Files are whole or not there."""

import pytest

from pose.files import atomic_path


def test_a_finished_file_appears_under_its_name(tmp_path):
    target = tmp_path / "model.h5"
    with atomic_path(target) as temporary:
        assert temporary.suffix == ".h5"
        temporary.write_text("new")
        assert not target.exists()
    assert target.read_text() == "new"
    assert [path.name for path in tmp_path.iterdir()] == ["model.h5"]


def test_a_failure_leaves_what_was_there(tmp_path):
    target = tmp_path / "model.h5"
    target.write_text("old")
    with pytest.raises(ZeroDivisionError), atomic_path(target) as temporary:
        temporary.write_text(f"half{1 / 0}")
    assert target.read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["model.h5"]
