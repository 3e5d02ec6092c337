"""Marker tracks from ``.c3d`` and ``.mat`` files."""

from __future__ import annotations

import re
import warnings
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from pose.c3d_file import read_c3d_file
from pose.errors import DataError, MissingFile
from pose.humaneva.files.mat import read_mat
from pose.types import FloatArray

_MM_PER_UNIT = {"mm": 1.0, "cm": 10.0, "m": 1000.0}
_LONG_UNIT = re.compile(r"^(milli|centi|)met(?:er|re)s?$")
#: Smallest plausible median coordinate, mm: a body's markers lie decimetres from the origin. Smaller ones are metres.
_SMALLEST_MEDIAN_MM = 20.0
#: Suffixes of the labels of quantities that the capture system derived: these are not markers.
_DERIVED_SUFFIXES = ("Angles", "Force", "Moment", "Power")
#: Number of frames, about, from which the median coordinate is computed.
_MEDIAN_FRAMES = 200


@dataclass(frozen=True, eq=False)
class MarkerTracks:
    """Marker positions over time.

    Parameters
    ----------
    path : Path
        The file that they come from.
    labels : tuple of str
        One per marker, as in the file.
    positions : ndarray of shape (n_frames, n_markers, 3)
        mm, world; NaN where a marker was not seen.
    rate : float
        Hz; 0 where the file states none.
    subject : str, optional
        The labels' prefix of the person whose markers to take, where the file holds several people.
    """

    path: Path
    labels: tuple[str, ...]
    positions: FloatArray
    rate: float
    subject: str | None = None
    _found: dict[str, int | None] = field(default_factory=dict, repr=False)
    _prefixes: set[str] = field(default_factory=set, repr=False)

    def __len__(self) -> int:
        return len(self.positions)

    def find(self, name: str) -> int | None:
        """Index of the marker called `name`, whatever subject prefix it carries; None if there is none.

        Warns
        -----
        UserWarning
            If no label equals the name and one that contains it is taken, or if several labels equal it.

        Raises
        ------
        DataError
            If several people's markers carry the name, and none of them is `subject`.
        """
        if name not in self._found:
            self._found[name] = self._search(name)
        return self._found[name]

    def _search(self, name: str) -> int | None:
        bare = [label.rsplit(":", 1)[-1].strip() for label in self.labels]
        exact = [index for index, label in enumerate(bare) if label == name] or [
            index for index, label in enumerate(bare) if label.upper() == name.upper()
        ]
        if len(exact) > 1:
            return self._one_of(name, exact)
        if exact:
            return exact[0]
        similar = [index for index, label in enumerate(bare) if name in label and not label.endswith(_DERIVED_SUFFIXES)]
        # A label that ends with the name (a prefix without a colon) goes before one that only contains it.
        similar.sort(key=lambda index: not bare[index].endswith(name))
        if not similar:
            return None
        best = bare[similar[0]]
        prefix = best.removesuffix(name) if best.endswith(name) else None
        if prefix is None or prefix not in self._prefixes:  # warn once of a prefix that all labels carry
            likewise = "" if prefix is None else f", and likewise where others begin with {prefix!r}"
            warnings.warn(
                f"{self.path}: no marker {name}; taking {self.labels[similar[0]]!r} for it{likewise}", stacklevel=3
            )
        if prefix is not None:
            self._prefixes.add(prefix)
        return similar[0]

    def _one_of(self, name: str, indices: list[int]) -> int:
        """Index of the subject's own marker, among several of one name."""
        prefixes = [self.labels[index].rpartition(":")[0].strip().upper() for index in indices]
        if self.subject and prefixes.count(self.subject.upper()) == 1:
            return indices[prefixes.index(self.subject.upper())]
        listed = ", ".join(repr(self.labels[index]) for index in indices)
        if len(set(prefixes)) > 1:
            raise DataError(f"{self.path}: several markers are called {name} ({listed}); whose to take is not known")
        warnings.warn(f"{self.path}: several markers are called {name} ({listed}); taking the first", stacklevel=4)
        return indices[0]

    def indices(self, names: tuple[str, ...]) -> list[int]:
        """Columns of the named markers.

        Raises
        ------
        DataError
            If any is missing from the file; the message lists all missing ones.
        """
        found = {name: self.find(name) for name in names}
        missing = [name for name, index in found.items() if index is None]
        if missing:
            raise DataError(f"{self.path}: lacks the markers {' '.join(missing)}")
        return [index for index in found.values() if index is not None]

    def require(self, names: tuple[str, ...]) -> FloatArray:
        """Positions of the named markers, (n_frames, len(names), 3); errors are those of `indices`."""
        return self.positions[:, self.indices(names)]


def read_markers(path: str | Path, subject: str | None = None) -> MarkerTracks:
    """Read a ``.c3d`` or ``.mat`` file of HumanEva.

    A marker counts as missing (NaN) where the file says NaN, (0, 0, 0) or a negative residual.

    Parameters
    ----------
    path : path-like
    subject : str, optional
        See `MarkerTracks`.

    Raises
    ------
    MissingFile
        If there is no such file.
    DataError
        If the file is empty, foreign, or in a unit that cannot be right.
    """
    path = Path(path)
    try:
        if not path.is_file():
            raise MissingFile(f"{path}: no such motion capture file")
        tracks = _from_mat(path, subject) if path.suffix.lower() == ".mat" else _from_c3d(path, subject)
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror or error})") from error
    if tracks.positions.shape[0] == 0 or tracks.positions.shape[1] == 0:
        raise DataError(f"{path}: holds no markers")
    sample = tracks.positions[:: max(len(tracks) // _MEDIAN_FRAMES, 1)]
    if not np.isfinite(sample).any():
        sample = tracks.positions
    if not np.isfinite(sample).any():
        raise DataError(f"{path}: no marker is seen in any frame")
    median = float(np.nanmedian(np.abs(sample)))
    if median < _SMALLEST_MEDIAN_MM:
        raise DataError(f"{path}: the median coordinate is {median:.3g}, so the unit is not mm")
    return tracks


def _without_gaps(positions: FloatArray) -> FloatArray:
    """Set a marker to NaN, in place, where it is at (0, 0, 0) or where one of its coordinates is not finite."""
    x, y, z = np.moveaxis(positions, 2, 0)
    positions[(x == 0) & (y == 0) & (z == 0)] = np.nan
    positions[~(np.isfinite(x) & np.isfinite(y) & np.isfinite(z))] = np.nan
    return positions


def _from_c3d(path: Path, subject: str | None) -> MarkerTracks:
    file = read_c3d_file(path)
    n_points = file.positions.shape[1]
    # A parameter holds 255 labels at most; LABELS2 and LABELS3 hold the rest.
    labels = [label for key in ("LABELS", "LABELS2", "LABELS3") for label in file.texts("POINT", key)]
    labels += [f"*{index}" for index in range(len(labels), n_points)]
    rate, units = file.number("POINT", "RATE"), file.texts("POINT", "UNITS")
    known_rate = rate if rate is not None and np.isfinite(rate) else 0.0
    tracks = MarkerTracks(path, tuple(labels[:n_points]), _without_gaps(file.positions), known_rate, subject)
    return _to_mm(tracks, units[0] if units else None)


def _from_mat(path: Path, subject: str | None) -> MarkerTracks:
    content = read_mat(path)
    tracks = MarkerTracks(path, tuple(content.labels), _without_gaps(content.positions), content.rate, subject)
    # The toolkit's cache may hold the labels alone, so a missing unit is no fault there.
    return tracks if content.unit is None else _to_mm(tracks, content.unit)


def _to_mm(tracks: MarkerTracks, unit: str | None) -> MarkerTracks:
    unit = (unit or "").strip().lower()
    if spelt_out := _LONG_UNIT.match(unit):
        unit = f"{spelt_out[1][:1]}m"
    if not unit:
        warnings.warn(f"{tracks.path}: states no unit; taking mm", stacklevel=5)
        return tracks
    if unit not in _MM_PER_UNIT:
        raise DataError(f"{tracks.path}: unknown unit {unit!r} (mm, cm and m are known)")
    tracks.positions[...] *= _MM_PER_UNIT[unit]
    return tracks
