"""The colours of a body and its clothes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pose.synth.pictures.solids import Material
from pose.types import FloatArray


@dataclass(frozen=True)
class Looks:
    """A subject's colours, blue, green, red.

    Parameters
    ----------
    shirt, trousers, skin, hair, shoe : tuple of three floats
        0 to 255.
    """

    shirt: tuple[float, float, float]
    trousers: tuple[float, float, float]
    skin: tuple[float, float, float]
    hair: tuple[float, float, float]
    shoe: tuple[float, float, float]

    def colour(self, material: Material) -> FloatArray:
        """The colour of a material, (3,)."""
        return np.array((self.shirt, self.trousers, self.skin, self.hair, self.shoe)[material])


LOOKS = {
    "S1": Looks((160, 82, 44), (58, 46, 42), (122, 152, 206), (34, 40, 52), (52, 60, 78)),
    "S2": Looks((56, 52, 168), (96, 70, 52), (142, 168, 214), (44, 62, 92), (60, 58, 58)),
    "S3": Looks((70, 118, 62), (72, 78, 92), (84, 108, 158), (24, 26, 30), (40, 40, 44)),
    "S4": Looks((60, 150, 196), (50, 44, 48), (128, 158, 210), (60, 84, 108), (36, 40, 60)),
}

# Colours of skin and hair, blue, green, red, from light to dark.
_SKINS = ((142.0, 168.0, 214.0), (122.0, 152.0, 206.0), (84.0, 108.0, 158.0), (58.0, 76.0, 118.0))
_HAIRS = ((60.0, 84.0, 108.0), (44.0, 62.0, 92.0), (34.0, 40.0, 52.0), (24.0, 26.0, 30.0))
# Smallest and largest value of a colour of clothes: neither black nor glaring.
_SHIRT_RANGE, _TROUSERS_RANGE, _SHOE_RANGE = (40.0, 200.0), (36.0, 120.0), (36.0, 80.0)


def draw_looks(rng: np.random.Generator) -> Looks:
    """Random colours of a subject."""

    def cloth(low: float, high: float) -> tuple[float, float, float]:
        blue, green, red = np.round(rng.uniform(low, high, 3))
        return float(blue), float(green), float(red)

    skin, hair = _SKINS[rng.integers(len(_SKINS))], _HAIRS[rng.integers(len(_HAIRS))]
    return Looks(cloth(*_SHIRT_RANGE), cloth(*_TROUSERS_RANGE), skin, hair, cloth(*_SHOE_RANGE))
