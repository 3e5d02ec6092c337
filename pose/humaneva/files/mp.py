"""``.mp`` files: a subject's measurements."""

from __future__ import annotations

import math
import re
from pathlib import Path

from pose.errors import DataError
from pose.text_files import parse_number, read_text

_LINE = re.compile(r"^\$?(?:[^=\s]*:)?(\w+)(?:\s*=\s*|\s+)(\S+)$")
#: Measurements that joints are computed from; they must be there.
_NEEDED = ("LShoulderOffset", "RShoulderOffset")
#: Smallest and largest plausible shoulder offset, mm.
_OFFSETS = (0.0, 200.0)


def read_measurements(path: str | Path) -> dict[str, float]:
    """Read ``$Name = value`` lines, mm or degrees.

    Raises
    ------
    DataError
        If a line has another form, a name has two values, or one of the two shoulder offsets is missing or implausible.
    """
    path = Path(path)
    values: dict[str, float] = {}
    for number, raw in enumerate(read_text(path).splitlines(), start=1):
        line = raw.strip()
        if not line:
            continue
        match = _LINE.match(line)
        try:
            name, value = match.group(1), parse_number(match.group(2))  # type: ignore[union-attr]
        except (AttributeError, ValueError):
            hint = "; decimals take a point, not a comma" if re.search(r"\d,\d", line) else ""
            raise DataError(f"{path}, line {number}: expected '$Name = number', found {line!r}{hint}") from None
        if not math.isfinite(value):
            raise DataError(f"{path}, line {number}: {name} is not finite")
        if values.setdefault(name, value) != value:
            raise DataError(f"{path}, line {number}: {name} is {value:g} here and {values[name]:g} before")
    missing = [name for name in _NEEDED if name not in values]
    if missing:
        raise DataError(f"{path}: lacks {' and '.join(missing)}")
    for name in _NEEDED:
        if not _OFFSETS[0] <= values[name] <= _OFFSETS[1]:
            raise DataError(f"{path}: {name} is {values[name]:g} mm, which cannot be right (about 45 is usual)")
    return values
