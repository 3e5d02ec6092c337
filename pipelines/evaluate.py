"""Evaluation: the model's errors on a partition, beside those of the sparse rival and of the mean pose."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipelines.features import N_WORKERS, Samples, extract
from pipelines.model import PoseModel, Poses
from pipelines.progress import Reporter
from pipelines.train import describe
from pose.metrics import joint_errors
from pose.skeleton import Skeleton

FloatArray = NDArray[np.float64]

METHODS = ("gbcd", "mpgp", "mean_pose")


@dataclass(frozen=True, eq=False)
class Evaluation:
    """Predictions and errors on the samples of a partition.

    Parameters
    ----------
    partition : str
    skeleton : Skeleton
    samples : Samples
    axes : str
        Of the poses, ``"camera"`` or ``"world"``.
    predictions : dict of str to ndarray of shape (n, 15, 3)
        Poses by each of `METHODS`, mm.
    """

    partition: str
    skeleton: Skeleton
    samples: Samples
    axes: str
    predictions: dict[str, Poses]

    @cached_property
    def errors(self) -> dict[str, FloatArray]:
        """Error of every sample and joint by method, (n, 15), mm."""
        return {name: joint_errors(poses, self.samples.poses) for name, poses in self.predictions.items()}

    def means(self, rows: NDArray[np.bool_] | slice = slice(None)) -> dict[str, float]:
        """Mean joint error over 15 joints by method, mm, of all samples or some."""
        return {name: float(errors[rows].mean()) for name, errors in self.errors.items()}

    def means_without_root(self) -> dict[str, float]:
        """Mean over the 14 joints that are not the root."""
        return {
            name: float(np.delete(errors, self.skeleton.root, axis=1).mean()) for name, errors in self.errors.items()
        }

    def by(self, column: str) -> dict[str, dict[str, float]]:
        """Mean joint errors of the samples that share a value of ``"subject"``, ``"action"`` or ``"camera"``."""
        values = getattr(self.samples, column)
        return {str(value): self.means(values == value) for value in np.unique(values)}

    def by_joint(self) -> dict[str, dict[str, float]]:
        """Mean error of each joint by method, mm."""
        return {
            joint: {name: float(errors[:, index].mean()) for name, errors in self.errors.items()}
            for index, joint in enumerate(self.skeleton.names)
        }

    def as_dict(self) -> dict[str, Any]:
        """Everything a script needs, for JSON."""
        return {
            "partition": self.partition,
            "n_test": len(self.samples),
            "n_without_person": self.samples.n_empty,
            "n_outside_video": self.samples.n_missing,
            "mean_joint_error_mm": self.means(),
            "mean_joint_error_without_root_mm": self.means_without_root(),
            "by_subject_mm": self.by("subject"),
            "by_action_mm": self.by("action"),
            "by_camera_mm": self.by("camera"),
            "by_joint_mm": self.by_joint(),
        }


def evaluate(
    data: str | Path,
    model: PoseModel,
    reporter: Reporter,
    *,
    partition: str = "Validate",
    masks: Path | None = None,
    work: Path | None = None,
) -> Evaluation:
    """Predict a partition and compare with the motion capture.

    Parameters
    ----------
    data : path-like
        HumanEva-I tree.
    model : PoseModel
    reporter : Reporter
    partition : str
    masks, work : Path, optional
        See `pipelines.features.extract`.

    Raises
    ------
    pose.errors.DataError
        If the data cannot be used.
    """
    samples = extract(data, partition, model.config, reporter, masks=masks, work=work)
    model.histosc.set_params(n_jobs=N_WORKERS)
    histograms = describe(model.histosc, samples, reporter, partition)
    reporter.progress("prediction", 0, 1)
    predictions = {
        "gbcd": model.predict(histograms),
        "mpgp": model.predict_mpgp(histograms),
        "mean_pose": np.broadcast_to(model.mean_pose, samples.poses.shape),
    }
    reporter.progress("prediction", 1, 1)
    return Evaluation(partition, model.skeleton, samples, model.axes, predictions)
