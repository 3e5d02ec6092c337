"""Poses over the frames of a video: smoothing, fusion of several cameras, bone lengths, errors."""

from pose.series.bone_lengths import with_bone_lengths
from pose.series.fusion import View, fuse
from pose.series.pose_series import PoseSeries, Quality
from pose.series.smoothing import smooth

__all__ = ["PoseSeries", "Quality", "View", "fuse", "smooth", "with_bone_lengths"]
