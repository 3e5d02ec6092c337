"""Prediction: videos in, poses over their frames out, in files or one by one."""

from pipelines.prediction.frames import FrameRange
from pipelines.prediction.inputs import expand
from pipelines.prediction.jobs import Report, predict_videos
from pipelines.prediction.scene import choose_scene
from pipelines.prediction.stream import FramePose

__all__ = ["FramePose", "FrameRange", "Report", "choose_scene", "expand", "predict_videos"]
