"""Files that are whole or not there: written under a temporary name, then renamed."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from pose.errors import DataError


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
