"""What every background model offers: frames in, silhouettes out."""

from __future__ import annotations

from typing import Protocol

from pose.silhouette.masks import Silhouette
from pose.types import Image, Mask


class BackgroundModel(Protocol):
    """Finds the person in a frame, once it knows the empty scene."""

    def silhouette(self, frame: Image) -> Mask:
        """The person in a frame, (h, w), 0 or 255; ValueError for a frame of another type or shape."""

    def examine(self, frame: Image) -> Silhouette:
        """The person in a frame, and how large the largest other silhouette is; errors as of `silhouette`."""
