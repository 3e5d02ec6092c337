"""Evaluation: the model's errors on a partition, beside those of the sparse rival and of the mean pose."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from pipelines.features import N_WORKERS, Samples, extract
from pipelines.model import PoseModel, Poses
from pipelines.progress import Reporter
from pipelines.train import describe
from pipelines.views import arrange_views
from pose.humaneva.splits import OFFICIAL, evaluated_partition
from pose.metrics import PoseErrors
from pose.skeleton import Skeleton

METHODS = ("gbcd", "mpgp", "mean_pose")
GROUPS = ("subject", "action", "camera")


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
    scheme : str
        How trials were divided, see `pose.humaneva.splits`.
    """

    partition: str
    skeleton: Skeleton
    samples: Samples
    axes: str
    predictions: dict[str, Poses]
    scheme: str = OFFICIAL

    @property
    def title(self) -> str:
        """The partition, and the scheme where it is not the toolkit's."""
        return self.partition if self.scheme == OFFICIAL else f"{self.partition} of {self.scheme}"

    @cached_property
    def errors(self) -> dict[str, PoseErrors]:
        """The errors of each method; its poses are relative to their root, so ``absolute`` is of such."""
        groups = {column: getattr(self.samples, column) for column in GROUPS}
        return {
            name: PoseErrors(poses, self.samples.poses, groups, self.skeleton)
            for name, poses in self.predictions.items()
        }

    def means(self, measure: str = "absolute") -> dict[str, float]:
        """One of `pose.metrics.MEASURES` over all samples by method, mm; by default the mean over 15 joints."""
        return {name: float(errors.poses(measure).mean()) for name, errors in self.errors.items()}

    def by(self, column: str, measure: str = "absolute") -> dict[str, dict[str, float]]:
        """The same of the samples that share a value of one of `GROUPS`, by value and method."""
        tables = {name: errors.by(column) for name, errors in self.errors.items()}
        return _turned({name: {key: row[measure] for key, row in table.items()} for name, table in tables.items()})

    def by_joint(self, measure: str = "absolute") -> dict[str, dict[str, float]]:
        """Mean error of each joint by method, mm, ``"absolute"`` or ``"aligned"``."""
        tables = {name: errors.by_joint() for name, errors in self.errors.items()}
        return _turned({name: {key: row[measure] for key, row in table.items()} for name, table in tables.items()})

    def as_dict(self) -> dict[str, Any]:
        """Everything a script needs, for JSON."""
        return {
            "scheme": self.scheme,
            "partition": self.partition,
            "n_test": len(self.samples),
            "n_without_person": self.samples.n_empty,
            "n_outside_video": self.samples.n_missing,
            "mean_joint_error_mm": self.means(),
            "mean_joint_error_without_root_mm": self.means("absolute_no_root"),
            "aligned_joint_error_mm": self.means("aligned"),
            **{f"n_by_{column}": next(iter(self.errors.values())).counts(column) for column in GROUPS},
            **{f"by_{column}_mm": self.by(column) for column in GROUPS},
            "by_joint_mm": self.by_joint(),
            **{f"aligned_by_{column}_mm": self.by(column, "aligned") for column in GROUPS},
            "aligned_by_joint_mm": self.by_joint("aligned"),
        }


def _turned(tables: dict[str, dict[str, float]]) -> dict[str, dict[str, float]]:
    """Rows by key and method, of tables by method and key."""
    keys = next(iter(tables.values()))
    return {key: {name: table[key] for name, table in tables.items()} for key in keys}


def evaluate(
    data: str | Path,
    model: PoseModel,
    reporter: Reporter,
    *,
    partition: str | None = None,
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
    partition : str, optional
        Of the scheme that the model was trained by, since any other may test what it has seen; by default Validate of
        the official one, Test of another.
    masks, work : Path, optional
        See `pipelines.features.extract`.

    Raises
    ------
    pose.errors.DataError
        If the data cannot be used.
    UsageError
        If the scheme has no such partition.
    """
    settings = model.config.data
    partition = partition or evaluated_partition(settings.scheme)
    most = None if partition == settings.train_partition else settings.test_images
    samples = extract(data, partition, model.config, reporter, most=most, masks=masks, work=work)
    model.histosc.set_params(n_jobs=N_WORKERS)
    histograms = describe(model.histosc, samples, reporter, partition)
    samples, histograms = arrange_views(samples, histograms, model.config.data)
    reporter.progress("prediction", 0, 1)
    predictions = {
        "gbcd": model.predict(histograms),
        "mpgp": model.predict_mpgp(histograms),
        "mean_pose": np.broadcast_to(model.mean_pose, samples.poses.shape),
    }
    reporter.progress("prediction", 1, 1)
    return Evaluation(partition, model.skeleton, samples, model.axes, predictions, settings.scheme)
