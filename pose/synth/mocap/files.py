"""Motion capture files: markers of a moving body as ``.c3d``, its measurements as ``.mp``."""

from __future__ import annotations

from pathlib import Path

import ezc3d
import numpy as np
from numpy.typing import NDArray
from scipy.io import savemat

from pose.c3d_file import write_c3d_file
from pose.synth.body import Body
from pose.synth.mocap.gaps import draw_gaps
from pose.synth.mocap.placement import MARKER_NOISE, Markers, physical_markers, virtual_markers
from pose.synth.motion.limbs import standing
from pose.synth.motion.motion import RATE, Motion
from pose.types import BoolArray, FloatArray

#: Length of the standing trial, mocap frames: half a second.
_STATIC_FRAMES = 60
_MAT_HEADER = b"MATLAB 5.0 MAT-file, written by gbcd-pose"
#: Labels of points that a reader must skip: an unnamed trajectory, and an angle that the capture system derived.
_UNNAMED, _DERIVED = "*110", "LKneeAngles"


def write_mocap(path: Path, subject: str, motion: Motion, rng: np.random.Generator) -> BoolArray:
    """Write a trial's markers, with noise and a few gaps, as a ``.c3d`` file and as the toolkit's ``.mat`` beside it.

    Parameters
    ----------
    path : Path
        The ``.c3d`` file.
    subject : str
        Prefix of the labels.
    motion : Motion
        At 120 Hz; row i becomes mocap frame i + 1.
    rng : Generator
        Source of noise and gaps.

    Returns
    -------
    ndarray of shape (T,), bool
        Frames in which every physical marker is seen.
    """
    physical = physical_markers(motion)
    missing = draw_gaps(list(physical), len(motion), rng)
    for column, label in enumerate(physical):
        physical[label] = physical[label] + rng.normal(0.0, MARKER_NOISE, (len(motion), 3))
        physical[label][missing[:, column]] = np.nan
    _write_c3d(path, subject, physical | virtual_markers(motion))
    complete: BoolArray = ~np.any(missing, axis=1)
    return complete


def write_static(path: Path, subject: str, body: Body) -> None:
    """Write the standing trial, half a second without noise: its shoulder markers give the trunk's tilt."""
    motion = standing(body, _STATIC_FRAMES)
    _write_c3d(path, subject, physical_markers(motion) | virtual_markers(motion))


def _write_c3d(path: Path, subject: str, markers: Markers) -> None:
    n_frames = len(next(iter(markers.values())))
    extra = {_UNNAMED: np.full((n_frames, 3), np.nan), f"{subject}:{_DERIVED}": np.zeros((n_frames, 3))}
    labelled = {f"{subject}:{label}": points for label, points in markers.items()} | extra
    points = np.ones((4, len(labelled), n_frames))
    points[:3] = np.stack(list(labelled.values())).transpose(2, 0, 1)
    file = ezc3d.c3d()
    file["parameters"]["POINT"]["RATE"]["value"] = [RATE]
    file["parameters"]["POINT"]["UNITS"]["value"] = ["mm"]
    file["parameters"]["POINT"]["LABELS"]["value"] = list(labelled)
    file["data"]["points"] = points
    write_c3d_file(file, path)
    _write_mat(path.with_suffix(".mat"), list(labelled), points[:3].T)


def _write_mat(path: Path, labels: list[str], positions: FloatArray) -> None:
    """Write the toolkit's cache of a ``.c3d``, without a date: positions (T, markers, 3), mm, 0 where one is lost."""

    def cell(*values: str) -> NDArray[np.object_]:
        return np.array([values], dtype=object)

    fields = ("name", "datatype", "dim", "data", "description")
    rows = [
        (cell("LABELS"), -1, [32, len(labels)], cell(*labels), cell("")),
        (cell("UNITS"), -1, 2, cell("mm"), cell("")),
        (cell("RATE"), 4, 1, RATE, cell("")),
    ]
    parameters = np.array([rows], dtype=[(name, object) for name in fields])
    group = np.array(
        [[(cell("POINT"), cell(""), parameters)]],
        dtype=[("name", object), ("description", object), ("Parameter", object)],
    )
    content = {"Markers": np.nan_to_num(positions), "VideoFrameRate": RATE, "ParameterGroup": group}
    savemat(str(path), content, do_compression=True)
    path.write_bytes(_MAT_HEADER.ljust(116) + path.read_bytes()[116:])  # scipy's own text holds the date


def write_measurements(path: Path, body: Body) -> None:
    """Write a subject's ``.mp`` file; a reader takes the two shoulder offsets from it."""
    scale = body.stature / 1750.0 * body.girth
    values = {"Height": body.stature, "HeadOffset": 12.0}
    for side, letter in enumerate("LR"):
        values |= {
            f"{letter}LegLength": body.thigh + body.shin,
            f"{letter}KneeWidth": 106.0 * scale,
            f"{letter}AnkleWidth": 72.0 * scale,
            f"{letter}ShoulderOffset": body.shoulder_offset[side],
            f"{letter}ElbowWidth": 80.0 * scale,
            f"{letter}WristWidth": 58.0 * scale,
        }
    path.write_text("".join(f"${name} = {value:.6f}\n" for name, value in values.items()))
