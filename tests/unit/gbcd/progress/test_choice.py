from dataclasses import replace

import numpy as np
import pytest

from gbcd import KernelSystem, solve
from gbcd.progress.choice import Choice, SolverChoice, StepChoice
from gbcd.solvers.cg import ConjugateGradients

STEPS = StepChoice("full-vector steps", "quicker", 0.5, block_size=500, rank=1234, n_steps=12.4)
BLOCKS = StepChoice("greedy blocks", "a block size was given", 0.5, block_size=60)


@pytest.mark.parametrize(
    ("choice", "sentence"),
    [
        (Choice(), ""),
        (STEPS, "about 12 full-vector steps after a coarse block of 1,234"),
        (
            replace(STEPS, steps_gave_way=True),
            "about 12 full-vector steps after a coarse block of 1,234, then greedy blocks of 500",
        ),
        (BLOCKS, "greedy blocks of 60"),
        (
            replace(BLOCKS, factor="instead of blocks"),
            "greedy blocks of 60: replaced by cholesky, whose factor fits the memory budget",
        ),
        (replace(BLOCKS, factor="before blocks"), "greedy blocks of 60, after cholesky"),
        (SolverChoice("gbcd", str(BLOCKS), 0.5, BLOCKS), "gbcd: greedy blocks of 60"),
        (SolverChoice("cholesky", "300 rows are factored at once", 0.1), "cholesky: 300 rows are factored at once"),
    ],
)
def test_a_choice_is_a_sentence(choice, sentence):
    assert str(choice) == sentence
    assert bool(choice) == bool(sentence)


def test_a_solver_without_a_choice_says_nothing(problem):
    X, Y, kernel, noise = problem(30)
    result = solve(KernelSystem(X, kernel, noise), Y, ConjugateGradients())
    assert not result.choice
    assert np.isnan(result.choice.seconds)
    assert result.solver == "cg"
