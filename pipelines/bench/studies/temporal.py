"""Gains by smoothing, several views and bone lengths on predicted poses.

``pose bench temporal DATA --work FOLDER`` trains on every second Train frame of a HumanEva tree, predicts Validate with
exact standard deviations, and prints mean joint errors and the coverage of intervals. Before that, each subject's
standard deviations are multiplied by one number, which is fitted to the errors of the other subjects.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.stats import norm

from pipelines.features.histograms import histograms_of
from pipelines.features.samples import FRAMES_PER_SECOND, Samples
from pipelines.features.tree_features import extract
from pipelines.progress import Silent
from pipelines.settings import Config
from pipelines.training.train import train
from pose.body.camera import Camera
from pose.body.skeleton import HUMANEVA_15
from pose.errors import DataError
from pose.humaneva import HumanEva
from pose.series.bone_lengths import bone_lengths, with_bone_lengths
from pose.series.fusion import View, fuse, turn_to_world
from pose.series.pose_series import PoseSeries
from pose.series.smoothing import smooth
from pose.types import FloatArray

Cameras = Mapping[tuple[str, str], Camera]
INTERVALS = (0.5, 0.9, 0.95)
"""Nominal coverages of the intervals: shares of the coordinates that they should hold."""
N_WORDS = Config().descriptor.n_words
"""Number of words in the codebook, by default."""
STRIDE = 2
"""Step, in toolkit frames, between frames that are trained on."""


@dataclass(frozen=True, eq=False)
class Recording:
    """Predicted and true poses of one trial by one camera, in the camera's axes."""

    subject: str
    trial: str
    camera: Camera
    predicted: PoseSeries
    true: FloatArray

    def in_world(self) -> Recording:
        """The recording with both poses in the world's axes."""
        series, true = turn_to_world(self.predicted, self.camera), self.camera.rotate_to_world(self.true)
        return dataclasses.replace(self, predicted=series, true=true)


@dataclass(frozen=True)
class Row:
    """A row of the table: mean joint error, mm, and the observed coverage of each of `INTERVALS`."""

    name: str
    error: float
    coverage: tuple[float, ...]


def recordings(samples: Samples, mean: FloatArray, std: FloatArray, cameras: Cameras) -> list[Recording]:
    """Divide predictions (n, 15, 3) by trial and camera, and scale standard deviations by other subjects' errors."""
    scale = np.ones(len(samples))
    for subject in np.unique(samples.subject):
        others = samples.subject != subject
        if not others.any():
            raise DataError("the standard deviations of a subject are scaled by another's errors: two are needed")
        wrong = (mean - samples.poses)[others, 1:] / std[others, 1:]
        scale[samples.subject == subject] = np.sqrt((wrong**2).mean())
    found = []
    for subject, action, trial, camera in sorted(
        set(zip(samples.subject, samples.action, samples.trial, samples.camera, strict=True))
    ):
        rows = np.flatnonzero(
            (samples.subject == subject)
            & (samples.action == action)
            & (samples.trial == trial)
            & (samples.camera == camera)
        )
        frame = samples.frame[rows]
        series = PoseSeries(
            frame,
            frame / FRAMES_PER_SECOND,
            mean[rows],
            HUMANEVA_15,
            "camera",
            {},
            std[rows] * scale[rows, None, None],
        )
        found.append(
            Recording(str(subject), f"{action} {trial}", cameras[subject, camera], series, samples.poses[rows])
        )
    return found


def measure(data: Sequence[Recording], typical_lengths: FloatArray) -> Iterator[Row]:
    """The rows of the table; `typical_lengths` (b,) are the bone lengths of the training set, mm."""

    def own(recording: Recording) -> FloatArray:
        return np.asarray(bone_lengths(recording.true).mean(axis=0))

    def smoothed(recording: Recording) -> PoseSeries:
        return smooth(recording.predicted)

    singles: dict[str, Callable[[Recording], PoseSeries]] = {
        "as predicted": lambda recording: recording.predicted,
        "smoothed": smoothed,
        "training bone lengths": lambda recording: with_bone_lengths(recording.predicted, typical_lengths),
        "training bone lengths, half-way": lambda recording: with_bone_lengths(
            recording.predicted, typical_lengths, 0.5
        ),
        "own bone lengths": lambda recording: with_bone_lengths(recording.predicted, own(recording)),
        "smoothed, own bone lengths": lambda recording: with_bone_lengths(smoothed(recording), own(recording)),
    }
    for name, change in singles.items():
        yield _row(f"single views, {name}", data, change)
    for name in sorted({recording.camera.name for recording in data}):
        yield _row(
            f"{name} alone", [recording for recording in data if recording.camera.name == name], singles["as predicted"]
        )
    for n_views in (2, 3):
        yield from _fused_rows(f"{n_views} views fused", _fused(data, n_views), singles)


def _fused_rows(
    name: str, data: Sequence[Recording], changes: Mapping[str, Callable[[Recording], PoseSeries]]
) -> Iterator[Row]:
    for what, change in changes.items():
        if data:
            yield _row(f"{name}, {what}", data, change)


def _fused(data: Sequence[Recording], n_views: int) -> list[Recording]:
    """Fuse `n_views` views of each trial: all pairs of views for two, otherwise the first `n_views`."""
    trials: dict[tuple[str, str], list[Recording]] = {}
    for recording in data:
        trials.setdefault((recording.subject, recording.trial), []).append(recording.in_world())
    fused = []
    for views in trials.values():
        pairs = [(first, second) for index, first in enumerate(views) for second in views[index + 1 :]]
        for chosen in pairs if n_views == 2 else [tuple(views[:n_views])] if len(views) >= n_views else []:
            series = fuse([View(view.predicted, view.camera) for view in chosen])
            fused.append(dataclasses.replace(chosen[0], predicted=series))
    return fused


def _row(name: str, data: Sequence[Recording], change: Callable[[Recording], PoseSeries]) -> Row:
    distances, deviations = [], []
    for recording in data:
        series = change(recording)
        wrong = series.joints - recording.true
        assert series.std is not None
        distances.append(np.linalg.norm(wrong, axis=-1).mean(axis=-1))
        deviations.append(np.abs(wrong[:, 1:] / series.std[:, 1:]).ravel())
    outside = np.concatenate(deviations)
    coverage = tuple(float((outside < norm.ppf(0.5 + part / 2)).mean()) for part in INTERVALS)
    return Row(name, float(np.concatenate(distances).mean()), coverage)


def predict(data: Path, work: Path | None, n_words: int) -> tuple[Samples, FloatArray, FloatArray, FloatArray]:
    """Validate's samples, predictions and standard deviations (n, 15, 3), and the training set's bone lengths (b,)."""
    # The matching-pursuit process is not used here, so it gets one regressor.
    config = Config.model_validate(
        {"data": {"stride": STRIDE}, "descriptor": {"n_words": n_words}, "mpgp": {"n_regressors": 1}}
    )
    model = train(data, config, Silent(), work=work)
    samples = extract(data, "Validate", config, Silent(), work=work)
    histograms = histograms_of(model.histosc, samples, Silent(), "Validate")
    mean, std = model.gp.predict(histograms, return_std=True)
    shape = (len(samples), len(model.skeleton), 3)
    known = extract(data, config.data.train_partition, config, Silent(), stride=STRIDE, work=work).poses
    return samples, mean.reshape(shape), np.asarray(std).reshape(shape), bone_lengths(known).mean(axis=0)


def cameras_of(data: Path) -> dict[tuple[str, str], Camera]:
    """The calibrated cameras by subject and name."""
    return {
        (sequence.subject.name, name): sequence.subject.camera(name)
        for sequence in HumanEva(data).trials_with_video("Validate")
        for name in sequence.cameras(Config().data.cameras)
    }


def temporal_table(data: Path, work: Path | None = None, n_words: int = N_WORDS) -> str:
    """The Markdown table of all methods.

    Parameters
    ----------
    data : Path
        HumanEva-I tree of two subjects or more.
    work : Path, optional
        Folder where edge points are kept and found again.
    n_words : int
        Number of words in the codebook.

    Raises
    ------
    DataError
        If the tree cannot be used.
    """
    samples, mean, std, lengths = predict(data, work, n_words)
    return table(measure(recordings(samples, mean, std, cameras_of(data)), lengths))


def table(rows: Iterator[Row]) -> str:
    """The rows as a Markdown table."""
    head = ["", "mean joint error, mm", *(f"within the {part:.0%} interval" for part in INTERVALS)]
    lines = [head, ["---"] * len(head)]
    for row in rows:
        lines.append([row.name, f"{row.error:.1f}", *(f"{part:.1%}" for part in row.coverage)])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
