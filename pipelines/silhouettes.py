"""Frames to silhouettes: by background models, or from ready-made masks."""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from pipelines.config import Config
from pose import GaussianBackground
from pose.errors import DataError
from pose.humaneva import HumanEva
from pose.humaneva import Sequence as HumanEvaSequence
from pose.video import VideoFrame, read_frames, read_masks

Mask = NDArray[np.uint8]
#: A person seen whole covers less of the picture than this; a silhouette that covers more is a wrong background's.
_LARGEST_SHARE = 0.3


class CoverageCheck:
    """Counts silhouettes too large for a person, and warns of them at the end."""

    def __init__(self) -> None:
        self._n_large = self._n_seen = 0

    def see(self, mask: Mask) -> None:
        """Count one silhouette."""
        self._n_seen += 1
        self._n_large += int(np.count_nonzero(mask) > _LARGEST_SHARE * mask.size)

    def warn(self, video: Path) -> None:
        """Warn where any was too large."""
        if self._n_large:
            warnings.warn(
                f"{video}: the silhouette covers more than {_LARGEST_SHARE:.0%} of the picture in {self._n_large} of "
                f"{self._n_seen} frames: poses will mean little; is the background of this camera, without a person?",
                stacklevel=2,
            )


def fit_background(recordings: Sequence[Path], config: Config) -> GaussianBackground:
    """Learn the empty scene from its recordings or pictures.

    Raises
    ------
    DataError
        If one cannot be read, or they differ in size.
    """
    frames = [(frame.image for frame in read_frames(path)) for path in recordings]
    try:
        return GaussianBackground(risk=config.silhouette.risk).fit(frames)
    except DataError:
        raise
    except ValueError as error:
        raise DataError(f"the empty scene of {', '.join(map(str, recordings))}: {error}") from error


def silhouette(frame: VideoFrame, background: GaussianBackground | None, video: Path) -> Mask:
    """The person in a frame, (height, width), 0 or 255; without a background the frame is `read_masks`' already.

    Raises
    ------
    DataError
        If the frame does not fit the background.
    """
    if background is None:
        return frame.image[:, :, 0]
    try:
        return background.silhouette(frame.image)
    except ValueError as error:
        raise DataError(f"{video}, frame {frame.index} (from 0): {error}") from error


class TreeSilhouettes:
    """The silhouettes of a HumanEva tree: its cameras' background models, or a folder of ready-made masks."""

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
            recordings = self._tree.background_videos(camera)
            if not recordings:
                raise DataError(
                    f"{self._tree.root / 'Background'}: no recording of the empty room by {camera} "
                    f"(Background_1_({camera}).avi); silhouettes need one, or give ready-made masks with --masks"
                )
            self._backgrounds[camera] = fit_background(recordings, self._config)

    def read(self, sequence: HumanEvaSequence, camera: str, numbers: NDArray[np.int64]) -> Iterator[tuple[int, Mask]]:
        """Toolkit frames and their silhouettes; frames beyond the end of the video do not come."""
        if self._folder is None:
            background = self._backgrounds[camera]
            for number, frame in sequence.read(camera, numbers):
                yield number, silhouette(frame, background, sequence.videos[camera])
            return
        source = self._masks_of(sequence, camera)
        for number, frame in replace(sequence, videos={camera: source}).read(camera, numbers, read_masks):
            yield number, silhouette(frame, None, source)

    def fingerprint(self, sequence: HumanEvaSequence, camera: str) -> bytes:
        """Changes whenever the silhouettes may."""
        if self._folder is not None:
            return _digest(self._masks_of(sequence, camera))
        return b"".join(_digest(path) for path in (*self._tree.background_videos(camera), sequence.videos[camera]))

    def _masks_of(self, sequence: HumanEvaSequence, camera: str) -> Path:
        assert self._folder is not None
        stem = f"{sequence.action}_{sequence.trial}_({camera})"
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
