"""What a solver chose, and why; `str` of a choice is the sentence that users and benchmarks read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np


@dataclass(frozen=True)
class Choice:
    """What a solver that had a choice took, and why. False, and an empty sentence, where there was none.

    Attributes
    ----------
    name : str
        What was taken.
    reason : str
        Why.
    seconds : float
        Forecast of what it takes, NaN where nothing was forecast.
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
    """The steps that "gbcd" takes: its name is "full-vector steps" or "greedy blocks".

    Attributes
    ----------
    block_size : int
        m, should greedy blocks run.
    rank : int
        Columns of the coarse block; 0 where greedy blocks were taken at once.
    n_steps : float
        Forecast number of full-vector steps; 0 where greedy blocks were taken at once.
    steps_gave_way : bool
        Whether the full-vector steps took too long and greedy blocks went on from there.
    factor : {"", "instead of blocks", "before blocks"}
        Whether a Cholesky factor that fits the memory budget solved the system in place of the greedy blocks, or was
        their start.
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
    """The solver that "auto" takes: its name is "cholesky" or "gbcd".

    Attributes
    ----------
    steps : StepChoice or None
        What "gbcd" did, or would have done; None where a small system was factored without looking at that.
    """

    steps: StepChoice | None = None
