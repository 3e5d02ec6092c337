"""Files written whole or not at all, and the lock that keeps two runs from one output."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from pose.errors import DataError

if sys.platform != "win32":  # Windows has no fcntl: there nothing keeps two runs from one output
    import fcntl


@contextmanager
def atomic_path(path: Path) -> Iterator[Path]:
    """A temporary name beside `path`, with its suffix; renamed to `path` if the body succeeds, removed if it fails.

    Raises
    ------
    DataError
        If the file cannot be written; the message names `path`, not the temporary name.
    """
    temporary = path.with_name(f".{path.stem}.{os.getpid()}.part{path.suffix}")  # two runs must not share a name
    try:
        yield temporary
        temporary.replace(path)
    except OSError as error:
        raise DataError(f"{path}: cannot be written ({error.strerror or error})") from error
    finally:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)


def lost_by_writing(targets: Iterable[Path], sources: Iterable[Path]) -> list[Path]:
    """The files of `sources` that writing to `targets` would overwrite, also under another name."""
    there = [target for target in targets if target.exists()]
    return [source for source in sources if source.exists() and any(source.samefile(target) for target in there)]


def is_pipe_or_device(path: Path) -> bool:
    """Whether a path exists and is neither file nor folder: it may be readable only once, or have no end."""
    return path.exists() and not path.is_file() and not path.is_dir()


def take_lock(descriptor: int) -> bool:
    """Lock an open file or folder, until this process ends.

    Returns
    -------
    bool
        False if another process holds the lock. True also where the system or the drive has no such locks.
    """
    if sys.platform == "win32":
        return True
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # some network drives
        return True
    return True


def is_still(descriptor: int, path: Path) -> bool:
    """Whether `path` still names an open file or folder: the process that held its lock may have moved it."""
    return path.exists() and os.path.samestat(os.fstat(descriptor), path.stat())
