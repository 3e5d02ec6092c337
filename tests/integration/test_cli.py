"""The commands on a small synthetic set: the whole job, and how each says that it cannot be done."""

import csv
import json
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import cv2
import h5py
import numpy as np
import pytest

from pose.humaneva import HumanEva
from pose.synth import synthesize
from pose.video.reader import read_frames
from pose.video.writer import VideoWriter

CONFIG = """
[descriptor]
n_words = 40
codebook_stride = 4
[gp]
subset = 150
[mpgp]
n_regressors = 30
"""


@pytest.fixture(scope="module")
def tree(tmp_path_factory) -> Path:
    return synthesize(tmp_path_factory.mktemp("data set (1)") / "tree", actions=("Walking",), n_frames=120, seed=3)


@pytest.fixture(scope="module")
def model(tree, tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("model")
    (folder / "small.toml").write_text(CONFIG)
    # In a process of its own, as a person would run it; the other commands run in this one, which is quicker.
    command = [sys.executable, "-c", "from pipelines.cli import main; main()"]
    arguments = ["train", tree, "--config", folder / "small.toml", "--model", folder / "m.h5"]
    result = subprocess.run([*command, *map(str, arguments)], capture_output=True, text=True, cwd=folder)
    assert result.returncode == 0, result.stderr
    assert "next: pose eval" in result.stdout
    assert sorted(path.name for path in folder.iterdir()) == ["m.h5", "small.toml"]
    return folder / "m.h5"


def test_eval_writes_table_json_and_picture(run, tree, model, tmp_path):
    results = {option: tmp_path / f"e.{option}" for option in ("json", "png")}
    code, out, err = run(
        "eval", tree, "--model", model, "--json", results["json"], "--png", results["png"],
        "--report", tmp_path / "e.html",
    )  # fmt: skip
    assert (code, "error" in err) == (0, False)
    assert f"report  {tmp_path / 'e.html'}" in out
    page = (tmp_path / "e.html").read_text(encoding="utf-8")
    assert f"<title>{model.name} on Validate</title>" in page
    assert "gbcd-pose" in page  # of the training's summary
    result = json.loads((tmp_path / "e.json").read_text())
    errors = result["mean_joint_error_mm"]
    assert set(errors) == {"gbcd", "mpgp", "mean_pose"}
    assert errors["gbcd"] < errors["mean_pose"]
    assert result["n_test"] > 100
    assert result["mean_joint_error_without_root_mm"]["gbcd"] == pytest.approx(errors["gbcd"] * 15 / 14)
    # The parts, weighted by their samples, make the whole: every sample is of one camera.
    assert min(v["gbcd"] for v in result["by_camera_mm"].values()) <= errors["gbcd"]
    assert max(v["gbcd"] for v in result["by_camera_mm"].values()) >= errors["gbcd"]
    assert np.mean([v["gbcd"] for v in result["by_joint_mm"].values()]) == pytest.approx(errors["gbcd"])
    assert cv2.imread(str(tmp_path / "e.png")).shape[1] > 1000
    for text in ("15 joints", "subject S1", "action Walking", "camera C2", "joint left wrist", f"{errors['gbcd']:.1f}"):
        assert text in out
    shares = result["intervals"][""]["all coordinates"]
    assert 0 < shares["50 %"] < shares["90 %"] < shares["95 %"] <= 1
    for text in ("within their intervals", "of 90 %", f"{100 * shares['90 %']:.1f}", f"{shares['std_mm']:.1f}"):
        assert text in out


def test_a_scheme_holds_for_training_and_evaluation(run, tree, tmp_path):
    settings, model = tmp_path / "half.toml", tmp_path / "half.h5"
    settings.write_text(f'{CONFIG}[data]\nscheme = "tgp-half"\ncameras = ["C1", "C2"]\n')
    code, _, err = run("train", tree, "--config", settings, "--model", model)
    assert code == 0, err
    # What every frame's markers say: the first half of the valid ones tests, the second trains.
    data = HumanEva(tree)
    labels = data.trials[0].labels(data.trials[0].numbers())
    valid = labels.numbers[labels.usable]
    half = len(valid) // 2
    assert f"Train of tgp-half: 1 trial, {len(valid) - half} frames, {2 * (len(valid) - half)} images by C1 C2" in err
    code, out, err = run("eval", tree, "--model", model, "--json", tmp_path / "e.json")
    assert code == 0, err
    assert f"Test of tgp-half: 1 trial, {half} frames, {2 * half} images by C1 C2" in err
    assert "samples of Test of tgp-half" in out
    assert (tmp_path / "half_test.png").is_file()
    result = json.loads((tmp_path / "e.json").read_text())
    assert (result["scheme"], result["partition"]) == ("tgp-half", "Test")
    assert result["n_test"] + result["n_without_person"] == 2 * half
    code, _, err = run("eval", tree, "--model", model, "--partition", "Validate")
    assert (code, "there are Train, Test (the model's data.scheme: tgp-half)" in err) == (2, True)
    code, out, _ = run("info", model)
    assert '"scheme":"tgp-half"' in "".join(out.split())


def test_predict_writes_joints_and_overlay(run, tree, model, tmp_path):
    video = tree / "S1/Image_Data/Walking_1_(C2).avi"
    code, _, err = run(
        "predict", video, "--model", model, "--background", tree / "Background/Background_1_(C2).avi",
        "--out", tmp_path / "new/results", "--overlay",
    )  # fmt: skip
    assert code == 0, err
    stem = tmp_path / "new/results/Walking_1_(C2)"
    with h5py.File(f"{stem}.h5") as file:
        joints, found = file["joints"][:], file["found"][:]
        assert file["joints"].attrs["unit"] == "mm"
        assert file.attrs["model"] == "m.h5"
    n_frames = int(cv2.VideoCapture(str(video)).get(cv2.CAP_PROP_FRAME_COUNT))
    assert joints.shape == (n_frames, 15, 3)
    assert found.mean() > 0.95
    assert (joints[found][:, 0] == 0).all()
    with Path(f"{stem}.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 15 * n_frames
    first = int(np.flatnonzero(found)[0])
    wrist = next(row for row in rows if row["frame"] == str(first) and row["joint"] == "left_wrist")
    np.testing.assert_allclose([float(wrist[f"{axis}_mm"]) for axis in "xyz"], joints[first, 4], atol=0.006)
    overlay = cv2.VideoCapture(f"{stem}_overlay.mp4")
    assert overlay.get(cv2.CAP_PROP_FRAME_COUNT) == n_frames
    assert overlay.get(cv2.CAP_PROP_FRAME_WIDTH) == 1280


def test_info_tells_what_the_model_is(run, model):
    code, out, _ = run("info", model)
    assert code == 0
    for text in ("training samples", "Walking", "40 words", "30 regressors", "camera axes", "n_words"):
        assert text in out


def test_training_goes_on_where_it_was_stopped(run, tree, tmp_path, monkeypatch):
    (tmp_path / "small.toml").write_text(CONFIG)
    arguments = ("train", tree, "-c", tmp_path / "small.toml", "-m", tmp_path / "m.h5")
    with monkeypatch.context() as patch:
        patch.setattr("pipelines.training.train.HistoSC.fit", lambda *_: (_ for _ in ()).throw(MemoryError))
        code, _, err = run(*arguments)
    assert (code, "not enough memory" in err) == (1, True)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["m.h5.work", "small.toml"]
    with monkeypatch.context() as patch:
        patch.setattr(
            "pipelines.features.video_edges.trace_edges", lambda *_: pytest.fail("the silhouettes were made again")
        )
        code, _, err = run(*arguments)
    assert code == 0, err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["m.h5", "small.toml"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_in_one_line_and_leaves_only_what_is_done(tree, tmp_path, number):
    command = [sys.executable, "-c", "from pipelines.cli import main; main()", "train", str(tree), "-m", "m.h5"]
    process = subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True)
    while process.poll() is None and not list(tmp_path.glob("m.h5.work/edges-*.npz")):
        time.sleep(0.02)
    process.send_signal(number)
    _, err = process.communicate()
    assert process.returncode == 130
    assert err.strip().splitlines()[-1] == "error: stopped; the same command starts again where it can"
    assert [path.name for path in tmp_path.iterdir()] == ["m.h5.work"]
    assert all(path.name.startswith("edges-") for path in (tmp_path / "m.h5.work").iterdir())


@pytest.mark.filterwarnings("default::UserWarning")
def test_a_background_of_another_camera_is_noticed(run, tree, model, tmp_path):
    video, other = tree / "S1/Image_Data/Walking_1_(C2).avi", tree / "Background/Background_1_(C1).avi"
    code, _, err = run("predict", video, "-m", model, "-b", other, "-o", tmp_path / "out")
    assert code == 0
    assert "warning: " in err
    assert "a recording of the empty scene by this very camera helps" in err


def test_ready_made_masks_serve_as_well(run, tree, model, tmp_path):
    """Masks written as numbered pictures give the poses that the background model gave."""
    from pose import GaussianBackground
    from pose.video.reader import read_frames

    folder = tmp_path / "masks" / "clip"
    folder.mkdir(parents=True)
    background = GaussianBackground().fit(
        [(f.image for f in read_frames(tree / f"Background/Background_{k}_(C1).avi")) for k in (1, 2, 3)]
    )
    video = tree / "S1/Image_Data/Walking_1_(C1).avi"
    for frame in read_frames(video, 20, 40):
        cv2.imwrite(str(folder / f"{frame.index:03d}.png"), background.silhouette(frame.image))
    assert run("predict", folder, "-m", model, "--masks", "-o", tmp_path / "a")[0] == 0
    recordings = [argument for k in (1, 2, 3) for argument in ("-b", tree / f"Background/Background_{k}_(C1).avi")]
    assert run("predict", video, "-m", model, *recordings, "-o", tmp_path / "b")[0] == 0
    with h5py.File(tmp_path / "a/clip.h5") as masks, h5py.File(tmp_path / "b/Walking_1_(C1).h5") as frames:
        np.testing.assert_allclose(masks["joints"][:], frames["joints"][20:40])


@pytest.fixture
def empty_room(tmp_path) -> Path:
    path = tmp_path / "empty.mp4"
    with VideoWriter(path, 640, 480) as writer:
        for _ in range(5):
            writer.write(np.full((480, 640, 3), 90, np.uint8))
    return path


def test_a_video_with_nobody_fails_and_leaves_nothing(run, model, empty_room, tmp_path):
    film = tmp_path / "later.mp4"
    with VideoWriter(film, 640, 480, comment="another recording of the same") as writer:
        for frame in read_frames(empty_room):
            writer.write(frame.image)
    code, _, err = run("predict", film, "-m", model, "-b", empty_room, "-o", tmp_path / "out")
    assert code == 1
    assert "later.mp4: no person in any of its 5 frames" in err
    assert list((tmp_path / "out").iterdir()) == []


def test_one_bad_video_does_not_stop_the_others(run, tree, model, tmp_path):
    bad = tmp_path / "bad.avi"
    bad.write_text("this is no video")
    good = tree / "S1/Image_Data/Walking_1_(C1).avi"
    code, _, err = run(
        "predict", bad, good, "-m", model, "-b", tree / "Background/Background_1_(C1).avi", "-o", tmp_path / "out"
    )
    assert code == 1
    assert "bad.avi: cannot be opened as a video" in err
    assert sorted(path.suffix for path in (tmp_path / "out").iterdir()) == [".csv", ".h5", ".json"]


def test_results_are_not_overwritten_unasked(run, tree, model, tmp_path):
    (tmp_path / "Walking_1_(C1).csv").write_text("mine")
    video = tree / "S1/Image_Data/Walking_1_(C1).avi"
    code, _, err = run("predict", video, "-m", model, "--masks", "-o", tmp_path)
    assert code == 2
    assert "Walking_1_(C1).csv; choose another folder, or --overwrite" in err
    assert (tmp_path / "Walking_1_(C1).csv").read_text() == "mine"


def test_a_background_of_another_size_is_named(run, tree, model, tmp_path):
    small = tmp_path / "small.png"
    cv2.imwrite(str(small), np.zeros((100, 120, 3), np.uint8))
    video = tree / "S1/Image_Data/Walking_1_(C1).avi"
    code, _, err = run("predict", video, "-m", model, "-b", small, "-o", tmp_path / "out")
    assert code == 1
    assert "Walking_1_(C1).avi, frame 0 (from 0): " in err
    assert list((tmp_path / "out").iterdir()) == []


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["train", "{tmp}/none", "-m", "{tmp}/m.h5"], 1, "none: no such folder"),
        (["train", "{tmp}", "-m", "{tmp}/m.h5"], 1, "holds no subject folder"),
        (["train", "{tree}", "-m", "{tmp}/no/m.h5"], 2, "no/m.h5: its folder does not exist"),
        (["train", "{tree}", "-m", "{tmp}"], 2, "the name must end in .h5 or .hdf5"),
        (["train", "{tree}", "-m", "{tmp}/m.h5", "--masks", "{tmp}/none"], 2, "none: no such folder"),
        (["train", "{tree}", "-m", "{tmp}/m.h5", "--work", "{video}"], 2, "is a file, a folder is needed"),
        (["train", "{tree}", "-m", "{video}"], 2, "the name must end in .h5 or .hdf5"),
        (["eval", "{tree}", "-m", "{model}", "--json", "{model}"], 2, "the name must end in .json"),
        (["eval", "{tree}", "-m", "{model}", "--png", "{tmp}/a.txt"], 2, "the name must end in .png"),
        (["eval", "{tree}", "-m", "{model}", "--report", "{tmp}/a.pdf"], 2, "the name must end in .html or .htm"),
        (["predict", "{video}", "-m", "{model}", "--masks", "-o", "{model}"], 2, "is a file, a folder is needed"),
        (["train", "{tree}", "-m", "{tmp}/m.h5", "-c", "{tmp}/none.toml"], 2, "none.toml: cannot be read"),
        (["train", "{tree}"], 2, "Missing option '--model'"),
        (["eval", "{tree}", "-m", "{tmp}/none.h5"], 1, "none.h5: no such model file"),
        (["eval", "{tree}", "-m", "{model}", "--partition", "Tset"], 2, "there are Train, Validate, Test"),
        (
            ["eval", "{tree}", "-m", "{model}", "--partition", "Test", "--png", "{tmp}/a.png"],
            1,
            "nothing to use for Test",
        ),
        (["eval", "{tree}", "-m", "{model}", "--json", "{tmp}/no/e.json"], 2, "its folder does not exist"),
        (["predict", "{tmp}/none.avi", "-m", "{model}", "-o", "{tmp}/out"], 2, "no such file: {tmp}/none.avi"),
        (
            ["predict", "{video}", "-m", "{model}", "--masks", "-b", "{video}", "-o", "{tmp}/out"],
            2,
            "leave out --background",
        ),
        (["predict", "{video}", "-m", "{model}", "-o", "{tmp}/out"], 2, "silhouettes need the empty scene"),
        (["info", "{tree}/partitions.json"], 1, "partitions.json: is not a model file"),
        (["synth", "{tree}/S1"], 2, "S1"),
        (["synth", "{tmp}/s", "--subjects", "S9"], 2, "no subject 'S9'"),
        (["nothing"], 2, "No such command 'nothing'"),
    ],
)
def test_what_cannot_be_done_is_one_line_and_an_exit_code(run, tree, model, tmp_path, arguments, code, message):
    before = sorted(tmp_path.iterdir())
    names = {"tmp": tmp_path, "tree": tree, "model": model, "video": tree / "S1/Image_Data/Walking_1_(C1).avi"}
    found, _, err = run(*(argument.format(**names) for argument in arguments))
    assert found == code, err
    assert message.format(**names) in err
    assert "Traceback" not in err
    assert sorted(tmp_path.iterdir()) == before


def test_debug_shows_the_traceback(run, tmp_path):
    assert "Traceback" in run("info", tmp_path / "none.h5", "--debug")[2]


def test_an_unforeseen_error_is_one_line_too(run, model, monkeypatch):
    monkeypatch.setattr("pipelines.model.pose_model.PoseModel.load", lambda _: 1 / 0)
    code, _, err = run("info", model)
    assert code == 1
    assert err.strip().splitlines() == [
        "error: ZeroDivisionError: division by zero (a fault of this program; --debug shows where)"
    ]


@pytest.mark.filterwarnings("default::UserWarning")
def test_a_tree_with_faults_says_what_is_left_out(run, tree, tmp_path):
    copy = tmp_path / "tree"
    shutil.copytree(tree, copy)
    (copy / "S1/Sync_Data/Walking_1_(C3).ofs").unlink()
    for path in (copy / "Background").glob("*(C2)*"):
        path.unlink()
    (tmp_path / "small.toml").write_text(CONFIG)
    code, _, err = run("train", copy, "-c", tmp_path / "small.toml", "-m", tmp_path / "m.h5")
    assert code == 1
    assert "no recording of the empty room by C2" in err
    assert "camera C3 is left out: it has no .ofs file" in err
    assert not (tmp_path / "m.h5").exists()


def test_the_version(run):
    assert run("--version")[:2] == (0, "gbcd-pose 0.1.0\n")


def test_data_info_and_check(run, tree, tmp_path):
    code, out, err = run("data", "info", tree)
    assert (code, err) == (0, "")
    for text in ("missing     nothing", "S1 Walking 1", "tgp-half", "blocked-75-25", "by its own partitions.json"):
        assert text in out
    code, out, err = run("data", "check", tree, "--cameras", "C2", "--out", tmp_path / "overlays")
    assert (code, err) == (0, "")
    assert f"overlay  {tmp_path / 'overlays' / 'S1_Walking_1.png'}" in out
    code, _, err = run("data", "check", tree, "--cameras", "C2", "--video-frame-shift", "5")
    assert code == 1
    assert "error: S1 Walking 1: joints lie best on the person with --video-frame-shift " in err


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["info", "{tmp}/none"], 1, "none: no such folder"),
        (["check", "{tree}", "--frames", "6,0x1"], 2, "--frames 0x1: toolkit frames are whole numbers from 1 on"),
        (["check", "{tree}", "--out", "{tree}/partitions.json"], 2, "is a file, a folder is needed"),
        (["check", "{tree}", "--actions", "Swim"], 1, "holds no action Swim (it holds Walking)"),
    ],
)
def test_data_commands_refuse_in_one_line(run, tree, tmp_path, arguments, code, message):
    found, _, err = run("data", *(argument.format(tmp=tmp_path, tree=tree) for argument in arguments))
    assert found == code
    assert message in err
    assert "Traceback" not in err
