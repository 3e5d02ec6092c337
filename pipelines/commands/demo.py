"""`pose demo`: the whole job on a small synthetic data set."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pipelines.terminal.console import output, reporting


def demo_command(
    out: Annotated[Path, typer.Option(help="Folder for the data, model, pictures and video; overwritten.")] = Path(
        "pose-demo"
    ),
) -> None:
    """Synthesize a small data set, train, evaluate and predict a video: the whole job in a minute or two."""
    from pipelines.demo import run_demo
    from pipelines.evaluation.tables import error_table

    with reporting() as reporter:
        evaluation = run_demo(out, reporter)
    output.print(error_table(evaluation))
    print(f"\nmodel     {out / 'model.h5'}")
    print(f"report    {out / 'report.html'}   as one picture: report.png")
    print(f"video     {out / 'Walking_1_(C1)_overlay.mp4'}   joints beside it as .csv and .h5")
    print(f"next      pose info {out / 'model.h5'};   pose train YOUR_DATA --model my.h5")
