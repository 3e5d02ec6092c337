"""The background model on synthetic frames of known statistics, and its clean-up."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import cv2
import numpy as np
import numpy.typing as npt
import pytest
from places import SHARED
from scipy.special import logsumexp
from scipy.stats import norm

from pose.silhouette.cleanup import CleanUp
from pose.silhouette.gaussian_background import GaussianBackground

Frame = npt.NDArray[np.uint8]
SHARED = SHARED / "humaneva-like" / "tiny"
HEIGHT, WIDTH = 120, 160
NOISE = 2.0


def room(seed: int = 0) -> npt.NDArray[np.float64]:
    """Draw smooth random colours between 60 and 200."""
    rng = np.random.default_rng(seed)
    small = rng.uniform(60, 200, (6, 8, 3)).astype(np.float32)
    return np.asarray(cv2.resize(small, (WIDTH, HEIGHT), interpolation=cv2.INTER_CUBIC), np.float64).clip(50, 210)


def shot(image: npt.NDArray[np.float64], rng: np.random.Generator) -> Frame:
    return np.rint(image + rng.normal(0, NOISE, image.shape)).clip(0, 255).astype(np.uint8)


def recordings(rng: np.random.Generator, grey: bool = False) -> list[list[Frame]]:
    scene = room()
    films = [[shot(scene + k, rng) for _ in range(12)] for k in range(3)]
    return [[f[..., 1] for f in film] for film in films] if grey else films


@pytest.fixture(scope="module")
def model() -> GaussianBackground:
    return GaussianBackground().fit(recordings(np.random.default_rng(7)))


def person(color: tuple[int, int, int] = (20, 30, 120)) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.bool_]]:
    """Paint a figure with an arm on the hip before the room; returns the picture and the true mask."""
    mask = np.zeros((HEIGHT, WIDTH), np.uint8)
    cv2.ellipse(mask, (80, 65), (18, 40), 0, 0, 360, 1, -1)
    cv2.circle(mask, (100, 60), 14, 1, 4)
    scene = room() + 1
    scene[mask == 1] = color
    return scene, mask == 1


def iou(a: npt.NDArray[np.bool_], b: npt.NDArray[np.bool_]) -> float:
    return float((a & b).sum() / (a | b).sum())


def test_means_and_variances_are_those_of_the_recordings(model: GaussianBackground) -> None:
    films = recordings(np.random.default_rng(7))
    assert model.means.shape == model.variances.shape == (3, HEIGHT, WIDTH, 3)
    for r, film in enumerate(films):
        np.testing.assert_allclose(model.means[r], np.mean(film, axis=0), atol=1e-4)
        np.testing.assert_allclose(model.variances[r], np.var(film, axis=0), atol=1e-3)


def test_fit_reads_a_stream_once() -> None:
    def stream(film: list[Frame]) -> Iterator[Frame]:
        yield from film

    films = recordings(np.random.default_rng(7))
    streamed = GaussianBackground().fit([stream(film) for film in films])
    np.testing.assert_array_equal(streamed.means, GaussianBackground().fit(films).means)


@pytest.mark.parametrize("risk", [1.0, 1e6, 256.0**3])
@pytest.mark.parametrize("grey", [False, True])
def test_foreground_is_where_the_mixture_of_normals_is_below_the_threshold(risk: float, grey: bool) -> None:
    rng = np.random.default_rng(3)
    films = recordings(rng, grey)
    model = GaussianBackground(risk=risk, shadow=None).fit(films)
    frame = films[0][0].copy()
    frame[:40] = rng.integers(0, 256, frame[:40].shape)  # less than half, so the gain stays about 1
    frame[40:60] = np.clip(frame[40:60] + rng.integers(-14, 15, frame[40:60].shape), 0, 255)  # near the threshold
    pixels = (frame[..., None] if grey else frame) / model.gain(frame)
    deviations = np.maximum(np.sqrt(model.variances), model.min_sigma)
    densities = norm.logpdf(pixels, model.means, deviations).sum(axis=-1)
    density = logsumexp(densities, axis=0) - np.log(3)
    channels = 1 if grey else 3
    threshold = -channels * np.log(256) - np.log(risk)
    clear = np.abs(density - threshold) > 1e-3  # float32 tables
    assert clear.mean() > 0.99
    np.testing.assert_array_equal((model.foreground(frame) > 0)[clear], (density < threshold)[clear])


def test_silhouette_finds_the_person_and_keeps_the_true_hole(model: GaussianBackground) -> None:
    scene, truth = person()
    mask = model.silhouette(shot(scene, np.random.default_rng(1)))
    assert mask.dtype == np.uint8
    assert set(np.unique(mask)) == {0, 255}
    assert iou(mask > 0, truth) > 0.97
    assert not mask[60, 104], "the hole between arm and body"


def test_no_person_gives_an_empty_mask(model: GaussianBackground) -> None:
    mask = model.silhouette(shot(room() + 1, np.random.default_rng(2)))
    assert mask.shape == (HEIGHT, WIDTH)
    assert not mask.any()


@pytest.mark.parametrize("gain", [0.8, 0.97, 1.05, 1.15])
def test_a_change_of_brightness_of_the_whole_frame_is_not_foreground(model: GaussianBackground, gain: float) -> None:
    scene, truth = person()
    rng = np.random.default_rng(4)
    assert model.gain(shot(scene * gain, rng)) == pytest.approx(gain, rel=0.01)
    assert iou(model.silhouette(shot(scene * gain, rng)) > 0, truth) > 0.96
    assert not model.silhouette(shot((room() + 1) * gain, rng)).any()


def test_a_shadow_is_background_and_a_colour_is_not(model: GaussianBackground) -> None:
    rng = np.random.default_rng(5)
    shaded = room() + 1
    shaded[70:110, 20:70] *= 0.86
    strict = GaussianBackground.from_state(model.means, model.variances, shadow=None)
    assert strict.silhouette(shot(shaded, rng))[75:105, 25:65].mean() > 250
    assert not model.silhouette(shot(shaded, rng)).any()
    tinted = room() + 1
    tinted[70:110, 20:70] *= [0.6, 0.95, 0.95]
    assert model.silhouette(shot(tinted, rng))[75:105, 25:65].mean() > 200


def test_a_deep_shadow_needs_a_wider_range(model: GaussianBackground) -> None:
    shaded = room() + 1
    shaded[70:110, 20:70] *= 0.6
    frame = shot(shaded, np.random.default_rng(6))
    assert model.silhouette(frame).any()
    tolerant = GaussianBackground.from_state(model.means, model.variances, shadow=(0.5, 1.0))
    assert not tolerant.silhouette(frame).any()


def test_grey_images_have_no_shadow_tolerance() -> None:
    grey = GaussianBackground(shadow=(0.1, 1.0)).fit(recordings(np.random.default_rng(7), grey=True))
    scene, truth = person(color=(20, 20, 20))
    frame = shot(scene, np.random.default_rng(1))[..., 1]
    mask = grey.silhouette(frame)
    assert iou(mask > 0, truth) > 0.95
    np.testing.assert_array_equal(mask, grey.silhouette(frame[..., None]))


def test_a_model_is_rebuilt_from_its_arrays(model: GaussianBackground) -> None:
    again = GaussianBackground.from_state(model.means, model.variances)
    frame = shot(person()[0], np.random.default_rng(8))
    np.testing.assert_array_equal(again.silhouette(frame), model.silhouette(frame))


def blocks(*boxes: tuple[int, int, int, int]) -> Frame:
    """Paint boxes (top, bottom, left, right) in a flat red before a flat room."""
    frame = np.full((HEIGHT, WIDTH, 3), 120, np.uint8)
    for top, bottom, left, right in boxes:
        frame[top:bottom, left:right] = (20, 20, 220)
    return frame


def flat(**clean: int) -> GaussianBackground:
    empty = np.full((1, HEIGHT, WIDTH, 3), 120.0)
    return GaussianBackground.from_state(empty, np.zeros_like(empty), clean=CleanUp(**clean))  # type: ignore[arg-type]


def test_only_the_largest_component_stays() -> None:
    mask = flat().silhouette(blocks((10, 60, 10, 40), (10, 40, 100, 130)))
    assert mask[20:50, 15:35].all()
    assert not mask[:, 60:].any()
    both = flat(largest=False).silhouette(blocks((10, 60, 10, 40), (10, 40, 100, 130)))
    assert both[20, 110]


def test_a_body_cut_in_two_is_joined_across_a_narrow_gap() -> None:
    halves = blocks((10, 50, 10, 40), (54, 90, 10, 40))
    mask = flat().silhouette(halves)
    assert mask[15:85, 15:35].any(axis=1).sum() >= 66
    assert mask[30, 20]
    assert mask[70, 20]
    assert not flat(gap=0).silhouette(halves)[70, 20]


def test_small_components_are_no_person() -> None:
    assert not flat().silhouette(blocks((10, 20, 10, 20))).any()
    assert flat(min_area=50).silhouette(blocks((10, 20, 10, 20))).any()


def test_small_holes_are_filled_and_larger_ones_kept() -> None:
    frame = blocks((10, 110, 10, 110))
    frame[30:34, 30:34] = 120
    frame[60:75, 60:75] = 120
    mask = flat(edge=0).silhouette(frame)
    assert mask[30:34, 30:34].all()
    assert not mask[61:74, 61:74].any()


def test_closing_and_opening_are_available() -> None:
    frame = blocks((10, 110, 10, 60), (50, 52, 60, 90))
    assert flat(edge=0).silhouette(frame)[51, 80]
    assert not flat(edge=0, opening=5).silhouette(frame)[51, 80]
    slit = blocks((10, 110, 10, 30), (10, 110, 31, 60))
    assert flat(edge=0).silhouette(slit)[60, 30]
    assert not flat(edge=0, closing=0, gap=0).silhouette(slit)[60, 30]


def test_the_edge_is_decided_by_the_share_of_the_person() -> None:
    frame = blocks((20, 100, 40, 90))
    frame[20:100, 39] = np.rint(120 + 0.35 * (np.array([20, 20, 220]) - 120.0))
    frame[20:100, 90] = np.rint(120 + 0.65 * (np.array([20, 20, 220]) - 120.0))
    mask = flat().silhouette(frame)
    assert not mask[30:90, 39].any()
    assert mask[30:90, 90].all()
    assert flat(edge=0).silhouette(frame)[30:90, 39].all()


@pytest.mark.parametrize(
    ("films", "message"),
    [
        ([], "no background recordings"),
        ([[]], "recording 1 has no frames"),
        ([[np.zeros((4, 4, 3))]], "recording 1, frame 1: expected uint8"),
        ([[np.zeros((4, 4, 3), np.uint8), np.zeros((4, 5, 3), np.uint8)]], "recording 1, frame 2: .*4x4.*5x4"),
        ([[np.zeros((4, 4, 3), np.uint8)], [np.zeros((4, 4), np.uint8)]], "recording 2, frame 1: .*3 chan.*1 chan"),
        ([[np.zeros((4, 4, 4), np.uint8)]], r"\(h, w\) or \(h, w, 3\)"),
    ],
)
def test_bad_recordings_are_named(films: list[list[Frame]], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        GaussianBackground().fit(films)


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        (np.zeros((HEIGHT, WIDTH, 3)), "uint8"),
        (np.zeros((HEIGHT, WIDTH), np.uint8), "1 channel"),
        (np.zeros((60, 80, 3), np.uint8), "160x120.*80x60"),
    ],
)
def test_bad_frames_are_named_in_one_line(model: GaussianBackground, frame: Frame, message: str) -> None:
    with pytest.raises(ValueError, match=message) as caught:
        model.silhouette(frame)
    assert "\n" not in str(caught.value)


def test_bad_parameters_are_named() -> None:
    with pytest.raises(ValueError, match="risk"):
        GaussianBackground(risk=0)
    with pytest.raises(ValueError, match="min_sigma"):
        GaussianBackground(min_sigma=0)
    with pytest.raises(ValueError, match="shadow"):
        GaussianBackground(shadow=(1.0, 0.5))
    with pytest.raises(ValueError, match=re.escape("CleanUp.max_hole")):
        CleanUp(max_hole=-1)
    with pytest.raises(ValueError, match="not fitted"):
        GaussianBackground().silhouette(np.zeros((4, 4, 3), np.uint8))
    with pytest.raises(ValueError, match="means and variances"):
        GaussianBackground.from_state(np.zeros((3, 4, 4)), np.zeros((3, 4, 4)))


@pytest.mark.shared
def test_overlap_with_the_exact_silhouettes_of_the_shared_set() -> None:
    if not SHARED.is_dir():
        pytest.skip(f"no reference data at {SHARED}")
    first = np.load(SHARED / "truth" / "joints_S1_Walking.npz")["first_video_frame"]
    overlaps = []
    for c in (1, 2, 3):
        films = [SHARED / "HumanEva_I" / "Background" / f"Background_{k}_(C{c}).avi" for k in (1, 2, 3)]
        model = GaussianBackground().fit([frames(film) for film in films])
        film = list(frames(SHARED / "HumanEva_I" / "S1" / "Image_Data" / f"Walking_1_(C{c}).avi"))
        for path in sorted((SHARED / "truth" / "masks").glob(f"*(C{c})_F*.png")):
            toolkit_frame = int(path.stem.rsplit("_F", 1)[1])
            truth = cv2.imread(str(path), cv2.IMREAD_GRAYSCALE)
            assert truth is not None
            mask = model.silhouette(film[int(first[c - 1]) + toolkit_frame - 2])
            overlaps.append(iou(mask > 0, truth > 0))
    assert len(overlaps) == 9
    assert np.mean(overlaps) > 0.96
    assert min(overlaps) > 0.92


def frames(path: Path) -> Iterator[Frame]:
    film = cv2.VideoCapture(str(path))
    while True:
        found, frame = film.read()
        if not found:
            return
        yield np.asarray(frame, dtype=np.uint8)
