"""The request of a prediction: what all its videos have in common."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from pipelines.errors import UsageError
from pipelines.model.pose_model import PoseModel
from pipelines.streaming.frames import FrameRange
from pipelines.streaming.scene import Scene
from pose.body.camera import Camera
from pose.series.bone_lengths_file import bone_names
from pose.types import FloatArray


@dataclass(frozen=True, eq=False)
class PredictionRequest:
    """How videos are predicted, and where their results go.

    Parameters
    ----------
    model : PoseModel
    scene : Scene
        Where silhouettes come from, as `choose_scene` gives it.
    out : Path
        Folder for the results, made if missing.
    model_name : str
        Written into the results.
    frames : FrameRange
        Frames to predict; all by default.
    camera : Camera, optional
        Calibration of the camera, for the overlay.
    with_std : bool
        Also give standard deviations, and whether silhouettes are unlike those of the training set.
    smoothed : bool
        Smooth the poses over time (`pose.series.smoothing.smooth`), which needs standard deviations.
    bone_lengths : ndarray of shape (b,), optional
        The person's bone lengths, mm, in the order of the skeleton's bones. Every pose gets them after smoothing
        (`pose.series.bone_lengths.with_bone_lengths`).
    overlay : bool
        Also make a video with contour and skeleton.
    overwrite : bool
        Replace existing results, also finished ones of the same run.
    sources : sequence of Path
        Files of the model and the camera, which no result may replace.
    """

    model: PoseModel
    scene: Scene
    out: Path
    model_name: str
    frames: FrameRange = field(default_factory=FrameRange)
    camera: Camera | None = None
    with_std: bool = False
    smoothed: bool = False
    bone_lengths: FloatArray | None = None
    overlay: bool = False
    overwrite: bool = False
    sources: Sequence[Path] = ()

    @cached_property
    def settings(self) -> dict[str, Any]:
        """All that the results depend on beside model and video, for the record of a run."""
        settings = {**self.frames.settings(), **self.scene.settings(), "std": self.with_std, "smooth": self.smoothed}
        if self.bone_lengths is not None:
            names = bone_names(self.model.skeleton)
            settings["bone_lengths_mm"] = dict(zip(names, self.bone_lengths.tolist(), strict=True))
        return settings

    def check_deviations(self) -> None:
        """Raise a `UsageError` if standard deviations are needed and cannot be had."""
        if self.smoothed and not self.with_std:
            raise UsageError("smoothing weighs frames by their standard deviations: leave out --no-std")
        if self.with_std and self.model.calibration is None:
            raise UsageError("the model holds no calibrated standard deviations: train it again, or --no-std")
