"""Colours of the drawings of poses, as (blue, green, red), 0 to 255 each."""

from __future__ import annotations

Colour = tuple[int, int, int]

SIDE_COLOURS: dict[str, Colour] = {"left": (0, 130, 230), "right": (178, 114, 0), "middle": (110, 110, 110)}
"""Colours of bones and joints by the side of the body; colour-blind eyes tell these apart too."""
CONTOUR_COLOUR: Colour = (115, 158, 0)
"""Colour of a silhouette's outline."""
PAPER: Colour = (250, 250, 250)
"""Colour of a panel's background and of the rim around bones."""
INK: Colour = (60, 60, 60)
"""Colour of text."""
WARNING: Colour = (0, 60, 190)
"""Colour of text that says what may be wrong with a frame."""
