"""Random generators by name."""

from __future__ import annotations

import zlib

import numpy as np


def random_stream(seed: int, *key: object) -> np.random.Generator:
    """A generator that depends on seed and name alone, so that no result depends on the order of the work."""
    return np.random.default_rng([seed, zlib.crc32("/".join(map(str, key)).encode())])
