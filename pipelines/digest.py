"""SHA-256 of files and of folders of numbered pictures."""

from __future__ import annotations

import hashlib
from pathlib import Path

from pose.video.stills import list_stills


def digest(path: Path) -> str:
    """SHA-256 of a file's bytes. For a folder of numbered pictures: of the pictures' names and digests, in order."""
    if not path.is_dir():
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    whole = hashlib.sha256()
    for picture in list_stills(path):
        whole.update(f"{picture.name} {digest(picture)}\n".encode())
    return whole.hexdigest()
