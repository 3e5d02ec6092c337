"""Randomness by name."""

from __future__ import annotations

import zlib

import numpy as np


def random_stream(seed: int, *key: object) -> np.random.Generator:
    """A generator of its own for everything that has a name, so that nothing depends on the order of the work."""
    return np.random.default_rng([seed, zlib.crc32("/".join(map(str, key)).encode())])
