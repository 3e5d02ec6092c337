"""Synthetic data sets: calls `pose.synth.synthesize` for a request of the command line, with progress."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from pipelines.errors import UsageError
from pipelines.progress import Reporter
from pose.synth import DEFAULT_FRAMES, synthesize
from pose.synth.motion_files import FRAME_RATES, SUFFIXES, UNITS, UP_AXES
from pose.synth.writer import MANIFEST


@dataclass(frozen=True)
class SynthRequest:
    """What to make; see `pose.synth.synthesize`.

    Parameters
    ----------
    motions : sequence of str
        Files, ``NAME=FILE``, or folders, of which all motion files are taken.
    motion_unit : str, optional
        A name in `UNITS`, or a number of mm.
    jobs : int, optional
        Number of processes; by default one per processor.
    n_frames : int, optional
        Toolkit frames of a trial; by default `DEFAULT_FRAMES`.
    """

    subjects: Sequence[str] | int = ("S1",)
    actions: Sequence[str] | None = None
    motions: Sequence[str] = field(default_factory=list)
    motion_unit: str | None = None
    motion_up: str | None = None
    motion_rate: float | None = None
    cameras: Path | None = None
    camera_jitter: float = 0.0
    mirrored: bool = False
    train_share: float = 0.5
    masks: str = "sample"
    facing: str | None = None
    n_frames: int | None = None
    seed: int = 0
    jobs: int | None = None
    overwrite: bool = False


def synthesize_with_progress(out: Path, reporter: Reporter, request: SynthRequest | None = None) -> Path:
    """Make the data set, with one progress bar over all its frames.

    Raises
    ------
    UsageError
        If an option is out of range, whatever the files hold.
    DataError
        If a file cannot be used, or the data set cannot be made.
    """
    request = request or SynthRequest()
    if out.suffix.lower() in SUFFIXES:
        raise UsageError(f"{out}: a motion file stands where the folder to make is expected; give the folder first")
    if request.jobs is not None and request.jobs < 1:
        raise UsageError(f"--jobs {request.jobs}: 1 or more")
    made = synthesize(
        out,
        subjects=request.subjects,
        actions=request.actions,
        motions=_files(request.motions),
        cameras=request.cameras,
        n_frames=DEFAULT_FRAMES if request.n_frames is None else request.n_frames,
        seed=request.seed,
        mirrored=request.mirrored,
        camera_jitter=request.camera_jitter,
        train_share=request.train_share,
        masks=request.masks,
        facing=request.facing,
        unit_mm=_unit(request.motion_unit),
        up=_up(request.motion_up),
        rate=_rate(request.motion_rate),
        overwrite=request.overwrite,
        jobs=request.jobs or os.cpu_count() or 1,
        on_progress=lambda done, total, _: reporter.progress("drawing", done, total),
    )
    motions = json.loads((made / MANIFEST).read_text())["settings"]["motions"]
    if motions:
        names = ", ".join(f"{motion['action']} from {motion['file']}" for motion in motions)
        reporter.say(f"actions: {names}")
    return made


def _files(motions: Sequence[str]) -> list[str]:
    """The motion files, folders opened."""
    files: list[str] = []
    for motion in motions:
        folder = Path(motion)
        if not folder.is_dir():
            files.append(motion)
            continue
        there = sorted(str(path) for path in folder.iterdir() if path.suffix.lower() in SUFFIXES and path.is_file())
        if not there:
            raise UsageError(f"--motion {motion}: the folder holds no {', '.join(SUFFIXES)} file")
        files += there
    return files


def _unit(text: str | None) -> float | None:
    if text is None:
        return None
    if text.lower() in UNITS:
        return UNITS[text.lower()]
    try:
        size = float(text)
    except ValueError:
        size = 0.0
    if not 0 < size < float("inf"):
        raise UsageError(f"--motion-unit {text}: {', '.join(UNITS)}, or a number of mm")
    return size


def _up(text: str | None) -> str | None:
    if text is not None and text.lower() not in UP_AXES:
        raise UsageError(f"--motion-up {text}: there are {', '.join(UP_AXES)}")
    return None if text is None else text.lower()


def _rate(rate: float | None) -> float | None:
    if rate is not None and not FRAME_RATES[0] <= rate <= FRAME_RATES[1]:
        raise UsageError(f"--motion-rate {rate:g}: {FRAME_RATES[0]:g} to {FRAME_RATES[1]:g} frames a second")
    return rate
