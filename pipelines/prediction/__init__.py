"""Prediction: videos in, poses over their frames out, in files or one by one."""

from pipelines.prediction.inputs import expand
from pipelines.prediction.jobs import predict_videos
from pipelines.prediction.outcomes import VideoOutcome
from pipelines.prediction.request import PredictionRequest
from pipelines.streaming.frames import FrameRange
from pipelines.streaming.scene import choose_scene
from pipelines.streaming.stream import FramePose

__all__ = ["FramePose", "FrameRange", "PredictionRequest", "VideoOutcome", "choose_scene", "expand", "predict_videos"]
