"""Markers of C3D files as a clip."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from pose.errors import DataError
from pose.humaneva.files.marker_tracks import read_markers
from pose.synth.motion_files.clip import Clip
from pose.synth.motion_files.skeletons import plain
from pose.types import FloatArray

#: Longest gap of a marker that a straight line fills, s.
_LONGEST_FILLED = 0.25
#: Frame rate of a file that states none, frames/s.
_RATE = 120.0


def read_marker_clip(path: Path) -> Clip:
    """Read a C3D file: every marker's path in mm, short gaps filled, NaN in long ones.

    Raises
    ------
    DataError
        If the file is malformed, or several people's markers are in it.
    """
    tracks = read_markers(path)
    rate = tracks.rate or _RATE
    points: dict[str, FloatArray] = {}
    known: dict[str, str] = {}
    for index, label in enumerate(tracks.labels):
        if label.startswith("*"):
            continue
        other = known.setdefault(plain(label), label)
        if other != label and other.partition(":")[0] != label.partition(":")[0]:
            raise DataError(f"{path}: holds several people ({other}, {label}); export one alone")
        points.setdefault(label, _filled(tracks.positions[:, index], round(_LONGEST_FILLED * rate)))
    return Clip(path, points, rate=rate, unit=1.0)


def _filled(positions: FloatArray, longest: int) -> FloatArray:
    """Positions (T, 3) with gaps of up to `longest` frames bridged."""
    seen = np.isfinite(positions).all(axis=-1)
    if seen.all() or not seen.any():
        return positions
    frames = np.arange(len(positions))
    bridged = np.stack([np.interp(frames, frames[seen], positions[seen, axis]) for axis in range(3)], axis=-1)
    before = np.maximum.accumulate(np.where(seen, frames, -len(frames)))
    after = np.minimum.accumulate(np.where(seen, frames, 2 * len(frames))[::-1])[::-1]
    bridged[(after - before - 1 > longest) & ~seen] = np.nan
    return bridged
