"""``.mp`` files: a subject's measurements."""

from __future__ import annotations

import re
from pathlib import Path

from pose.errors import DataError
from pose.humaneva.text import read_text

_LINE = re.compile(r"^\$?(\w+)\s*=\s*(\S+)$")


def read_measurements(path: str | Path) -> dict[str, float]:
    """Read ``$Name = value`` lines, mm or degrees.

    Raises
    ------
    DataError
        If a line has another form, or one of the two shoulder offsets, which move joints, is missing.
    """
    path = Path(path)
    values = {}
    for number, raw in enumerate(read_text(path).splitlines(), start=1):
        line = raw.strip()
        if not line:
            continue
        match = _LINE.match(line)
        try:
            values[match.group(1)] = float(match.group(2))  # type: ignore[union-attr]
        except (AttributeError, ValueError):
            raise DataError(f"{path}, line {number}: expected '$Name = number', found {line!r}") from None
    missing = [name for name in ("LShoulderOffset", "RShoulderOffset") if name not in values]
    if missing:
        raise DataError(f"{path}: lacks {' and '.join(missing)}")
    return values
