"""Predicted joints as files for other tools."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np

from pose.series import PoseSeries


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
