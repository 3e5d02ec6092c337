"""Evaluation on a partition: the errors of the model, of the matching-pursuit process and of the mean pose."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from pipelines.features.histograms import histograms_of
from pipelines.features.samples import Samples
from pipelines.features.tree_features import N_WORKERS, extract
from pipelines.features.views import arrange_views
from pipelines.model.error_bars import half_width
from pipelines.model.pose_model import PoseModel
from pipelines.progress import Reporter
from pipelines.types import Poses
from pose.body.skeleton import Skeleton
from pose.humaneva.splits import OFFICIAL, evaluated_partition
from pose.series.metrics import PoseErrors
from pose.types import BoolArray

METHODS = ("gbcd", "mpgp", "mean_pose")
"""Methods compared: the exact process, the matching-pursuit process, and the mean pose of the training set."""
GROUPS = ("subject", "action", "camera")
"""Columns of the samples that errors are grouped by."""
LEVELS = (0.5, 0.9, 0.95)
"""Nominal coverages of the intervals: shares of the coordinates that they should hold."""


@dataclass(frozen=True, eq=False)
class Evaluation:
    """Predictions and errors on the samples of a partition.

    Parameters
    ----------
    partition : str
    skeleton : Skeleton
    samples : Samples
    axes : str
        Axes of the poses, ``"camera"`` or ``"world"``.
    predictions : dict of str to ndarray of shape (n, 15, 3)
        Poses by each of `METHODS`, mm.
    scheme : str
        How trials were divided, see `pose.humaneva.splits`.
    std : ndarray of shape (n, 15, 3), optional
        Standard deviations of GBCD's poses, mm; None where the model has none.
    """

    partition: str
    skeleton: Skeleton
    samples: Samples
    axes: str
    predictions: dict[str, Poses]
    scheme: str = OFFICIAL
    std: Poses | None = None

    @property
    def title(self) -> str:
        """The partition, and the scheme where it is not the toolkit's."""
        return self.partition if self.scheme == OFFICIAL else f"{self.partition} of {self.scheme}"

    @cached_property
    def errors(self) -> dict[str, PoseErrors]:
        """The errors of each method. All poses are root-relative, also in the measure ``absolute``."""
        groups = {column: getattr(self.samples, column) for column in GROUPS}
        return {
            name: PoseErrors(poses, self.samples.poses, groups, self.skeleton)
            for name, poses in self.predictions.items()
        }

    def means(self, measure: str = "absolute") -> dict[str, float]:
        """Mean of one of `pose.series.metrics.MEASURES` over all samples, mm, by method."""
        return {name: float(errors.poses(measure).mean()) for name, errors in self.errors.items()}

    def by(self, column: str, measure: str = "absolute") -> dict[str, dict[str, float]]:
        """Mean of a measure, mm, by value of `column` (one of `GROUPS`) and by method."""
        tables = {name: errors.by(column) for name, errors in self.errors.items()}
        return _turned({name: {key: row[measure] for key, row in table.items()} for name, table in tables.items()})

    def by_joint(self, measure: str = "absolute") -> dict[str, dict[str, float]]:
        """Mean error, mm, ``"absolute"`` or ``"aligned"``, by joint and method."""
        tables = {name: errors.by_joint() for name, errors in self.errors.items()}
        return _turned({name: {key: row[measure] for key, row in table.items()} for name, table in tables.items()})

    @cached_property
    def _deviations(self) -> Poses:
        """GBCD's absolute errors divided by their standard deviations, (n, 15, 3); NaN where a deviation is 0."""
        assert self.std is not None
        errors = np.abs(self.predictions["gbcd"] - self.samples.poses)
        return np.divide(errors, self.std, out=np.full_like(errors, np.nan), where=self.std > 0)

    def coverage(self, level: float, rows: BoolArray | slice = slice(None)) -> float:
        """Share of GBCD's coordinates, without the root's, inside their intervals of nominal coverage `level`.

        NaN without standard deviations.
        """
        if self.std is None:
            return float("nan")
        return _share_within(self._deviations[rows], level)

    def intervals(self) -> dict[str, dict[str, dict[str, float]]]:
        """Coverage at each of `LEVELS`, under keys such as ``"50 %"``, and the mean standard deviation, ``"std_mm"``.

        Sections are ``""`` (all coordinates), each of `GROUPS`, and ``"joint"``; none without standard deviations.
        """
        if self.std is None:
            return {}
        sections = {"": {"all coordinates": self._interval_row(slice(None), slice(None))}}
        for column in GROUPS:
            values = getattr(self.samples, column)
            sections[column] = {
                str(value): self._interval_row(values == value, slice(None)) for value in np.unique(values)
            }
        names = self.skeleton.names
        sections["joint"] = {
            names[joint]: self._interval_row(slice(None), slice(joint, joint + 1))
            for joint in range(len(names))
            if (self.std[:, joint] > 0).any()
        }
        return sections

    def _interval_row(self, rows: BoolArray | slice, joints: slice) -> dict[str, float]:
        assert self.std is not None
        deviations, std = self._deviations[rows, joints], self.std[rows, joints]
        shares = {f"{level:.0%}".replace("%", " %"): _share_within(deviations, level) for level in LEVELS}
        return shares | {"std_mm": float(std[std > 0].mean()) if (std > 0).any() else 0.0}

    def as_dict(self) -> dict[str, Any]:
        """All results, for JSON."""
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
            "intervals": self.intervals(),
        }


def _share_within(deviations: Poses, level: float) -> float:
    known = deviations[np.isfinite(deviations)]
    return float((known <= half_width(level)).mean()) if known.size else float("nan")


def _turned(tables: dict[str, dict[str, float]]) -> dict[str, dict[str, float]]:
    """Swap the two levels of nested tables, from ``[method][key]`` to ``[key][method]``."""
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
        Partition of the scheme that the model was trained by; other schemes' partitions may hold training frames. By
        default Validate for the official scheme, Test for others.
    masks, work : Path, optional
        See `pipelines.features.tree_features.extract`.

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
    histograms = histograms_of(model.histosc, samples, reporter, partition)
    samples, histograms = arrange_views(samples, histograms, model.config.data)
    reporter.progress("prediction", 0, 1)
    std = None
    if model.calibration is None:
        reporter.say("the model holds no calibrated standard deviations; train it again to see how often they hold")
        gbcd = model.predict(histograms)
    else:
        prediction = model.predict_with_std(histograms)
        gbcd, std = prediction.joints, prediction.std
    predictions = {
        "gbcd": gbcd,
        "mpgp": model.predict_mpgp(histograms),
        "mean_pose": np.broadcast_to(model.mean_pose, samples.poses.shape),
    }
    reporter.progress("prediction", 1, 1)
    return Evaluation(partition, model.skeleton, samples, model.axes, predictions, settings.scheme, std)
