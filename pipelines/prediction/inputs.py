"""Inputs of a prediction: files, folders and patterns become videos and folders of pictures."""

from __future__ import annotations

import glob
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from pipelines.errors import PIPE_OR_DEVICE, UsageError
from pose.files import is_pipe_or_device
from pose.video.stills import STILL_SUFFIXES, holds_stills
from pose.video.video_file import is_video

OVERLAY_ENDING = "_overlay.mp4"
"""Ending of the names of overlay videos."""


def expand(arguments: Sequence[str | Path]) -> list[Path]:
    """The videos and folders of numbered pictures that the arguments stand for, in order and each once.

    An argument that exists is taken by its name, whatever characters that has. Otherwise it is read as a pattern
    (``*``, ``?``, ``[...]``, ``**``). A folder of numbered pictures is one sequence. Any other folder gives the videos
    in it, recognised by content, and its folders of numbered pictures; overlays made by this program are left out.

    Raises
    ------
    UsageError
        If something does not exist, or a folder cannot be understood; one message names all.
    """
    found: dict[Path, Path] = {}
    faults = []
    missing = []
    for argument in map(str, arguments):
        paths = [Path(argument)] if Path(argument).exists() else _matches(argument)
        if not paths:
            missing.append(argument)
        faults += [f"{path}: {PIPE_OR_DEVICE}" for path in paths if is_pipe_or_device(path)]
        for path in paths:
            try:
                found |= {part.absolute(): part for part in (_within(path) if path.is_dir() else [path])}
            except UsageError as error:
                faults.append(str(error))
    if missing:
        faults.insert(0, f"no such file: {', '.join(missing)}")
    parents = Counter(path.parent for path in found.values() if path.is_file() and _is_picture(path))
    faults += [
        f"{parent}: {count} single pictures of one folder; to take them as one sequence in the order of their numbers, "
        "name the folder"
        for parent, count in parents.items()
        if count > 1
    ]
    if faults:
        raise UsageError("; ".join(faults))
    return list(found.values())


def _matches(pattern: str) -> list[Path]:
    if not glob.has_magic(pattern):
        return []
    return [Path(name) for name in sorted(glob.glob(pattern, recursive=True))]  # noqa: PTH207 - it takes any anchor


def _is_picture(path: Path) -> bool:
    return path.suffix.lower() in STILL_SUFFIXES


def _within(folder: Path) -> list[Path]:
    parts = [path for path in sorted(folder.iterdir()) if not path.name.startswith(".")]
    films = [path for path in parts if path.is_file() and not path.name.endswith(OVERLAY_ENDING) and is_video(path)]
    films += [path for path in parts if path.is_dir() and holds_stills(path)]
    if not holds_stills(folder):
        if not films:
            raise UsageError(f"{folder}: holds neither videos nor numbered pictures ({' '.join(STILL_SUFFIXES)})")
        return films
    if films:
        raise UsageError(f"{folder}: holds numbered pictures, and {films[0].name} beside them; name what you mean")
    return [folder]
