"""`cost_model`, `plan` and `coarse_block`: what full-vector steps take, and how far the coarse block grows."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from gbcd import KernelSystem, SquaredExponential
from gbcd.solvers.cholesky import Cholesky
from gbcd.solvers.coarse_block import grow_coarse_block
from gbcd.solvers.column_factor import MIN_FACTOR_BYTES, ColumnFactor
from gbcd.solvers.cost_model import CostModel
from gbcd.solvers.preconditioner import Preconditioner
from gbcd.solvers.step_plan import MAX_WINDOW, plan_steps, window
from gbcd.system.kept_tiles import CODED, half_bytes
from gbcd.system.precision import MAX_CODE_ROUNDING

MB = 1 << 20
MODEL = CostModel()
NOISES = [1.0, 1e-1, 1e-2, 1e-3, 1e-4]


def system_of(n=2000, d=3, gamma=0.2, noise=1e-2, budget=256 * MB, precision="mixed"):
    X = np.random.default_rng(0).standard_normal((n, d))
    return KernelSystem(X, SquaredExponential(gamma), noise, budget, precision)


def factor_seconds(system):
    return MODEL.cholesky_seconds(system, Cholesky().first_dtype(system))


@pytest.mark.parametrize("n", [1, 10, 10**4, 10**6])
def test_more_left_is_more_steps(n):
    steps = [MODEL.forecast_steps(n, n // 10, left) for left in (1e-9, 1e-3, 0.1, 1, 10, 1e4)]
    assert steps[0] > 0
    assert (np.diff(steps) >= 0).all()
    assert steps[-1] > steps[0]
    assert np.isfinite(steps).all()
    assert MODEL.forecast_steps(2 * n, 1, 1.0) > MODEL.forecast_steps(n, 1, 1.0)


def test_more_left_costs_more():
    system = system_of()
    seconds = [plan_steps(MODEL, system, 300, trace, 1).seconds for trace in (0, 1e-4, 1e-3, 1e-2, 0.1, 1)]
    assert (np.diff(seconds) > 0).all()
    assert all(
        plan_steps(MODEL, system, 300, 1e-3, q + 1).seconds > plan_steps(MODEL, system, 300, 1e-3, q).seconds
        for q in (1, 2, 44)
    )


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("q", [1, 45])
def test_more_memory_is_never_much_slower(noise, q):
    plans = [
        plan_steps(MODEL, system_of(noise=noise, budget=mb * MB), 200, 0.5, q)
        for mb in (0, 1, 2, 5, 10, 20, 40, 80, 160, 500)
    ]
    for less, more in pairwise(plans):
        # More memory is also more earlier directions, which leave less of it for K: but the time is that of K's values.
        assert more.seconds <= 1.02 * less.seconds
    assert plans[-1].seconds < plans[0].seconds
    assert not plans[0].keep
    assert plans[-1].keep


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("precision", ["mixed", "float64"])
@pytest.mark.parametrize("mb", [0, 1, 5, 12, 40, 1000])
def test_codes_are_planned_where_they_are_allowed_alone(noise, precision, mb):
    system = system_of(noise=noise, budget=mb * MB, precision=precision)
    made = plan_steps(MODEL, system, 200, 0.5, 1)
    assert made.steps >= MODEL.forecast_steps(system.n, 200, 0.5 / noise)
    assert made.seconds > 0
    assert made.reserved >= 2 * system.n * 200
    if made.coded:
        assert made.keep
        assert system.precision.allows_codes
    if not made.keep:
        assert not made.coded
        assert made.steps == MODEL.forecast_steps(system.n, 200, 0.5 / noise)


def test_codes_are_taken_where_they_save_more_than_their_steps_cost():
    system = system_of(noise=1e-3, budget=1000 * MB)
    assert 0.2 < system.precision.code_rounding < MAX_CODE_ROUNDING
    # A restart's exact gradient outweighs what codes of so few rows save.
    assert not plan_steps(MODEL, system, 200, 0.01, 1).coded
    no_restarts = CostModel(restart_evaluations_per_value=0.0)
    coded = plan_steps(no_restarts, system, 200, 0.01, 1)
    assert coded.coded
    assert coded.steps > MODEL.forecast_steps(system.n, 200, 10.0)
    # Values in tile precision take twice the time to read, and no further steps.
    whole = plan_steps(replace(no_restarts, coded_extra_steps=10.0), system, 200, 0.01, 1)
    assert whole.keep
    assert not whole.coded
    assert coded.seconds < whole.seconds < 2 * coded.seconds


@pytest.mark.parametrize("mb", [0, 1, 10, 100, 10_000])
@pytest.mark.parametrize("q", [1, 45])
def test_the_earlier_directions_take_a_small_part_of_the_budget(mb, q):
    system = system_of(budget=mb * MB)
    kept = window(system, q)
    assert 2 <= kept <= MAX_WINDOW
    # Pairs in float32.
    assert kept == 2 or 8 * system.n * q * kept <= system.storage.budget / 16
    assert window(system_of(budget=10_000 * MB), 1) == MAX_WINDOW


def test_a_factor_beyond_the_budget_is_never_chosen():
    for precision, n, itemsize in (("mixed", 1500, 8), ("mixed", 2500, 4), ("float64", 2500, 8)):
        fits, short = (system_of(n, budget=itemsize * n**2 - missing, precision=precision) for missing in (0, 1))
        assert 0 < factor_seconds(fits) < np.inf
        assert factor_seconds(short) == np.inf


def test_larger_systems_take_longer():
    seconds = [(MODEL.block_seconds(s, 1), factor_seconds(s)) for s in (system_of(n) for n in (10, 100, 1000, 1900))]
    assert (np.diff(seconds, axis=0) > 0).all()
    assert MODEL.block_seconds(system_of(), 45) > MODEL.block_seconds(system_of(), 1)
    assert MODEL.block_seconds(system_of(d=300), 1) > MODEL.block_seconds(system_of(d=3), 1)


@pytest.mark.parametrize("n", [1, 2, 3, 10, 300])
@pytest.mark.parametrize("budget", [0, MB, 1000 * MB])
@pytest.mark.parametrize("noise", [1e-1, 1e-6])
@pytest.mark.parametrize("limit", [0.0, np.inf])
def test_growth_returns_for_the_smallest_systems(n, budget, noise, limit):
    system = system_of(n, budget=budget, noise=noise)
    factor = ColumnFactor(system, np.random.default_rng(0))
    made = grow_coarse_block(MODEL, system, factor, 1, limit)
    assert 0 <= factor.rank <= n
    assert np.isfinite([made.steps, made.seconds]).all()
    assert np.isfinite(Preconditioner(factor, noise).solve(np.ones((n, 1)))).all()


@pytest.mark.parametrize("copies", [1, 2000])
def test_growth_returns_where_rows_repeat(copies):
    X = np.repeat(np.random.default_rng(0).standard_normal((2000 // copies, 2)), copies, axis=0)
    for noise in (1e-1, 1e-6):
        system = KernelSystem(X, SquaredExponential(1e-6), noise, 0)
        factor = ColumnFactor(system, np.random.default_rng(0))
        made = grow_coarse_block(MODEL, system, factor, 1, np.inf)
        assert np.isfinite(made.seconds)
        # As many as the precision tells apart: K is nearly of rank one.
        assert factor.rank <= 20


@pytest.mark.parametrize("mb", [0, 1, 4, 10, 30, 100])
@pytest.mark.parametrize(("gamma", "noise"), [(5.0, 1e-2), (0.2, 1e-3), (1e4, 1e-1)])
def test_growth_stays_within_the_budget(mb, gamma, noise):
    system = system_of(4000, gamma=gamma, noise=noise, budget=mb * MB)
    factor = ColumnFactor(system, np.random.default_rng(0))
    made = grow_coarse_block(MODEL, system, factor, 1, np.inf)
    room = max(system.storage.room, MIN_FACTOR_BYTES)
    # A last call of `grow` may step over it by its own columns.
    assert factor.bytes <= 1.05 * room
    assert factor.rank <= system.n // 2 + 512
    preconditioner = Preconditioner(factor, noise)
    assert preconditioner.bytes <= 1.2 * room
    if made.keep:
        assert made.reserved < system.storage.room


def test_growth_stops_where_another_way_is_quicker():
    # Nothing of this kernel is low-rank: more columns do not help.
    ranks = []
    for limit in (1e-9, np.inf):
        system = system_of(3000, gamma=1e4, noise=1e-3)
        factor = ColumnFactor(system, np.random.default_rng(0))
        grow_coarse_block(MODEL, system, factor, 1, limit)
        ranks.append(factor.rank)
    assert ranks[0] < 1000
    assert ranks[0] <= ranks[1]


def test_a_whole_half_costs_no_more_than_its_part():
    system = system_of(4000, noise=0.05, budget=10_000 * MB)
    whole = plan_steps(MODEL, system, 200, 0.1, 1)
    assert whole.keep
    for dtype in (CODED, np.dtype(np.float32)):
        part = system_of(4000, noise=0.05, budget=half_bytes(4000, dtype))
        assert whole.seconds <= plan_steps(MODEL, part, 200, 0.1, 1).seconds
