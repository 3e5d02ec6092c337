"""The plan of full-vector steps with a given preconditioner: what of K is kept, and the forecast seconds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from gbcd.solvers.cost_model import CostModel
from gbcd.system.kept_tiles import CODED, half_bytes
from gbcd.system.protocol import LinearSystem

MAX_WINDOW = 20
"""Largest number of earlier steps to whose directions a step is made conjugate."""

MIN_WINDOW = 2
"""Least number of earlier steps to whose directions a step is made conjugate, however little memory there is."""

WINDOW_SHARE = 1 / 32
"""Part of the memory budget that the earlier directions may take."""

DIRECTION_BYTES = 8
"""Bytes of a kept direction and its product with Kbar, both in float32, for each row and output."""

DESCENT_BYTES = 96
"""Bytes of the descent's other vectors, for each row and output."""


@dataclass(frozen=True)
class Plan:
    """Full-vector steps with a given preconditioner.

    Attributes
    ----------
    steps : float
        Forecast number of steps.
    seconds : float
        Forecast seconds of the descent.
    reserved : int
        Bytes that the preconditioner and the descent's vectors take.
    coded : bool
        Whether K is kept as 16-bit codes.
    keep : bool
        Whether as much of K is kept as fits.
    whole : bool
        Whether all of K fits.
    """

    steps: float
    seconds: float
    reserved: int
    coded: bool
    keep: bool
    whole: bool = False


class _Way(NamedTuple):
    """One way to keep K, or to keep nothing. Ways compare by their seconds."""

    seconds: float
    steps: float
    kept_bytes: float
    coded: bool


def window(system: LinearSystem, n_outputs: int) -> int:
    """Return how many steps' directions to keep: 20, fewer where they would take a good part of the budget."""
    affordable = int(WINDOW_SHARE * system.storage.room / (DIRECTION_BYTES * system.n * n_outputs))
    return max(MIN_WINDOW, min(affordable, MAX_WINDOW))


def plan_steps(
    model: CostModel, system: LinearSystem, rank: int, trace: float, n_outputs: int, value_bytes: int = CODED.itemsize
) -> Plan:
    """Forecast the cost of full-vector steps with a preconditioner of this rank, and choose what to keep of K.

    Parameters
    ----------
    model : CostModel
    system : LinearSystem
    rank : int
    trace : float
        Mean of the Schur diagonal that the preconditioner leaves.
    n_outputs : int
    value_bytes : int
        Bytes of a value of L.
    """
    n, q = system.n, n_outputs
    factor_bytes = value_bytes * n * rank
    gram_bytes = system.dtype.itemsize * rank**2
    reserved = factor_bytes + gram_bytes + n * q * (DESCENT_BYTES + DIRECTION_BYTES * window(system, q))
    steps = model.forecast_steps(n, rank, trace / system.noise)
    if q >= model.many_outputs:
        steps *= model.shared_steps
    room = max(system.storage.room - reserved, 0)
    nothing_kept, *kept = _ways(model, system, steps, _seconds_beside_values(model, n, rank, q), room)
    best = min(nothing_kept, *kept)
    needed = np.clip(model.saving_per_gib * best.kept_bytes / 2**30, model.min_saving, model.max_saving)
    if best.seconds > nothing_kept.seconds * (1 - needed):
        return Plan(steps, best.seconds, reserved, coded=False, keep=False)
    whole = room >= half_bytes(n, CODED if best.coded else system.dtype)
    return Plan(best.steps, best.seconds, reserved, best.coded, keep=True, whole=whole)


def _seconds_beside_values(model: CostModel, n: int, rank: int, n_outputs: int) -> float:
    """Return the seconds of a step without those for kernel values: further outputs, and the preconditioner."""
    further = n_outputs - 1
    per_value_of_factor = (
        model.precondition_seconds_per_value + model.precondition_seconds_per_value_and_output * further
    )
    return n**2 * model.multiply_seconds_per_value_and_output * further + n * rank * per_value_of_factor


def _ways(model: CostModel, system: LinearSystem, steps: float, beside: float, room: float) -> list[_Way]:
    """Return the way that keeps nothing, then those that keep as much of K as fits: as numbers, as codes if allowed.

    `beside` is the seconds of a step without those for kernel values, `room` the bytes that K may take.
    """
    n, d = system.X.shape
    evaluate = model.evaluation_seconds_per_value(d, system.dtype)

    def keeping(whole: int, read: float, steps: float, restart: float, coded: bool) -> _Way:
        share = min(1.0, room / whole)
        seconds = restart + steps * (n**2 * (share * read + (1 - share) * evaluate) + beside)
        return _Way(seconds, steps, share * whole, coded)

    read = model.read_seconds_per_value.of(system.dtype)
    ways = [
        _Way(steps * (n**2 * evaluate + beside), steps, 0.0, coded=False),
        keeping(half_bytes(n, system.dtype), read, steps, 0.0, coded=False),
    ]
    if system.precision.allows_codes:
        longer = (1 + model.coded_extra_steps * system.precision.code_rounding) * steps
        restart = n**2 * model.restart_evaluations_per_value * evaluate
        ways.append(keeping(half_bytes(n, CODED), model.read_code_seconds_per_value, longer, restart, coded=True))
    return ways
