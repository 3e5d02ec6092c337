"""From a HumanEva tree to edge points and poses, video by video, in parallel, resumable."""

from __future__ import annotations

import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

from pipelines.errors import UsageError
from pipelines.features.samples import Samples, join_samples
from pipelines.features.silhouettes import TreeSilhouettes
from pipelines.features.video_edges import Recording, VideoEdges, edges_of
from pipelines.progress import Reporter
from pipelines.settings import Config
from pose.body.skeleton import root_relative
from pose.errors import DataError
from pose.humaneva import HumanEva, LabelledFrames
from pose.humaneva.splits import OFFICIAL, divided, partition_names

N_WORKERS = 2
"""Number of threads that take videos in turn. Decoding, numba and OpenCV all release the interpreter lock."""


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
        Take every `stride`-th labelled frame of a recording.
    most : int, optional
        Largest number of images; further ones are left out evenly (`Samples.thinned`).
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
            jobs = pool.map(lambda recording: edges_of(recording, source, config, work), recordings)
            for recording, edges in zip(recordings, jobs, strict=True):
                parts.append(_label(recording, edges, config))
                done += len(recording.labels.numbers)
                reporter.progress(f"silhouettes of {partition}", done, total)
        except BaseException:
            pool.shutdown(cancel_futures=True)  # a fault or a stop must not wait for the videos in the queue
            raise
    samples = join_samples(parts)
    _tell_left_out(samples, total, tree, partition, reporter)
    if most is not None and len(samples) < most:
        reporter.say(f"{partition}: {len(samples)} images, fewer than the {most} asked for")
    return samples if most is None else samples.thinned(most)


def _tell_left_out(samples: Samples, total: int, tree: HumanEva, partition: str, reporter: Reporter) -> None:
    """Say how many of the frames are left out, and why; raise if none remains."""
    left_out = [
        f"{count} {what}"
        for count, what in ((samples.n_empty, "show no person"), (samples.n_missing, "lie outside their videos"))
        if count
    ]
    if len(samples) == 0:
        raise DataError(f"{tree.root}: nothing to use for {partition}: of its {total} frames {', '.join(left_out)}")
    if left_out:
        reporter.say(f"of {total} frames of {partition} {', '.join(left_out)}; they are left out")


def _counts(recordings: list[Recording], what: str) -> str:
    """Numbers of trials, frames (counted once for all cameras) and images, in words."""
    frames = {recording.sequence.name: len(recording.labels.numbers) for recording in recordings}
    cameras = sorted({recording.camera for recording in recordings})
    total = sum(len(recording.labels.numbers) for recording in recordings)
    trials = f"{len(frames)} trial{'s' * (len(frames) != 1)}"
    return f"{what}: {trials}, {sum(frames.values())} frames, {total} images by {' '.join(cameras)}"


def _recordings(tree: HumanEva, partition: str, config: Config, stride: int) -> list[Recording]:
    """The recordings, one per video. Warn of each trial that cannot be used; raise if no recording remains."""
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
        found += [Recording(sequence, camera, kept) for camera in cameras if len(kept.numbers)]
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


def _label(recording: Recording, edges: VideoEdges, config: Config) -> Samples:
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
