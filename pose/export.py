"""Predicted joints as files for other tools."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np

from pose.errors import DataError
from pose.series import PoseSeries
from pose.skeleton import Skeleton


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
    """Arrays ``frame``, ``time``, ``joints``, ``found``, ``quality``, ``std``; names, parents, unit, axes."""
    import h5py  # kept out of `import pose`: only this writer needs it

    with h5py.File(path, "w") as file:
        file["frame"], file["time"] = series.frame, series.time
        file["joints"], file["found"] = series.joints, series.found
        file["time"].attrs["unit"] = "s"
        for name, values in (("quality", series.quality), ("std", series.std)):
            if values is not None:
                file[name] = values
        joints = file["joints"].attrs
        joints["unit"], joints["axes"], joints["origin"] = (
            "mm",
            series.axes,
            series.skeleton.names[series.skeleton.root],
        )
        joints["names"], joints["parents"] = json.dumps(series.skeleton.names), series.skeleton.parents
        for key, value in series.provenance.items():
            file.attrs[key] = value


def read_hdf5(path: str | Path) -> PoseSeries:
    """Read what `write_hdf5` wrote.

    Raises
    ------
    DataError
        If it is missing or something else.
    """
    import h5py

    try:
        with h5py.File(path, "r") as file:
            joints = file["joints"]
            skeleton = Skeleton(tuple(json.loads(joints.attrs["names"])), tuple(map(int, joints.attrs["parents"])))
            parts = {name: file[name][:] for name in ("std", "quality") if name in file}
            provenance = {key: str(value) for key, value in file.attrs.items()}
            axes = str(joints.attrs["axes"])
            return PoseSeries(file["frame"][:], file["time"][:], joints[:], skeleton, axes, provenance, **parts)
    except (OSError, KeyError, ValueError, TypeError) as error:
        raise DataError(f"{path}: holds no poses that this program wrote") from error
