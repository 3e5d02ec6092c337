"""The earlier name of `pose.series.metrics`, for programs that import it from here."""

from pose.series.metrics import (
    MEASURES,
    PoseErrors,
    align,
    aligned_joint_error,
    joint_errors,
    mean_joint_error,
    mean_joint_error_without_root,
    toolkit_joint_errors,
)

__all__ = [
    "MEASURES",
    "PoseErrors",
    "align",
    "aligned_joint_error",
    "joint_errors",
    "mean_joint_error",
    "mean_joint_error_without_root",
    "toolkit_joint_errors",
]
