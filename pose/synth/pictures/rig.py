"""The cameras of a data set: our own, or those of a folder of ``.cal`` files, moved a little on request."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

from pose.body.cal_file import read_cal
from pose.body.camera import Camera
from pose.errors import DataError
from pose.humaneva.clock import CAMERA_ORDER
from pose.synth.kinematics import rotation, turn
from pose.synth.pictures.room import FRAME_SIZE
from pose.synth.randomness import random_stream

_NAME = re.compile(r"^(C[1-4]|BW[1-4])$", re.IGNORECASE)
#: The middle of a person in the middle of the capture area, mm.
_AIM = np.array([0.0, 0.0, 900.0])
#: Smallest and largest distance of a camera from `_AIM`, mm.
_RANGE = (1500.0, 20_000.0)
#: Moves per degree of jitter: turn about the area and turn of the camera, degrees, and shift, mm.
_ORBIT, _TILT, _SHIFT = 1.0, 0.35, 15.0


def read_rig(folder: str | Path | None) -> dict[str, Camera]:
    """The cameras of a folder of ``.cal`` files by name, C1 to C4 and BW1 to BW4; without a folder, our own three.

    Raises
    ------
    DataError
        If there are none, or one cannot see the capture area (round the world's origin, z up, mm) in pictures of
        640 x 480; the message lists all faults.
    """
    if folder is None:
        return default_cameras()
    folder = Path(folder)
    if not folder.is_dir():
        raise DataError(f"{folder}: no such folder of .cal files")
    try:
        files = sorted(path for path in folder.iterdir() if path.suffix.lower() == ".cal")
    except OSError as error:
        raise DataError(f"{folder}: cannot be listed ({error.strerror})") from error
    if not files:
        raise DataError(f"{folder}: holds no .cal files; name a folder with C1.cal, C2.cal and so on")
    found, faults = {}, []
    for path in files:
        name = path.stem.upper()
        if not _NAME.match(name):
            faults.append(f"{path.name}: a camera is called C1 to C4 or BW1 to BW4")
            continue
        camera = read_cal(path, name)
        fault = _fault(camera)
        if fault:
            faults.append(f"{path.name}: {fault}")
        found[name] = camera
    if faults:
        raise DataError(f"{folder}: {'; '.join(faults)}")
    return {name: found[name] for name in CAMERA_ORDER if name in found} | found


def _fault(camera: Camera) -> str:
    """Why a camera cannot be used; empty if it can."""
    distance = float(np.linalg.norm(camera.centre - _AIM))
    if not _RANGE[0] <= distance <= _RANGE[1]:
        return f"it stands {distance:.4g} mm from the middle of the area, {_RANGE[0]:.0f} to {_RANGE[1]:.0f} can be"
    if not camera.fits(*FRAME_SIZE):
        cx, cy = camera.matrix[:2, 2]
        return f"its principal point ({cx:.0f}, {cy:.0f}) is not near the middle of a picture of 640 x 480"
    pixel = camera.project(_AIM)
    if not (np.isfinite(pixel).all() and (pixel > 0).all() and (pixel < FRAME_SIZE).all()):
        return "it does not look at the middle of the area, (0, 0, 900) mm"
    return ""


def shaken(rig: dict[str, Camera], degrees: float, seed: int) -> dict[str, Camera]:
    """The cameras, each moved at random from the seed: round the area by about `degrees`, up, aside, and turned.

    The moved cameras are exact to the six decimals of their files.
    """
    if degrees == 0:
        return rig
    return {name: _shaken(camera, degrees, random_stream(seed, "jitter", name)) for name, camera in rig.items()}


def _shaken(camera: Camera, degrees: float, rng: np.random.Generator) -> Camera:
    draw = np.clip(rng.standard_normal(7), -2.0, 2.0) * degrees
    orbit = rotation(np.radians(_ORBIT * draw[0]))
    own = rotation(*np.radians(_TILT * draw[1:4]))
    centre = turn(orbit, camera.centre) + _SHIFT * draw[4:7]
    turned = np.round(own @ camera.rotation @ orbit.T, 6)
    return Camera(camera.name, camera.matrix, camera.distortion, turned, np.round(-turned @ centre, 6))


# Azimuth (radians), distance and height (mm) of each camera, and the point that it aims at (mm): round the capture
# area, none opposite to another.
_PLACES = {
    "C1": (np.radians(8.0), 4750.0, 1500.0, (40.0, -60.0, 850.0)),
    "C2": (np.radians(122.0), 4850.0, 1560.0, (-60.0, 30.0, 880.0)),
    "C3": (np.radians(-116.0), 4800.0, 1450.0, (30.0, 50.0, 860.0)),
}


# fx, fy, cx, cy and k1, k2, p1, p2 of each camera: wide industrial lenses.
_LENSES = {
    "C1": (764.2, 763.8, 311.4, 236.1, -0.287, 0.104, -0.0011, 0.0009),
    "C2": (769.0, 768.5, 322.7, 240.8, -0.276, 0.093, 0.0007, -0.0008),
    "C3": (761.3, 761.7, 328.2, 245.3, -0.298, 0.119, -0.0004, 0.0006),
}


def default_cameras() -> dict[str, Camera]:
    """Our own calibrated colour cameras C1, C2, C3."""
    return {name: _camera(name) for name in _PLACES}


def _camera(name: str) -> Camera:
    azimuth, distance, height, aim = _PLACES[name]
    centre = np.array([distance * np.cos(azimuth), distance * np.sin(azimuth), height])
    forward = np.array(aim) - centre
    forward /= np.linalg.norm(forward)
    right = np.cross(forward, [0.0, 0.0, 1.0])
    right /= np.linalg.norm(right)
    # Rounded to the six decimals of a file, so that the pictures are made with what a reader will read.
    rot = np.round(np.stack([right, np.cross(forward, right), forward]), 6)
    fx, fy, cx, cy, *lens = _LENSES[name]
    matrix = np.array([[fx, 0.0, cx], [0.0, fy, cy], [0.0, 0.0, 1.0]])
    return Camera(name, matrix, np.array([*lens, 0.0]), rot, np.round(-rot @ centre, 6))
