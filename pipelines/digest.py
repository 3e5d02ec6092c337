"""SHA-256 of files and of folders of numbered pictures."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path

from pose.video.reader import list_stills


def digest(path: Path) -> str:
    """SHA-256 of a file's bytes; of a folder of numbered pictures, of the digests of the pictures in their order."""
    if not path.is_dir():
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    whole = hashlib.sha256()
    for part in _digests(path):
        whole.update(part)
    return whole.hexdigest()


def _digests(folder: Path) -> Iterator[bytes]:
    for path in list_stills(folder):
        yield f"{path.name} {digest(path)}\n".encode()
