"""Arguments that several commands share, and checks of paths before the work."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pipelines.errors import UsageError

DataArgument = Annotated[Path, typer.Argument(help="HumanEva-I tree: the folder that holds S1, S2, ...")]
ModelOption = Annotated[Path, typer.Option("--model", "-m", help="The model file, .h5.")]
MasksOption = Annotated[
    Path | None, typer.Option(help="Folder of ready-made silhouettes, S1/Walking_1_(C1)/ or .avi, frame by frame.")
]


def check_target(path: Path, *suffixes: str) -> None:
    """Refuse, before the work, a result that cannot be written or whose name has another ending."""
    if path.suffix.lower() not in suffixes:
        raise UsageError(f"{path}: the name must end in {' or '.join(suffixes)}")
    if not path.parent.is_dir():
        raise UsageError(f"{path}: its folder does not exist; make it first")
    if path.is_dir():
        raise UsageError(f"{path}: is a folder, a file name is needed")


def check_folders(masks: Path | None, work: Path | None) -> None:
    """Refuse a missing folder of masks, and a `work` that is no folder."""
    if masks is not None and not masks.is_dir():
        raise UsageError(f"--masks {masks}: no such folder")
    if work is not None and work.exists() and not work.is_dir():
        raise UsageError(f"--work {work}: is a file, a folder is needed")
