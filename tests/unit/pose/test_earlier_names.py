"""Names that earlier documentation shows keep working: people have programs that import them."""

from importlib import import_module

import pytest


@pytest.mark.parametrize(
    ("module", "name"),
    [
        ("pose.smoothing", "smooth"),
        ("pose.fusion", "View"),
        ("pose.fusion", "fuse"),
        ("pose.bone_lengths", "bone_lengths"),
        ("pose.bone_lengths", "with_bone_lengths"),
        ("pose.bone_lengths_file", "write_bone_lengths"),
        ("pose.metrics", "toolkit_joint_errors"),
    ],
)
def test_a_name_is_what_it_is_in_its_room(module, name):
    room = import_module(module.replace("pose.", "pose.series."))
    assert getattr(import_module(module), name) is getattr(room, name)


def test_every_earlier_name_is_published():
    for module in ("smoothing", "fusion", "bone_lengths", "bone_lengths_file", "metrics"):
        earlier, room = import_module(f"pose.{module}"), import_module(f"pose.series.{module}")
        assert all(getattr(earlier, name) is getattr(room, name) for name in earlier.__all__)
