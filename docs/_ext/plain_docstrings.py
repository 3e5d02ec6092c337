"""Docstrings write |z| and coef_ as they are meant; reStructuredText would read a substitution and a link.

Both are escaped before Sphinx parses them, outside of code.
"""

from __future__ import annotations

import re
from typing import Any

from sphinx.application import Sphinx

CODE = re.compile(r"(``.*?``|:\w+:`.*?`|`.*?`|\*\*.*?\*\*)")
TRAILING_UNDERSCORE = re.compile(r"(?<=\w)_(?![\w_])")
AFTER_NUMPYDOC = 900


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the step, after numpydoc has laid out the sections."""
    app.connect("autodoc-process-docstring", _escape, priority=AFTER_NUMPYDOC)
    return {"parallel_read_safe": True}


def _escape(app: Sphinx, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    lines[:] = [line if line.lstrip().startswith((">>>", "..")) else _outside_code(line) for line in lines]


def _outside_code(line: str) -> str:
    parts = CODE.split(line)
    parts[::2] = [TRAILING_UNDERSCORE.sub(r"\\_", part.replace("|", r"\|")) for part in parts[::2]]
    return "".join(parts)
