"""What a solver chose, and why; `str` of a choice is the sentence that users and benchmarks read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np


@dataclass(frozen=True)
class Choice:
    """What a solver chose, and why. Where a solver had no choice, this is false, with an empty sentence.

    Attributes
    ----------
    name : str
        What was chosen.
    reason : str
        Why it was chosen.
    seconds : float
        Forecast seconds, NaN where nothing was forecast.
    """

    name: str = ""
    reason: str = ""
    seconds: float = np.nan

    def __bool__(self) -> bool:
        """Whether there was a choice."""
        return bool(self.name)

    def __str__(self) -> str:
        """Return the sentence."""
        return f"{self.name}: {self.reason}" if self.name else ""


@dataclass(frozen=True)
class StepChoice(Choice):
    """The steps that "gbcd" takes: `name` is "full-vector steps" or "greedy blocks".

    Attributes
    ----------
    block_size : int
        m, the number of variables in a greedy block, if blocks run.
    rank : int
        Columns of the coarse block; 0 where greedy blocks were taken at once.
    n_steps : float
        Forecast number of full-vector steps; 0 where greedy blocks were taken at once.
    steps_gave_way : bool
        Whether the full-vector steps took too long and greedy blocks went on from there.
    factor : {"", "instead of blocks", "before blocks"}
        Whether a Cholesky factor that fits the memory budget solved the system instead of greedy blocks, or gave the
        blocks their start.
    """

    block_size: int = 0
    rank: int = 0
    n_steps: float = 0.0
    steps_gave_way: bool = False
    factor: Literal["", "instead of blocks", "before blocks"] = ""

    def __str__(self) -> str:
        """Return the sentence."""
        blocks = f"greedy blocks of {self.block_size}"
        if self.name == "full-vector steps":
            sentence = f"about {self.n_steps:.0f} full-vector steps after a coarse block of {self.rank:,}"
            sentence += f", then {blocks}" if self.steps_gave_way else ""
        else:
            sentence = blocks
        endings = {
            "": "",
            "instead of blocks": ": replaced by cholesky, whose factor fits the memory budget",
            "before blocks": ", after cholesky",
        }
        return sentence + endings[self.factor]


@dataclass(frozen=True)
class SolverChoice(Choice):
    """The solver that "auto" takes: `name` is "cholesky" or "gbcd".

    Attributes
    ----------
    steps : StepChoice or None
        The steps that "gbcd" took, or would have taken. None where a small system was factored at once.
    """

    steps: StepChoice | None = None
