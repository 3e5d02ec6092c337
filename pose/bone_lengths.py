"""The earlier name of `pose.series.bone_lengths`, for programs that import it from here."""
