"""Pages of the site that are files of the repository: README.md is the home page, and so on.

A page with the line `<!-- text of FILE -->` shows that file of the repository. Links between the repository's files
become links between pages.
"""

from __future__ import annotations

import re
from pathlib import Path

from sphinx.application import Sphinx

REPOSITORY = Path(__file__).resolve().parents[2]
MARK = re.compile(r"<!-- text of (\S+) -->")
LINK = re.compile(r"\]\(([^)#:]+)(#[^)]*)?\)")
PAGES = {
    "README.md": "index.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
    "data/README.md": "data-folder.md",
    "examples/": "generated/gallery/index.rst",
}


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the step that fills a page before it is parsed."""
    app.connect("source-read", _fill)
    return {"parallel_read_safe": True}


def _fill(app: Sphinx, name: str, content: list[str]) -> None:
    found = MARK.search(content[0])
    if found is None:
        return
    source = REPOSITORY / found[1]
    app.env.note_dependency(str(source))
    text = LINK.sub(_between_pages, source.read_text(encoding="utf-8"))
    content[0] = content[0][: found.start()] + text + content[0][found.end() :]


def _between_pages(link: re.Match[str]) -> str:
    target = link[1]
    return f"]({PAGES.get(target, target.removeprefix('docs/'))}{link[2] or ''})"
