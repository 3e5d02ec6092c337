"""Files that are whole or not there: the rule of `pose.files` holds for every result."""

from pose.files import atomic_path

__all__ = ["atomic_path"]
