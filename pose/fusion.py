"""The earlier name of `pose.series.fusion`, for programs that import it from here."""
