"""All formats by suffix: reading, writing whole files, and writing in batches."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Protocol, Self

from pose.errors import DataError
from pose.export.axes import to_native, to_y_up
from pose.export.c3d_format import read_c3d, write_c3d
from pose.export.csv_format import CsvAppender, metadata_path, read_csv, write_csv_metadata
from pose.export.hdf5_format import Hdf5Appender, read_hdf5
from pose.export.json_format import read_json, write_json
from pose.export.npz_format import read_npz, write_npz
from pose.export.timing import resample
from pose.export.trc_format import read_trc, write_trc
from pose.files import atomic_path
from pose.series.pose_series import PoseSeries


class Appender(Protocol):
    """An open file that takes some frames at a time, and is closed as a context manager."""

    def append(self, series: PoseSeries) -> None:
        """Write some frames after those already written."""

    def __enter__(self) -> Self:
        """Begin."""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the file."""


@dataclass(frozen=True)
class Format:
    """The functions that read and write one format.

    Parameters
    ----------
    read : callable
        Takes a path, returns a series.
    write : callable or None
        Takes path, series, frame rate or None, and the file's final name. None where `appender` writes whole files too.
    appender : callable or None
        Opens a file for writing in batches.
    y_up : bool
        Whether tools that read the format expect y to point up.
    """

    read: Callable[[Path], PoseSeries]
    write: Callable[[Path, PoseSeries, float | None, str], None] | None = None
    appender: Callable[[Path, PoseSeries], Appender] | None = None
    y_up: bool = False


#: The formats by suffix, in lower case.
FORMATS: dict[str, Format] = {
    ".csv": Format(read_csv, appender=CsvAppender),
    ".npz": Format(read_npz, lambda path, series, _rate, _name: write_npz(path, series)),
    ".h5": Format(read_hdf5, appender=Hdf5Appender),
    ".hdf5": Format(read_hdf5, appender=Hdf5Appender),
    ".json": Format(read_json, lambda path, series, _rate, _name: write_json(path, series)),
    ".trc": Format(read_trc, lambda path, series, rate, name: write_trc(path, series, rate=rate, name=name), y_up=True),
    ".c3d": Format(read_c3d, lambda path, series, rate, name: write_c3d(path, series, rate=rate, name=name)),
}


def read_series(path: str | Path) -> PoseSeries:
    """Read poses from a file of any of `FORMATS`.

    Raises
    ------
    pose.errors.DataError
        If there is no such file, or it is not what its suffix says.
    ValueError
        If no format has the suffix.
    """
    path = Path(path)
    form = _format(path)
    if not path.is_file():
        raise DataError(f"{path}: no such file")
    try:
        return form.read(path)
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror or error})") from error


def write_series(path: str | Path, series: PoseSeries, *, axes: str | None = None, rate: float | None = None) -> int:
    """Write poses in the format that the suffix names; the file appears whole or not at all.

    Parameters
    ----------
    path : path-like
    series : PoseSeries
    axes : {"native", "y-up"}, optional
        The camera's or the world's own axes, or axes with y up. By default TRC, which OpenSim reads, gets y up, and
        the other formats keep the series' axes.
    rate : float, optional
        Frames per second to interpolate to first; TRC and C3D need it where frames are not evenly spaced.

    Returns
    -------
    int
        Frames in the file.

    Raises
    ------
    DataError
        If the file cannot be written, or the series does not fit the format.
    ValueError
        If the suffix or the axes are unknown, or the rate is not within `RATES`.
    """
    path = Path(path)
    form = _format(path)
    if axes not in (None, "native", "y-up"):
        raise ValueError(f"there are no axes {axes!r}: native, y-up")
    if axes == "y-up" or (axes is None and form.y_up):
        series = to_y_up(series)
    elif axes == "native":
        series = to_native(series)
    if rate is not None:
        series = resample(series, rate)
    if form.appender is not None:
        with SeriesWriter(path) as writer:
            writer.append(series)
    elif form.write is not None:
        with atomic_path(path) as temporary:
            form.write(temporary, series, rate, path.name)
    return len(series.frame)


class SeriesWriter:
    """Write a CSV or HDF5 file in batches; the file appears whole or not at all.

    Use it as a context manager. The first batch decides what the file holds. Memory does not grow with the number of
    frames. A CSV file gets its metadata file too.

    Parameters
    ----------
    path : path-like
        Ends in ``.csv``, ``.h5`` or ``.hdf5``.

    Raises
    ------
    DataError
        If the file cannot be written.
    ValueError
        If no batch came, or one does not fit those before it.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        opener = _format(self.path).appender
        if opener is None:
            raise ValueError(f"{self.path}: only .csv and .h5 are written in batches")
        self._open = opener
        self._stack = ExitStack()
        self._appender: Appender | None = None
        self._first: PoseSeries | None = None
        self._last_frame: int | None = None
        self._temporary = self.path

    def append(self, series: PoseSeries) -> None:
        """Write some frames after those already written."""
        if self._appender is None or self._first is None:
            self._appender = self._stack.enter_context(self._open(self._temporary, series))
            self._first = series
        fault = _misfit(self._first, series, self._last_frame)
        if fault:
            raise ValueError(f"{self.path}: {fault}")
        self._appender.append(series)
        if len(series.frame):
            self._last_frame = int(series.frame[-1])

    def __enter__(self) -> Self:
        self._stack.__enter__()
        self._temporary = self._stack.enter_context(atomic_path(self.path))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._stack:  # an error raised in here removes what was written
            if error is not None:
                raise error
            if self._first is None:
                raise ValueError(f"{self.path}: no frames were appended")
            if self.path.suffix.lower() == ".csv":
                with atomic_path(metadata_path(self.path)) as temporary:
                    write_csv_metadata(temporary, self._first, table=self.path.name)


def _misfit(first: PoseSeries, series: PoseSeries, last_frame: int | None) -> str:
    """Why a batch does not fit the batches before it; empty if it does."""
    if series.skeleton != first.skeleton or series.axes != first.axes:
        return "a batch has another skeleton or other axes than the first"
    if (series.std is None) != (first.std is None) or (series.quality is None) != (first.quality is None):
        return "standard deviations or quality flags must come with all batches or none"
    if last_frame is not None and len(series.frame) and series.frame[0] <= last_frame:
        return f"frame {series.frame[0]} comes after frame {last_frame}"
    return ""


def _format(path: Path) -> Format:
    form = FORMATS.get(path.suffix.lower())
    if form is None:
        raise ValueError(f"{path}: the name must end in {', '.join(FORMATS)}")
    return form
