"""NPZ for NumPy: plain arrays, no pickle, and the record as JSON text."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import numpy as np

from pose.errors import DataError
from pose.export.record import checked_series, parse_record, record_of
from pose.series.pose_series import PoseSeries

_NEEDED = ("frame", "time", "joints", "record")


def write_npz(path: str | Path, series: PoseSeries) -> None:
    """Write a series as plain arrays.

    They are ``frame``, ``time`` (s), ``joints`` (n, J, 3; mm), ``found``, ``names``, ``parents``, ``record`` (JSON),
    and ``std`` and ``quality`` where the series has them.
    """
    skeleton = series.skeleton
    arrays = {
        "frame": np.asarray(series.frame, dtype=np.int64),
        "time": np.asarray(series.time, dtype=np.float64),
        "joints": np.asarray(series.joints, dtype=np.float64),
        "found": series.found,
        "names": np.array(skeleton.names, dtype=np.str_),
        "parents": np.array(skeleton.parents, dtype=np.int64),
        "record": np.array(json.dumps(record_of(series))),
    }
    if series.std is not None:
        arrays["std"] = np.asarray(series.std, dtype=np.float64)
    if series.quality is not None:
        arrays["quality"] = np.asarray(series.quality, dtype=np.int64)
    with Path(path).open("wb") as file:  # to a path, NumPy would add a suffix
        np.savez_compressed(file, **arrays)  # type: ignore[arg-type]


def read_npz(path: str | Path) -> PoseSeries:
    """Read what `write_npz` wrote.

    Raises
    ------
    DataError
        If the file is something else, truncated, or its arrays do not belong together.
    """
    path = Path(path)
    try:
        # Checked here, because NumPy takes a file that is no archive for a pickle, and says so in its message.
        with path.open("rb") as file:
            if not zipfile.is_zipfile(file):
                raise DataError(f"{path}: is not an .npz file, or is truncated")
            file.seek(0)
            with np.load(file, allow_pickle=False) as archive:
                missing = [name for name in _NEEDED if name not in archive]
                if missing:
                    raise DataError(f"{path}: lacks the arrays {', '.join(missing)}; is it another tool's .npz?")
                arrays = {name: archive[name] for name in (*_NEEDED, "std", "quality") if name in archive}
    except DataError:
        raise
    except (ValueError, zipfile.BadZipFile, EOFError, KeyError) as error:
        raise DataError(f"{path}: is damaged ({error})") from error
    if arrays["record"].dtype.kind != "U" or arrays["record"].ndim:
        raise DataError(f"{path}: its array record is not text")
    return checked_series(
        path,
        parse_record(path, arrays["record"].item()),
        arrays["frame"],
        arrays["time"],
        arrays["joints"],
        arrays.get("std"),
        arrays.get("quality"),
    )
