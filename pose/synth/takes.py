"""The trials and videos of a data set, and how a worker process writes one of each."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import product
from pathlib import Path

import numpy as np

from pose.body.camera import Camera
from pose.humaneva.files.ofs import write_ofs
from pose.synth.cast import Actor
from pose.synth.mocap.files import write_mocap
from pose.synth.motion.actions import LEFT_HANDED_ODDS, MIRRORED_ODDS, ON_THE_SPOT, generate
from pose.synth.motion.captured import perform, travels
from pose.synth.motion.motion import RATE, Motion
from pose.synth.motion_files import Landmarks, read_motion
from pose.synth.pictures.avi import AviWriter, MaskWriter
from pose.synth.pictures.dress import build_figure
from pose.synth.pictures.rendering import Renderer
from pose.synth.pictures.room import draw_room, room_size
from pose.synth.pictures.sensor import Sensor
from pose.synth.randomness import random_stream
from pose.synth.schedule import Schedule, draw_schedule
from pose.synth.settings import ANYWHERE, Settings
from pose.types import Image

#: Called with every frame drawn; raises where the work is to stop.
Tick = Callable[[], None]

#: Number of frames in a recording of the empty room.
_BACKGROUND_FRAMES = 30
#: Exposures of the three background recordings as factors of the trials': beginning, middle and end of the week.
_BACKGROUND_GAINS = (0.996, 1.0, 1.004)
#: Toolkit frames from one mask of the sample to the next.
_MASK_EVERY = 40
#: Interval of the trials whose motion capture starts before their cameras; in the others a camera starts first.
_MOCAP_FIRST_EVERY = 3
#: Number of frames whose outlines are in memory at once.
_CHUNK = 240
#: Probabilities of open hands, flat hands and fists: usually, and while boxing.
_HANDS = {"open": 0.4, "flat": 0.4, "fist": 0.2}
_BOXING_HANDS = {"open": 0.25, "flat": 0.05, "fist": 0.7}
#: Standard deviation of a hand's turn about its forearm, radians.
_PALM_SIGMA = 0.5
#: Standard deviation of the direction of a person who faces a camera, radians.
_FACING_SIGMA = np.radians(15.0)
#: Speed of a person who turns all round, radians/s: at least, at most.
_TURNING = (0.25, 0.7)


@dataclass(frozen=True)
class Take:
    """One trial to be made: who does what; number 2 is the mirrored copy."""

    actor: Actor
    action: str
    number: int
    order: int

    @property
    def stem(self) -> str:
        """Stem of its files' names, e.g. ``"Walking_1"``."""
        return f"{self.action}_{self.number}"

    @property
    def key(self) -> tuple[object, ...]:
        """Name of its random streams."""
        name = (self.actor.name, self.action)
        return name if self.number == 1 else (*name, self.number)


@dataclass(frozen=True)
class Video:
    """One video to be drawn; without a take, a background recording."""

    path: Path
    camera: str
    take: Take | None = None
    recording: int = 0


def takes(settings: Settings) -> list[Take]:
    """All trials; with mirrored copies, trial 2 of every action is the copy."""
    names = (*settings.actions, *(motion.action for motion in settings.motions))
    numbers = (1, 2) if settings.mirrored else (1,)
    return [
        Take(actor, action, number, order)
        for order, (actor, action, number) in enumerate(product(settings.cast, names, numbers), start=1)
    ]


def videos(settings: Settings) -> list[Video]:
    """All videos, their paths relative to the data set's root."""
    backgrounds = [
        Video(Path("Background") / f"Background_{k}_({name}).avi", name, recording=k)
        for k, name in product(range(1, len(_BACKGROUND_GAINS) + 1), settings.cameras)
    ]
    return backgrounds + [
        Video(Path(take.actor.name) / "Image_Data" / f"{take.stem}_({name}).avi", name, take)
        for take, name in product(takes(settings), settings.cameras)
    ]


@lru_cache(maxsize=8)
def _landmarks(path: Path, reading: tuple[tuple[str, object], ...]) -> Landmarks:
    return read_motion(path, **dict(reading))  # type: ignore[arg-type]


def plan(settings: Settings, take: Take) -> Schedule:
    """A take's streams and motion; every process gets the same ones."""
    file = next((motion for motion in settings.motions if motion.action == take.action), None)
    # Both takes of an action show one motion: it does not depend on the take's number.
    key = (take.actor.name, take.action)

    def act(n_frames: int) -> Motion:
        body, rng = take.actor.body, random_stream(settings.seed, *key, "motion")
        if file is None:
            motion, stays = generate(take.action, body, n_frames, rng), take.action in ON_THE_SPOT
        else:
            landmarks = _landmarks(file.path, tuple(settings.reading.items()))
            motion, stays = perform(landmarks, body, n_frames, rng), not travels(landmarks)
        motion = _with_hands(motion, random_stream(settings.seed, *key, "hands"))
        odds = MIRRORED_ODDS.get(take.action, LEFT_HANDED_ODDS) if take.actor.drawn else 0.0
        mirrored = random_stream(settings.seed, *key, "mirror").random() < odds
        motion = motion.mirrored() if mirrored != (take.number == 2) else motion
        return _facing(settings, motion, random_stream(settings.seed, *key, take.number, "facing")) if stays else motion

    return draw_schedule(
        take.key,
        settings.n_frames,
        tuple(settings.cameras),
        settings.seed,
        act,
        mocap_first=take.order % _MOCAP_FIRST_EVERY == 0,
        train_share=settings.train_share,
    )


def _with_hands(motion: Motion, rng: np.random.Generator) -> Motion:
    odds = _BOXING_HANDS if motion.hands == "fist" else _HANDS
    left, right = rng.normal(0.0, _PALM_SIGMA, 2)
    return replace(motion, hands=str(rng.choice(list(odds), p=list(odds.values()))), palms=(float(left), float(right)))


def _facing(settings: Settings, motion: Motion, rng: np.random.Generator) -> Motion:
    """Turn a motion that faces x towards the camera of the settings, or all round in the course of the trial."""
    times = np.arange(len(motion)) / RATE
    if settings.facing == ANYWHERE:
        sense = rng.choice([-1.0, 1.0])
        return motion.turned(rng.uniform(-np.pi, np.pi) + sense * rng.uniform(*_TURNING) * times)
    x, y, _ = settings.cameras[settings.facing].centre
    return motion.turned(np.full(len(motion), np.arctan2(y, x) + _FACING_SIGMA * rng.standard_normal()))


@contextmanager
def whole(path: Path) -> Iterator[Path]:
    """A temporary name, renamed to `path` if the body succeeds: a file at `path` is finished.

    Unlike `pose.files.atomic_path` it leaves errors as they are: the caller adds to them what stays for the next run.
    """
    temporary = path.with_name(f".{path.stem}.part{path.suffix}")
    yield temporary
    temporary.replace(path)


def write_take(root: Path, settings: Settings, take: Take) -> dict[str, list[int]]:
    """Write a trial's offsets, motion capture and true joints; returns its partition."""
    schedule = plan(settings, take)
    folder, truth = root / take.actor.name, root / "truth" / f"joints_{take.actor.name}_{take.stem}.npz"
    truth = truth if take.number > 1 else truth.with_name(f"joints_{take.actor.name}_{take.action}.npz")
    if truth.exists():
        return schedule.partition
    for name, offset in schedule.offsets.items():
        write_ofs(folder / "Sync_Data" / f"{take.stem}_({name}).ofs", offset)
    rng = random_stream(settings.seed, take.actor.name, take.stem, "mocap")
    complete = write_mocap(folder / "Mocap_Data" / f"{take.stem}.c3d", take.actor.name, schedule.mocap(), rng)
    mocap_valid = complete[schedule.positions - 1]
    frames = np.arange(1, schedule.n_frames + 1)
    first_usable = min(first for first, _ in schedule.partition.values())
    with whole(truth) as temporary:
        np.savez(
            temporary,
            joints=schedule.motion.joints[schedule.positions - schedule.first_position].astype(np.float32),
            valid=mocap_valid & (frames >= first_usable),
            mocap_valid=mocap_valid,
            frames=frames,
            mocap_position=schedule.positions.astype(float),
            first_video_frame=np.array([schedule.clock.first_video_frame[name] for name in settings.cameras]),
            T0=np.array(schedule.clock.mocap_start),
            s=np.array(schedule.clock.mocap_per_frame),
        )
    return schedule.partition


@lru_cache(maxsize=8)
def _room(camera: Camera, seed: int, size: float) -> Image:
    return draw_room(camera, random_stream(seed, "room"), size)


def write_video(root: Path, settings: Settings, video: Video, tick: Tick) -> None:
    """Draw one video and its masks, unless the video is there already."""
    path = root / video.path
    if path.exists():
        return
    camera = settings.cameras[video.camera]
    room = _room(camera, settings.seed, room_size(settings.cameras.values()))
    with whole(path) as temporary:
        if video.take is None:
            sensor = Sensor(
                random_stream(settings.seed, "background", video.recording - 1, video.camera),
                _BACKGROUND_GAINS[video.recording - 1],
            )
            with AviWriter(temporary) as avi:
                for _ in range(_BACKGROUND_FRAMES):
                    avi.write(sensor.expose(room))
                    tick()
        else:
            _draw_take(root, temporary, settings, video.take, camera, room, tick)


def _draw_take(root: Path, path: Path, settings: Settings, take: Take, camera: Camera, room: Image, tick: Tick) -> None:
    schedule, actor = plan(settings, take), take.actor
    sensor = Sensor(random_stream(settings.seed, actor.name, take.stem, camera.name))
    first, shown = schedule.clock.first_video_frame[camera.name], schedule.shown(camera.name)
    masks = MaskWriter(root / "truth", settings.masks, actor.name, f"{take.stem}_({camera.name})")
    with AviWriter(path) as avi, masks:
        for start in range(0, len(shown), _CHUNK):
            part = schedule.motion.take(shown[start : start + _CHUNK])
            renderer = Renderer(build_figure(part), camera, actor.looks, room)
            for row in range(len(part)):
                scene, mask = renderer.draw(row)
                avi.write(sensor.expose(scene))
                frame = start + row + 1 - first + 1
                inside = 0 < frame <= schedule.n_frames
                masks.write(start + row + 1, mask, frame if inside and frame % _MASK_EVERY == 0 else None)
                tick()
