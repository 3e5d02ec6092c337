"""From a HumanEva tree to edge points and poses, video by video, in parallel, resumable."""

from __future__ import annotations

import hashlib
import json
import warnings
import zipfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from pipelines.config import Config
from pipelines.files import atomic_path
from pipelines.progress import Reporter
from pose import EmptySilhouetteError, GaussianBackground, as_mask, sample_edges
from pose.errors import DataError
from pose.humaneva import HumanEva, LabelledFrames, Sequence
from pose.skeleton import root_relative
from pose.video import read_frames

N_WORKERS = 2  # decoding, numba and OpenCV all release the interpreter lock
_CACHE_VERSION = 1  # raise it when the silhouettes or edges of the same input change


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
    n_empty : int
        Frames left out because no person was found in them.
    """

    edges: NDArray[np.float32]
    poses: NDArray[np.float64]
    subject: NDArray[np.str_]
    action: NDArray[np.str_]
    camera: NDArray[np.str_]
    trial: NDArray[np.int64]
    frame: NDArray[np.int64]
    n_empty: int

    def __len__(self) -> int:
        return len(self.poses)

    def time_blocks(self, n_frames: int) -> NDArray[np.int64]:
        """Labels (n,) of the instants that belong together: `n_frames` consecutive frames of one trial, all cameras."""
        keys = list(zip(self.subject, self.action, self.trial, self.frame // n_frames, strict=True))
        index = {key: label for label, key in enumerate(dict.fromkeys(keys))}
        return np.array([index[key] for key in keys], dtype=np.int64)


@dataclass(frozen=True, eq=False)
class _Recording:
    """The labelled frames of one video."""

    sequence: Sequence
    camera: str
    labels: LabelledFrames

    @property
    def name(self) -> str:
        return f"{self.sequence.name} {self.camera}"


class Masks:
    """Where silhouettes come from: background models made from the tree's recordings, or ready-made masks."""

    def __init__(self, tree: HumanEva, config: Config, masks: Path | None) -> None:
        self._tree, self._config, self._folder = tree, config, masks
        self._backgrounds: dict[str, GaussianBackground] = {}

    def prepare(self, cameras: list[str]) -> None:
        """Make the background models of the cameras; they serve every subject, as the cameras did not move.

        Raises
        ------
        DataError
            If a camera has no recording of the empty room.
        """
        if self._folder is not None:
            return
        for camera in cameras:
            videos = self._tree.background_videos(camera)
            if not videos:
                raise DataError(
                    f"{self._tree.root / 'Background'}: no recording of the empty room by {camera} "
                    f"(Background_1_({camera}).avi); silhouettes need one, or give ready-made masks with --masks"
                )
            recordings = [(frame.image for frame in read_frames(video)) for video in videos]
            self._backgrounds[camera] = GaussianBackground(risk=self._config.silhouette.risk).fit(recordings)

    def read(self, recording: _Recording) -> Iterator[tuple[int, NDArray[np.bool_] | NDArray[np.uint8]]]:
        """(toolkit frame, mask) of the labelled frames."""
        sequence = recording.sequence
        if self._folder is not None:
            sequence = replace(sequence, videos={recording.camera: self._mask_source(recording)})
        for number, frame in sequence.read(recording.camera, recording.labels.numbers):
            if self._folder is not None:
                yield number, as_mask(frame.image)
            else:
                yield number, self._backgrounds[recording.camera].silhouette(frame.image)

    def fingerprint(self, recording: _Recording) -> bytes:
        """Changes whenever the masks of a recording may."""
        if self._folder is not None:
            return _digest(self._mask_source(recording))
        digests = [_digest(video) for video in self._tree.background_videos(recording.camera)]
        return b"".join([*digests, _digest(recording.sequence.videos[recording.camera])])

    def _mask_source(self, recording: _Recording) -> Path:
        assert self._folder is not None
        sequence = recording.sequence
        stem = f"{sequence.action}_{sequence.trial}_({recording.camera})"
        folder = self._folder / sequence.subject.name
        for candidate in (folder / stem, folder / f"{stem}.avi", folder / f"{stem}.mp4"):
            if candidate.exists():
                return candidate
        raise DataError(f"{folder}: no masks {stem} (a folder of numbered pictures, or a video of the same frames)")


def _digest(path: Path) -> bytes:
    digest = hashlib.sha256()
    for part in sorted(path.iterdir()) if path.is_dir() else [path]:
        with part.open("rb") as file:
            digest.update(hashlib.file_digest(file, "sha256").digest())
    return digest.digest()


def extract(
    data: str | Path,
    partition: str,
    config: Config,
    reporter: Reporter,
    *,
    stride: int = 1,
    masks: Path | None = None,
    work: Path | None = None,
) -> Samples:
    """Silhouettes, edge points and poses of every usable frame of a partition.

    Parameters
    ----------
    data : path-like
        HumanEva-I tree.
    partition : str
        ``"Train"``, ``"Validate"`` or ``"Test"``.
    config : Config
    reporter : Reporter
    stride : int
        Take every k-th labelled frame of a recording.
    masks : Path, optional
        Folder of ready-made masks, ``S1/Walking_1_(C1)/`` or ``.avi``, frame by frame as the videos.
    work : Path, optional
        Folder where the edge points of finished videos are kept and found again.

    Raises
    ------
    DataError
        If nothing usable is found, or a file that is needed is faulty.
    """
    tree = HumanEva(data, config.data.video_frame_shift)
    recordings = _recordings(tree, partition, config, stride)
    source = Masks(tree, config, masks)
    source.prepare(sorted({recording.camera for recording in recordings}))
    total = sum(len(recording.labels.numbers) for recording in recordings)
    done = 0
    parts = []
    with ThreadPoolExecutor(N_WORKERS) as pool:
        try:
            jobs = pool.map(lambda recording: _edges_of(recording, source, config, work), recordings)
            for recording, (numbers, edges) in zip(recordings, jobs, strict=True):
                parts.append(_label(recording, numbers, edges, config))
                done += len(recording.labels.numbers)
                reporter.progress(f"silhouettes of {partition}", done, total)
        except BaseException:
            pool.shutdown(cancel_futures=True)  # a fault or a stop must not wait for the videos in the queue
            raise
    samples = _join(parts, total)
    if len(samples) == 0:
        raise DataError(f"{tree.root}: no person was found in any of the {total} frames of {partition}")
    if samples.n_empty:
        reporter.say(f"{samples.n_empty} of {total} frames of {partition} show no person, or are not in their video")
    return samples


def _recordings(tree: HumanEva, partition: str, config: Config, stride: int) -> list[_Recording]:
    """One a video; a trial that cannot be used is left out with its reason, an error if none is left."""
    faults = []
    found = []
    for sequence in tree.sequences(partition):
        try:
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
        there = ", ".join(sequence.name for sequence in tree.sequences()) or "none"
        reasons = "; ".join(faults) or (
            f"no trial has frames of {partition} (trials with video: {there}); "
            f"{tree.root / 'partitions.json'} says which frames are for what, see data/README.md"
        )
        raise DataError(f"{tree.root}: nothing to use for {partition}: {reasons}")
    for fault in faults:
        warnings.warn(f"a trial is left out: {fault}", stacklevel=3)
    return found


Edges = tuple[NDArray[np.int64], NDArray[np.float32]]


def _edges_of(recording: _Recording, source: Masks, config: Config, work: Path | None) -> Edges:
    """Frame numbers and edge points of a video's frames that show a person."""
    if work is None:
        return _compute_edges(recording, source, config)
    key = hashlib.sha256(source.fingerprint(recording))
    settings = [
        _CACHE_VERSION,
        config.silhouette.model_dump(),
        config.descriptor.n_points,
        config.data.video_frame_shift,
    ]
    key.update(json.dumps(settings).encode())
    key.update(recording.labels.numbers.tobytes())
    path = work / f"edges-{key.hexdigest()[:24]}.npz"
    cached = _load_edges(path)
    if cached is not None:
        return cached
    numbers, edges = _compute_edges(recording, source, config)
    work.mkdir(parents=True, exist_ok=True)
    with atomic_path(path) as temporary:
        np.savez(temporary, numbers=numbers, edges=edges)
    return numbers, edges


def _load_edges(path: Path) -> Edges | None:
    """What an earlier run kept; None where it kept nothing that can be read."""
    try:
        with path.open("rb") as file, np.load(file) as cached:
            return cached["numbers"], cached["edges"]
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
        return None


def _compute_edges(recording: _Recording, source: Masks, config: Config) -> Edges:
    numbers, edges = [], []
    for number, mask in source.read(recording):
        try:
            edges.append(sample_edges(mask, config.descriptor.n_points).astype(np.float32))
        except EmptySilhouetteError:
            continue
        numbers.append(number)
    shape = (-1, config.descriptor.n_points, 2)
    return np.array(numbers, dtype=np.int64), np.array(edges, dtype=np.float32).reshape(shape)


def _label(recording: _Recording, numbers: NDArray[np.int64], edges: NDArray[np.float32], config: Config) -> Samples:
    rows = np.searchsorted(recording.labels.numbers, numbers)
    poses = root_relative(recording.labels.joints[rows])
    if config.data.target_frame == "camera":
        poses = recording.sequence.subject.camera(recording.camera).rotate_to_camera(poses)
    n = len(numbers)
    sequence = recording.sequence
    return Samples(
        edges,
        poses,
        np.full(n, sequence.subject.name),
        np.full(n, sequence.action),
        np.full(n, recording.camera),
        np.full(n, sequence.trial),
        numbers,
        0,
    )


def _join(parts: list[Samples], total: int) -> Samples:
    columns = ("edges", "poses", "subject", "action", "camera", "trial", "frame")
    joined = {column: np.concatenate([getattr(part, column) for part in parts]) for column in columns}
    return Samples(**joined, n_empty=total - len(joined["poses"]))
