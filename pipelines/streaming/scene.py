"""How the person is told from the scene: by recordings of the empty scene, by the video itself, or by ready masks."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Literal, Protocol

from pipelines.digest import digest
from pipelines.errors import PIPE_OR_DEVICE, UsageError
from pipelines.features.silhouettes import fit_background, fit_frames
from pipelines.settings import Config
from pose.errors import DataError
from pose.files import is_pipe_or_device
from pose.silhouette.background_model import BackgroundModel
from pose.silhouette.masks import Silhouette, examine_mask
from pose.silhouette.opencv_backgrounds import RunningBackground
from pose.video.frame import VideoFrame
from pose.video.reader import read_frames

RUNNING: dict[str, Literal["mog2", "knn"]] = {"running": "knn", "running-mog2": "mog2"}
"""Models that learn the background while the video plays, by their names in `--background`."""

Examine = Callable[[VideoFrame], Silhouette]


class Scene(Protocol):
    """Where silhouettes come from."""

    @property
    def ready(self) -> bool:
        """Whether the inputs are silhouettes themselves."""

    @property
    def in_order(self) -> bool:
        """Whether each frame's silhouette depends on the frames before it, so that all must be shown in order."""

    @property
    def title(self) -> str:
        """The source of the silhouettes, for people to read."""

    @property
    def recordings(self) -> Sequence[Path]:
        """The files that the background is learnt from, beside the videos themselves."""

    def prepare(self, config: Config) -> None:
        """Do what is done once for all videos."""

    def watch(self, video: Path, config: Config) -> Examine:
        """A function from a frame of one video to its silhouette; DataError for a frame that does not fit."""

    def settings(self) -> dict[str, Any]:
        """All that the silhouettes depend on beside the video, for the record of a run."""


@dataclass
class EmptyScene:
    """Recordings or pictures of the empty scene, by the same camera."""

    recordings: Sequence[Path]
    ready: ClassVar[bool] = False
    in_order: ClassVar[bool] = False
    _background: BackgroundModel | None = field(default=None, init=False)

    @property
    def title(self) -> str:
        """The names of the recordings."""
        return ", ".join(path.name for path in self.recordings)

    def prepare(self, config: Config) -> None:
        """Learn the background, once for all videos."""
        if self._background is None:
            self._background = fit_background(self.recordings, config)

    def watch(self, video: Path, config: Config) -> Examine:
        """Compare frames with the background."""
        self.prepare(config)
        assert self._background is not None
        return _comparing(self._background, video)

    def settings(self) -> dict[str, Any]:
        """SHA-256 of the recordings."""
        return {"background_sha256": [digest(path) for path in self.recordings]}


@dataclass
class FirstSeconds:
    """The video itself begins with the empty scene."""

    seconds: float
    recordings: ClassVar[tuple[Path, ...]] = ()
    ready: ClassVar[bool] = False
    in_order: ClassVar[bool] = False

    @property
    def title(self) -> str:
        """The time for which the scene is empty."""
        return f"the first {self.seconds:g} s"

    def prepare(self, config: Config) -> None:
        """Do nothing: no step is common to all videos."""

    def watch(self, video: Path, config: Config) -> Examine:
        """Learn the background from the beginning, then compare frames with it."""
        frames = itertools.takewhile(lambda frame: frame.time < self.seconds, read_frames(video))
        background = fit_frames([(frame.image for frame in frames)], config, f"the first {self.seconds:g} s of {video}")
        return _comparing(background, video)

    def settings(self) -> dict[str, Any]:
        """The number of seconds."""
        return {"background_seconds": self.seconds}


@dataclass
class RunningScene:
    """No empty scene is known: the background is learnt while the video plays."""

    title: str
    recordings: ClassVar[tuple[Path, ...]] = ()
    ready: ClassVar[bool] = False
    in_order: ClassVar[bool] = True

    def prepare(self, config: Config) -> None:
        """Do nothing: no step is common to all videos."""

    def watch(self, video: Path, config: Config) -> Examine:
        """Compare each frame with those before it."""
        del config  # its model may be one that cannot learn while the video plays
        return _comparing(RunningBackground(RUNNING[self.title]), video)

    def settings(self) -> dict[str, Any]:
        """The name of the model."""
        return {"background": self.title}


@dataclass
class ReadyMasks:
    """The inputs are silhouettes."""

    title: ClassVar[str] = "none: ready-made masks"
    recordings: ClassVar[tuple[Path, ...]] = ()
    ready: ClassVar[bool] = True
    in_order: ClassVar[bool] = False

    def prepare(self, config: Config) -> None:
        """Do nothing: no step is common to all videos."""

    def watch(self, video: Path, config: Config) -> Examine:
        """Take each frame as it is."""
        del video, config
        return lambda frame: examine_mask(frame.image[:, :, 0].copy())

    def settings(self) -> dict[str, Any]:
        """That the inputs are masks."""
        return {"masks": True}


def choose_scene(backgrounds: Sequence[str | Path] = (), seconds: float | None = None, masks: bool = False) -> Scene:
    """The scene that a request describes.

    Parameters
    ----------
    backgrounds : sequence of str or Path
        Recordings or pictures of the empty scene, or ``"running"`` (``"running-mog2"``) alone.
    seconds : float, optional
        Seconds at the beginning of each video that show the empty scene.
    masks : bool
        The inputs are silhouettes themselves.

    Raises
    ------
    UsageError
        If there is not exactly one of these, or a recording is not there.
    """
    if masks and (backgrounds or seconds is not None):
        raise UsageError("--masks takes the videos as silhouettes: leave out --background and --background-seconds")
    if backgrounds and seconds is not None:
        raise UsageError("--background and --background-seconds both name the empty scene: leave out one")
    if masks:
        return ReadyMasks()
    if seconds is not None:
        if not 0 < seconds < float("inf"):
            raise UsageError(f"--background-seconds {seconds:g}: must be positive")
        return FirstSeconds(seconds)
    if not backgrounds:
        raise UsageError(
            "silhouettes need the empty scene: --background VIDEO or picture, --background-seconds N for a video that "
            "begins with it, --background running to learn it along (or --masks for ready masks)"
        )
    names = [str(background) for background in backgrounds]
    running = [name for name in names if name in RUNNING]
    if running:
        if len(names) > 1:
            raise UsageError(f"--background {running[0]} learns from the video itself: leave out the others")
        return RunningScene(running[0])
    paths = [Path(name) for name in names]
    missing = [str(path) for path in paths if not path.exists()]
    if missing:
        raise UsageError(f"no such file: {', '.join(missing)}")
    strange = [str(path) for path in paths if is_pipe_or_device(path)]
    if strange:
        raise UsageError(f"--background {', '.join(strange)}: {PIPE_OR_DEVICE}")
    return EmptyScene(paths)


def _comparing(background: BackgroundModel, video: Path) -> Examine:
    def examine(frame: VideoFrame) -> Silhouette:
        try:
            return background.examine(frame.image)
        except ValueError as error:
            raise DataError(f"{video}, frame {frame.index} (from 0): {error}") from error

    return examine
