"""Finding the release's folders and files, whatever their case, with messages that name what is wrong."""

from __future__ import annotations

import re
from pathlib import Path

from pose.errors import DataError

SUBJECT = re.compile(r"^S\d+$", re.IGNORECASE)
#: Name of a recording: ``Walking_1_(C1).avi``, its ``.ofs``, or its folder of stills.
RECORDING = re.compile(
    r"^(?P<action>[A-Za-z]+)_(?P<trial>\d+)_\((?P<camera>C[1-4]|BW[1-4])\)(?P<suffix>\.avi|\.ofs)?$", re.IGNORECASE
)
#: Name of a motion capture file: ``Walking_1.c3d`` or ``.mat``.
MOTION = re.compile(r"^(?P<action>[A-Za-z]+)_(?P<trial>\d+)\.(?:c3d|mat)$", re.IGNORECASE)
PARTS = ("Image_Data", "Mocap_Data", "Sync_Data", "Calibration_Data")
_OF_THE_RELEASE = re.compile(rf"^(S\d+|{'|'.join(PARTS)}|Background|.*\.(avi|ofs|cal|c3d|mat|mp)|.*\))$", re.IGNORECASE)


def entries(folder: Path) -> dict[str, Path]:
    """A folder's entries by lower-case name, as copies of the release differ in case; none if there is no folder.

    Raises
    ------
    DataError
        If the folder cannot be read, or two names in it differ in case alone.
    """
    found: dict[str, Path] = {}
    try:
        paths = sorted(folder.iterdir())
    except (NotADirectoryError, FileNotFoundError):
        return found
    except OSError as error:
        raise DataError(f"{folder}: cannot be read ({error.strerror})") from error
    for path in paths:
        twin = found.setdefault(path.name.lower(), path)
        if twin != path and _OF_THE_RELEASE.match(path.name):
            raise DataError(f"{folder}: {twin.name} and {path.name} differ in case alone; keep one of them")
    return found


def find_root(path: Path) -> Path:
    """The folder that holds the subjects: `path`, the one folder in `path` that does, or the toolkit folder's parent.

    Raises
    ------
    DataError
        If none does, or several do.
    """
    if not path.is_dir():
        looped = " (a link that points at itself)" if path.is_symlink() and not path.exists() else ""
        raise DataError(f"{path}: " + ("is a file, name a folder" if path.is_file() else f"no such folder{looped}"))
    content = entries(path)
    candidates = [path, *(child for child in content.values() if child.is_dir())]
    if path.name.lower().startswith("release_code"):  # the toolkit looks for its data in '../'
        candidates.append(path.parent)
    roots = [folder for folder in candidates if any(map(_is_subject, _readable_entries(folder, path).values()))]
    if not roots:
        raise DataError(
            f"{path}: holds no subject folder (S1, S2, ... with Image_Data in it){_level_hint(path, content)}"
        )
    if path not in roots and len(roots) > 1:
        nested = [folder / folder.name for folder in roots if SUBJECT.match(folder.name)]
        if nested:  # archives unpacked into folders of their own names
            listed = ", ".join(str(folder) for folder in nested)
            raise DataError(f"{path}: holds subjects one level too deep, move them up: {listed}")
        raise DataError(f"{path}: holds several data sets, name one: {', '.join(folder.name for folder in roots)}")
    return path if path in roots else roots[0]


def _readable_entries(folder: Path, asked_for: Path) -> dict[str, Path]:
    """A folder's entries; one that cannot be read counts as empty, unless it is the folder that was asked for."""
    try:
        return entries(folder)
    except DataError:
        if folder == asked_for:
            raise
        return {}


def _is_subject(path: Path) -> bool:
    return bool(SUBJECT.match(path.name)) and any(part.lower() in _readable_entries(path, Path()) for part in PARTS)


def _level_hint(path: Path, content: dict[str, Path]) -> str:
    """What a person who named the wrong folder may have meant."""
    resolved = path.resolve()
    if _is_subject(resolved):
        return "; it looks like one subject's folder, name its parent"
    if resolved.name.lower() in {part.lower() for part in PARTS} and SUBJECT.match(resolved.parent.name):
        return f"; it looks like a part of a subject's folder, name {resolved.parent.parent}"
    grand = [
        folder
        for child in content.values()
        if child.is_dir()
        for folder in _readable_entries(child, path).values()
        if folder.is_dir() and any(map(_is_subject, _readable_entries(folder, path).values()))
    ]
    return f"; {grand[0]} holds some, name it" if grand else ""
