"""The toolkit's rule by hand, and OpenCV's subtractors on a scene whose person is known."""

import numpy as np
import pytest

from pose.silhouette.background_model import BackgroundModel
from pose.silhouette.opencv_backgrounds import SubtractorBackground
from pose.silhouette.toolkit_background import ToolkitBackground

SIZE = (60, 80)


def room(n, seed=0, level=100):
    """Noisy grey frames of sigma 2."""
    rng = np.random.default_rng(seed)
    return [np.clip(rng.normal(level, 2, (*SIZE, 3)).round(), 0, 255).astype(np.uint8) for _ in range(n)]


def person(frame, colour=(200, 30, 60)):
    frame = frame.copy()
    frame[10:50, 30:50] = colour
    return frame


TRUE = np.zeros(SIZE, bool)
TRUE[10:50, 30:50] = True


def two_tone(low, high):
    """Two frames: mean (low + high) / 2, variance ((high - low) / 2)^2 by the formula for all frames."""
    return [np.full((4, 5, 3), value, np.uint8) for value in (low, high)]


def test_moments_are_of_images_scaled_to_one():
    model = ToolkitBackground().fit([two_tone(100, 110), two_tone(102, 106)])
    np.testing.assert_allclose(model.means[:, 0, 0, 0], [105 / 255, 104 / 255])
    np.testing.assert_allclose(model.variances[:, 0, 0, 0], [(5 / 255) ** 2, (2 / 255) ** 2], rtol=1e-6)


def density(x, means, variances):
    """The rule as published, product and all, in grey levels over 255."""
    x, means, variances = (np.asarray(v, dtype=np.longdouble) for v in (x, means, variances))
    variances = np.where(variances == 0, 1e-3, variances)
    normal = np.exp(-((x - means) ** 2) / (2 * variances)) / np.sqrt(2 * np.pi * variances)
    return np.mean(normal**3)  # three equal channels


@pytest.mark.parametrize("risk", [1.0, 1e20])
@pytest.mark.parametrize("recordings", [[(100, 110)], [(100, 110), (98, 112)], [(105, 105)]])
def test_foreground_is_where_the_mean_of_products_is_below_the_threshold(risk, recordings):
    model = ToolkitBackground(risk=risk).fit([two_tone(*levels) for levels in recordings])
    means = [(low + high) / 510 for low, high in recordings]
    variances = [((high - low) / 510) ** 2 for low, high in recordings]
    for level in range(256):
        frame = np.full((4, 5, 3), level, np.uint8)
        expected = density(level / 255, means, variances) < 1 / (np.longdouble(256) ** 3 * risk)
        assert (model.foreground(frame) > 0).all() == expected, level
        assert len(np.unique(model.foreground(frame))) == 1


def test_it_takes_more_than_four_sigma_in_every_channel():
    """Of sigma 5: log density of the centre 3 (-0.919 - ln(5/255)) = 9.04, the threshold -16.6: 4.14 sigma."""
    model = ToolkitBackground().fit([two_tone(100, 110)])
    assert not model.foreground(np.full((4, 5, 3), 125, np.uint8)).any()  # 4.0 sigma
    assert model.foreground(np.full((4, 5, 3), 126, np.uint8)).all()  # 4.2 sigma


def test_risk_of_the_grey_cameras_does_not_overflow():
    model = ToolkitBackground(risk=1e100).fit([two_tone(100, 110)])
    assert model.foreground(np.full((4, 5, 3), 255, np.uint8)).all()
    assert not model.foreground(np.full((4, 5, 3), 150, np.uint8)).any()


def test_the_largest_component_and_then_small_ones():
    model = ToolkitBackground(min_area=10).fit([two_tone(100, 110)])
    model = model.set_state(np.full((1, 20, 30, 3), 0.4), np.full((1, 20, 30, 3), 1e-4))
    frame = np.full((20, 30, 3), 102, np.uint8)
    frame[2:6, 2:6] = 255  # 16 pixels
    frame[6, 6] = 255  # joined by a corner alone: kept as 8-connected, dropped as a 4-connected single pixel
    frame[10:13, 20:23] = 255  # 9 pixels
    mask = model.silhouette(frame) > 0
    assert mask.sum() == 16
    assert mask[2:6, 2:6].all()
    everything = ToolkitBackground(largest=False, min_area=0).set_state(model.means, model.variances)
    assert (everything.silhouette(frame) > 0).sum() == 16 + 1 + 9


@pytest.mark.parametrize(
    "model",
    [ToolkitBackground(), SubtractorBackground("mog2"), SubtractorBackground("knn")],
    ids=["toolkit", "mog2", "knn"],
)
def test_the_person_is_found_and_nobody_in_the_empty_room(model: BackgroundModel):
    model.fit([room(40, seed) for seed in range(3)])
    frame = room(1, seed=9)[0]
    found = model.silhouette(person(frame)) > 0
    assert (found & TRUE).sum() / (found | TRUE).sum() > 0.95
    assert not model.silhouette(frame).any()
    # A person who stands still does not become background.
    for _ in range(500):
        again = model.silhouette(person(frame)) > 0
    np.testing.assert_array_equal(again, found)


@pytest.mark.parametrize("make", [ToolkitBackground, SubtractorBackground])
def test_faults_are_named(make):
    with pytest.raises(ValueError, match="is not fitted"):
        make().silhouette(room(1)[0])
    with pytest.raises(ValueError, match="no background recordings"):
        make().fit([])
    with pytest.raises(ValueError, match="background recording 2 has no frames"):
        make().fit([room(2), []])
    with pytest.raises(ValueError, match="background recording 2, frame 1"):
        make().fit([room(2), [np.zeros((5, 5, 3), np.uint8)]])
    model = make().fit([room(3)])
    for frame in (np.zeros((5, 5, 3), np.uint8), np.zeros((*SIZE, 3))):
        with pytest.raises(ValueError, match="use the same camera and size"):
            model.silhouette(frame)


def test_parameters_are_checked():
    for make in (
        lambda: ToolkitBackground(risk=0),
        lambda: ToolkitBackground(min_area=-1),
        lambda: SubtractorBackground("gmm"),
        lambda: SubtractorBackground(threshold=-1),
    ):
        with pytest.raises(ValueError, match="must"):
            make()


@pytest.mark.parametrize(
    ("means", "variances"),
    [
        (np.zeros((1, 4, 5, 3)), np.zeros((2, 4, 5, 3))),
        (np.full((1, 4, 5, 3), 100.0), np.ones((1, 4, 5, 3))),  # grey levels
        (np.zeros((1, 4, 5, 3)), np.full((1, 4, 5, 3), np.nan)),
        (np.zeros((1, 4, 5, 3)), np.full((1, 4, 5, 3), -1.0)),
    ],
)
def test_a_state_that_cannot_be_is_refused(means, variances):
    with pytest.raises(ValueError, match="means and variances must"):
        ToolkitBackground().set_state(means, variances)
