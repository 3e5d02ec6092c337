"""Many videos: what is finished stays, what differs is not replaced unasked, and results say where they come from."""

import dataclasses
import json

import cv2
import h5py
import numpy as np
import pytest
from films import scene, walk, write_film

from gbcd import GBCDRegressor
from pipelines.digest import digest
from pipelines.errors import UsageError
from pipelines.model.pose_model import PoseModel
from pipelines.prediction import FrameRange, PredictionRequest, choose_scene, predict_videos
from pipelines.progress import Silent
from pose.errors import DataError
from pose.export import read_series
from pose.series.bone_lengths import bone_lengths


@pytest.fixture(scope="module")
def model(small_model):
    return PoseModel.load(small_model)


@pytest.fixture
def empty(tmp_path):
    cv2.imwrite(str(tmp_path / "empty.png"), scene())
    return tmp_path / "empty.png"


@pytest.fixture
def film(tmp_path):
    return write_film(tmp_path / "a.avi", walk(4))


@pytest.fixture
def predict(model, tmp_path, empty):
    def call(*videos, **options):
        out = tmp_path / "out"
        request = PredictionRequest(model, choose_scene([empty]), out, "m.h5", **options)
        return predict_videos(videos, request, Silent())

    return call


def states(reports):
    return [report.state for report in reports]


def test_results_say_where_they_come_from(predict, film, model, small_model, tmp_path, empty):
    (report,) = predict(film, frames=FrameRange(1, None, 2))
    assert (report.state, report.n_frames, report.n_found, report.flags) == ("done", 2, 2, {})
    with h5py.File(tmp_path / "out/a.h5") as file:
        said = dict(file.attrs)
    assert said["model"] == "m.h5"
    assert said["model_sha256"] == digest(small_model)
    assert said["input"] == "a.avi"
    assert said["input_sha256"] == digest(film)
    assert said["background"] == "empty.png"
    assert said["software"].startswith("gbcd-pose ")
    assert json.loads(said["config"]) == model.config.model_dump(mode="json")
    settings = json.loads(said["settings"])
    assert (settings["start"], settings["stride"]) == (1, 2)
    assert settings["background_sha256"] == [digest(empty)]
    assert said["csv_sha256"] == digest(tmp_path / "out/a.csv")


def test_no_result_replaces_what_it_is_made_from(model, small_model, film, tmp_path, empty):
    for name, source in {"a.h5": "model", "a.csv": "recording", "a_overlay.mp4": "video"}.items():
        folder = tmp_path / source
        folder.mkdir()
        place = folder / name
        place.write_bytes({"model": small_model, "recording": empty, "video": film}[source].read_bytes())
        before = place.read_bytes()
        videos = [film, place] if source == "video" else [film]
        scene_of = choose_scene([place if source == "recording" else empty])
        with pytest.raises(UsageError, match=f"would replace what they are made from, .*{name}: choose another folder"):
            predict_videos(
                videos, PredictionRequest(model, scene_of, folder, "m", sources=[place], overwrite=True), Silent()
            )
        assert place.read_bytes() == before
        assert list(folder.iterdir()) == [place]


def test_a_video_is_not_its_own_empty_scene(model, film, tmp_path):
    (report,) = predict_videos([film], PredictionRequest(model, choose_scene([film]), tmp_path / "out", "m"), Silent())
    assert "the same is given as the empty scene" in report.fault


def test_a_model_that_gives_no_number_says_so_instead_of_nobody(model, film, tmp_path, empty):
    broken = dataclasses.replace(
        model, gp=GBCDRegressor.from_state(model.gp.get_state() | {"y_mean": np.full(45, np.nan)})
    )
    (report,) = predict_videos(
        [film], PredictionRequest(broken, choose_scene([empty]), tmp_path / "out", "m"), Silent()
    )
    assert report.fault == f"{film}, frame 0 or soon after: the model gives no finite pose; is it damaged?"
    assert list((tmp_path / "out").iterdir()) == []


def test_finished_results_stay_whatever_the_file_is_called(predict, film, tmp_path):
    assert states(predict(film)) == ["done"]
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "out").iterdir()}
    (tmp_path / "elsewhere").mkdir()
    moved = film.rename(tmp_path / "elsewhere/a.avi")
    assert states(predict(moved)) == ["kept"]
    assert {path: path.stat().st_mtime_ns for path in (tmp_path / "out").iterdir()} == before
    assert states(predict(moved, overwrite=True)) == ["done"]


def test_what_differs_in_content_is_not_replaced_unasked(predict, film, tmp_path):
    predict(film)
    write_film(film, walk(3))
    with pytest.raises(
        UsageError, match=r"already there, of another model, video, setting or origin: .*a\.csv, .*a\.h5"
    ):
        predict(film)
    assert states(predict(film, overwrite=True)) == ["done"]
    with pytest.raises(UsageError, match="already there"):
        predict(film, frames=FrameRange(1))
    (tmp_path / "out/a.csv").write_text("edited by hand")
    with pytest.raises(UsageError, match="already there"):
        predict(film)


def test_a_run_that_was_stopped_between_its_two_files_goes_on(predict, film, tmp_path):
    predict(film)
    whole = (tmp_path / "out/a.csv").read_bytes()
    (tmp_path / "out/a.csv").unlink()
    assert states(predict(film)) == ["done"]
    assert (tmp_path / "out/a.csv").read_bytes() == whole


def test_an_overlay_can_be_asked_for_later(predict, film, tmp_path):
    predict(film)
    assert states(predict(film, overlay=True)) == ["kept"]
    overlay = tmp_path / "out/a_overlay.mp4"
    made = overlay.stat().st_mtime_ns
    predict(film, overlay=True)
    assert overlay.stat().st_mtime_ns == made
    predict(film, overwrite=True)
    assert not overlay.exists()  # it showed older results


def test_two_videos_of_one_name_are_refused(predict, film, tmp_path):
    (tmp_path / "other").mkdir()
    with pytest.raises(UsageError, match="several videos would write the results a"):
        predict(film, write_film(tmp_path / "other/a.mkv", walk(1)))


def test_a_range_behind_the_end_is_a_fault(predict, film, tmp_path):
    (report,) = predict(film, frames=FrameRange(100))
    assert "a.avi: ends before frame 100 (from 0), where --start begins" in report.fault
    assert list((tmp_path / "out").iterdir()) == []


def test_a_folder_that_cannot_be_made(model, film, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(DataError, match=r"file/out: cannot be made \(Not a directory\)"):
        predict_videos(
            [film], PredictionRequest(model, choose_scene(["running"]), tmp_path / "file/out", "m"), Silent()
        )


def test_standard_deviations_go_into_the_results(predict, film, model, tmp_path):
    (report,) = predict(film, with_std=True)
    assert report.state == "done"
    series = read_series(tmp_path / "out/a.h5")
    assert series.std.shape == (4, 15, 3)
    assert (series.std[:, 1:] > 0).all()
    mean = np.stack([pose.joints for pose in model.predict_video(film, tmp_path / "empty.png", std=False)])
    np.testing.assert_array_equal(series.joints, mean)
    told = np.stack([pose.std for pose in model.predict_video(film, tmp_path / "empty.png")])
    np.testing.assert_array_equal(series.std, told)


def test_smoothing_needs_standard_deviations_and_moves_joints_less(predict, tmp_path):
    film = write_film(tmp_path / "long.avi", walk(12))
    predict(film, with_std=True)
    plain = read_series(tmp_path / "out/long.h5")
    predict(film, with_std=True, smoothed=True, overwrite=True)
    smooth = read_series(tmp_path / "out/long.h5")
    assert json.loads(smooth.provenance["settings"])["smooth"] is True
    roughness = [np.abs(np.diff(series.joints, 2, axis=0)).mean() for series in (plain, smooth)]
    assert roughness[1] < roughness[0]
    assert (smooth.std <= plain.std).all()
    with pytest.raises(UsageError, match="leave out --no-std"):
        predict(film, smoothed=True)


def test_the_persons_own_bones_on_request(predict, film, tmp_path):
    lengths = np.linspace(200, 400, 14)
    predict(film, bone_lengths=lengths)
    own = read_series(tmp_path / "out/a.h5")
    np.testing.assert_allclose(bone_lengths(own.joints), np.broadcast_to(lengths, (4, 14)))
    said = json.loads(own.provenance["settings"])["bone_lengths_mm"]
    assert said["pelvis-thorax"] == 200
    assert states(predict(film, bone_lengths=lengths)) == ["kept"]
    with pytest.raises(UsageError, match="of another model, video, setting"):
        predict(film)


def test_a_model_without_calibration_says_so(model, film, empty, tmp_path):
    old = dataclasses.replace(model, calibration=None)
    with pytest.raises(UsageError, match="holds no calibrated standard deviations"):
        predict_videos([film], PredictionRequest(old, choose_scene([empty]), tmp_path, "m", with_std=True), Silent())
