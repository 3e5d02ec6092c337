"""Files that are whole or not there: written under a temporary name, then renamed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def atomic_path(path: Path) -> Iterator[Path]:
    """A temporary name beside `path` with the same suffix; renamed to it if the body succeeds, removed if it fails."""
    temporary = path.with_name(f".{path.stem}.part{path.suffix}")
    try:
        yield temporary
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
