"""`pose bench`: tables and figures of the paper, measured again."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pipelines.terminal.console import notes, print_table, reporting
from pipelines.terminal.console_reporter import ConsoleReporter
from pipelines.terminal.exit_codes import EXIT_FAILURE

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
            help="table2 to table5, figure1 to figure4 (the paper's), solvers (more), shapes (retrieval), or all."
        ),
    ],
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
) -> None:
    """Make a table or figure of the paper, today's peers in it: time, kernel passes, memory, error, exactness.

    A run that was stopped goes on from the results in the folder. Each cell of a full run has its own process.
    """
    from pipelines.bench.runner.run import run_benchmark
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
    for fault in outcome.left_out:  # said when it was found, which is long ago by now
        reporter.fault(f"left out: {fault}")
    if outcome.failed or outcome.left_out:
        raise typer.Exit(EXIT_FAILURE)
