"""Small text files of numbers, read with errors that name the file and the line."""

from __future__ import annotations

import codecs
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from pose.errors import DataError, MissingFile


def read_text(path: Path) -> str:
    """The file's text without a byte order mark.

    Raises
    ------
    DataError
        If the file is missing, unreadable or not text.
    """
    try:
        content = path.read_bytes()
        is_utf16 = content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))  # what Windows calls Unicode
        return content.decode("utf-16" if is_utf16 else "utf-8-sig")
    except OSError as error:
        kind = MissingFile if isinstance(error, FileNotFoundError) else DataError
        raise kind(f"{path}: cannot be read ({error.strerror})") from error
    except UnicodeDecodeError as error:
        raise DataError(f"{path}: is not a text file (byte {error.start} is not UTF-8)") from error


def parse_number(token: str) -> float:
    """A decimal number; digits grouped by underscores, which `float` takes, are refused.

    Raises
    ------
    ValueError
        If the token is no number.
    """
    if "_" in token:
        raise ValueError(token)
    return float(token)


def read_numbers(path: Path, count: int, meaning: str) -> NDArray[np.float64]:
    """The `count` white-space separated finite numbers of a file.

    Parameters
    ----------
    path : Path
        File to read.
    count : int
        How many numbers the file must hold.
    meaning : str
        What the numbers are, for the message.

    Raises
    ------
    DataError
        If the count differs, or a token is not a finite number.
    """
    values = []
    for number, line in enumerate(read_text(path).splitlines(), start=1):
        for token in line.split():
            try:
                value = parse_number(token)
            except ValueError:
                hint = "; decimals take a point, not a comma" if "," in token else ""
                raise DataError(f"{path}, line {number}: {token!r} is not a number{hint}") from None
            if not np.isfinite(value):
                raise DataError(f"{path}, line {number}: {token!r} is not finite")
            values.append(value)
    if len(values) != count:
        raise DataError(f"{path}: holds {len(values)} numbers, expected {count} ({meaning})")
    return np.array(values)
