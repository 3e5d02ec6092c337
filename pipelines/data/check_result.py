"""Results of `pose data check`, and the selection of what it looks at."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True)
class CalibrationRow:
    """One subject's camera: focal lengths, px, centre, m, and the image of the room's middle (`aim`), px."""

    subject: str
    camera: str
    focal: tuple[float, float]
    centre: tuple[float, float, float]
    aim: tuple[float, float]


@dataclass(frozen=True)
class SyncRow:
    """The clock of one trial.

    Parameters
    ----------
    trial : str
    first_video_frame : dict of str to int
        The 1-based video frame of toolkit frame 1, by camera.
    mocap_start, mocap_per_frame : float
    published : dict of str to int, optional
        The same frames in public conversions of HumanEva-I, for trials that these hold.
    near : float, optional
        Share of joints on the silhouettes or within 3 px.
    shift : int, optional
        Frames to add to `video_frame_shift`; None if the pictures do not decide.
    """

    trial: str
    first_video_frame: dict[str, int]
    mocap_start: float
    mocap_per_frame: float
    published: dict[str, int] | None
    near: float | None = None
    shift: int | None = None


@dataclass(frozen=True)
class BoneRow:
    """Bone lengths of one trial: valid frames, frames with an implausible length, and the worst bone, mm."""

    trial: str
    valid: int
    implausible: int
    worst: str
    median: float
    reference: float


@dataclass(frozen=True)
class VideoRow:
    """One video: pictures announced, decoded and needed by the partitions; size, px, and rate, frames per second."""

    trial: str
    camera: str
    announced: int
    decoded: int
    needed: int
    size: tuple[int, int]
    rate: float


@dataclass(eq=False)
class DataCheck:
    """What was found.

    Parameters
    ----------
    faults : list of str
        Findings that lead to wrong numbers or to none.
    notes : list of str
        Findings that may be harmless.
    overlays : list of Path
        Pictures written.
    suggested_shift : int or None
        The `video_frame_shift` that fits all pictures together best; None if they do not decide.
    """

    calibrations: list[CalibrationRow] = field(default_factory=list)
    syncs: list[SyncRow] = field(default_factory=list)
    bones: list[BoneRow] = field(default_factory=list)
    videos: list[VideoRow] = field(default_factory=list)
    overlays: list[Path] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    suggested_shift: int | None = None


@dataclass(frozen=True)
class Selection:
    """What to check; an empty field selects everything. `frames` are the toolkit frames to draw overlays of."""

    subjects: Sequence[str] = ()
    actions: Sequence[str] = ()
    cameras: Sequence[str] = ()
    frames: Sequence[int] = ()
