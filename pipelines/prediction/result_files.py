"""The files of one video's results: their names, their provenance, and whether they exist already."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from pipelines.digest import digest
from pipelines.prediction.inputs import OVERLAY_ENDING
from pipelines.prediction.request import PredictionRequest
from pose.errors import DataError
from pose.export import metadata_path, read_hdf5, write_csv, write_csv_metadata, write_hdf5
from pose.files import atomic_path
from pose.series.pose_series import PoseSeries


@dataclass(frozen=True)
class Outputs:
    """The files of one video."""

    csv: Path
    hdf5: Path
    overlay: Path
    journal: Path

    @classmethod
    def of(cls, video: Path, folder: Path) -> Outputs:
        """The files in `folder`, named after the video."""
        stem = video.absolute().name if video.is_dir() else video.stem
        names = (f"{stem}.csv", f"{stem}.h5", stem + OVERLAY_ENDING, f".{stem}.pose-journal")
        return cls(*(folder / name for name in names))

    def paths(self) -> tuple[Path, Path, Path]:
        """The files that are not hidden."""
        return self.csv, self.hdf5, self.overlay


def provenance_of(video: Path, request: PredictionRequest) -> dict[str, str]:
    """The provenance of a video's results; ``run`` is a digest of all that they depend on.

    Names of files are not part of ``run``: a file may be moved.
    """
    provenance = {
        "software": f"gbcd-pose {version('gbcd-pose')}",
        "model_sha256": request.model.digest,
        "config": request.model.config.model_dump_json(),
        "input_sha256": digest(video),
        "settings": json.dumps(request.settings, sort_keys=True),
    }
    run = hashlib.sha256(json.dumps(provenance, sort_keys=True).encode()).hexdigest()
    names = {"model": request.model_name, "input": video.absolute().name, "background": request.scene.title}
    names = {key: name.encode(errors="backslashreplace").decode() for key, name in names.items()}
    return {**names, **provenance, "run": run}


def kept_results(outputs: Outputs, run: str, *, csv_may_lack: bool = False) -> PoseSeries | None:
    """The finished results of the same run, or None if they are missing, changed or of another run.

    A run that is stopped between its two files leaves HDF5 without CSV; `csv_may_lack` accepts such results too.
    """
    try:
        series = read_hdf5(outputs.hdf5)
        if not (csv_may_lack and not outputs.csv.exists()) and digest(outputs.csv) != series.provenance["csv_sha256"]:
            return None
        return series if series.provenance["run"] == run else None
    except (OSError, KeyError, DataError):
        return None


def write_results(outputs: Outputs, series: PoseSeries) -> None:
    """Write CSV, its metadata and HDF5. The CSV comes last, and HDF5 holds its digest: incomplete results are noticed.

    Raises
    ------
    DataError
        If a file cannot be written; none is written then.
    """
    with atomic_path(outputs.csv) as csv_part:
        write_csv(csv_part, series)
        series.provenance["csv_sha256"] = digest(csv_part)
        with atomic_path(outputs.hdf5) as hdf5_part:
            write_hdf5(hdf5_part, series)
            with atomic_path(metadata_path(outputs.csv)) as metadata_part:
                write_csv_metadata(metadata_part, series, table=outputs.csv.name)
