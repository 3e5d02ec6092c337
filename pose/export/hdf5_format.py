"""HDF5: arrays and attributes, written batch by batch so that long videos need little memory."""

from __future__ import annotations

import io
import json
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np

from pose.errors import DataError
from pose.export.record import FORMAT, UNIT, VERSION, as_record, check_version, checked_series, parse_json, record_of
from pose.series.pose_series import PoseSeries, Quality

# h5py is imported in the functions that need it, to keep it out of `import pose`.

#: Frames in one chunk of a dataset.
_CHUNK = 256
#: Attributes of the file that are not provenance.
_OWN = ("format", "format_version")


def write_hdf5(path: str | Path, series: PoseSeries) -> None:
    """Write the arrays ``frame``, ``time``, ``joints``, ``found``, and ``std`` and ``quality`` if the series has them.

    The attributes of ``joints`` state names, parents, unit and axes; the attributes of the file state the provenance.
    """
    with Hdf5Appender(path, series) as appender:
        appender.append(series)


class Hdf5Appender:
    """Writes arrays in batches; the first series decides which arrays there are."""

    def __init__(self, path: str | Path, series: PoseSeries) -> None:
        import h5py

        record = record_of(series)
        reserved = [key for key in _OWN if key in series.provenance]
        if reserved:
            raise ValueError(f"provenance cannot be named {', '.join(reserved)} in HDF5")
        self._sink = _Sink(Path(path))
        self._file = h5py.File(self._sink, "w")
        for name, values in _arrays(series).items():
            shape = values.shape[1:]
            self._file.create_dataset(name, (0, *shape), values.dtype, maxshape=(None, *shape), chunks=(_CHUNK, *shape))
        self._file.attrs["format"], self._file.attrs["format_version"] = FORMAT, VERSION
        self._file.attrs.update(series.provenance)
        self._file["time"].attrs["unit"] = "s"
        for name in ("joints", "std"):  # a fixed order, so that equal series give equal bytes
            if name in self._file:
                self._file[name].attrs["unit"] = UNIT
        joints = self._file["joints"].attrs
        joints.update({key: record[key] for key in ("axes", "axes_meaning", "origin", "parents")})
        joints["names"] = json.dumps(record["joints"])
        if "quality" in self._file:
            flags = {str(int(flag)): str(flag.name).lower() for flag in Quality}
            self._file["quality"].attrs["flags"] = json.dumps(flags)

    def append(self, series: PoseSeries) -> None:
        """Write some frames after those already written."""
        for name, values in _arrays(series).items():
            dataset = self._file[name]
            n = len(dataset)
            dataset.resize(n + len(values), axis=0)
            dataset[n:] = values
        self._sink.check()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()
        self._sink.close()
        if kind is None:
            self._sink.check()


class _Sink(io.RawIOBase):
    """A file for HDF5 that stores an error of writing instead of raising it, until `check` is called.

    HDF5 ends the process when a write fails at its exit, as on a full disk. So every write must seem to succeed.
    """

    def __init__(self, path: Path) -> None:
        self._file = path.open("w+b", buffering=0)
        self._fault: OSError | None = None

    def check(self) -> None:
        """Raise the stored error, if there is one."""
        if self._fault is not None:
            raise self._fault

    def readable(self) -> bool:
        return True

    def writable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        return self._file.seek(offset, whence)

    def tell(self) -> int:
        return self._file.tell()

    def readinto(self, buffer: Any) -> int:
        return self._file.readinto(buffer) or 0

    def truncate(self, size: int | None = None) -> int:
        try:
            return self._file.truncate(size)
        except OSError as error:
            self._fault = self._fault or error
            return size or 0

    def write(self, data: Any) -> int:
        left = memoryview(data)
        try:
            while self._fault is None and len(left):
                left = left[self._file.write(left) :]
        except OSError as error:
            self._fault = error
        return len(data)

    def close(self) -> None:
        if not self.closed:
            try:
                self._file.close()
            except OSError as error:
                self._fault = self._fault or error
        super().close()


def _arrays(series: PoseSeries) -> dict[str, Any]:
    arrays: dict[str, Any] = {
        "frame": np.asarray(series.frame, dtype=np.int64),
        "time": np.asarray(series.time, dtype=np.float64),
        "joints": np.asarray(series.joints, dtype=np.float64),
        "found": series.found,
    }
    if series.std is not None:
        arrays["std"] = np.asarray(series.std, dtype=np.float64)
    if series.quality is not None:
        arrays["quality"] = np.asarray(series.quality, dtype=np.int64)
    return arrays


def read_hdf5(path: str | Path) -> PoseSeries:
    """Read what `write_hdf5` wrote.

    Raises
    ------
    DataError
        If the file is something else, truncated, or its arrays do not belong together.
    """
    import h5py

    path = Path(path)
    path.open("rb").close()  # raises the system's own error if the file is missing
    try:
        file = h5py.File(path, "r")
    except OSError as error:
        raise DataError(f"{path}: is not an HDF5 file, or is truncated") from error
    with file:
        missing = [name for name in ("frame", "time", "joints") if not isinstance(file.get(name), h5py.Dataset)]
        if missing:
            kind = " (it is a model)" if file.attrs.get("format") == "pose-model" else ""
            raise DataError(f"{path}: lacks the arrays {', '.join(missing)}: it holds no poses{kind}")
        check_version(path, file.attrs.get("format_version", VERSION))
        try:
            attributes = file["joints"].attrs
            content = {
                "format": FORMAT,
                "version": VERSION,
                "unit": attributes.get("unit"),
                "axes": attributes.get("axes"),
                "joints": parse_json(attributes["names"]),
                "parents": np.asarray(attributes["parents"]).tolist(),
                "provenance": {key: str(value) for key, value in file.attrs.items() if key not in _OWN},
            }
            arrays = {name: file[name][()] for name in ("frame", "time", "joints", "std", "quality") if name in file}
        except (KeyError, ValueError, TypeError, OSError, RuntimeError) as error:
            raise DataError(f"{path}: is damaged ({error})") from error
    return checked_series(path, as_record(path, content), **arrays)
