"""The checkpoint file: the state of an unfinished fit, from which the next fit continues."""

from __future__ import annotations

import hashlib
import itertools
import os
import re
import warnings
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

Arrays = dict[str, npt.NDArray[Any]]
"""Arrays by name."""

FINGERPRINT = "fingerprint"
"""Name of the member that holds a section's fingerprint."""

_numbers = itertools.count()
"""Counter that numbers the temporary files of this process."""

_writing: set[str] = set()
"""Names of the temporary files this process is writing."""


def fingerprint(*parts: npt.ArrayLike | None) -> str:
    """Return a hash of arrays, numbers and strings: their types, shapes and bytes."""
    digest = hashlib.blake2b(digest_size=20)
    for part in parts:
        values = np.ascontiguousarray("none" if part is None else part)
        digest.update(f"{values.dtype.str} {values.shape} ".encode())
        digest.update(values.view(np.uint8).data if values.size else b"")
    return digest.hexdigest()


class Checkpoint:
    """Named sections of arrays in one .npz file, each with the fingerprint of the data it belongs to.

    A section is returned only to a caller with the same fingerprint. The file on disk is always complete: a temporary
    file is written beside it, flushed to the disk and renamed. Temporary files of killed processes are deleted.

    Parameters
    ----------
    path : path-like
        The file need not exist; its folder must.

    Raises
    ------
    ValueError
        If the folder is missing or read-only, or the file is damaged or no checkpoint.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        folder = self.path.parent
        if not folder.is_dir() or not os.access(folder, os.W_OK):
            what = "may not be written to" if folder.is_dir() else "does not exist"
            raise ValueError(f"The checkpoint {self.path} cannot be written: its folder {what}.")
        _clear_abandoned(self.path)
        self._sections: dict[str, Arrays] = {}
        self._unclaimed = _read(self.path) if self.path.exists() else {}

    def load(self, section: str, mark: str, shapes: Mapping[str, tuple[int | None, ...]]) -> Arrays | None:
        """Return the arrays of a section, or None where the file holds nothing yet.

        Parameters
        ----------
        section : str
        mark : str
            Fingerprint of the data that the section must belong to.
        shapes : mapping
            Names and shapes of the arrays that the section must hold, all of finite numbers. None is any length.

        Raises
        ------
        ValueError
            If the file belongs to other data or settings, or lacks one of the arrays.
        """
        found = self._unclaimed.pop(section, None)
        # A file that holds sections, but none of this fit, was left by another fit.
        foreign = self._unclaimed and not self._sections if found is None else str(found.pop(FINGERPRINT, "")) != mark
        if foreign:
            raise ValueError(
                f"The checkpoint {self.path} was left by an unfinished fit of other data or settings: delete it to "
                f"start anew, or name another file."
            )
        wrong = [name for name, shape in shapes.items() if found is not None and not _is_whole(found.get(name), shape)]
        if wrong:
            raise ValueError(f"The checkpoint {self.path} is damaged ({', '.join(wrong)}): delete it to start anew.")
        if found is not None:
            self._sections[section] = {**found, FINGERPRINT: np.array(mark)}
        return found

    def store(self, section: str, mark: str, arrays: Arrays) -> None:
        """Replace the arrays of the section, and write the file anew.

        Warns
        -----
        RuntimeWarning
            If the file cannot be written (e.g. a full disk). The fit goes on, and the earlier file stays.
        """
        self._sections[section] = {**arrays, FINGERPRINT: np.array(mark)}
        sections = {**self._unclaimed, **self._sections}
        contents: dict[str, Any] = {f"{name}/{key}": held[key] for name, held in sections.items() for key in held}
        beside = self.path.with_name(f".{self.path.name}.{os.getpid()}-{next(_numbers)}.tmp")
        _writing.add(beside.name)
        try:
            with beside.open("wb") as file:
                np.savez(file, **contents)
                file.flush()
                os.fsync(file.fileno())
            beside.replace(self.path)
            _flush_folder(self.path.parent)
        except OSError as error:
            with suppress(OSError):
                beside.unlink(missing_ok=True)
            warnings.warn(
                f"The checkpoint {self.path} was not written ({error.strerror or error}); the fit goes on.",
                RuntimeWarning,
                stacklevel=2,
            )
        finally:
            _writing.discard(beside.name)

    def remove(self) -> None:
        """Delete the file, which is no longer needed."""
        self._sections, self._unclaimed = {}, {}
        self.path.unlink(missing_ok=True)


def _read(path: Path) -> dict[str, Arrays]:
    """Return the sections of the file."""
    sections: dict[str, Arrays] = {}
    try:
        # Opened here, since numpy would leave a damaged file open.
        with path.open("rb") as file, np.load(file, allow_pickle=False) as contents:
            for name in contents.files:
                section, key = name.split("/")
                # Reading a member also verifies its checksum.
                sections.setdefault(section, {})[key] = contents[name]
        if not sections:
            raise EOFError("no members")
    except OSError as error:
        raise ValueError(f"The checkpoint {path} cannot be read ({error.strerror or error}).") from error
    except Exception as error:  # zipfile and numpy raise a dozen types for damaged files
        raise ValueError(f"The checkpoint {path} is damaged or no checkpoint: delete it to start anew.") from error
    return sections


def _is_whole(values: npt.NDArray[Any] | None, shape: tuple[int | None, ...]) -> bool:
    """Whether `values` are finite numbers of this shape."""
    return (
        values is not None
        and values.dtype.kind in "iuf"
        and len(values.shape) == len(shape)
        and all(length in (None, found) for found, length in zip(values.shape, shape, strict=True))
        and bool(np.isfinite(values).all())
    )


def _clear_abandoned(path: Path) -> None:
    """Delete temporary files of ended processes, and of an earlier process that had the id of this one."""
    pattern = re.compile(rf"\.{re.escape(path.name)}(?:\.(\d+)-\d+)?\.tmp")
    for beside in path.parent.iterdir():
        found = pattern.fullmatch(beside.name)
        if found is None or beside.name in _writing:
            continue
        if found[1] is None or int(found[1]) == os.getpid() or not _lives(int(found[1])):
            with suppress(OSError):
                beside.unlink()


def _lives(process: int) -> bool:
    """Whether a process of this id runs; False where asking could harm the process."""
    if os.name != "posix":
        return False  # no harm: a file that is still open cannot be deleted there
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        return True
    return True


def _flush_folder(folder: Path) -> None:
    """Flush the folder, so that the renaming survives a power cut, where the system allows it."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
