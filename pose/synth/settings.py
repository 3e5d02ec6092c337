"""The settings of a data set: checked once, and kept in it, so that a later run recognises an unfinished one."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from string import ascii_uppercase
from typing import Any

from pose.body.camera import Camera
from pose.errors import DataError
from pose.synth.cast import Actor, choose_cast
from pose.synth.motion.actions import ACTIONS
from pose.synth.motion_files import read_motion
from pose.synth.pictures.rig import read_rig, shaken

#: Kinds of masks that can be written.
MASKS = ("sample", "png", "video", "none")
#: Value of `facing` instead of a camera's name: people turn all round, so that every camera sees all sides.
ANYWHERE = "any"
DEFAULT_ACTIONS = ("Walking", "Jog", "Box")
DEFAULT_FRAMES = 560
#: Smallest and largest number of toolkit frames in a trial.
_MIN_FRAMES, _MAX_FRAMES = 24, 100_000
#: Largest jitter of the cameras, degrees.
_MAX_JITTER = 10.0
_NAMED = re.compile(r"^(\w+)=(.+)$")
#: Version of the output for given settings: raise it when pictures or motions change.
_FORMAT = 2


@dataclass(frozen=True)
class MotionFile:
    """A motion file and the action that it is shown as."""

    action: str
    path: Path
    digest: str


@dataclass(frozen=True, eq=False)
class Settings:
    """A data set to be made; see `pose.synth.synthesize` for its attributes."""

    cast: tuple[Actor, ...]
    actions: tuple[str, ...]
    motions: tuple[MotionFile, ...]
    cameras: dict[str, Camera]
    n_frames: int
    seed: int
    mirrored: bool = False
    train_share: float = 0.5
    masks: str = "sample"
    reading: dict[str, Any] = field(default_factory=dict)
    facing: str = ANYWHERE

    def as_dict(self) -> dict[str, Any]:
        """The settings for JSON; data sets of equal settings are equal to the byte."""
        return {
            "format": _FORMAT,
            "subjects": {subject.name: "drawn" if subject.drawn else "named" for subject in self.cast},
            "actions": list(self.actions),
            "motions": [{"action": m.action, "file": m.path.name, "sha256": m.digest} for m in self.motions],
            "cameras": {
                name: [
                    *camera.matrix.ravel().tolist(),
                    *camera.distortion.tolist(),
                    *camera.rotation.ravel().tolist(),
                    *camera.translation.tolist(),
                ]
                for name, camera in self.cameras.items()
            },
            "frames": self.n_frames,
            "seed": self.seed,
            "mirrored": self.mirrored,
            "train_share": self.train_share,
            "masks": self.masks,
            "facing": self.facing,
            "reading": self.reading,
        }


@dataclass(frozen=True, kw_only=True)
class Request:
    """What was asked for, unchecked; see `pose.synth.synthesize` for its attributes."""

    subjects: Sequence[str] | int
    actions: Sequence[str] | None
    motions: Sequence[str | Path]
    cameras: str | Path | None
    n_frames: int
    seed: int
    mirrored: bool
    camera_jitter: float
    train_share: float
    masks: str
    facing: str | None
    reading: dict[str, Any]


def check_request(request: Request) -> Settings:
    """The settings of a request.

    Raises
    ------
    DataError
        If a setting is not possible; the message lists all faults.
    """
    actions, motions = request.actions, request.motions
    chosen = tuple(actions if actions is not None else () if motions else DEFAULT_ACTIONS)
    faults = [f"no action {name!r} (there are {', '.join(ACTIONS)})" for name in chosen if name not in ACTIONS]
    if len(set(chosen)) != len(chosen) or not (chosen or motions):
        faults.append("every action must be named once, and one at least")
    faults += _number_faults(request)
    people: list[Actor] = []
    files: list[MotionFile] = []
    rig: dict[str, Camera] = {}
    try:
        people = choose_cast(request.subjects, request.seed)
    except DataError as error:
        faults.append(str(error))
    try:
        files = _motion_files(motions, chosen, request.reading)
    except DataError as error:
        faults.append(str(error))
    try:
        rig = read_rig(request.cameras)
    except DataError as error:
        faults.append(str(error))
    towards = request.facing or next(iter(rig), ANYWHERE)
    if rig and towards != ANYWHERE and towards not in rig:
        faults.append(f"nobody can face the camera {towards!r} (there are {', '.join(rig)}, or {ANYWHERE})")
    if faults:
        raise DataError(f"cannot make this synthetic data set: {'; '.join(faults)}")
    return Settings(
        tuple(people),
        chosen,
        tuple(files),
        shaken(rig, request.camera_jitter, request.seed),
        request.n_frames,
        request.seed,
        request.mirrored,
        request.train_share,
        request.masks,
        request.reading,
        towards,
    )


def _number_faults(request: Request) -> list[str]:
    """What is wrong with the numbers and the kind of masks."""
    faults = []
    if not _MIN_FRAMES <= request.n_frames <= _MAX_FRAMES:
        faults.append(f"a trial has {_MIN_FRAMES} to {_MAX_FRAMES} frames, not {request.n_frames}")
    if request.seed < 0:
        faults.append(f"the seed must be 0 or more, not {request.seed}")
    if not 0 <= request.train_share <= 1:
        faults.append(f"the share of the frames to train on is 0 to 1, not {request.train_share:g}")
    if not 0 <= request.camera_jitter <= _MAX_JITTER:
        faults.append(f"the cameras can be moved by 0 to {_MAX_JITTER:g} degrees, not {request.camera_jitter:g}")
    if request.masks not in MASKS:
        faults.append(f"no kind of masks {request.masks!r} (there are {', '.join(MASKS)})")
    return faults


def _motion_files(motions: Sequence[str | Path], actions: Sequence[str], reading: dict[str, Any]) -> list[MotionFile]:
    """The motion files and their actions; each is read once, so that a faulty file is found before the work begins."""
    files, faults = [], []
    taken = set(actions)
    for motion in motions:
        named = _NAMED.match(str(motion))
        path = Path(named[2] if named else motion)
        try:
            read_motion(path, **reading)
        except DataError as error:
            faults.append(str(error))
            continue
        action = named[1] if named else _action_name(path, taken)
        if not re.fullmatch("[A-Za-z]+", action):
            faults.append(f"{action}={path}: an action's name has letters alone")
            continue
        if action in taken:
            faults.append(f"two motions are called {action}; name them: --motion NAME=FILE")
            continue
        taken.add(action)
        files.append(MotionFile(action, path, hashlib.sha256(path.read_bytes()).hexdigest()))
    if faults:
        raise DataError("; ".join(faults))
    return files


def _action_name(path: Path, taken: set[str]) -> str:
    """A file's name as an action, of letters alone: ``fast_walk_2`` is FastWalk, then FastWalkB; ``02_01`` is Clip."""
    words: list[str] = re.findall(r"[A-Za-z]+", path.stem)
    name = "".join(word[:1].upper() + word[1:] for word in words) or "Clip"
    tails: tuple[str, ...] = ("", *ascii_uppercase[1:], *(a + b for a in ascii_uppercase for b in ascii_uppercase))
    for tail in tails:
        if name + tail not in taken:
            return name + tail
    raise DataError(f"{path}: too many motion files of one name; name them: --motion NAME=FILE")
