"""The HumanEva-I release: calibration, clocks, motion capture and frames."""

from pose.humaneva.frames import Frame, FrameArrays
from pose.humaneva.release import HumanEva
from pose.humaneva.sequence import LabelledFrames, Labels, Sequence
from pose.humaneva.splits import SCHEMES
from pose.humaneva.subject import Subject

__all__ = ["SCHEMES", "Frame", "FrameArrays", "HumanEva", "LabelledFrames", "Labels", "Sequence", "Subject"]
