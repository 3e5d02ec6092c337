"""Prediction: videos in, poses over their frames out, in files or one by one."""

from pipelines.predict.frames import FrameRange
from pipelines.predict.inputs import expand
from pipelines.predict.jobs import Report, predict_videos
from pipelines.predict.scene import choose_scene
from pipelines.predict.stream import FramePose

__all__ = ["FramePose", "FrameRange", "Report", "choose_scene", "expand", "predict_videos"]
