"""The earlier name of `pose.series.bone_lengths`, for programs that import it from here."""

from pose.series.bone_lengths import bone_lengths, set_bone_lengths, with_bone_lengths

__all__ = ["bone_lengths", "set_bone_lengths", "with_bone_lengths"]
