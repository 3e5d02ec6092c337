"""One subject's folder: calibrations, body measurements and motion capture files."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from pose.body.cal_file import read_cal
from pose.body.camera import Camera
from pose.errors import MissingFile
from pose.humaneva.files.marker_tracks import MarkerTracks, read_markers
from pose.humaneva.files.mp import read_measurements
from pose.humaneva.folders import entries
from pose.humaneva.joints import SubjectShape, torso_radius


@dataclass(frozen=True, eq=False)
class Subject:
    """The folder of one subject: calibrations and body measurements."""

    name: str
    folder: Path

    def part(self, name: str) -> Path:
        """One of a subject's four folders, whatever its case; the inner one if an archive nested it in itself."""
        found = entries(self.folder).get(name.lower(), self.folder / name)
        inner = found / found.name
        return inner if inner.is_dir() and not inner.is_symlink() else found

    def camera(self, name: str) -> Camera:
        """Calibration of one camera; every subject has its own.

        Raises
        ------
        MissingFile, DataError
            If its file is missing or faulty.
        """
        folder = self.part("Calibration_Data")
        path = entries(folder).get(f"{name}.cal".lower())
        if path is None:
            raise MissingFile(f"{folder / f'{name}.cal'}: cannot be read (No such file or directory)")
        return read_cal(path, name)

    @cached_property
    def shape(self) -> SubjectShape:
        """Shoulder offsets of the ``.mp`` file, and the torso's radius in the standing trial."""
        folder = self.part("Mocap_Data")
        path = entries(folder).get(f"{self.name}.mp".lower())
        if path is None:
            missing = folder / f"{self.name}.mp"
            raise MissingFile(
                f"{missing}: cannot be read (No such file or directory); joints need its shoulder offsets"
            )
        values = read_measurements(path)
        radius = torso_radius(self.markers("Static"))
        return SubjectShape(radius, values["LShoulderOffset"], values["RShoulderOffset"])

    def mocap_file(self, stem: str) -> Path:
        """The ``.c3d`` file of a trial, or the toolkit's ``.mat`` if there is no ``.c3d``."""
        folder = self.part("Mocap_Data")
        found = entries(folder)
        return found.get(f"{stem}.c3d".lower()) or found.get(f"{stem}.mat".lower()) or folder / f"{stem}.c3d"

    def markers(self, stem: str) -> MarkerTracks:
        """The motion capture of a trial, e.g. ``"Walking_1"``."""
        return read_markers(self.mocap_file(stem), self.name)
