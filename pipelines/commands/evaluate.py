"""`pose eval`: the errors of a model."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from pipelines.commands.arguments import DataArgument, MasksOption, ModelOption, check_folders, check_target
from pipelines.errors import UsageError
from pipelines.terminal.console import output, reporting


def eval_command(
    data: DataArgument,
    model: ModelOption,
    partition: Annotated[
        str | None,
        typer.Option(
            help="Train, Validate or Test, as the model's data.scheme divides. Default: Validate, or Test of a scheme "
            "that has only Train and Test."
        ),
    ] = None,
    json_path: Annotated[Path | None, typer.Option("--json", help="Also write the errors here, as JSON.")] = None,
    png: Annotated[Path | None, typer.Option(help="The picture. Default: beside the model.")] = None,
    report: Annotated[
        Path | None, typer.Option(help="Also write a page here, .html: tables, frames, the poses in 3D; opens offline.")
    ] = None,
    masks: MasksOption = None,
    work: Annotated[
        Path | None,
        typer.Option(
            "--work", help="Keep the silhouettes of finished videos here, for the next run. Default: nowhere."
        ),
    ] = None,
) -> None:
    """Compare a model's poses with the motion capture: by subject, action, camera and joint."""
    from pipelines.evaluation.evaluate import evaluate
    from pipelines.evaluation.page import save_page
    from pipelines.evaluation.picture import save_picture
    from pipelines.evaluation.tables import error_table, interval_table
    from pipelines.model.facts import model_facts
    from pipelines.model.pose_model import PoseModel
    from pose.files import atomic_path
    from pose.humaneva.splits import evaluated_partition, partition_names

    if json_path:
        check_target(json_path, ".json")
    if report:
        check_target(report, ".html", ".htm")
    check_folders(masks, work)
    trained = PoseModel.load(model)
    scheme = trained.config.data.scheme
    partition = partition or evaluated_partition(scheme)
    if partition not in (names := partition_names(scheme)):
        raise UsageError(f"--partition {partition}: there are {', '.join(names)} (the model's data.scheme: {scheme})")
    picture = png or model.with_name(f"{model.stem}_{partition.lower()}.png")
    check_target(picture, ".png")
    with reporting() as reporter:
        evaluation = evaluate(data, trained, reporter, partition=partition, masks=masks, work=work)
        save_picture(picture, evaluation)
    if json_path:
        with atomic_path(json_path) as temporary:
            temporary.write_text(json.dumps(evaluation.as_dict(), indent=1))
    if report:
        save_page(report, evaluation, model.name, model_facts(trained))
    output.print(error_table(evaluation))
    if evaluation.std is not None:
        output.print(interval_table(evaluation))
    print(f"picture {picture}" + (f"\nreport  {report}" if report else ""))
