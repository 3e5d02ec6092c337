"""`pose bench`: tables and figures of the paper, measured again."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pipelines.commands.arguments import check_folders
from pipelines.errors import UsageError
from pipelines.terminal.console import notes, print_table, reporting
from pipelines.terminal.console_reporter import ConsoleReporter
from pipelines.terminal.exit_codes import EXIT_FAILURE

STUDIES = ("options", "temporal")
"""Names of benchmarks that print one table about a HumanEva tree and keep no results."""

EPILOG = """\b
Examples:
  pose bench all --size quick
  pose bench table4 --data my-data --repeat 10 --out results
  pose bench shapes --data MPEG7_CE-Shape-1_Part_B --out results
"""


def bench_command(
    name: Annotated[
        str,
        typer.Argument(
            help="table2 to table5, figure1 to figure4 (the paper's), solvers (more), shapes (retrieval), or all; "
            "or options and temporal, studies on the poses of a TREE."
        ),
    ],
    tree: Annotated[
        Path | None, typer.Argument(help="HumanEva-I tree, for the studies options and temporal alone.")
    ] = None,
    size: Annotated[
        str, typer.Option(help="full (minutes to an hour each), or quick (all in a minute or two).")
    ] = "full",
    data: Annotated[
        Path | None,
        typer.Option(
            help="Folder of data sets, .npz, .csv or .mat: table4 takes all, the others kin40k, calhouse or sarcos. "
            "table5 takes poses in HumanEva's format, shapes needs the MPEG-7 pictures. Default: simulated ones alone, "
            "as all quick tables but solvers."
        ),
    ] = None,
    repeat: Annotated[
        int,
        typer.Option(help="Measure each cell so often: medians, and for errors mean ± deviation over random splits."),
    ] = 1,
    out: Annotated[
        Path, typer.Option(help="Folder for the results: NAME-SIZE.json, pictures, and RESULTS.md of all.")
    ] = Path("bench-results"),
    limit: Annotated[float, typer.Option(help="Seconds a cell may take; a slash in the table stands for more.")] = 1800,
    overwrite: Annotated[bool, typer.Option(help="Measure anew what is there.")] = False,
    work: Annotated[Path | None, typer.Option(help="Studies: keep edge points here, for the next run.")] = None,
    only: Annotated[str, typer.Option(help="The study options: those whose name contains this.")] = "",
    words: Annotated[int | None, typer.Option(help="The study temporal: words of the codebook. Default: 300.")] = None,
) -> None:
    """Make a table or figure of the paper, today's peers in it: time, kernel passes, memory, error, exactness.

    A run that was stopped goes on from the results in the folder. Each cell of a full run has its own process.
    """
    from pipelines.bench.runner.run import run_benchmark

    if name in STUDIES:
        _print_study(name, tree, work, only, words)
        return
    if tree is not None or work is not None or only or words is not None:
        raise UsageError(f"{name}: TREE, --work, --only and --words are for {' and '.join(STUDIES)} alone; --data DIR?")
    from pipelines.bench.runner.sheets import LEGEND, below, screen_table

    with reporting() as reporter:
        outcome = run_benchmark(
            name, out, reporter, size=size, data=data, repeat=repeat, limit=limit, overwrite=overwrite
        )
    for filled in outcome.sheets:
        print_table(screen_table(filled))
        print("\n".join(below(filled)), end="\n\n")
    print(LEGEND)
    print(f"tables  {out / 'RESULTS.md'}")
    reporter = ConsoleReporter(notes)
    if outcome.failed:
        reporter.fault(f"{outcome.failed} of the measurements failed; the tables say how")
    for fault in outcome.left_out:  # said again: it was found long before the tables
        reporter.fault(f"left out: {fault}")
    if outcome.failed or outcome.left_out:
        raise typer.Exit(EXIT_FAILURE)


def _print_study(name: str, tree: Path | None, work: Path | None, only: str, words: int | None) -> None:
    """Print the table of a study. That of the options comes line by line, as each line takes minutes."""
    from pipelines.bench.studies.options import options_table
    from pipelines.bench.studies.temporal import N_WORDS, temporal_table

    if tree is None:
        raise UsageError(f"{name}: which HumanEva-I tree? pose bench {name} TREE")
    check_folders(None, work)
    if words is not None and words < 1:
        raise UsageError(f"--words {words}: a codebook needs one word or more")
    if name == "temporal":
        print(temporal_table(tree, work, N_WORDS if words is None else words))
        return
    for line in options_table(tree, work, only):
        print(line, flush=True)
