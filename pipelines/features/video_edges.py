"""The edge points of one video's labelled frames, kept between runs."""

from __future__ import annotations

import hashlib
import json
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from pipelines.features.silhouettes import TreeSilhouettes, is_too_large, warn_of_coverage
from pipelines.settings import Config
from pose import EmptySilhouetteError, trace_edges
from pose.files import atomic_path
from pose.humaneva import LabelledFrames, Trial
from pose.types import Float32Array, IntArray

_CACHE_VERSION = 2
"""Version number in the key of kept edge points. Raise it when the code finds other edges in the same input."""


@dataclass(frozen=True, eq=False)
class Recording:
    """The labelled frames of one video."""

    sequence: Trial
    camera: str
    labels: LabelledFrames


@dataclass(frozen=True, eq=False)
class VideoEdges:
    """Numbers and edge points of the labelled frames with a person; `n_decoded` counts all that the video holds."""

    numbers: IntArray
    points: Float32Array
    tangents: Float32Array | None
    n_decoded: int


def edges_of(recording: Recording, source: TreeSilhouettes, config: Config, work: Path | None) -> VideoEdges:
    """The edge points of a recording, from the folder `work` if an earlier run kept them there.

    Raises
    ------
    DataError
        If the video or its masks cannot be read.
    """
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


def _load_edges(path: Path, with_tangents: bool) -> VideoEdges | None:
    """The edge points that an earlier run kept; None if there are none, or they cannot be read."""
    try:
        with path.open("rb") as file, np.load(file) as cached:
            tangents = cached["tangents"] if with_tangents else None
            edges = VideoEdges(cached["numbers"], cached["points"], tangents, int(cached["n_decoded"]))
            whole = len(edges.numbers) == len(edges.points) and (
                tangents is None or tangents.shape == edges.points.shape
            )
            return edges if whole else None
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
        return None


def _compute_edges(recording: Recording, source: TreeSilhouettes, config: Config) -> VideoEdges:
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
    return VideoEdges(np.array(numbers, dtype=np.int64), both[:, 0].copy(), tangents, n_decoded)
