"""What `pose data check` finds, and what it may be asked to look at."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True)
class CalibrationRow:
    """One camera of one subject: where it stands, in m, and where the room's middle shows, in px."""

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
        By camera: the 1-based video frame of toolkit frame 1.
    mocap_start, mocap_per_frame : float
    published : dict of str to int, optional
        What public conversions of HumanEva-I have, where they do.
    near : float, optional
        Share of joints on the silhouettes or within 3 px.
    shift : int, optional
        What to add to `video_frame_shift`; None where the pictures do not tell.
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
    """Bone lengths of one trial: valid frames, those with an implausible length, and the bone that is worst."""

    trial: str
    valid: int
    implausible: int
    worst: str
    median: float
    reference: float


@dataclass(frozen=True)
class VideoRow:
    """One video: pictures announced, decoded and needed by the partitions; its size and rate."""

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
        What makes wrong numbers, or none.
    notes : list of str
        What may be as it should.
    overlays : list of Path
        Pictures written.
    suggested_shift : int or None
        What `video_frame_shift` should be, by all pictures together; None where they do not tell.
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
    """What to check; everything where nothing is named. `frames` are toolkit frames to draw overlays of."""

    subjects: Sequence[str] = ()
    actions: Sequence[str] = ()
    cameras: Sequence[str] = ()
    frames: Sequence[int] = ()
