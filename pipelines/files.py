"""Files that are whole or not there, and no input is lost: the rules of `pose.files` hold for every result."""

from pose.files import atomic_path, is_pipe_or_device, lost_by_writing

__all__ = ["atomic_path", "is_pipe_or_device", "lost_by_writing"]
