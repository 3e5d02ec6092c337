"""Writes the synthetic data set in the HumanEva-I on-disk format, truth beside it."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from importlib.metadata import version
from pathlib import Path
from typing import Any

from pose.body.cal_file import write_cal
from pose.errors import DataError, UnfinishedError
from pose.files import is_still, take_lock
from pose.synth.mocap.files import write_measurements, write_static
from pose.synth.settings import DEFAULT_FRAMES, Request, Settings, check_request
from pose.synth.takes import takes
from pose.synth.worker_pool import Work

#: Called as ``on_progress(done, total, what)``: frames drawn so far, all frames, and what was just worked on.
ProgressCallback = Callable[[int, int, str], None]

#: Name of the file that says what a folder is; only a folder that has it is ever overwritten.
NOTICE = "SYNTHETIC.txt"
#: Name of the file that lists the settings and the files of a data set.
MANIFEST = "synthetic.json"


def synthesize(
    out: str | Path,
    *,
    subjects: Sequence[str] | int = ("S1",),
    actions: Sequence[str] | None = None,
    motions: Sequence[str | Path] = (),
    cameras: str | Path | None = None,
    n_frames: int = DEFAULT_FRAMES,
    seed: int = 0,
    mirrored: bool = False,
    camera_jitter: float = 0.0,
    train_share: float = 0.5,
    masks: str = "sample",
    facing: str | None = None,
    unit_mm: float | None = None,
    up: str | None = None,
    rate: float | None = None,
    overwrite: bool = False,
    jobs: int = 1,
    on_progress: ProgressCallback | None = None,
) -> Path:
    """Make a data set in the HumanEva-I on-disk format.

    The folder appears complete or not at all. The same arguments give the same bytes, whatever `jobs` is. A stopped run
    leaves its finished videos in ``.NAME.part`` beside `out`. A call with the same settings goes on from there; a call
    with other settings starts anew.

    Parameters
    ----------
    out : path-like
        Root of the data set: ``S1/...``, ``Background/``, ``partitions.json``, and ``truth/`` with the exact joints
        of every trial and exact masks.
    subjects : sequence of str, or int
        Names in `NAMED_BODIES`, or the number of subjects to draw at random: height, girth, proportions, clothes.
    actions : sequence of str, optional
        Names in `ACTIONS`, generated; Walking, Jog and Box by default, or none if there are `motions`.
    motions : sequence of path-like
        Motion files, each an action: ``"Kick=kick.bvh"``, or a file name alone, whose letters name the action.
    cameras : path-like, optional
        A folder of ``.cal`` files; our own three cameras by default.
    n_frames : int
        Toolkit frames of a trial; the last ones are Train, the first ones Validate.
    seed : int
        Seed of everything random, 0 or more.
    mirrored : bool
        Also make trial 2 of every action: the motion mirrored, with other noise.
    camera_jitter : float
        Degrees by which the cameras, and their calibrations, are moved at random.
    train_share : float
        The share of a trial's frames that is Train.
    masks : str
        One of `MASKS`; ``"sample"`` is every 40th frame, see `pose.synth.pictures.avi.MaskWriter`.
    facing : str, optional
        The camera faced by people who stay in one place (boxing, gestures, captured motion that does not travel). With
        ``"any"`` they turn all round. The first camera by default.
    unit_mm, up, rate
        For motion files that do not state them, see `pose.synth.motion_files.find_landmarks`.
    overwrite : bool
        Replace `out` if it is a synthetic data set already, and nothing else is in it.
    jobs : int
        Number of drawing processes. They do not run the calling script again, so it needs no ``__main__`` guard.
    on_progress : callable, optional
        See `ProgressCallback`; called in this process.

    Returns
    -------
    Path
        `out`, absolute.

    Raises
    ------
    DataError
        If a name, number or file is wrong, or `out` exists and holds something.
    UnfinishedError
        If it cannot be written, another run is making it, or a process was killed.
    """
    out = Path(out).absolute()  # "." has no name to put a sibling beside
    reading = {"unit_mm": unit_mm, "up": up, "rate": rate}
    request = Request(
        subjects=subjects,
        actions=actions,
        motions=motions,
        cameras=cameras,
        n_frames=n_frames,
        seed=seed,
        mirrored=mirrored,
        camera_jitter=camera_jitter,
        train_share=train_share,
        masks=masks,
        facing=facing,
        reading={name: value for name, value in reading.items() if value is not None},
    )
    settings = check_request(request)
    _check_target(out, overwrite)
    staging = out.with_name(f".{out.name}.part")
    try:
        with _held(staging, out):
            _check_target(out, overwrite)  # again: another run may have finished it meanwhile
            _prepare(staging, settings)
            table = Work(staging, settings, jobs, on_progress).run()
            _finish(staging, settings, table)
            _put_into_place(staging, out)
    except OSError as error:
        left = f"; what is finished stays in {staging.name} beside it, the same command goes on from there"
        raise UnfinishedError(
            f"{out}: cannot be written ({error.strerror or error}){left if staging.is_dir() else ''}"
        ) from error
    return out


@contextmanager
def _held(staging: Path, out: Path) -> Iterator[None]:
    """Make the working folder and lock it against other runs; however this process ends, the system frees the lock."""
    while True:
        staging.mkdir(parents=True, exist_ok=True)
        if sys.platform == "win32":  # a folder cannot be opened there
            yield
            return
        descriptor = os.open(staging, os.O_RDONLY)
        try:
            if not take_lock(descriptor):
                raise UnfinishedError(f"{out}: another run is making it; wait for it, or give another folder")
            # Another run may have moved the folder into place before this one locked it.
            if is_still(descriptor, staging):
                yield
                return
        finally:
            os.close(descriptor)
            with suppress(OSError):
                staging.rmdir()  # if nothing was begun


def _put_into_place(staging: Path, out: Path) -> None:
    out = out.resolve()  # what a link points to, not the link
    if not out.exists():
        staging.rename(out)
        return
    # Moved aside first: at every instant there is a whole data set under one of the names.
    aside = out.with_name(f".{out.name}.old")
    shutil.rmtree(aside, ignore_errors=True)
    out.rename(aside)
    staging.rename(out)
    shutil.rmtree(aside)


def _check_target(out: Path, overwrite: bool) -> None:
    if not out.exists():
        return
    if not out.is_dir():
        raise DataError(f"{out}: is a file; a synthetic data set needs a folder")
    if not any(out.iterdir()):
        return
    if not (out / NOTICE).is_file():
        raise DataError(f"{out}: exists and holds something else than a synthetic data set; give a new folder")
    foreign = _foreign(out)
    if foreign:
        listed = ", ".join(foreign[:10]) + (f" and {len(foreign) - 10} more" if len(foreign) > 10 else "")
        raise DataError(f"{out}: beside the synthetic data set it holds {listed}, which would be lost")
    if not overwrite:
        raise DataError(
            f"{out}: holds a synthetic data set already; give a new folder, or --overwrite (overwrite=True)"
        )


def _foreign(out: Path) -> list[str]:
    """Files in a data set's folder that do not belong to it."""
    manifest = _read_json(out / MANIFEST)
    files = set(manifest.get("files", [])) | {NOTICE, MANIFEST}
    there = sorted(
        path.relative_to(out).as_posix() for path in out.rglob("*") if not path.is_dir() or path.is_symlink()
    )
    return [name for name in there if name not in files]


def _read_json(path: Path) -> dict[str, Any]:
    """The JSON object in a file; an empty one if there is none."""
    try:
        content = json.loads(path.read_text())
    except (OSError, ValueError):
        return {}
    return content if isinstance(content, dict) else {}


def _prepare(staging: Path, settings: Settings) -> None:
    """Fill the working folder; keep what a stopped run with the same settings left in it, and remove anything else."""
    manifest = settings.as_dict()
    if _read_json(staging / MANIFEST).get("settings") != json.loads(json.dumps(manifest)):
        for entry in staging.iterdir():
            shutil.rmtree(entry) if entry.is_dir() else entry.unlink()
    for unfinished in staging.rglob(".*.part*"):
        unfinished.unlink(missing_ok=True)
    (staging / MANIFEST).write_text(json.dumps({"settings": manifest}, indent=1) + "\n")
    for subject in settings.cast:
        folder = staging / subject.name
        for name in ("Image_Data", "Mocap_Data", "Sync_Data", "Calibration_Data"):
            (folder / name).mkdir(parents=True, exist_ok=True)
        for name, camera in settings.cameras.items():
            write_cal(folder / "Calibration_Data" / f"{name}.cal", camera)
        write_measurements(folder / "Mocap_Data" / f"{subject.name}.mp", subject.body)
        write_static(folder / "Mocap_Data" / "Static.c3d", subject.name, subject.body)
    for name in ("Background", "truth"):
        (staging / name).mkdir(exist_ok=True)


def _finish(staging: Path, settings: Settings, table: dict[str, dict[str, dict[str, list[int]]]]) -> None:
    (staging / "partitions.json").write_text(json.dumps(table, indent=1) + "\n")
    (staging / NOTICE).write_text(
        "A synthetic data set in the HumanEva-I on-disk format. No part of HumanEva is in it: the bodies, the room\n"
        "and the cameras' pictures are computed. truth/ holds exact joints and masks; a reader ignores it.\n"
        f"Made by gbcd-pose {version('gbcd-pose')} with seed={settings.seed}; {MANIFEST} holds all settings.\n"
        f"{len(takes(settings))} trials"
        + "".join(f"; {motion.action} from {motion.path.name}" for motion in settings.motions)
        + "\n"
    )
    files = sorted(path.relative_to(staging).as_posix() for path in staging.rglob("*") if path.is_file())
    manifest = {"settings": settings.as_dict(), "files": files}
    (staging / MANIFEST).write_text(json.dumps(manifest, indent=1) + "\n")
