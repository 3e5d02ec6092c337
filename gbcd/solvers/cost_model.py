"""What solving by full-vector steps will cost, and the rank of the preconditioner that makes it least.

Seconds are those of two cores with 8 GB/s of memory and 350 GFlop/s in float32; only their ratios matter, and a plan
that is wrong costs time, never accuracy.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from gbcd.solvers.cholesky import factor_dtype
from gbcd.solvers.preconditioner import DRAWS, ColumnFactor
from gbcd.system.kept_tiles import CODED, half_bytes
from gbcd.system.protocol import LinearSystem

READ = {2: 1.1e-10, 4: 2.0e-10, 8: 4.0e-10}
"""Seconds a product takes for each of the n^2 values, by the bytes of those that are kept."""

EVALUATE = {4: 2.6e-10, 8: 3.9e-10}
EVALUATE_FEATURE = {4: 1.6e-11, 8: 2.4e-11}
"""The same for values that are evaluated: at all, and for each input column."""

MULTIPLY = 2.2e-11
"""The same for each output beyond the first."""

APPLY = 6e-10
APPLY_OUTPUT = 5e-11
"""Seconds the preconditioner takes for each value of L: for one output, and for each other one."""

GROW = {4: 1.3e-11, 8: 2.6e-11}
"""Seconds the factor and its Gram matrix take for each n rank^2, by the bytes of a value."""

WINDOW = 20
"""Earlier directions a step is kept conjugate to, float32 pairs."""

WINDOW_SHARE = 32
"""All of them take at most one part in so many of the memory budget."""

WORK_BYTES = 96
"""Of the descent's other vectors, for each row and output."""

CODED_STEPS = 2.2
"""Codes need restarts: for each unit of their rounding over the noise, this part more steps."""

RESTART = 2.5
"""Evaluations that a value of the restarts' float64 residual takes the time of."""

BLOCK_PASSES = 15.0
BLOCK_ROWS = 5000
BLOCK_OVERHEAD = 4e-9
"""Kernel passes of greedy blocks at that many rows (they grow with the root of n), and the seconds of selection for
each of the n^2 values."""

FACTOR = {4: 1.25e-12, 8: 2.4e-12}
"""Seconds of a Cholesky factorization for each of n^3, by the bytes of a value."""

STEEPNESS = 5.0
REDUCTION = 5e4
LEAST_DELTA = 1e-5
"""See `largest_left` and `forecast_steps`."""

SHARED_STEPS, MANY_OUTPUTS = 0.5, 8
"""Part of the steps that outputs need together, from this many on: they share directions."""

SAVING, MIN_SAVING, MAX_SAVING = 0.25, 0.05, 0.25
"""Part of the time that a GiB of kept values must save, and its limits: memory is left to others where it helps little.
"""

LOOK_AHEAD = 1.25
TIE, KEPT_TIE = 1.15, 1.07
"""Growth goes on while it costs no more than this: the optimum is flat, and more columns mean fewer evaluations,
where K is not kept whole. In float64 they take twice the memory, and the steps are few."""

MIN_RANK = 256

MIN_DRAWS = 64

GRAM_BYTES = 8
"""The Gram matrix is in float64 until it is factored."""

MIN_ROOM = 8 << 20
"""Bytes that a small system's preconditioner may take whatever the budget."""


@dataclass(frozen=True)
class Plan:
    """Full-vector steps with the preconditioner at hand.

    Attributes
    ----------
    steps : float
        Forecast number of steps.
    seconds : float
        Of all that is still to do.
    reserved : int
        Bytes the preconditioner takes.
    coded : bool
        Keep K as 16-bit codes.
    keep : bool
        Keep of K what fits.
    whole : bool
        All of it does.
    """

    steps: float
    seconds: float
    reserved: int
    coded: bool
    keep: bool
    whole: bool = False


def forecast_steps(n: int, rank: int, left: float) -> float:
    """Return about how many preconditioned steps reach a tolerance of 1e-4.

    Parameters
    ----------
    n, rank : int
    left : float
        Mean Schur diagonal over the noise.

    Notes
    -----
    A fit to arm8 and Kin40k at n = 10,000 and 20,000, ranks 500 to 4,000 (16 to 133 steps, all within a fifth). The
    condition number is 1 + |K - L L'| / sigma^2, and that norm grows with n at a given trace.

    Where little is left the theory of conjugate gradients tells more: with that norm at delta sigma^2 each step divides
    the error by about 4 / delta.
    """
    many = 6 + 11 * np.sqrt(n / 1e4) * left**0.75
    delta = largest_left(n, rank, left)
    few = 1 + np.log(REDUCTION) / np.log(4 / max(delta, LEAST_DELTA)) if delta < 2 else np.inf
    return float(min(many, few))


def largest_left(n: int, rank: int, left: float) -> float:
    """Return about |K - L L'| over the noise, from `left`, its mean diagonal over the noise.

    Of eigenvalues that fall as a power of their number, the trace of those after `rank` is the largest of them times
    rank / (power - 1).
    """
    return STEEPNESS * n * left / max(rank, 1)


def window(system: LinearSystem, n_outputs: int) -> int:
    """Return how many earlier directions to keep: 20, fewer where they would take a good part of the budget."""
    affordable = int(system.storage.room / (WINDOW_SHARE * 8 * system.n * n_outputs))
    return max(2, min(affordable, WINDOW))


def plan(system: LinearSystem, rank: int, trace: float, n_outputs: int, value_bytes: int = CODED.itemsize) -> Plan:
    """Forecast the cost of full-vector steps with a preconditioner of this rank that leaves this trace.

    `value_bytes` are those of a value of L.
    """
    n, d = system.X.shape
    # L, the factor of its Gram matrix, and the vectors of the descent.
    reserved = (
        value_bytes * n * rank
        + system.dtype.itemsize * rank**2
        + n * n_outputs * (WORK_BYTES + 8 * window(system, n_outputs))
    )
    room = max(system.storage.room - reserved, 0)
    steps = forecast_steps(n, rank, trace / system.noise) * (SHARED_STEPS if n_outputs >= MANY_OUTPUTS else 1.0)
    evaluate = _evaluation(d, system.dtype.itemsize)
    rest = n**2 * MULTIPLY * (n_outputs - 1) + n * rank * (APPLY + APPLY_OUTPUT * (n_outputs - 1))
    bare = steps * (n**2 * evaluate + rest)
    ways: list[tuple[np.dtype[Any], float, float]] = [(system.dtype, steps, 0.0)]
    if system.precision.allows_codes:
        ways.append((CODED, (1 + CODED_STEPS * system.precision.code_rounding) * steps, n**2 * RESTART * evaluate))
    forecasts = [(bare, steps, 0.0, False)]
    for kept, count, restart in ways:
        whole = half_bytes(n, kept)
        share = min(1.0, room / whole)
        seconds = restart + count * (n**2 * (share * READ[kept.itemsize] + (1 - share) * evaluate) + rest)
        forecasts.append((seconds, count, share * whole, kept == CODED))
    seconds, count, size, coded = min(forecasts)
    if seconds > bare * (1 - np.clip(SAVING * size / 2**30, MIN_SAVING, MAX_SAVING)):
        return Plan(steps, seconds, reserved, coded=False, keep=False)
    return Plan(
        count, seconds, reserved, coded, keep=True, whole=room >= half_bytes(n, CODED if coded else system.dtype)
    )


def _evaluation(d: int, itemsize: int) -> float:
    """Return the seconds a product takes for each of the n^2 values that are evaluated."""
    return EVALUATE[itemsize] + EVALUATE_FEATURE[itemsize] * d


def block_seconds(system: LinearSystem, n_outputs: int) -> float:
    """Forecast what greedy blocks take; it hardly depends on the noise, which full-vector steps depend on most."""
    n, d = system.X.shape
    passes = (
        BLOCK_PASSES
        * np.sqrt(n / BLOCK_ROWS)
        * (2 * _evaluation(d, system.dtype.itemsize) + BLOCK_OVERHEAD + MULTIPLY * n_outputs)
    )
    return float(float(n) ** 2 * passes)


def cholesky_seconds(system: LinearSystem) -> float:
    """Forecast what the direct solver takes; infinite where its factor exceeds the memory budget."""
    n, d = system.X.shape
    itemsize = factor_dtype(system).itemsize
    if itemsize * n**2 > system.storage.budget:
        return float(np.inf)
    # A fill and a float64 residual, both of one half.
    return float(FACTOR[itemsize] * float(n) ** 3 + 4 * n**2 * _evaluation(d, 8))


def grow_to_best_rank(system: LinearSystem, factor: ColumnFactor, n_outputs: int, limit: float) -> Plan:
    """Add pivots to the factor while what they are forecast to save is more than what they cost.

    Parameters
    ----------
    system : LinearSystem
    factor : ColumnFactor
    n_outputs : int
    limit : float
        Seconds that another way would take: growth stops where it has cost a tenth of that and does not look better.
    """
    n = system.n
    grow = GROW[system.dtype.itemsize] * n
    traces = {0: factor.trace}
    here = plan(system, 0, factor.trace, n_outputs, factor.value_bytes)
    room = max(system.storage.room, MIN_ROOM)
    # The next columns are evaluated beside L: a fifth of the budget at most.
    draws = int(np.clip(room / (20 * n), MIN_DRAWS, DRAWS))
    while factor.rank < n // 2 and factor.grow(min(draws, n)):
        rank, trace = factor.rank, factor.trace
        traces[rank] = trace
        here = plan(system, rank, trace, n_outputs, factor.value_bytes)
        if rank >= MIN_RANK and factor.leaves_much:
            factor.compress()
        if (
            here.reserved
            - factor.value_bytes * n * rank
            + factor.bytes
            + system.dtype.itemsize * draws * n
            + GRAM_BYTES * rank**2
            > room
        ):
            break
        if rank < min(MIN_RANK, n // 4):
            continue
        # The trace falls about as a power of the rank: that of the second half of the columns so far.
        half = min(traces, key=lambda r: abs(r - rank / 2))
        power = np.log(max(traces[half], 1e-300) / max(trace, 1e-300)) / np.log(rank / half) if half else 1.0
        further = int(np.ceil(rank * LOOK_AHEAD))
        there = plan(system, further, trace * LOOK_AHEAD**-power, n_outputs, factor.value_bytes)
        growth = grow * (further**2 - rank**2)
        spent = grow * rank**2 + _evaluation(system.X.shape[1], system.dtype.itemsize) * n * rank
        hopeless = spent > 0.1 * limit and there.seconds > limit
        tie = KEPT_TIE if here.whole or system.dtype == np.float64 else TIE
        if hopeless or there.seconds + growth >= tie * here.seconds:
            break
    return here
