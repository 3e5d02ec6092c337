"""The earlier name of `pose.series.bone_lengths_file`, for programs that import it from here."""

from pose.series.bone_lengths_file import bone_names, read_bone_lengths, write_bone_lengths

__all__ = ["bone_names", "read_bone_lengths", "write_bone_lengths"]
