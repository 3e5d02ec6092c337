"""The trained model: what it holds, its settings, and its file."""

from pipelines.model.pose_model import PoseModel

__all__ = ["PoseModel"]
