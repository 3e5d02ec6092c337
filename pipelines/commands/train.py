"""`pose train`: a model of a HumanEva-I tree."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Annotated

import typer

from pipelines.commands.arguments import DataArgument, MasksOption, ModelOption, check_folders, check_target
from pipelines.terminal.console import reporting


def train_command(
    data: DataArgument,
    model: ModelOption,
    config: Annotated[
        Path | None, typer.Option("--config", "-c", help="TOML settings; the defaults suit HumanEva-I.")
    ] = None,
    masks: MasksOption = None,
    work: Annotated[
        Path | None,
        typer.Option("--work", help="Keep the silhouettes of finished videos here. Default: MODEL.work, until done."),
    ] = None,
) -> None:
    """Train a model on the Train partition of a HumanEva-I tree; a model that is there is replaced at the end.

    A run that was stopped, started again with the same model, finds the silhouettes of the videos it had finished.
    """
    from pipelines.model.model_file import save_model
    from pipelines.settings import load_config
    from pipelines.training.train import train

    settings = load_config(config)
    check_target(model, ".h5", ".hdf5")
    check_folders(masks, work)
    folder = work or model.with_name(f"{model.name}.work")
    with reporting() as reporter:
        trained = train(data, settings, reporter, masks=masks, work=folder)
        save_model(model, trained)
    if work is None:
        shutil.rmtree(folder, ignore_errors=True)
    print(f"wrote {model};   next: pose eval {data} --model {model}")
