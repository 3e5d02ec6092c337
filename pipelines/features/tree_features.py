"""From a HumanEva tree to edge points and poses, video by video, in parallel, resumable."""

from __future__ import annotations

import hashlib
import json
import warnings
import zipfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipelines.errors import UsageError
from pipelines.features.silhouettes import TreeSilhouettes, is_too_large, warn_of_coverage
from pipelines.progress import Reporter
from pipelines.settings import Config
from pose import EmptySilhouetteError, trace_edges
from pose.body.skeleton import root_relative
from pose.errors import DataError
from pose.files import atomic_path
from pose.humaneva import HumanEva, LabelledFrames, Trial
from pose.humaneva.splits import OFFICIAL, divided, partition_names
from pose.types import BoolArray, Float32Array, FloatArray, IntArray, ShapeLike

FRAMES_PER_SECOND = 60
"""Toolkit frames of HumanEva-I in a second."""
N_WORKERS = 2
"""Threads that take videos in turn; decoding, numba and OpenCV all release the interpreter lock."""
_CACHE_VERSION = 2
"""Part of the key of kept edge points. Raise it when the silhouettes or edges of the same input change."""


@dataclass(frozen=True, eq=False)
class Samples:
    """Training or test samples; one row an image of one camera.

    Parameters
    ----------
    edges : ndarray of shape (n, n_points, 2), float32
        Edge points, pixels.
    poses : ndarray of shape (n, 15, 3)
        mm, relative to the root, in the axes of the target frame.
    subject, action, camera : ndarray of str, shape (n,)
    trial, frame : ndarray of int, shape (n,)
        Trial and toolkit frame number.
    n_empty, n_missing : int
        Frames left out because no person was found in them, or because their video does not reach so far.
    tangents : ndarray of shape (n, n_points, 2), float32, optional
        Directions of the edges at the points, where the descriptor needs them.
    """

    edges: Float32Array
    poses: FloatArray
    subject: NDArray[np.str_]
    action: NDArray[np.str_]
    camera: NDArray[np.str_]
    trial: IntArray
    frame: IntArray
    n_empty: int
    n_missing: int
    tangents: Float32Array | None = None

    def __len__(self) -> int:
        return len(self.poses)

    def thinned(self, most: int) -> Samples:
        """At most so many of the samples: those left out are spread evenly over all, in their order here."""
        if most >= len(self):
            return self
        return self.take(np.arange(most) * len(self) // most)

    def take(self, rows: IntArray | BoolArray) -> Samples:
        """Some of the samples, by their numbers or by a mask; the counts of frames left out stay."""
        return replace(self, **{column: getattr(self, column)[rows] for column in self.columns})

    @property
    def columns(self) -> list[str]:
        """Names of the arrays with a row a sample."""
        return [*_COLUMNS, *(["tangents"] if self.tangents is not None else [])]

    def images(self, rows: slice = slice(None)) -> list[ShapeLike]:
        """The edge points of some samples as HistoSC takes them, with their tangents if there are any."""
        if self.tangents is None:
            return list(self.edges[rows])
        return list(zip(self.edges[rows], self.tangents[rows], strict=True))

    def time_blocks(self, n_frames: int, by_camera: bool = False) -> IntArray:
        """Labels (n,) of `n_frames` consecutive frames of one trial, of all cameras together or of each."""
        camera = self.camera if by_camera else np.full(len(self), "")
        keys = list(zip(self.subject, self.action, self.trial, camera, self.frame // n_frames, strict=True))
        index = {key: label for label, key in enumerate(dict.fromkeys(keys))}
        return np.array([index[key] for key in keys], dtype=np.int64)


_COLUMNS = ("edges", "poses", "subject", "action", "camera", "trial", "frame")
"""Fields of `Samples` that are there always and have a row a sample."""


@dataclass(frozen=True, eq=False)
class _Recording:
    """The labelled frames of one video."""

    sequence: Trial
    camera: str
    labels: LabelledFrames


def extract(
    data: str | Path,
    partition: str,
    config: Config,
    reporter: Reporter,
    *,
    stride: int = 1,
    most: int | None = None,
    masks: Path | None = None,
    work: Path | None = None,
) -> Samples:
    """Silhouettes, edge points and poses of every usable frame of a partition.

    Parameters
    ----------
    data : path-like
        HumanEva-I tree.
    partition : str
        ``"Train"``, ``"Validate"`` or ``"Test"``, of the scheme that the config names.
    config : Config
    reporter : Reporter
    stride : int
        Take every k-th labelled frame of a recording.
    most : int, optional
        Images; if there are more, single ones are left out evenly (`Samples.thinned`).
    masks : Path, optional
        Folder of ready-made masks, ``S1/Walking_1_(C1)/`` or ``.avi``, frame by frame as the videos.
    work : Path, optional
        Folder where the edge points of finished videos are kept and found again.

    Raises
    ------
    DataError
        If nothing usable is found, or a file that is needed is faulty.
    UsageError
        If the scheme has no such partition.
    """
    scheme = config.data.scheme
    if partition not in (names := partition_names(scheme)):
        raise UsageError(f"the scheme {scheme} has no partition {partition}: there are {', '.join(names)}")
    tree = HumanEva(data, config.data.video_frame_shift)
    recordings = _recordings(tree, partition, config, stride)
    source = TreeSilhouettes(tree, config, masks, work)
    source.prepare(sorted({recording.camera for recording in recordings}))
    total = sum(len(recording.labels.numbers) for recording in recordings)
    reporter.say(_counts(recordings, f"{partition} of {scheme}"))
    done = 0
    parts = []
    with ThreadPoolExecutor(N_WORKERS) as pool:
        try:
            jobs = pool.map(lambda recording: _edges_of(recording, source, config, work), recordings)
            for recording, edges in zip(recordings, jobs, strict=True):
                parts.append(_label(recording, edges, config))
                done += len(recording.labels.numbers)
                reporter.progress(f"silhouettes of {partition}", done, total)
        except BaseException:
            pool.shutdown(cancel_futures=True)  # a fault or a stop must not wait for the videos in the queue
            raise
    samples = _join(parts)
    left_out = [
        f"{count} {what}"
        for count, what in ((samples.n_empty, "show no person"), (samples.n_missing, "lie outside their videos"))
        if count
    ]
    if len(samples) == 0:
        raise DataError(f"{tree.root}: nothing to use for {partition}: of its {total} frames {', '.join(left_out)}")
    if left_out:
        reporter.say(f"of {total} frames of {partition} {', '.join(left_out)}; they are left out")
    if most is not None and len(samples) < most:
        reporter.say(f"{partition}: {len(samples)} images, fewer than the {most} asked for")
    return samples if most is None else samples.thinned(most)


def _counts(recordings: list[_Recording], what: str) -> str:
    """Trials, frames (of all cameras of a trial together) and pictures, in words."""
    frames = {recording.sequence.name: len(recording.labels.numbers) for recording in recordings}
    cameras = sorted({recording.camera for recording in recordings})
    total = sum(len(recording.labels.numbers) for recording in recordings)
    trials = f"{len(frames)} trial{'s' * (len(frames) != 1)}"
    return f"{what}: {trials}, {sum(frames.values())} frames, {total} images by {' '.join(cameras)}"


def _recordings(tree: HumanEva, partition: str, config: Config, stride: int) -> list[_Recording]:
    """One a video; a trial that cannot be used is left out with its reason, an error if none is left."""
    faults = []
    found = []
    for known in tree.trials_with_video():
        try:
            sequence = divided(known, config.data.scheme)
            if partition not in sequence.partitions:
                continue
            labels = sequence.labelled(partition)
            cameras = sequence.cameras(config.data.cameras)
        except DataError as error:
            faults.append(str(error))
            continue
        kept = LabelledFrames(labels.numbers[::stride], labels.joints[::stride])
        if not cameras:
            faults.append(f"{sequence.name}: no camera of {', '.join(config.data.cameras)} has a video and a .ofs file")
        elif not len(kept.numbers):
            faults.append(f"{sequence.name}: no frame of {partition} has whole motion capture")
        found += [_Recording(sequence, camera, kept) for camera in cameras if len(kept.numbers)]
    if not found:
        there = ", ".join(sequence.name for sequence in tree.trials_with_video()) or "none"
        reasons = "; ".join(faults) or (
            f"no trial has frames of {partition} (trials with video: {there}); "
            + (
                f"{tree.root / 'partitions.json'} says which frames are for what, see data/README.md"
                if config.data.scheme == OFFICIAL
                else f"{config.data.scheme} divides the Train and Validate frames of first trials"
            )
        )
        raise DataError(f"{tree.root}: nothing to use for {partition}: {reasons}")
    for fault in faults:
        warnings.warn(f"a trial is left out: {fault}", stacklevel=3)
    return found


@dataclass(frozen=True, eq=False)
class _Edges:
    """Frame numbers and edge points of a video's frames that show a person, and how many of its frames exist."""

    numbers: IntArray
    points: Float32Array
    tangents: Float32Array | None
    n_decoded: int


def _edges_of(recording: _Recording, source: TreeSilhouettes, config: Config, work: Path | None) -> _Edges:
    if work is None:
        return _compute_edges(recording, source, config)
    key = hashlib.sha256(source.fingerprint(recording.sequence, recording.camera).encode())
    settings = [
        _CACHE_VERSION,
        config.silhouette.model_dump(),
        config.descriptor.n_points,
        config.data.video_frame_shift,
        recording.sequence.clock.first_video_frame[recording.camera],
    ]
    with_tangents = config.descriptor.rotation == "tangent"
    if with_tangents:
        settings.append("tangents")
    key.update(json.dumps(settings).encode())
    key.update(recording.labels.numbers.tobytes())
    path = work / f"edges-{key.hexdigest()[:24]}.npz"
    cached = _load_edges(path, with_tangents)
    if cached is not None:
        return cached
    edges = _compute_edges(recording, source, config)
    work.mkdir(parents=True, exist_ok=True)
    with atomic_path(path) as temporary:
        arrays: dict[str, Any] = {name: value for name, value in vars(edges).items() if value is not None}
        np.savez(temporary, **arrays)
    return edges


def _load_edges(path: Path, with_tangents: bool) -> _Edges | None:
    """What an earlier run kept; None where it kept nothing that can be read."""
    try:
        with path.open("rb") as file, np.load(file) as cached:
            tangents = cached["tangents"] if with_tangents else None
            edges = _Edges(cached["numbers"], cached["points"], tangents, int(cached["n_decoded"]))
            whole = len(edges.numbers) == len(edges.points) and (
                tangents is None or tangents.shape == edges.points.shape
            )
            return edges if whole else None
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
        return None


def _compute_edges(recording: _Recording, source: TreeSilhouettes, config: Config) -> _Edges:
    numbers, traced = [], []
    n_decoded = n_large = 0
    for number, mask in source.read(recording.sequence, recording.camera, recording.labels.numbers):
        n_decoded += 1
        n_large += is_too_large(np.count_nonzero(mask) / mask.size)
        try:
            traced.append(np.array(trace_edges(mask, config.descriptor.n_points), dtype=np.float32))
        except EmptySilhouetteError:
            continue
        numbers.append(number)
    warn_of_coverage(recording.sequence.videos[recording.camera], n_large, n_decoded)
    both = np.array(traced, dtype=np.float32).reshape(-1, 2, config.descriptor.n_points, 2)
    tangents = both[:, 1].copy() if config.descriptor.rotation == "tangent" else None
    return _Edges(np.array(numbers, dtype=np.int64), both[:, 0].copy(), tangents, n_decoded)


def _label(recording: _Recording, edges: _Edges, config: Config) -> Samples:
    rows = np.searchsorted(recording.labels.numbers, edges.numbers)
    poses = root_relative(recording.labels.joints[rows])
    if config.data.target_frame == "camera":
        poses = recording.sequence.subject.camera(recording.camera).rotate_to_camera(poses)
    n = len(rows)
    sequence = recording.sequence
    return Samples(
        edges.points,
        poses,
        np.full(n, sequence.subject.name),
        np.full(n, sequence.action),
        np.full(n, recording.camera),
        np.full(n, sequence.number),
        edges.numbers,
        n_empty=edges.n_decoded - n,
        n_missing=len(recording.labels.numbers) - edges.n_decoded,
        tangents=edges.tangents,
    )


def _join(parts: list[Samples]) -> Samples:
    joined = {column: np.concatenate([getattr(part, column) for part in parts]) for column in parts[0].columns}
    return Samples(
        **joined, n_empty=sum(part.n_empty for part in parts), n_missing=sum(part.n_missing for part in parts)
    )
