"""A body whose bone frames are all aligned with the world, so that joints can be worked out by hand."""

from collections.abc import Callable
from pathlib import Path

import ezc3d
import numpy as np
import pytest

from pose.humaneva.files.marker_tracks import MarkerTracks
from pose.humaneva.joints import ALTERNATIVES, PHYSICAL_MARKERS

ORIGINS = {
    "PEL": (0, 0, 900),
    "TRX": (0, 0, 1300),
    "HED": (0, 0, 1400),
    "LFE": (0, 100, 500),
    "LTI": (0, 100, 100),
    "LCL": (0, 200, 1300),
    "LHU": (0, 200, 1000),
    "LRA": (0, 200, 750),
    "RFE": (0, -100, 500),
    "RTI": (0, -100, 100),
    "RCL": (0, -200, 1300),
    "RHU": (0, -200, 1000),
    "RRA": (0, -200, 750),
}
AXES = {"O": (0, 0, 0), "P": (0, 0, 1), "A": (1, 0, 0), "L": (0, 1, 0)}
#: Distance of a bone's axis points from its origin; the thigh's P is the hip, so it carries a length.
REACH = {"LFE": 400, "RFE": 400}


def aligned_markers(n_frames: int = 3) -> dict[str, np.ndarray]:
    """Marker name to (n_frames, 3); the body moves 10 mm along x a frame."""
    drift = np.arange(n_frames)[:, None] * np.array([10.0, 0, 0])
    markers = {
        bone + part: np.array(origin) + np.array(axis) * REACH.get(bone, 100) + drift
        for bone, origin in ORIGINS.items()
        for part, axis in AXES.items()
    }
    physical = (*PHYSICAL_MARKERS, *(pair[0] for pair in ALTERNATIVES))
    return markers | {name: np.array([50.0, 60, 70 + i]) + drift for i, name in enumerate(physical)}


@pytest.fixture
def markers() -> dict[str, np.ndarray]:
    return aligned_markers()


@pytest.fixture
def tracks(markers) -> MarkerTracks:
    return to_tracks(markers)


def to_tracks(markers: dict[str, np.ndarray]) -> MarkerTracks:
    positions = np.stack(list(markers.values()), axis=1)
    return MarkerTracks(Path("Walking_1.c3d"), tuple(f"S1:{name}" for name in markers), positions, 120.0)


@pytest.fixture
def write_c3d() -> Callable[..., Path]:
    """Write named tracks as a c3d file with ezc3d."""

    def write(path: Path, tracks: dict[str, np.ndarray], unit: str = "mm") -> Path:
        c3d = ezc3d.c3d()
        c3d["parameters"]["POINT"]["LABELS"]["value"] = list(tracks)
        c3d["parameters"]["POINT"]["RATE"]["value"] = [120.0]
        c3d["parameters"]["POINT"]["UNITS"]["value"] = [unit]
        points = np.stack(list(tracks.values()), axis=0).transpose(2, 0, 1)
        c3d["data"]["points"] = np.concatenate([points, np.ones((1, *points.shape[1:]))])
        c3d.write(str(path))
        return path

    return write
