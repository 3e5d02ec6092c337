"""The background model that the settings name, and the toolkit's kept per camera."""

import cv2
import numpy as np
import pytest
from pydantic import ValidationError

from pipelines.config import Config
from pipelines.silhouettes import fit_background
from pose import GaussianBackground
from pose.background_models import SubtractorBackground, ToolkitBackground


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
