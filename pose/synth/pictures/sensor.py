"""What a camera adds to a scene: gain flicker and noise."""

from __future__ import annotations

import cv2
import numpy as np

from pose.synth.pictures.room import FRAME_SIZE
from pose.types import Image

#: Standard deviation of the gain from frame to frame, as a share.
_GAIN_SIGMA = 0.004
#: Standard deviation of the noise, grey levels.
_NOISE_SIGMA = 2.2
#: Number of noise tiles, and pixels by which a tile is larger than a picture.
_NOISE_TILES, _NOISE_BORDER = 4, 64
#: Value that stands for no noise in a tile: tiles are unsigned.
_NOISE_ZERO = 128


class Sensor:
    """Gain flicker and noise of a camera.

    Parameters
    ----------
    rng : Generator
        Source of flicker and noise; pictures are reproducible if they are taken in the same order.
    gain : float
        Exposure of the recording, as a factor of the others'.
    """

    def __init__(self, rng: np.random.Generator, gain: float = 1.0) -> None:
        self._rng = rng
        self._gain = gain
        # Drawing 900,000 normal values takes longer than the rest of a frame. A few large tiles, cropped at random
        # places, are as good: an observer of one pixel notices no repetition.
        shape = (FRAME_SIZE[1] + _NOISE_BORDER, FRAME_SIZE[0] + _NOISE_BORDER, 3)
        self._tiles = [
            np.clip(np.rint(_NOISE_ZERO + _NOISE_SIGMA * rng.standard_normal(shape, dtype=np.float32)), 0, 255).astype(
                np.uint8
            )
            for _ in range(_NOISE_TILES)
        ]

    def expose(self, scene: Image) -> Image:
        """The picture that the camera delivers of a scene, (480, 640, 3) uint8 BGR."""
        height, width = scene.shape[:2]
        top, left = self._rng.integers(0, _NOISE_BORDER, 2)
        noise = self._tiles[self._rng.integers(_NOISE_TILES)][top : top + height, left : left + width]
        gain = self._gain * (1 + _GAIN_SIGMA * np.clip(self._rng.standard_normal(), -2.5, 2.5))
        return np.asarray(cv2.addWeighted(scene, gain, noise, 1.0, -_NOISE_ZERO), dtype=np.uint8)
