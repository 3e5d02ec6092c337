"""How many columns the coarse block gets: it grows while the columns are forecast to save more than they cost."""

from __future__ import annotations

import numpy as np

from gbcd.solvers.column_factor import MAX_DRAWN_PIVOTS, MIN_DRAWN_PIVOTS, MIN_FACTOR_BYTES, ColumnFactor
from gbcd.solvers.cost_model import CostModel
from gbcd.solvers.step_plan import Plan, plan_steps
from gbcd.system.protocol import LinearSystem

GRAM_BYTES = 8
"""Bytes of a value of the Gram matrix L' L, which is in float64 until it is factored."""

BUDGET_BYTES_PER_DRAWN_VALUE = 20
"""Bytes of the memory budget for each value of the columns drawn at a time, which in float32 take a fifth of it."""

MIN_TRACE = 1e-300
"""Smallest mean of the Schur diagonal whose logarithm is taken: smaller means, and zero, count as this."""


def grow_coarse_block(
    model: CostModel, system: LinearSystem, factor: ColumnFactor, n_outputs: int, limit: float
) -> Plan:
    """Add pivots to the factor while what they are forecast to save is more than what they cost.

    Parameters
    ----------
    model : CostModel
    system : LinearSystem
    factor : ColumnFactor
    n_outputs : int
    limit : float
        Seconds that the quickest other way would take. Growth stops once it has taken a tenth of that and the
        full-vector steps are still forecast to take longer.

    Returns
    -------
    Plan
        The full-vector steps with the grown factor.
    """
    growth = _Growth(model, system, factor, n_outputs)
    here = growth.plan(0, factor.trace)
    while factor.rank < system.n // 2 and factor.grow(growth.draws):
        here = growth.plan_here()
        if not growth.has_room(here) or (growth.can_look_ahead and not growth.pays(here, limit)):
            break
    return here


class _Growth:
    """The growing factor, and the mean Schur diagonal that it left at each rank."""

    def __init__(self, model: CostModel, system: LinearSystem, factor: ColumnFactor, n_outputs: int) -> None:
        self._model = model
        self._system = system
        self._factor = factor
        self._n_outputs = n_outputs
        self._traces = {0: factor.trace}
        self._room = max(system.storage.room, MIN_FACTOR_BYTES)
        affordable = self._room / (BUDGET_BYTES_PER_DRAWN_VALUE * system.n)
        self._most_draws = int(np.clip(affordable, MIN_DRAWN_PIVOTS, MAX_DRAWN_PIVOTS))

    @property
    def draws(self) -> int:
        """Pivots to draw at a time."""
        return min(self._most_draws, self._system.n)

    def plan(self, rank: int, trace: float) -> Plan:
        """Return the plan with a factor of this rank that leaves this trace."""
        return plan_steps(self._model, self._system, rank, trace, self._n_outputs, self._factor.value_bytes)

    def plan_here(self) -> Plan:
        """Return the plan with the present factor, and turn the factor into codes where it can grow on as codes."""
        factor = self._factor
        self._traces[factor.rank] = factor.trace
        here = self.plan(factor.rank, factor.trace)
        if factor.rank >= self._model.min_rank and factor.leaves_much:
            factor.compress()
        return here

    def has_room(self, here: Plan) -> bool:
        """Whether the budget holds another draw's columns beside the present factor, coded or not."""
        n, rank, factor = self._system.n, self._factor.rank, self._factor
        beside = here.reserved - factor.value_bytes * n * rank
        drawn = self._system.dtype.itemsize * self._most_draws * n
        return beside + factor.bytes + drawn + GRAM_BYTES * rank**2 <= self._room

    @property
    def can_look_ahead(self) -> bool:
        """Whether the rank suffices to extrapolate how the trace falls."""
        return self._factor.rank >= min(self._model.min_rank, self._system.n // 4)

    def pays(self, here: Plan, limit: float) -> bool:
        """Whether to go on: the rank ahead is forecast to cost hardly more than the present rank, and not hopeless."""
        model, rank = self._model, self._factor.rank
        further = int(np.ceil(rank * model.growth_factor))
        there = self.plan(further, self._factor.trace * model.growth_factor ** -self._decay())
        per_rank_squared = model.grow_seconds_per_row_and_rank_squared.of(self._system.dtype) * self._system.n
        hopeless = self._seconds_spent() > model.max_share_spent_growing * limit and there.seconds > limit
        kept_or_float64 = here.whole or self._system.dtype == np.float64
        tolerated = model.tolerated_growth_cost_when_kept if kept_or_float64 else model.tolerated_growth_cost
        growth = per_rank_squared * (further**2 - rank**2)
        return not hopeless and there.seconds + growth < tolerated * here.seconds

    def _decay(self) -> float:
        """Return p where the trace falls as rank^-p, from the second half of the columns so far."""
        rank, traces = self._factor.rank, self._traces
        half = min(traces, key=lambda r: abs(r - rank / 2))
        if not half:
            return 1.0
        return float(np.log(max(traces[half], MIN_TRACE) / max(traces[rank], MIN_TRACE)) / np.log(rank / half))

    def _seconds_spent(self) -> float:
        """Return the seconds that the cost model gives for the factor so far."""
        n, d = self._system.X.shape
        model, rank, dtype = self._model, self._factor.rank, self._system.dtype
        growing = model.grow_seconds_per_row_and_rank_squared.of(dtype) * n * rank**2
        return float(growing + model.evaluation_seconds_per_value(d, dtype) * n * rank)
