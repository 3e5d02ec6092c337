"""`pose info`: what a model file holds."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.table import Column, Table

from pipelines.terminal.console import output


def info_command(model: Annotated[Path, typer.Argument(help="The model file, .h5.")]) -> None:
    """Show what a model file holds."""
    from pipelines.model.facts import model_facts
    from pipelines.model.pose_model import PoseModel

    trained = PoseModel.load(model)
    table = Table("", Column(overflow="fold"), title=str(model), show_header=False)
    for name, value in model_facts(trained).items():
        table.add_row(name, value)
    output.print(table)
