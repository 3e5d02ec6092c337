"""The subjects of a data set: some of four that come with the package, or any number drawn at random."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pose.errors import DataError
from pose.synth.body import NAMED_BODIES, Body, draw_body
from pose.synth.pictures.looks import LOOKS, Looks, draw_looks
from pose.synth.randomness import random_stream

#: Largest number of subjects in a data set.
MAX_SUBJECTS = 200


@dataclass(frozen=True)
class Actor:
    """A subject with a name, a body and clothes; `drawn` says whether it was drawn at random."""

    name: str
    body: Body
    looks: Looks
    drawn: bool = False


def choose_cast(subjects: Sequence[str] | int, seed: int) -> list[Actor]:
    """The subjects: some of `NAMED_BODIES` by name, or a number of them, S1, S2, ..., drawn from the seed.

    Raises
    ------
    DataError
        If a name is unknown or comes twice, or the number is out of range; the message lists all faults.
    """
    if isinstance(subjects, int):
        if not 1 <= subjects <= MAX_SUBJECTS:
            raise DataError(f"there can be 1 to {MAX_SUBJECTS} subjects, not {subjects}")
        return [_draw(f"S{number}", seed) for number in range(1, subjects + 1)]
    faults = [
        f"no subject {name!r} (there are {', '.join(NAMED_BODIES)}; or give a number of subjects)"
        for name in subjects
        if name not in NAMED_BODIES
    ]
    if not subjects or len(set(subjects)) != len(subjects):
        faults.append("every subject must be named once, and one at least")
    if faults:
        raise DataError("; ".join(faults))
    return [Actor(name, NAMED_BODIES[name], LOOKS[name]) for name in subjects]


def _draw(name: str, seed: int) -> Actor:
    rng: np.random.Generator = random_stream(seed, name, "body")
    return Actor(name, draw_body(rng), draw_looks(rng), drawn=True)
