"""The HumanEva-I release: calibration, clocks, motion capture and frames."""

from pose.humaneva.frames import Frame, FrameArrays
from pose.humaneva.labels import LabelledFrames, Labels
from pose.humaneva.release import HumanEva
from pose.humaneva.splits import SCHEMES
from pose.humaneva.subject import Subject
from pose.humaneva.trial import Trial

__all__ = ["SCHEMES", "Frame", "FrameArrays", "HumanEva", "LabelledFrames", "Labels", "Subject", "Trial"]
