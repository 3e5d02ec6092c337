"""Lock of a folder of results: two runs at once would overwrite each other's measurements."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pipelines.errors import UsageError
from pose.errors import DataError
from pose.files import take_lock

LOCK = ".lock"
"""Name of the lock file in a folder of results."""


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Lock a folder; the system releases the lock when the process ends, however it ends.

    The lock file is not removed: by then it may be the lock of the next run.

    Raises
    ------
    UsageError
        If another process holds the lock.
    DataError
        If the lock file cannot be written.
    """
    path = folder / LOCK
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
    except OSError as error:
        raise DataError(f"{path}: cannot be written ({error.strerror})") from error
    try:
        if not take_lock(descriptor):
            holder = os.read(descriptor, 20).decode(errors="replace").strip()
            raise UsageError(
                f"--out {folder}: another run measures here (process {holder or 'unknown'}); wait for it, or give "
                "another folder"
            )
        os.ftruncate(descriptor, 0)
        os.write(descriptor, f"{os.getpid()}\n".encode())
        yield
    finally:
        os.close(descriptor)
