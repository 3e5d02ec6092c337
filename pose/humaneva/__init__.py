"""The HumanEva-I release: calibration, clocks, motion capture and frames."""

from pose.humaneva.release import HumanEva, LabelledFrames, Sequence, Subject

__all__ = ["HumanEva", "LabelledFrames", "Sequence", "Subject"]
