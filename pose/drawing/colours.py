"""Colours that pictures of poses are drawn in, as (blue, green, red)."""

from __future__ import annotations

Colour = tuple[int, int, int]

SIDE_COLOURS: dict[str, Colour] = {"left": (0, 130, 230), "right": (178, 114, 0), "middle": (110, 110, 110)}
"""Of bones and joints, by the side of the body. Colour-blind eyes tell these apart too."""
CONTOUR_COLOUR: Colour = (115, 158, 0)
"""Of a silhouette's outline."""
PAPER: Colour = (250, 250, 250)
"""Of the ground that panels are drawn on, and of the rim around bones."""
INK: Colour = (60, 60, 60)
"""Of text."""
WARNING: Colour = (0, 60, 190)
"""Of text that says what may be wrong with a frame."""
