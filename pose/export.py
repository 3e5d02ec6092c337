"""Predicted joints as files for other tools."""

from __future__ import annotations

import csv
import json
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from pose.skeleton import Skeleton


@dataclass(frozen=True, eq=False)
class PoseSeries:
    """Joints over the frames of one video.

    Parameters
    ----------
    frame : ndarray of int, shape (n,)
        0-based video frames.
    time : ndarray of shape (n,)
        Seconds.
    joints : ndarray of shape (n, J, 3)
        mm, relative to the root; NaN where no person was found.
    skeleton : Skeleton
    axes : str
        ``"camera"`` (x right, y down, z forward) or ``"world"`` (z up).
    provenance : dict of str to str
        Where the numbers come from: model, video, version.
    """

    frame: NDArray[np.int64]
    time: NDArray[np.float64]
    joints: NDArray[np.float64]
    skeleton: Skeleton
    axes: str
    provenance: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        shapes = (self.frame.shape, self.time.shape, self.joints.shape)
        n_frames = len(self.frame)
        expected = ((n_frames,), (n_frames,), (n_frames, len(self.skeleton), 3))
        if shapes != expected:
            raise ValueError(f"frame, time and joints have the shapes {shapes}, expected {expected}")

    @property
    def found(self) -> NDArray[np.bool_]:
        """Whether a person was found in each frame, (n,)."""
        return np.isfinite(self.joints[:, 0, 0])  # a frame has all its joints or none


def write_csv(path: str | Path, series: PoseSeries) -> None:
    """One row a frame and joint: ``frame, time_s, joint, x_mm, y_mm, z_mm``; empty numbers where nobody was found."""
    with Path(path).open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["frame", "time_s", "joint", "x_mm", "y_mm", "z_mm"])
        for frame, time, pose in zip(series.frame, series.time, series.joints, strict=True):
            for name, position in zip(series.skeleton.names, pose, strict=True):
                numbers = ["" if np.isnan(value) else f"{value:.2f}" for value in position]
                writer.writerow([frame, f"{time:.6f}", name, *numbers])


def write_hdf5(path: str | Path, series: PoseSeries) -> None:
    """Arrays ``frame``, ``time``, ``joints``, ``found``; the joints' names, parents, unit and axes as attributes."""
    import h5py  # kept out of `import pose`: only this writer needs it

    with h5py.File(path, "w") as file:
        file["frame"], file["time"] = series.frame, series.time
        file["joints"], file["found"] = series.joints, series.found
        file["time"].attrs["unit"] = "s"
        joints = file["joints"].attrs
        joints["unit"], joints["axes"], joints["origin"] = (
            "mm",
            series.axes,
            series.skeleton.names[series.skeleton.root],
        )
        joints["names"], joints["parents"] = json.dumps(series.skeleton.names), series.skeleton.parents
        for key, value in series.provenance.items():
            file.attrs[key] = value
