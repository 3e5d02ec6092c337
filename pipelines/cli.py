"""The command line: the program `pose`, and the names of its commands."""

from __future__ import annotations

from importlib.metadata import version
from typing import Annotated

import typer

from pipelines.commands.bench import EPILOG, bench_command
from pipelines.commands.data_check import data_check_command
from pipelines.commands.data_convert import data_convert_command
from pipelines.commands.data_info import data_info_command
from pipelines.commands.demo import demo_command
from pipelines.commands.describe import describe_command
from pipelines.commands.evaluate import eval_command
from pipelines.commands.export import export_command
from pipelines.commands.fuse import fuse_command
from pipelines.commands.info import info_command
from pipelines.commands.predict import predict_command
from pipelines.commands.synth import synth_command
from pipelines.commands.train import train_command
from pipelines.terminal.exit_codes import run

app = typer.Typer(
    name="pose",
    help="3D human poses from video silhouettes, by an exact Gaussian process.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
data_app = typer.Typer(help="Look through a HumanEva-I tree.", no_args_is_help=True, rich_markup_mode=None)


@app.callback(invoke_without_command=True)
def _main(
    show_version: Annotated[bool, typer.Option("--version", help="Print the version and exit.")] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show tracebacks; may stand anywhere.")] = False,
) -> None:
    del debug  # `run` reads it from the arguments: it must hold for errors that typer never sees
    if show_version:
        print(f"gbcd-pose {version('gbcd-pose')}")
        raise typer.Exit


app.command("demo")(demo_command)
app.command("synth")(synth_command)
app.command("train")(train_command)
app.command("eval")(eval_command)
app.command("predict")(predict_command)
app.command("fuse")(fuse_command)
app.command("export")(export_command)
app.command("info")(info_command)
app.command("describe")(describe_command)
app.command("bench", epilog=EPILOG)(bench_command)
app.add_typer(data_app, name="data")
data_app.command("info")(data_info_command)
data_app.command("check")(data_check_command)
data_app.command("convert")(data_convert_command)


def main() -> None:
    """Run the command line."""
    run(app)


if __name__ == "__main__":
    main()
