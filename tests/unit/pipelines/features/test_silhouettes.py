"""The background model that the settings name, and the toolkit's kept per camera."""

from pathlib import Path

import cv2
import numpy as np
import pytest
from pydantic import ValidationError

from pipelines.features.silhouettes import fit_background, silhouette
from pipelines.settings import Config
from pose import GaussianBackground
from pose.silhouette.opencv_backgrounds import SubtractorBackground
from pose.silhouette.toolkit_background import ToolkitBackground
from pose.video.frame import VideoFrame


@pytest.mark.parametrize(
    ("boxes", "is_person"),
    [
        ([], False),
        ([(10, 10, 1, 1)], False),
        ([(10, 10, 7, 22)], True),  # 154 pixels of 640 x 480 = 307,200, of which 0.05 % are 153.6
        ([(10, 10, 9, 17)], False),  # 153
        ([(20 * k, 10, 10, 10) for k in range(30)], False),  # 3,000 pixels, but in specks of 100
        ([(20 * k, 10, 10, 10) for k in range(20)] + [(100, 100, 50, 100)], True),
    ],
)
def test_a_ready_made_silhouette_of_specks_is_nobody(boxes, is_person):
    picture = np.zeros((480, 640, 3), np.uint8)
    for x, y, width, height in boxes:
        picture[y : y + height, x : x + width] = 255
    mask = silhouette(VideoFrame(0, 0.0, picture), None, Path("masks"))
    np.testing.assert_array_equal(mask, picture[:, :, 0] if is_person else 0)


@pytest.fixture
def recordings(tmp_path):
    """Three empty rooms of three pictures each."""
    rng = np.random.default_rng(0)
    folders = []
    for index in range(3):
        folder = tmp_path / f"Background_{index + 1}_(C1)"
        folder.mkdir()
        for number in range(3):
            cv2.imwrite(str(folder / f"{number}.png"), rng.integers(90, 110, (20, 30, 3), dtype=np.uint8))
        folders.append(folder)
    return folders


def settings(**values):
    return Config.model_validate({"silhouette": values})


@pytest.mark.parametrize(
    ("model", "kind"),
    [
        ("gaussian", GaussianBackground),
        ("toolkit", ToolkitBackground),
        ("mog2", SubtractorBackground),
        ("knn", SubtractorBackground),
    ],
)
def test_the_settings_name_the_model(recordings, model, kind):
    background = fit_background(recordings, settings(model=model))
    assert type(background) is kind
    assert background.silhouette(np.full((20, 30, 3), 100, np.uint8)).shape == (20, 30)


def test_risk_is_not_ignored_in_silence():
    assert settings(model="toolkit", risk=1e60).silhouette.risk == 1e60
    with pytest.raises(ValidationError, match="risk is of the models gaussian and toolkit, knn takes none"):
        settings(model="knn", risk=2)


def test_the_toolkits_model_is_kept_until_its_recordings_change(recordings, tmp_path, monkeypatch):
    cache = tmp_path / "work" / "Background_(C1).mat"
    config = settings(model="toolkit")
    first = fit_background(recordings, config, cache)
    with monkeypatch.context() as patch:
        patch.setattr(ToolkitBackground, "fit", lambda *_: pytest.fail("fitted again"))
        kept = fit_background(recordings, config, cache)
    np.testing.assert_array_equal(kept.means, first.means)
    cv2.imwrite(str(recordings[0] / "2.png"), np.full((20, 30, 3), 200, np.uint8))
    again = fit_background(recordings, config, cache)
    assert not np.array_equal(again.means, first.means)
    assert [path.name for path in cache.parent.iterdir()] == [cache.name]


def test_a_cache_that_is_broken_is_made_anew(recordings, tmp_path):
    cache = tmp_path / "Background_(C1).mat"
    cache.write_bytes(b"nothing")
    with pytest.warns(UserWarning, match=r"Background_\(C1\)\.mat: .*; it is made anew"):
        model = fit_background(recordings, settings(model="toolkit"), cache)
    assert fit_background(recordings, settings(model="toolkit"), cache).means.shape == model.means.shape
