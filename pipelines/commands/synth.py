"""`pose synth`: a synthetic data set."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pipelines.errors import UsageError
from pipelines.terminal.console import reporting, split_names
from pose.errors import DataError, UnfinishedError


def synth_command(
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
        except DataError as error:  # all files read are named in the request, so the request is wrong
            raise UsageError(str(error)) from error
    print(f"made {out};   next: pose train {out} --model model.h5")
