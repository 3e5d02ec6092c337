"""``python -m pipelines.bench``: the solvers side by side on Friedman's problem."""

import argparse

from rich.console import Console

from pipelines.bench.solvers import compare_solvers

parser = argparse.ArgumentParser(prog="python -m pipelines.bench", description=__doc__)
parser.add_argument("--size", type=int, default=5000, help="training samples (default 5000)")
parser.add_argument("--seed", type=int, default=0)
arguments = parser.parse_args()
if arguments.size < 2:
    parser.error("--size must be 2 or more")
Console().print(compare_solvers(arguments.size, arguments.seed))
