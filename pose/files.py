"""Files that are whole or not there, and the lock by which one run keeps another from its output."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from pose.errors import DataError

if sys.platform != "win32":  # there two runs that write one output are not told apart
    import fcntl


@contextmanager
def atomic_path(path: Path) -> Iterator[Path]:
    """A temporary name beside `path` with the same suffix; renamed to it if the body succeeds, removed if it fails.

    Raises
    ------
    DataError
        If the file cannot be written, naming it and not its temporary stand-in.
    """
    temporary = path.with_name(f".{path.stem}.{os.getpid()}.part{path.suffix}")  # two runs must not share it
    try:
        yield temporary
        temporary.replace(path)
    except OSError as error:
        raise DataError(f"{path}: cannot be written ({error.strerror or error})") from error
    finally:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)


def lost_by_writing(targets: Iterable[Path], sources: Iterable[Path]) -> list[Path]:
    """The files of `sources` that would be replaced by results written to `targets`, under whatever name."""
    there = [target for target in targets if target.exists()]
    return [source for source in sources if source.exists() and any(source.samefile(target) for target in there)]


def is_pipe_or_device(path: Path) -> bool:
    """Whether it is there and neither file nor folder. Such a thing can be read once or never ends; we read twice."""
    return path.exists() and not path.is_file() and not path.is_dir()


def take_lock(descriptor: int) -> bool:
    """Lock an open file or folder, unless another process has; the system unlocks it when this process ends.

    Returns
    -------
    bool
        False if another process has it. True also where the system or the drive knows no such locks.
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
    """Whether an open file or folder is still what `path` names: who held its lock may have removed or moved it."""
    return path.exists() and os.path.samestat(os.fstat(descriptor), path.stat())
