"""The earlier name of `pose.series.fusion`, for programs that import it from here."""

from pose.series.fusion import VIEW_CORRELATION, View, fuse, inverse_variance_mean, turn_to_world

__all__ = ["VIEW_CORRELATION", "View", "fuse", "inverse_variance_mean", "turn_to_world"]
