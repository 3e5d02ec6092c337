"""Writes the synthetic data set in the HumanEva-I on-disk format, truth beside it."""

from __future__ import annotations

import json
import os
import shutil
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from importlib.metadata import version
from itertools import product
from pathlib import Path

import cv2
import numpy as np

from pose.camera import Camera
from pose.errors import DataError
from pose.humaneva.calibration import write_cal
from pose.humaneva.sync import write_ofs
from pose.synth.actions import ACTIONS
from pose.synth.body import SUBJECTS
from pose.synth.encode import AviWriter
from pose.synth.dress import build_figure
from pose.synth.figure import Figure
from pose.synth.mocap import write_measurements, write_mocap, write_static
from pose.synth.rendering import LOOKS, Renderer, Sensor
from pose.synth.room import Image, cameras, draw_room
from pose.synth.trial import Trial, plan_trial, stream

#: Called as ``on_progress(done, total, what)``: frames drawn so far, all frames, and the file just worked on.
Progress = Callable[[int, int, str], None]

#: The file that says what a folder is; only a folder that has it is ever overwritten.
NOTICE = "SYNTHETIC.txt"
_OWN_ENTRIES = {NOTICE, "Background", "partitions.json", "truth"}
DEFAULT_FRAMES = 560
_MOST_FRAMES = 100_000
_FEWEST_FRAMES = 24
_BACKGROUND_FRAMES = 30
#: Exposure of the three background recordings against the trials': beginning, middle and end of the week.
_BACKGROUND_GAINS = (0.996, 1.0, 1.004)
_MASK_EVERY = 40  # toolkit frames
_MOCAP_FIRST_EVERY = 3  # trials: in the others a camera starts before the mocap
_PROGRESS_EVERY = 20  # frames


def synthesize(
    out: str | Path,
    *,
    subjects: Sequence[str] = ("S1",),
    actions: Sequence[str] = ("Walking", "Jog", "Box"),
    n_frames: int = DEFAULT_FRAMES,
    seed: int = 0,
    overwrite: bool = False,
    jobs: int | None = None,
    on_progress: Progress | None = None,
) -> Path:
    """Make a small data set in the HumanEva-I on-disk format.

    The folder appears complete or not at all. The same arguments give the same bytes, whatever `jobs` is.

    Parameters
    ----------
    out : path-like
        Root of the data set: ``S1/...``, ``Background/``, ``partitions.json``, and ``truth/`` with the exact joints
        of every trial and every 40th frame's exact masks.
    subjects : sequence of str
        Of `SUBJECTS`.
    actions : sequence of str
        Of `ACTIONS`; each is trial 1 of its subject.
    n_frames : int
        Toolkit frames of a trial; the first half is Validate, the second Train.
    seed : int
        Of everything random, 0 or more.
    overwrite : bool
        Replace `out` if it is a synthetic data set already.
    jobs : int, optional
        Videos drawn at a time; by default one a processor.
    on_progress : callable, optional
        See `Progress`; called from one thread at a time, not always the same.

    Returns
    -------
    Path
        `out`, absolute.

    Raises
    ------
    DataError
        If a name or number is wrong, `out` exists and holds something, or no folder can be made there.
    """
    out = Path(out).absolute()  # "." has no name to put a sibling beside
    _check(subjects, actions, n_frames, seed)
    _check_target(out, overwrite)
    staging = out.with_name(f".{out.name}.{os.getpid()}.part")
    try:
        staging.mkdir(parents=True)
    except OSError as error:
        raise DataError(f"{out}: cannot be written beside ({error.strerror})") from error
    try:
        _Release(staging, n_frames, seed, jobs or os.cpu_count() or 1, on_progress).write(subjects, actions)
        _write_notice(staging, subjects, actions, n_frames, seed)
        if out.exists():
            # Moved aside first: at every instant there is a whole data set under one of the names.
            aside = out.with_name(f".{out.name}.{os.getpid()}.old")
            out.rename(aside)
            staging.rename(out)
            shutil.rmtree(aside)
        else:
            staging.rename(out)
    finally:
        shutil.rmtree(staging, ignore_errors=True)
    return out


def _check(subjects: Sequence[str], actions: Sequence[str], n_frames: int, seed: int) -> None:
    faults = [f"no subject {name!r} (there are {', '.join(SUBJECTS)})" for name in subjects if name not in SUBJECTS]
    faults += [f"no action {name!r} (there are {', '.join(ACTIONS)})" for name in actions if name not in ACTIONS]
    for kind, names in (("subject", subjects), ("action", actions)):
        if not names or len(set(names)) != len(names):
            faults.append(f"every {kind} must be named once, and one at least")
    if not _FEWEST_FRAMES <= n_frames <= _MOST_FRAMES:
        faults.append(f"a trial has {_FEWEST_FRAMES} to {_MOST_FRAMES} frames, not {n_frames}")
    if seed < 0:
        faults.append(f"the seed must be 0 or more, not {seed}")
    if faults:
        raise DataError(f"cannot make this synthetic data set: {'; '.join(faults)}")


def _check_target(out: Path, overwrite: bool) -> None:
    if not out.exists():
        return
    if not out.is_dir():
        raise DataError(f"{out}: is a file; a synthetic data set needs a folder")
    if not any(out.iterdir()):
        return
    if not (out / NOTICE).is_file():
        raise DataError(f"{out}: exists and holds something else than a synthetic data set; give a new folder")
    foreign = [path.name for path in sorted(out.iterdir()) if path.name not in _OWN_ENTRIES | set(SUBJECTS)]
    if foreign:
        raise DataError(f"{out}: beside the synthetic data set it holds {', '.join(foreign)}, which would be lost")
    if not overwrite:
        raise DataError(
            f"{out}: holds a synthetic data set already; give a new folder, or --overwrite (overwrite=True)"
        )


def _write_notice(root: Path, subjects: Sequence[str], actions: Sequence[str], n_frames: int, seed: int) -> None:
    (root / NOTICE).write_text(
        "A synthetic data set in the HumanEva-I on-disk format. No part of HumanEva is in it: the body, its motion,\n"
        "the room and the cameras are computed. truth/ holds exact joints and masks; a reader ignores it.\n"
        f"Made by gbcd-pose {version('gbcd-pose')}: synthesize(subjects={tuple(subjects)}, actions={tuple(actions)}, "
        f"n_frames={n_frames}, seed={seed})\n"
    )


@dataclass(frozen=True)
class _Video:
    """One file to draw: a trial's video, or a background recording where there is no trial."""

    path: Path
    camera: str
    n_frames: int
    key: tuple[object, ...]
    gain: float = 1.0
    trial: Trial | None = None
    figure: Figure | None = None


class _Release:
    """Writes the tree under a root."""

    def __init__(self, root: Path, n_frames: int, seed: int, jobs: int, on_progress: Progress | None) -> None:
        self._root = root
        self._n_frames = n_frames
        self._seed = seed
        self._jobs = jobs
        self._on_progress = on_progress
        self._cameras = cameras()
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._done = self._total = 0

    def write(self, subjects: Sequence[str], actions: Sequence[str]) -> None:
        trials = [
            plan_trial(
                subject,
                action,
                self._n_frames,
                tuple(self._cameras),
                self._seed,
                mocap_first=number % _MOCAP_FIRST_EVERY == 0,
            )
            for number, (subject, action) in enumerate(product(subjects, actions), start=1)
        ]
        for subject in subjects:
            self._write_subject(subject)
        for trial in trials:
            self._write_trial(trial)
        table: dict[str, dict[str, dict[str, list[int]]]] = {subject: {} for subject in subjects}
        for trial in trials:
            table[trial.subject][f"{trial.action} 1"] = trial.partition
        (self._root / "partitions.json").write_text(json.dumps(table, indent=1) + "\n")
        self._write_videos([*self._backgrounds(), *self._videos(trials)])

    def _write_subject(self, subject: str) -> None:
        folder = self._root / subject
        for name in ("Image_Data", "Mocap_Data", "Sync_Data", "Calibration_Data"):
            (folder / name).mkdir(parents=True)
        for name, camera in self._cameras.items():
            write_cal(folder / "Calibration_Data" / f"{name}.cal", camera)
        write_measurements(folder / "Mocap_Data" / f"{subject}.mp", SUBJECTS[subject])
        write_static(folder / "Mocap_Data" / "Static.c3d", subject)

    def _write_trial(self, trial: Trial) -> None:
        folder = self._root / trial.subject
        for name, offset in trial.offsets.items():
            write_ofs(folder / "Sync_Data" / f"{trial.stem}_({name}).ofs", offset)
        rng = stream(self._seed, trial.subject, trial.action, "mocap")
        complete = write_mocap(folder / "Mocap_Data" / f"{trial.stem}.c3d", trial.subject, trial.mocap(), rng)
        mocap_valid = complete[trial.positions - 1]
        frames = np.arange(1, trial.n_frames + 1)
        first_usable = trial.partition["Validate"][0]
        (self._root / "truth").mkdir(exist_ok=True)
        np.savez(
            self._root / "truth" / f"joints_{trial.subject}_{trial.action}.npz",
            joints=trial.motion.joints[trial.positions - trial.first_position].astype(np.float32),
            valid=mocap_valid & (frames >= first_usable),
            mocap_valid=mocap_valid,
            frames=frames,
            mocap_position=trial.positions.astype(float),
            first_video_frame=np.array([trial.clock.first_video_frame[name] for name in self._cameras]),
            T0=np.array(trial.clock.mocap_start),
            s=np.array(trial.clock.mocap_per_frame),
        )

    def _backgrounds(self) -> list[_Video]:
        folder = self._root / "Background"
        folder.mkdir()
        return [
            _Video(folder / f"Background_{k}_({name}).avi", name, _BACKGROUND_FRAMES, ("background", k), gain)
            for (k, gain), name in product(enumerate(_BACKGROUND_GAINS, start=1), self._cameras)
        ]

    def _videos(self, trials: Sequence[Trial]) -> list[_Video]:
        videos = []
        for trial in trials:
            figure = build_figure(trial.motion)
            folder = self._root / trial.subject / "Image_Data"
            videos += [
                _Video(
                    folder / f"{trial.stem}_({name}).avi",
                    name,
                    trial.video_frames[name],
                    (trial.subject, trial.action),
                    trial=trial,
                    figure=figure,
                )
                for name in self._cameras
            ]
        return videos

    def _write_videos(self, videos: Sequence[_Video]) -> None:
        self._total = sum(video.n_frames for video in videos)
        (self._root / "truth" / "masks").mkdir()
        # Threads, not processes: drawing, noise and the encoder all run outside the interpreter's lock.
        with ThreadPoolExecutor(self._jobs) as pool:
            try:
                rooms = dict(zip(self._cameras, pool.map(self._room, self._cameras.values()), strict=True))
                for future in as_completed([pool.submit(self._write_video, v, rooms[v.camera]) for v in videos]):
                    future.result()
            except BaseException:
                self._stop.set()
                pool.shutdown(cancel_futures=True)
                raise

    def _room(self, camera: Camera) -> Image:
        return draw_room(camera, stream(self._seed, "room"))

    def _write_video(self, video: _Video, room: Image) -> None:
        sensor = Sensor(stream(self._seed, *video.key, video.camera), video.gain)
        with AviWriter(video.path) as avi:
            if video.trial is None or video.figure is None:
                for number in range(1, video.n_frames + 1):
                    avi.write(sensor.expose(room))
                    self._report(number, video)
                return
            renderer = Renderer(video.figure, self._cameras[video.camera], LOOKS[video.trial.subject], room)
            first = video.trial.clock.first_video_frame[video.camera]
            for number, row in enumerate(video.trial.shown(video.camera), start=1):
                scene, mask = renderer.draw(int(row))
                avi.write(sensor.expose(scene))
                frame = number - first + 1
                if frame % _MASK_EVERY == 0 and 0 < frame <= video.trial.n_frames:
                    name = f"{video.trial.subject}_{video.trial.stem}_({video.camera})_F{frame:04d}.png"
                    cv2.imwrite(str(self._root / "truth" / "masks" / name), mask.astype(np.uint8) * 255)
                self._report(number, video)

    def _report(self, number: int, video: _Video) -> None:
        """Count frames, and stop this video where another one failed."""
        if self._stop.is_set():
            raise RuntimeError("stopped: another video failed")
        if number % _PROGRESS_EVERY and number != video.n_frames:
            return
        with self._lock:
            self._done += (number - 1) % _PROGRESS_EVERY + 1
            if self._on_progress is not None:
                self._on_progress(self._done, self._total, video.path.name)
