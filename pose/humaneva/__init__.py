"""The HumanEva-I release: calibration, clocks, motion capture and frames.

`release` is the whole tree, `subject` and `trial` its parts, `frames` and `labels` what a trial holds. `partitions` is
the table of training and test frames, `splits` other ways to divide them. `clock` says which frames belong together,
`joints` computes joints from markers, `screening` finds wrong joints. `files` holds one module per file format.
`converted_mat`, `converted_npz` and `result_xml` read what other tools made of the release.
"""

from pose.humaneva.frames import Frame, FrameArrays
from pose.humaneva.labels import LabelledFrames, Labels
from pose.humaneva.release import HumanEva
from pose.humaneva.splits import SCHEMES
from pose.humaneva.subject import Subject
from pose.humaneva.trial import Trial

__all__ = ["SCHEMES", "Frame", "FrameArrays", "HumanEva", "LabelledFrames", "Labels", "Subject", "Trial"]
