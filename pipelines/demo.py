"""The demo: synthesize a data set, train on it, evaluate, and predict one of its videos."""

from __future__ import annotations

import json
from importlib import resources
from pathlib import Path

from pipelines.data.synthesize import SynthRequest, synthesize_with_progress
from pipelines.evaluation.evaluate import Evaluation, evaluate
from pipelines.evaluation.page import save_page
from pipelines.evaluation.picture import save_picture
from pipelines.model.facts import model_facts
from pipelines.model.model_file import save_model
from pipelines.model.pose_model import PoseModel
from pipelines.prediction import PredictionRequest, choose_scene, predict_videos
from pipelines.progress import Reporter
from pipelines.settings import load_config
from pipelines.training.train import train
from pose.files import atomic_path

DEMO_VIDEO = Path("S1/Image_Data/Walking_1_(C1).avi")
"""Path, inside the data set, of the video whose poses are predicted."""


def run_demo(out: Path, reporter: Reporter) -> Evaluation:
    """Make a data set, a model, a report and an overlay video in `out`; those of an earlier run are replaced."""
    data, model_path = out / "data", out / "model.h5"
    out.mkdir(parents=True, exist_ok=True)
    reporter.say("1/4  a synthetic data set in the HumanEva-I format")
    synthesize_with_progress(data, reporter, SynthRequest(overwrite=True))
    reporter.say("2/4  training")
    with resources.as_file(resources.files("configs") / "demo.toml") as config_path:
        model = train(data, load_config(config_path), reporter)
    save_model(model_path, model)
    reporter.say("3/4  evaluation")
    model = PoseModel.load(model_path)
    evaluation = evaluate(data, model, reporter)
    save_picture(out / "report.png", evaluation)
    save_page(out / "report.html", evaluation, model_path.name, model_facts(model))
    with atomic_path(out / "evaluation.json") as temporary:
        temporary.write_text(json.dumps(evaluation.as_dict(), indent=1))
    reporter.say("4/4  prediction of a video")
    backgrounds = sorted((data / "Background").glob("*_(C1).avi"))
    scene = choose_scene(backgrounds)
    with_std = model.calibration is not None
    request = PredictionRequest(model, scene, out, model_path.name, with_std=with_std, overlay=True, overwrite=True)
    predict_videos([data / DEMO_VIDEO], request, reporter)
    return evaluation
