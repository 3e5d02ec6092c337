"""The command line: it parses, and calls a pipeline."""

from __future__ import annotations

import json
import shutil
from importlib.metadata import version
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Column, Table

from pipelines.commands.data import data_app
from pipelines.commands.export import export_command
from pipelines.commands.fuse import fuse_command
from pipelines.commands.predict import predict_command
from pipelines.errors import UsageError
from pipelines.progress import ConsoleReporter
from pipelines.terminal.console import notes, output, print_table, reporting, split_names
from pipelines.terminal.exit_codes import EXIT_FAILURE, run
from pose.errors import DataError, UnfinishedError

app = typer.Typer(
    name="pose",
    help="3D human poses from video silhouettes, by an exact Gaussian process.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
app.add_typer(data_app, name="data")

DataArgument = Annotated[Path, typer.Argument(help="HumanEva-I tree: the folder that holds S1, S2, ...")]
ModelOption = Annotated[Path, typer.Option("--model", "-m", help="The model file, .h5.")]
MasksOption = Annotated[
    Path | None, typer.Option(help="Folder of ready-made silhouettes, S1/Walking_1_(C1)/ or .avi, frame by frame.")
]
TrainWorkOption = Annotated[
    Path | None,
    typer.Option("--work", help="Keep the silhouettes of finished videos here. Default: MODEL.work, until done."),
]
EvalWorkOption = Annotated[
    Path | None,
    typer.Option("--work", help="Keep the silhouettes of finished videos here, for the next run. Default: nowhere."),
]


@app.callback(invoke_without_command=True)
def _main(
    show_version: Annotated[bool, typer.Option("--version", help="Print the version and exit.")] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show tracebacks; may stand anywhere.")] = False,
) -> None:
    del debug  # `main` looks for it, as it must hold for errors that typer never sees
    if show_version:
        print(f"gbcd-pose {version('gbcd-pose')}")
        raise typer.Exit


@app.command()
def demo(
    out: Annotated[Path, typer.Option(help="Folder for the data, model, pictures and video; overwritten.")] = Path(
        "pose-demo"
    ),
) -> None:
    """Synthesize a small data set, train, evaluate and predict a video: the whole job in a minute or two."""
    from pipelines.commands.demo import run_demo
    from pipelines.evaluation.report import error_table

    with reporting() as reporter:
        evaluation = run_demo(out, reporter)
    output.print(error_table(evaluation))
    print(f"\nmodel     {out / 'model.h5'}")
    print(f"report    {out / 'report.html'}   as one picture: report.png")
    print(f"video     {out / 'Walking_1_(C1)_overlay.mp4'}   joints beside it as .csv and .h5")
    print(f"next      pose info {out / 'model.h5'};   pose train YOUR_DATA --model my.h5")


@app.command()
def synth(
    out: Annotated[Path, typer.Argument(help="Folder to make.")],
    more_motions: Annotated[
        list[str] | None, typer.Argument(metavar="[FILES]...", help="More motion files, after --motion FILE.")
    ] = None,
    motion: Annotated[
        list[str] | None,
        typer.Option(
            help="Motion files, .bvh, .amc (its .asf beside it) or .c3d, or folders of them; NAME=FILE names it."
        ),
    ] = None,
    motion_unit: Annotated[
        str | None,
        typer.Option(help="Of motion files: mm, cm, inch, m, cmu, or mm a unit. Default: stated or found out."),
    ] = None,
    motion_up: Annotated[str | None, typer.Option(help="Their up axis, x, y or z. Default: found out.")] = None,
    motion_rate: Annotated[
        float | None, typer.Option(help="Their frames a second. Default: as stated; 120 where a file states none.")
    ] = None,
    cameras: Annotated[
        Path | None, typer.Option(help="Folder of .cal files, C1.cal and so on. Default: three cameras of ours.")
    ] = None,
    camera_jitter: Annotated[float, typer.Option(help="Degrees to move the cameras by at random.")] = 0.0,
    subjects: Annotated[str, typer.Option(help="How many to draw at random, or names, of S1 to S4.")] = "S1",
    actions: Annotated[
        str | None,
        typer.Option(
            help="Generated ones, comma-separated: Walking, Jog, Box, Gestures, ThrowCatch. "
            "Default: the first three; none with --motion."
        ),
    ] = None,
    frames: Annotated[int | None, typer.Option(help="Toolkit frames of a trial.")] = None,
    mirrored: Annotated[
        bool, typer.Option("--mirrored", help="Also the mirror image of every trial, as trial 2.")
    ] = False,
    train_share: Annotated[float, typer.Option(help="The share of a trial's frames to train on.")] = 0.5,
    masks: Annotated[
        str, typer.Option(help="True masks to keep: sample (every 40th frame), png or video (all), none.")
    ] = "sample",
    facing: Annotated[
        str | None,
        typer.Option(help="Camera that boxers and gesturers face, or any: all round. Default: the first camera."),
    ] = None,
    seed: Annotated[int, typer.Option(help="Same seed, same bytes.")] = 0,
    jobs: Annotated[int | None, typer.Option(help="Processes. Default: one a processor.")] = None,
    overwrite: Annotated[
        bool, typer.Option(help="Replace a synthetic data set that is there, if nothing else is in its folder.")
    ] = False,
) -> None:
    """Make a synthetic data set in the HumanEva-I on-disk format, from generated or captured motion.

    A run that was stopped, started again with the same options, goes on from the videos it had finished.
    """
    from pipelines.data.synthesize import SynthRequest, synthesize_with_progress

    request = SynthRequest(
        subjects=int(subjects) if subjects.strip().isdigit() else split_names(subjects),
        actions=None if actions is None else split_names(actions),
        motions=[*(motion or []), *(more_motions or [])],
        motion_unit=motion_unit,
        motion_up=motion_up,
        motion_rate=motion_rate,
        cameras=cameras,
        camera_jitter=camera_jitter,
        mirrored=mirrored,
        train_share=train_share,
        masks=masks,
        facing=facing,
        n_frames=frames,
        seed=seed,
        jobs=jobs,
        overwrite=overwrite,
    )
    with reporting() as reporter:
        try:
            synthesize_with_progress(out, reporter, request)
        except UnfinishedError:
            raise
        except DataError as error:  # what it reads was named in the request: only that can be wrong
            raise UsageError(str(error)) from error
    print(f"made {out};   next: pose train {out} --model model.h5")


@app.command()
def train(
    data: DataArgument,
    model: ModelOption,
    config: Annotated[
        Path | None, typer.Option("--config", "-c", help="TOML settings; the defaults suit HumanEva-I.")
    ] = None,
    masks: MasksOption = None,
    work: TrainWorkOption = None,
) -> None:
    """Train a model on the Train partition of a HumanEva-I tree; a model that is there is replaced at the end.

    A run that was stopped, started again with the same model, finds the silhouettes of the videos it had finished.
    """
    from pipelines.model.model_file import save_model
    from pipelines.model.settings import load_config
    from pipelines.training.train import train as run

    settings = load_config(config)
    _check_target(model, ".h5", ".hdf5")
    _check_folders(masks, work)
    folder = work or model.with_name(f"{model.name}.work")
    with reporting() as reporter:
        trained = run(data, settings, reporter, masks=masks, work=folder)
        save_model(model, trained)
    if work is None:
        shutil.rmtree(folder, ignore_errors=True)
    print(f"wrote {model};   next: pose eval {data} --model {model}")


@app.command("eval")
def evaluate(
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
    work: EvalWorkOption = None,
) -> None:
    """Compare a model's poses with the motion capture: by subject, action, camera and joint."""
    from pipelines.evaluation.evaluate import evaluate as run
    from pipelines.evaluation.page import save_page
    from pipelines.evaluation.report import error_table, interval_table, save_picture
    from pipelines.model.model_file import load_model
    from pipelines.model.summary import model_rows
    from pose.files import atomic_path
    from pose.humaneva.splits import evaluated_partition, partition_names

    if json_path:
        _check_target(json_path, ".json")
    if report:
        _check_target(report, ".html", ".htm")
    _check_folders(masks, work)
    trained = load_model(model)
    scheme = trained.config.data.scheme
    partition = partition or evaluated_partition(scheme)
    if partition not in (names := partition_names(scheme)):
        raise UsageError(f"--partition {partition}: there are {', '.join(names)} (the model's data.scheme: {scheme})")
    picture = png or model.with_name(f"{model.stem}_{partition.lower()}.png")
    _check_target(picture, ".png")
    with reporting() as reporter:
        evaluation = run(data, trained, reporter, partition=partition, masks=masks, work=work)
        save_picture(picture, evaluation)
    if json_path:
        with atomic_path(json_path) as temporary:
            temporary.write_text(json.dumps(evaluation.as_dict(), indent=1))
    if report:
        save_page(report, evaluation, model.name, model_rows(trained))
    output.print(error_table(evaluation))
    if evaluation.std is not None:
        output.print(interval_table(evaluation))
    print(f"picture {picture}" + (f"\nreport  {report}" if report else ""))


app.command("predict")(predict_command)
app.command("fuse")(fuse_command)
app.command("export")(export_command)


@app.command()
def info(model: Annotated[Path, typer.Argument(help="The model file, .h5.")]) -> None:
    """Show what a model file holds."""
    from pipelines.model.model_file import load_model
    from pipelines.model.summary import model_rows

    trained = load_model(model)
    table = Table("", Column(overflow="fold"), title=str(model), show_header=False)
    for name, value in model_rows(trained).items():
        table.add_row(name, value)
    output.print(table)


@app.command()
def describe(
    mask: Annotated[Path, typer.Argument(help="Picture of a silhouette: bright on dark, or cut out (PNG with alpha).")],
    out: Annotated[Path, typer.Option("--out", "-o", help="The picture to make, .png.")],
    model: Annotated[
        Path | None,
        typer.Option("--model", "-m", help="Take the words of this model. Default: learnt from MASK alone."),
    ] = None,
    words: Annotated[int, typer.Option(help="How many words to learn without a model.")] = 12,
    at: Annotated[
        tuple[float, float] | None,
        typer.Option(metavar="X Y", help="Show the shape context of the edge point nearest to here, pixels."),
    ] = None,
) -> None:
    """Draw how a silhouette is described: edge points, a shape context, the words on the body, the histogram."""
    from pipelines.commands.describe import describe as run

    _check_target(out, ".png")
    drawn = run(mask, out, model=model, n_words=words, at=at)
    print(f"{drawn.n_points} edge points, {drawn.n_used} of {drawn.n_words} words occur;   picture {out}")


@app.command(
    epilog="""\b
Examples:
  pose bench all --size quick
  pose bench table4 --data my-data --repeat 10 --out results
  pose bench shapes --data MPEG7_CE-Shape-1_Part_B --out results
"""
)
def bench(
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
    from pipelines.bench.runner.report import LEGEND, below, screen_table
    from pipelines.bench.runner.run import run_benchmark

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


def _check_target(path: Path, *suffixes: str) -> None:
    """A result that cannot be written, or is named like something else, is better known before the work than after."""
    if path.suffix.lower() not in suffixes:
        raise UsageError(f"{path}: the name must end in {' or '.join(suffixes)}")
    if not path.parent.is_dir():
        raise UsageError(f"{path}: its folder does not exist; make it first")
    if path.is_dir():
        raise UsageError(f"{path}: is a folder, a file name is needed")


def _check_folders(masks: Path | None, work: Path | None) -> None:
    if masks is not None and not masks.is_dir():
        raise UsageError(f"--masks {masks}: no such folder")
    if work is not None and work.exists() and not work.is_dir():
        raise UsageError(f"--work {work}: is a file, a folder is needed")


def main() -> None:
    """Run the command line."""
    run(app)


if __name__ == "__main__":
    main()
