"""Table 2: training time and test error of dense solvers, which all solve the same system exactly."""

from __future__ import annotations

from pipelines.bench.data.problems import Catalogue
from pipelines.bench.peers import PEERS
from pipelines.bench.runner.cell import Column, Row, Size, Table
from pipelines.bench.tables.methods import BLOCKS, METHODS, PAPER
from pipelines.bench.tables.rows import (
    PASSES,
    PEAK,
    PEER,
    RESIDUAL,
    RMSE,
    SOLVE,
    TIME,
    Rows,
    in_mb,
    solve_parameters,
)

SAMPLES = {"full": 10_000, "quick": 1_500}
TEST_SAMPLES = {"full": 5_000, "quick": 500}
GROWTH = {"full": (5_000, 10_000, 20_000), "quick": (1_000, 2_000)}
"""Numbers of samples at which the second table compares blocks."""

PROBLEMS = {"full": ("friedman1", "kin40k", "calhouse"), "quick": ("friedman1",)}
OPTIONAL_PROBLEMS = ("sarcos", "outaouais")
"""Names of the paper's other data sets, which not everyone has."""

PASSES_ALLOWED = {"full": 1e6, "quick": 200.0}
GROWTH_PASSES_ALLOWED = {"full": 100.0, "quick": 200.0}
"""Kernel passes after which a solver is stopped; gradient blocks do not converge before."""

COARSE = {"full": 0.5, "quick": 4}
"""Memory budget of gbcd and pcg, bytes per kernel value. At 10,000 samples not even 16-bit codes of half of K fit."""

REMARKS = {
    "full": "As in the paper, whatever arrives has Cholesky's error, and gradient blocks do not arrive. Where "
    "Algorithm 2 is not ahead in time, as it was there, its selection, one variable after the other, outweighs what it "
    "saves in columns: kernel values cost less today.",
    "quick": f"Iterative methods are stopped after {PASSES_ALLOWED['quick']:g} passes. So few samples say nothing "
    "about the time that many take.",
}
GROWTH_REMARKS = {
    "full": "below about 15,000 samples its selection outweighs the update.",
    "quick": "for so few samples its selection outweighs the update by far.",
}

UPDATE = Column("update", "update_passes", ".1f")


def tables(size: Size, catalogue: Catalogue) -> list[Table]:
    """Return Table 2, and a table of its counts against the number of samples."""
    make = Rows(catalogue, size == "quick")
    return [_times(make, size), _counts(make, size)]


def _times(make: Rows, size: Size) -> Table:
    rows: list[Row] = []
    there = [name for name in OPTIONAL_PROBLEMS if size == "full" and name in make.catalogue.names]
    test = {"n_test": TEST_SAMPLES[size]}
    limited = test | {"max_passes": PASSES_ALLOWED[size]}
    for problem in (*PROBLEMS[size], *there):
        n = make.training_samples(problem, SAMPLES[size])
        rows += make.row(
            (METHODS["cholesky"].name, "K stored"),
            SOLVE,
            problem,
            n,
            solve_parameters("cholesky", 9 * n**2, "float64") | test,
        )
        for solver in PAPER:
            parameters = solve_parameters(solver, 0) | limited
            rows += make.row((METHODS[solver].name, in_mb(0)), SOLVE, problem, n, parameters)
        for solver in ("gbcd", "pcg"):
            budget = int(COARSE[size] * n**2)
            labels = (METHODS[solver].name, in_mb(budget))
            rows += make.row(labels, SOLVE, problem, n, solve_parameters(solver, budget) | test)
        for peer in PEERS:
            rows += make.row((peer, "K stored"), PEER, problem, n, {"peer": peer} | test)
    return Table(
        f"Training on {SAMPLES[size]:,} samples",
        ("problem", "n", "method", "budget"),
        (*TIME, PASSES, UPDATE, PEAK, RMSE, RESIDUAL),
        tuple(rows),
        f"RMSE on {TEST_SAMPLES[size]:,} test samples; Friedman1's have no noise. Update: columns of K that the steps "
        "used, over n. Budget: bytes for kernel values; 0 MB evaluates K again for every use, as the paper's programs "
        f"did. {REMARKS[size]}",
    )


def _counts(make: Rows, size: Size) -> Table:
    rows: list[Row] = []
    for problem in PROBLEMS[size][:2]:
        for n in GROWTH[size]:
            for solver in BLOCKS:
                limits = {"n_test": TEST_SAMPLES[size], "max_passes": GROWTH_PASSES_ALLOWED[size]}
                parameters = solve_parameters(solver, 0) | limits
                rows += make.row((METHODS[solver].name,), SOLVE, problem, n, parameters)
    return Table(
        "Blocks against the number of samples",
        ("problem", "n", "method"),
        (UPDATE, PASSES, *TIME, RESIDUAL),
        tuple(rows),
        "Algorithm 2 scores 60 candidates for each variable of a block of 500, about 15,000 kernel values for each "
        f"column used, against n for the update: {GROWTH_REMARKS[size]}",
    )
