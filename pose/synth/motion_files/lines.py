"""Text files of numbers, line by line, so that every fault can name its line."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path

from pose.errors import DataError

#: Largest number of digits in a count.
_MAX_DIGITS = 9
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class TextLines:
    """The lines of a text file that are not blank, with their line numbers.

    Unix, Windows and old Macintosh line ends are understood; a byte order mark is skipped.

    Parameters
    ----------
    path : Path
        The file.
    comment : str
        Start of a comment line; by default there are no comments.

    Raises
    ------
    DataError
        If the file is empty or no text.
    OSError
        If it cannot be opened.
    """

    def __init__(self, path: Path, comment: str = "") -> None:
        self.path = path
        raw = path.read_bytes().removeprefix(_BYTE_ORDER_MARK)
        if b"\0" in raw:
            raise DataError(f"{path}: is no text file; motion files of this kind are text")
        text = raw.decode("utf-8", errors="replace")
        numbered = ((number, line.strip()) for number, line in enumerate(text.splitlines(), start=1))
        self._lines = [(n, line) for n, line in numbered if line and not (comment and line.startswith(comment))]
        if not self._lines:
            raise DataError(f"{path}: is empty")
        self._at = 0
        self.number = 0

    def __iter__(self) -> Iterator[str]:
        """The lines not yet read; `number` is the number of the line read last."""
        while self._at < len(self._lines):
            yield self.next("")

    @property
    def ended(self) -> bool:
        """Whether all lines are read."""
        return self._at >= len(self._lines)

    def next(self, expected: str) -> str:
        """The next line; if there is none, the message names `expected` as missing."""
        if self.ended:
            raise DataError(f"{self.path}, line {self._lines[-1][0]}: the file ends here, {expected} should follow")
        self.number, line = self._lines[self._at]
        self._at += 1
        return line

    def back(self) -> None:
        """Go back one line, so that it is read again."""
        self._at -= 1

    def fault(self, what: str, number: int | None = None) -> DataError:
        """The exception for a fault in the line just read, or in line `number`."""
        return DataError(f"{self.path}, line {number or self.number}: {what}")

    def count(self, word: str) -> int | None:
        """A word as a whole number of 0 or more; None if it is not one."""
        return int(word) if word.isascii() and word.isdigit() and len(word) <= _MAX_DIGITS else None

    def numbers(self, words: list[str], what: str) -> list[float]:
        """Words as finite numbers."""
        try:
            values = [float(word) for word in words]
        except ValueError:
            wrong = next(word for word in words if not _is_number(word))
            raise self.fault(f"{what}: {wrong!r} is not a number") from None
        if not all(map(math.isfinite, values)):
            wrong = next(word for word, value in zip(words, values, strict=True) if not math.isfinite(value))
            raise self.fault(f"{what}: {wrong} is not a finite number")
        return values


def _is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True
