"""Small drawings as SVG, coloured by the page's style sheet.

Matplotlib's SVG carries its own colours; here a drawing has CSS classes only, and so follows the reader's choice of
light or dark. It is also a fifth as long (2 to 3 kB against 12 to 15 kB a chart). A test checks colours and length.
"""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup, escape

from pose.types import FloatArray


def element(tag: str, text: object = "", **attributes: object) -> Markup:
    """An SVG element; ``class_`` is written ``class``, other underscores as hyphens."""
    written = "".join(
        f' {"class" if name == "class_" else name.replace("_", "-")}="{escape(_short(value))}"'
        for name, value in attributes.items()
    )
    return Markup(f"<{tag}{written}>{escape(text)}</{tag}>")


def drawing(width: float, height: float, label: str, parts: Sequence[Markup]) -> Markup:
    """A picture that scales to the width of its container."""
    content = Markup("").join(parts)
    return element("svg", content, viewBox=f"0 0 {width:g} {height:g}", role="img", aria_label=label)


def path(points: FloatArray, **attributes: object) -> Markup:
    """A line through points (n, 2)."""
    return element("path", d="M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in points), **attributes)


def _short(value: object) -> object:
    return f"{value:.4g}" if isinstance(value, float) else value
