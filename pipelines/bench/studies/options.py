"""Training options compared: descriptors, kernels, axes, mirrored and concatenated views, more inputs.

``pose bench options DATA --work FOLDER`` trains on every second Train frame of a HumanEva tree, predicts every second
Validate frame, and prints mean joint errors as a Markdown table, each line as soon as it is measured.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from pipelines.bench.studies.held_out import Input, chi_square, manhattan, predict
from pipelines.bench.studies.temporal import cameras_of
from pipelines.features.samples import FRAMES_PER_SECOND, Samples
from pipelines.features.tree_features import N_WORKERS, extract
from pipelines.features.views import arrange_views
from pipelines.progress import Silent
from pipelines.settings import Config, DataConfig
from pose import HistoSC
from pose.body.camera import Camera
from pose.body.skeleton import HUMANEVA_15
from pose.series.metrics import mean_joint_error
from pose.types import FloatArray, IntArray

STRIDE = 2
"""Step, in toolkit frames, between frames that are used."""
CODEBOOK_STRIDE = 15
"""Step, in images, between images that words are learnt from."""
SOFT = {"assignment": "soft"}
SOFT_BINS = {"binning": "soft"}
DEFAULT = {"assignment": "soft", "rotation": "tangent"}
"""Settings of HistoSC: soft words; soft bins; the default."""


@dataclass(frozen=True, eq=False)
class Lab:
    """The samples, with the descriptors and histograms computed from them so far.

    Parameters
    ----------
    train, test : Samples
        Samples of single views.
    codebook_samples : Samples
        Samples that words are learnt from.
    cameras : dict
        Cameras by subject and name.
    width : float
        Width of the pictures, pixels.
    """

    train: Samples
    test: Samples
    codebook_samples: Samples
    cameras: dict[tuple[str, str], Camera]
    width: float
    _made: dict[str, HistoSC] = field(default_factory=dict)
    _kept: dict[str, tuple[FloatArray, FloatArray]] = field(default_factory=dict)

    @cached_property
    def groups(self) -> IntArray:
        """Labels (n,) of time blocks of one second."""
        return self.train.time_blocks(FRAMES_PER_SECOND)

    def descriptor(self, **parameters: Any) -> HistoSC:
        """A fitted HistoSC."""
        key = repr(sorted(parameters.items()))
        if key not in self._made:
            images = _images(self.codebook_samples, parameters)
            self._made[key] = HistoSC(n_jobs=N_WORKERS, **parameters).fit(images)
        return self._made[key]

    def histograms(self, **parameters: Any) -> tuple[FloatArray, FloatArray]:
        """Histograms of the training and of the test samples."""
        key = repr(sorted(parameters.items()))
        if key not in self._kept:
            histosc = self.descriptor(**parameters)
            train, test = (histosc.transform(_images(samples, parameters)) for samples in (self.train, self.test))
            self._kept[key] = train, test
        return self._kept[key]

    def error(self, inputs: Sequence[Input], **options: Any) -> float:
        """Mean joint error of poses in camera axes, mm."""
        return self.error_of(inputs, self.train.poses, self.test.poses, self.groups, **options)

    def error_of(
        self, inputs: Sequence[Input], known: FloatArray, true: FloatArray, groups: IntArray, **options: Any
    ) -> float:
        """Mean joint error, mm, of poses in any axes: trained on `known`, compared with `true`."""
        predicted = predict(inputs, known.reshape(len(known), -1), groups, **options)
        return mean_joint_error(predicted.reshape(true.shape), true)


def mirrored_edges(samples: Samples, width: float) -> Samples:
    """Samples with silhouettes mirrored in a picture of this width, pixels; the poses stay."""
    edges = samples.edges * np.array([-1, 1], dtype=np.float32) + np.array([width, 0], dtype=np.float32)
    if samples.tangents is None:
        return dataclasses.replace(samples, edges=edges)
    # Tangents are also reversed, so that the foreground stays on the same side of the contour.
    return dataclasses.replace(samples, edges=edges, tangents=samples.tangents * np.array([1, -1], dtype=np.float32))


def mirrored_poses(poses: FloatArray) -> FloatArray:
    """The mirror images of poses (n, 15, 3) in camera axes: x negated, left and right joints exchanged."""
    names = HUMANEVA_15.names
    exchanged = [
        names.index(name.replace("left_", "right_") if "left_" in name else name.replace("right_", "left_"))
        for name in names
    ]
    return np.asarray(poses[:, exchanged] * [-1.0, 1.0, 1.0])


def in_heading(poses: FloatArray) -> FloatArray:
    """World poses (n, 15, 3) turned about the vertical until the line from left to right hip points along x."""
    names = HUMANEVA_15.names
    across = poses[:, names.index("right_hip")] - poses[:, names.index("left_hip")]
    length = np.hypot(across[:, 0], across[:, 1])
    cosine, sine = (across[:, 0] / length)[:, None], (across[:, 1] / length)[:, None]
    x, y, z = np.moveaxis(poses, -1, 0)
    return np.stack([x * cosine + y * sine, y * cosine - x * sine, z], axis=-1)


def in_world(samples: Samples, lab: Lab) -> FloatArray:
    """Poses in the world's axes."""
    return np.stack(
        [
            lab.cameras[subject, camera].rotate_to_world(pose)
            for subject, camera, pose in zip(samples.subject, samples.camera, samples.poses, strict=True)
        ]
    )


def along_rays(samples: Samples, lab: Lab) -> FloatArray:
    """Poses in camera axes turned about the picture's vertical until z points at the silhouette."""
    middle = (samples.edges.min(axis=1) + samples.edges.max(axis=1)) / 2
    poses = samples.poses.copy()
    for row, key in enumerate(zip(samples.subject, samples.camera, strict=True)):
        K = lab.cameras[key].matrix
        angle = np.arctan2(middle[row, 0] - K[0, 2], K[0, 0])
        x, z = poses[row, :, 0].copy(), poses[row, :, 2].copy()
        poses[row, :, 0] = x * np.cos(angle) - z * np.sin(angle)
        poses[row, :, 2] = x * np.sin(angle) + z * np.cos(angle)
    return poses


def place(samples: Samples, width: float) -> FloatArray:
    """Position and size of silhouettes, (n, 4), in picture widths: centre x and y, logarithms of width and height."""
    low, high = samples.edges.min(axis=1), samples.edges.max(axis=1)
    return np.column_stack([(low + high) / 2 / width, np.log((high - low) / width)]).astype(float)


def single_views(lab: Lab) -> Iterator[tuple[str, Callable[[], float]]]:
    """Name and measurement of each option with single views."""

    def plain(**parameters: Any) -> Input:
        return Input(*lab.histograms(**parameters))

    def roots(**parameters: Any) -> Input:
        train, test = lab.histograms(**parameters)
        return Input(np.sqrt(train), np.sqrt(test))

    def with_distance(one: Input, distance: Callable[[FloatArray, FloatArray], FloatArray]) -> Input:
        return dataclasses.replace(one, distance=distance)

    def placed(columns: slice) -> Input:
        train, test = (place(samples, lab.width)[:, columns] for samples in (lab.train, lab.test))
        mean, scale = train.mean(axis=0), train.std(axis=0)
        return Input((train - mean) / scale, (test - mean) / scale)

    def standardised(one: Input) -> Input:
        mean, scale = one.train.mean(axis=0), one.train.std(axis=0)
        scale = np.where(scale > 0, scale, 1.0)
        return Input((one.train - mean) / scale, (one.test - mean) / scale)

    def turned(turn: Callable[[Samples, Lab], FloatArray]) -> float:
        return lab.error_of([roots(**SOFT)], turn(lab.train, lab), turn(lab.test, lab), lab.groups)

    def mirrored(**parameters: Any) -> float:
        one, histosc = roots(**parameters), lab.descriptor(**parameters)
        more = np.sqrt(histosc.transform(_images(mirrored_edges(lab.train, lab.width), parameters)))
        inputs = [Input(np.concatenate([one.train, more]), one.test)]
        known = np.concatenate([lab.train.poses, mirrored_poses(lab.train.poses)])
        return lab.error_of(inputs, known, lab.test.poses, np.tile(lab.groups, 2))

    yield "**the paper's**: hard words, squared exponential", lambda: lab.error([plain()])
    yield "hard words, outputs in mm, not standardised", lambda: lab.error([plain()], standardise=False)
    yield "hard words, each standardised", lambda: lab.error([standardised(plain())])
    yield "hard words, chi-square kernel", lambda: lab.error([with_distance(plain(), chi_square)])
    yield "hard words, exponential of the L1 distance", lambda: lab.error([with_distance(plain(), manhattan)])
    yield "hard words, Hellinger", lambda: lab.error([roots()])
    yield "soft words", lambda: lab.error([plain(**SOFT)])
    yield "soft words, chi-square kernel", lambda: lab.error([with_distance(plain(**SOFT), chi_square)])
    yield "soft words, Hellinger", lambda: lab.error([roots(**SOFT)])
    yield "soft words, Hellinger, words of another seed", lambda: lab.error([roots(random_state=1, **SOFT)])
    yield "soft words, Hellinger, words of a third seed", lambda: lab.error([roots(random_state=2, **SOFT)])
    yield "soft words, Hellinger, 100 words", lambda: lab.error([roots(n_words=100, **SOFT)])
    yield "soft words, Hellinger, 1,000 words", lambda: lab.error([roots(n_words=1000, **SOFT)])
    yield "hard words of soft bins, Hellinger", lambda: lab.error([roots(**SOFT_BINS)])
    yield "soft words, Hellinger, soft bins", lambda: lab.error([roots(**SOFT, **SOFT_BINS)])
    yield "soft words, Hellinger, mirrored silhouettes too", lambda: mirrored(**SOFT)
    yield "soft words, Hellinger, poses in world axes", lambda: turned(in_world)
    yield (
        "soft words, Hellinger, poses turned to the body's own heading (another measure: no heading is predicted)",
        lambda: turned(lambda samples, lab: in_heading(in_world(samples, lab))),
    )
    yield "soft words, Hellinger, poses in axes along the ray to the person", lambda: turned(along_rays)
    yield "soft words, Hellinger, and the silhouette's size", lambda: lab.error([roots(**SOFT), placed(slice(2, 4))])
    yield "soft words, Hellinger, and its position", lambda: lab.error([roots(**SOFT), placed(slice(0, 2))])
    yield "soft words, Hellinger, and its position and size", lambda: lab.error([roots(**SOFT), placed(slice(0, 4))])
    yield (
        "soft words, Hellinger, and its position and size, sum of kernels",
        lambda: lab.error([roots(**SOFT), placed(slice(0, 4))], join="sum"),
    )
    yield "**the default**: the same, shape contexts turned with the edge", lambda: lab.error([roots(**DEFAULT)])
    yield "default, hard words", lambda: lab.error([roots(rotation="tangent")])
    yield "default, words of another seed", lambda: lab.error([roots(random_state=1, **DEFAULT)])
    yield "default, 1,000 words", lambda: lab.error([roots(n_words=1000, **DEFAULT)])
    yield "default, and the upright histogram", lambda: lab.error([roots(**DEFAULT), roots(**SOFT)])
    yield "default, mirrored silhouettes too", lambda: mirrored(**DEFAULT)
    yield "default, and its position and size", lambda: lab.error([roots(**DEFAULT), placed(slice(0, 4))])


def several_views(lab: Lab) -> Iterator[tuple[str, Callable[[], float]]]:
    """Name and measurement of each option with the three views' histograms concatenated."""
    settings = DataConfig(views="concatenated")

    def joined(roots: bool, **parameters: Any) -> float:
        train, test = lab.histograms(**parameters)
        known, train = arrange_views(lab.train, np.sqrt(train) if roots else train, settings)
        true, test = arrange_views(lab.test, np.sqrt(test) if roots else test, settings)
        groups = known.time_blocks(FRAMES_PER_SECOND)
        return lab.error_of([Input(train, test)], known.poses, true.poses, groups)

    yield "three views side by side, the paper's", lambda: joined(False)
    yield "three views, Hellinger", lambda: joined(True)
    yield "three views, soft words, Hellinger", lambda: joined(True, **SOFT)
    yield "**three views, the default**", lambda: joined(True, **DEFAULT)
    yield "three views, soft words, Hellinger, soft bins", lambda: joined(True, **SOFT, **SOFT_BINS)


def _images(samples: Samples, parameters: dict[str, Any]) -> list[Any]:
    """The input of HistoSC from samples: edge points, with tangents if its rotation needs them."""
    return samples.images() if parameters.get("rotation") == "tangent" else list(samples.edges)


def open_lab(data: Path, work: Path | None) -> Lab:
    """The samples of every second frame, at the same instants for all cameras."""
    config = Config.model_validate({"descriptor": {"rotation": "tangent"}})
    found = [extract(data, partition, config, Silent(), work=work) for partition in ("Train", "Validate")]
    train, test = (samples.take(samples.frame % STRIDE == 0) for samples in found)
    words = found[0].take(np.arange(len(found[0])) % CODEBOOK_STRIDE == 0)
    cameras = cameras_of(data)
    width = 2 * max(camera.matrix[0, 2] for camera in cameras.values())
    return Lab(train, test, words, cameras, float(width))


def options_table(data: Path, work: Path | None = None, only: str = "") -> Iterator[str]:
    """The lines of the Markdown table, each as soon as it is measured.

    Parameters
    ----------
    data : Path
        HumanEva-I tree with cameras C1 to C3.
    work : Path, optional
        Folder where edge points are kept and found again.
    only : str
        Measure the options whose name contains this.

    Raises
    ------
    pose.errors.DataError
        If the tree cannot be used.
    """
    lab = open_lab(data, work)
    yield f"{len(lab.train)} training, {len(lab.test)} test images\n\n| option | mean joint error, mm |\n| --- | --- |"
    for name, measure in (*single_views(lab), *several_views(lab)):
        if only in name:
            yield f"| {name} | {measure():.1f} |"
