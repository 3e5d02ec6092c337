"""`pose predict`: the poses of videos."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pipelines.errors import UsageError
from pipelines.terminal.console import print_table, reporting
from pipelines.terminal.exit_codes import EXIT_FAILURE


def predict_command(
    inputs: Annotated[
        list[str],
        typer.Argument(help="Videos, folders of videos or of numbered pictures, patterns such as 'clips/*.avi'."),
    ],
    model: Annotated[Path, typer.Option("--model", "-m", help="The model file, .h5.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder for the results.")],
    background: Annotated[
        list[str] | None,
        typer.Option(
            "--background",
            "-b",
            help="The empty scene by the same camera, video or picture; repeatable. Or running (running-mog2): "
            "learnt along, where there is none.",
        ),
    ] = None,
    background_seconds: Annotated[
        float | None, typer.Option(help="The first seconds of each video show the empty scene.")
    ] = None,
    masks: Annotated[bool, typer.Option("--masks", help="The videos are ready-made silhouettes.")] = False,
    start: Annotated[int, typer.Option(help="First frame, from 0.")] = 0,
    stop: Annotated[int | None, typer.Option(help="Frame to stop before. Default: the end.")] = None,
    stride: Annotated[int, typer.Option(help="Take every k-th frame.")] = 1,
    rate: Annotated[float | None, typer.Option(help="Frames per second of numbered pictures. Default: 60.")] = None,
    std: Annotated[
        bool | None,
        typer.Option(
            "--std/--no-std",
            help="Standard deviations too: half as fast. Default: if the model holds what they need.",
        ),
    ] = None,
    smooth: Annotated[bool, typer.Option("--smooth", help="Smooth the poses over time.")] = False,
    bone_lengths: Annotated[
        Path | None, typer.Option(help="The person's own, which every pose gets: a .csv of bone,length_mm.")
    ] = None,
    overlay: Annotated[
        bool, typer.Option("--overlay/--no-overlay", help="Also draw a video with contour and skeleton.")
    ] = False,
    calibration: Annotated[
        Path | None,
        typer.Option(help="The camera, for the overlay: HumanEva's .cal, or OpenCV's YAML, XML or JSON."),
    ] = None,
    overwrite: Annotated[bool, typer.Option(help="Replace results that are there.")] = False,
) -> None:
    """Predict the poses of videos of one camera: joints as CSV and HDF5 for each, and an overlay on request.

    A run that was stopped goes on where it was, and finished videos are left alone: what decides is the content of
    model, video and background, and the settings.
    """
    from pipelines.model.pose_model import PoseModel
    from pipelines.prediction import FrameRange, PredictionRequest, choose_scene, expand, predict_videos
    from pipelines.prediction.outcomes import outcome_table
    from pose.body.camera_file import read_camera
    from pose.series.bone_lengths_file import read_bone_lengths

    videos = expand(inputs)
    scene = choose_scene(background or [], background_seconds, masks)
    frames = FrameRange(start, stop, stride, rate)
    missing = [str(path) for path in (calibration, bone_lengths) if path is not None and not path.is_file()]
    if missing:
        raise UsageError(f"no such file: {', '.join(missing)}")
    camera = read_camera(calibration) if calibration else None
    trained = PoseModel.load(model)
    lengths = None if bone_lengths is None else read_bone_lengths(bone_lengths, trained.skeleton)
    request = PredictionRequest(
        trained,
        scene,
        out,
        model.name,
        frames=frames,
        camera=camera,
        with_std=trained.calibration is not None if std is None else std,
        smoothed=smooth,
        bone_lengths=lengths,
        overlay=overlay,
        overwrite=overwrite,
        sources=[model, *([calibration] if calibration else [])],
    )
    with reporting() as reporter:
        outcomes = predict_videos(videos, request, reporter)
    print_table(outcome_table(outcomes))
    print(f"results in {out}")
    if any(outcome.state == "failed" for outcome in outcomes):
        raise typer.Exit(EXIT_FAILURE)
