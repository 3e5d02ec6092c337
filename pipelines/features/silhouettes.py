"""Frames to silhouettes: by background models, or from ready-made masks."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import cv2
import numpy as np

from pipelines.digest import digest
from pipelines.settings import Config
from pose import GaussianBackground
from pose.errors import DataError
from pose.files import atomic_path
from pose.humaneva import HumanEva, Trial
from pose.humaneva.files.background_cache import cache_name, read_background, write_background
from pose.silhouette.background_model import BackgroundModel
from pose.silhouette.opencv_backgrounds import SubtractorBackground
from pose.silhouette.toolkit_background import ToolkitBackground
from pose.types import Image, IntArray, Mask
from pose.video.frame import VideoFrame
from pose.video.mask_reader import read_masks
from pose.video.reader import read_frames

#: Share of the picture above which a silhouette is no person; a wrong background gives such silhouettes.
_LARGEST_SHARE = 0.3
#: Share of the picture below which a ready-made silhouette is a speck, not a person: 154 pixels of 640 x 480, about
#: what our background model leaves out. (`edge_points` removes specks beside a person, by their share of the person.)
_SMALLEST_SHARE = 5e-4


def is_too_large(coverage: float) -> bool:
    """Whether a silhouette that covers this share of the picture is too large for a person."""
    return coverage > _LARGEST_SHARE


def warn_of_coverage(video: Path, n_large: int, n_seen: int) -> None:
    """Warn if `n_large` of the `n_seen` silhouettes of a video were too large."""
    if n_large:
        warnings.warn(
            f"{video}: the silhouette covers more than {_LARGEST_SHARE:.0%} of the picture in {n_large} of "
            f"{n_seen} frames: poses will mean little; a recording of the empty scene by this very camera helps",
            stacklevel=2,
        )


def fit_background(recordings: Sequence[Path], config: Config, cache: Path | None = None) -> BackgroundModel:
    """Learn the empty scene from its recordings or pictures, by the model that the settings name.

    The toolkit's model is read from the file `cache` if it was made of the same recordings, else written there.

    Raises
    ------
    DataError
        If a recording cannot be read, or the recordings differ in size.
    """
    frames = [(frame.image for frame in read_frames(path)) for path in recordings]
    if config.silhouette.model == "toolkit" and cache is not None:
        return _cached_toolkit_background(recordings, frames, config, cache)
    return fit_frames(frames, config, _empty_scene(recordings))


def _empty_scene(recordings: Sequence[Path]) -> str:
    return f"the empty scene of {', '.join(map(str, recordings))}"


def fit_frames(recordings: Sequence[Iterable[Image]], config: Config, what: str) -> BackgroundModel:
    """Learn the empty scene from the pictures of its recordings; messages call them `what`.

    Raises
    ------
    DataError
        If the pictures differ in size, or there is none.
    """
    settings = config.silhouette
    try:
        if settings.model == "toolkit":
            return ToolkitBackground(settings.risk).fit(recordings)
        if settings.model == "gaussian":
            return GaussianBackground(risk=settings.risk).fit(recordings)
        return SubtractorBackground(settings.model).fit(recordings)
    except DataError:
        raise
    except ValueError as error:
        raise DataError(f"{what}: {error}") from error


def _cached_toolkit_background(
    recordings: Sequence[Path], frames: Sequence[Iterator[Image]], config: Config, cache: Path
) -> BackgroundModel:
    risk = config.silhouette.risk
    source = "".join(digest(path) for path in recordings)
    if cache.is_file():
        try:
            kept = read_background(cache, risk, source)
        except DataError as error:
            warnings.warn(f"{error}; it is made anew", stacklevel=4)
            kept = None
        if kept is not None:
            return kept
    model = fit_frames(frames, config, _empty_scene(recordings))
    assert isinstance(model, ToolkitBackground)
    cache.parent.mkdir(parents=True, exist_ok=True)
    with atomic_path(cache) as temporary:
        write_background(temporary, model, source)
    return model


def silhouette(frame: VideoFrame, background: BackgroundModel | None, video: Path) -> Mask:
    """The person in a frame, (height, width), 0 or 255. Without a background the frame must come from `read_masks`.

    Raises
    ------
    DataError
        If the frame does not fit the background.
    """
    if background is None:
        mask = frame.image[:, :, 0]
        return np.zeros_like(mask) if _is_speck(mask) else mask
    try:
        return background.silhouette(frame.image)
    except ValueError as error:
        raise DataError(f"{video}, frame {frame.index} (from 0): {error}") from error


def _is_speck(mask: Mask) -> bool:
    """Whether no 8-connected component is large enough for a person."""
    least = _SMALLEST_SHARE * mask.size
    if np.count_nonzero(mask) < least:
        return True
    _, _, stats, _ = cv2.connectedComponentsWithStats(mask, connectivity=8)
    return bool(np.max(stats[1:, cv2.CC_STAT_AREA]) < least)


class TreeSilhouettes:
    """The silhouettes of a HumanEva tree: its cameras' background models, or a folder of ready-made masks."""

    def __init__(self, tree: HumanEva, config: Config, masks: Path | None, work: Path | None = None) -> None:
        self._tree, self._config, self._folder, self._work = tree, config, masks, work
        self._backgrounds: dict[str, BackgroundModel] = {}

    def prepare(self, cameras: list[str]) -> None:
        """Make one background model for each camera; it serves all subjects, as the cameras did not move.

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
            cache = None if self._work is None else self._work / cache_name(camera)
            self._backgrounds[camera] = fit_background(recordings, self._config, cache)

    def read(self, sequence: Trial, camera: str, numbers: IntArray) -> Iterator[tuple[int, Mask]]:
        """Toolkit frame numbers and their silhouettes, without frames beyond the end of the video."""
        if self._folder is None:
            background = self._backgrounds[camera]
            for number, frame in sequence.read(camera, numbers):
                yield number, silhouette(frame, background, sequence.videos[camera])
            return
        source = self._masks_of(sequence, camera)
        for number, frame in replace(sequence, videos={camera: source}).read(camera, numbers, read_masks):
            yield number, silhouette(frame, None, source)

    def fingerprint(self, sequence: Trial, camera: str) -> str:
        """SHA-256 digests of the files that a video's silhouettes are made of."""
        if self._folder is not None:
            return digest(self._masks_of(sequence, camera))
        return "".join(digest(path) for path in (*self._tree.background_videos(camera), sequence.videos[camera]))

    def _masks_of(self, sequence: Trial, camera: str) -> Path:
        assert self._folder is not None
        stem = f"{sequence.action}_{sequence.number}_({camera})"
        folder = self._folder / sequence.subject.name
        for candidate in (folder / stem, folder / f"{stem}.avi", folder / f"{stem}.mp4"):
            if candidate.exists():
                return candidate
        raise DataError(f"{folder}: no masks {stem} (a folder of numbered pictures, or a video of the same frames)")
