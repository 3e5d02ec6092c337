"""HistoSC: distributions over words, repeatable, a scikit-learn transformer, importable alone."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator

import cv2
import numpy as np
import numpy.typing as npt
import pytest
from sklearn.base import clone
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline

import pose
from pose import Codebook, EmptySilhouetteError, HistoSC, sample_edges, trace_edges
from pose.descriptor import shape_context

Mask = npt.NDArray[np.uint8]


def figure(seed: int, scale: float = 1.0) -> Mask:
    """Draw a stick figure with random limbs."""
    rng = np.random.default_rng(seed)
    mask = np.zeros((240, 200), np.uint8)
    hip, neck = np.array([100.0, 140.0]), np.array([100.0, 80.0])
    limbs = [(hip, neck, 30), (neck, neck - [0, 25], 20)]
    for root, down in ((neck, 60), (neck, 60), (hip, 80), (hip, 80)):
        limbs.append((root, root + [rng.uniform(-50, 50), down * rng.uniform(0.6, 1.0)], 12))
    for start, end, width in limbs:
        cv2.line(mask, tuple(np.rint(start * scale).astype(int)), tuple(np.rint(end * scale).astype(int)), 255, width)
    return mask


FIGURES = [figure(seed) for seed in range(12)]


@pytest.fixture(scope="module")
def fitted() -> HistoSC:
    return HistoSC(n_points=200, n_words=40).fit(FIGURES[:8])


def test_rows_are_distributions_over_the_words(fitted: HistoSC) -> None:
    rows = fitted.transform(FIGURES)
    assert rows.shape == (12, 40)
    assert rows.dtype == np.float64
    assert (rows >= 0).all()
    np.testing.assert_allclose(rows.sum(axis=1), 1.0, atol=1e-12)
    np.testing.assert_allclose(rows * 200, np.round(rows * 200), atol=1e-9)


def test_a_row_counts_the_words_of_the_shape_contexts(fitted: HistoSC) -> None:
    contexts = shape_context.shape_context(sample_edges(FIGURES[9], 200)) / np.float32(199)
    words = fitted.codebook_.predict(contexts)
    np.testing.assert_array_equal(fitted.histogram(FIGURES[9]), np.bincount(words, minlength=40) / 200)


def test_fit_uses_every_image() -> None:
    seen = []

    def images() -> Iterator[Mask]:
        for index, mask in enumerate(FIGURES):
            seen.append(index)
            yield mask

    base = HistoSC(n_points=100, n_words=20).fit(images())
    assert seen == list(range(12))
    other = HistoSC(n_points=100, n_words=20).fit([*FIGURES[:-1], figure(99)])
    assert (base.codebook_.centers_ != other.codebook_.centers_).any()


@pytest.mark.parametrize("n_jobs", [2, 3, 8])
@pytest.mark.parametrize("ways", [{}, {"rotation": "tangent", "binning": "soft", "assignment": "soft"}])
def test_is_deterministic_for_any_number_of_threads(n_jobs: int, ways: dict[str, str]) -> None:
    alone = HistoSC(n_points=100, n_words=40, **ways).fit(FIGURES[:8])  # type: ignore[arg-type]
    threaded = HistoSC(n_points=100, n_words=40, n_jobs=n_jobs, **ways).fit(FIGURES[:8])  # type: ignore[arg-type]
    np.testing.assert_array_equal(threaded.codebook_.centers_, alone.codebook_.centers_)
    np.testing.assert_array_equal(threaded.transform(iter(FIGURES)), alone.transform(FIGURES))


def test_masks_and_their_points_give_the_same(fitted: HistoSC) -> None:
    points = [sample_edges(mask, 200) for mask in FIGURES]
    np.testing.assert_array_equal(fitted.transform(points), fitted.transform(FIGURES))
    np.testing.assert_array_equal(fitted.transform(np.stack(points)), fitted.transform(np.stack(FIGURES)))


def test_size_and_place_hardly_matter(fitted: HistoSC) -> None:
    large = cv2.resize(FIGURES[3], None, fx=2, fy=2, interpolation=cv2.INTER_NEAREST)
    rows = fitted.transform([FIGURES[3], np.pad(large, ((30, 0), (5, 70))), FIGURES[4]])
    same, other = (0.5 * np.abs(rows[0] - rows[k]).sum() for k in (1, 2))
    assert same < 0.3
    assert same < 0.7 * other


def test_an_iterator_is_read_once_by_fit_transform() -> None:
    masks = [figure(seed) for seed in range(3)]
    expected = HistoSC(n_words=8).fit(masks).transform(masks)
    np.testing.assert_array_equal(HistoSC(n_words=8).fit_transform(iter(masks)), expected)
    np.testing.assert_array_equal(HistoSC(n_words=8, n_jobs=-1).fit_transform(masks), expected)


def test_works_in_a_pipeline_and_survives_clone() -> None:
    targets = np.arange(24.0).reshape(12, 2)
    pipeline = make_pipeline(HistoSC(n_points=100, n_words=30), Ridge(1e-6)).fit(FIGURES, targets)
    assert pipeline.predict(FIGURES[:3]).shape == (3, 2)
    copy = clone(pipeline[0])
    assert copy.get_params() == pipeline[0].get_params()
    assert not hasattr(copy, "codebook_")
    np.testing.assert_array_equal(copy.fit_transform(FIGURES), pipeline[0].transform(FIGURES))


def test_other_ways_to_count_are_passed_on() -> None:
    edges = trace_edges(FIGURES[9], 100)
    for way in ({"rotation": "tangent"}, {"binning": "soft"}, {"rotation": "tangent", "binning": "soft"}):
        histosc = HistoSC(n_points=100, **way)  # type: ignore[arg-type]
        counts = shape_context.shape_context(edges.points, tangents=edges.tangents, **way)  # type: ignore[arg-type]
        for given in (FIGURES[9], edges):
            np.testing.assert_array_equal(histosc.describe(given), counts / np.float32(99))
    with pytest.raises(ValueError, match=r"image 0: .*needs the tangents"):
        HistoSC(rotation="tangent").fit([edges.points])


def test_tangents_make_it_independent_of_rotation() -> None:
    turned = [np.ascontiguousarray(np.rot90(mask)) for mask in FIGURES]
    moved = {}
    for rotation in ("absolute", "tangent"):
        histosc = HistoSC(n_points=200, n_words=40, rotation=rotation).fit(FIGURES)
        rows, others = histosc.transform(FIGURES), histosc.transform(turned)
        moved[rotation] = 0.5 * np.abs(rows - others).sum(axis=1).mean()
    assert moved["tangent"] < 0.1 < 0.5 < moved["absolute"]


def test_distances_of_square_roots_are_hellinger_distances(fitted: HistoSC) -> None:
    plain = fitted.transform(FIGURES)
    roots = HistoSC.from_codebook(fitted.codebook_, n_points=200, hellinger=True).transform(FIGURES)
    np.testing.assert_allclose((roots**2).sum(axis=1), 1.0, atol=1e-12)
    hellinger = np.sqrt(1 - np.sqrt(plain[0] * plain[1]).sum())  # one minus the Bhattacharyya coefficient
    np.testing.assert_allclose(np.linalg.norm(roots[0] - roots[1]), np.sqrt(2) * hellinger)


def test_soft_assignment_shares_points_out(fitted: HistoSC) -> None:
    soft = HistoSC.from_codebook(fitted.codebook_, n_points=200, assignment="soft")
    rows = soft.transform(FIGURES)
    np.testing.assert_allclose(rows.sum(axis=1), 1.0)
    expected = fitted.codebook_.memberships(fitted.describe(FIGURES[2])).mean(axis=0)
    np.testing.assert_allclose(rows[2], expected, rtol=1e-12, atol=1e-15)
    assert (rows > 0).sum() > (fitted.transform(FIGURES) > 0).sum()
    with pytest.raises(ValueError, match="hard, soft"):
        HistoSC(assignment="fuzzy").fit(FIGURES)


def test_several_people_count_together_on_request() -> None:
    pair = np.hstack([FIGURES[0], FIGURES[1]])
    points = sample_edges(pair, 100, components="all")
    assert (points[:, 0] > 200).any()
    assert (points[:, 0] < 200).any()
    histosc = HistoSC(n_points=100, n_words=10, components="all")
    np.testing.assert_array_equal(histosc.describe(pair), HistoSC().describe(points))


def test_learns_from_a_long_video_piece_by_piece(monkeypatch: pytest.MonkeyPatch) -> None:
    batches: list[int] = []
    learn = Codebook.partial_fit

    def counted(codebook: Codebook, descriptors: npt.NDArray[np.float32]) -> Codebook:
        batches.append(len(descriptors))
        return learn(codebook, descriptors)

    monkeypatch.setattr(Codebook, "partial_fit", counted)
    video = (FIGURES[k % 12] for k in range(100))
    histosc = HistoSC(n_points=100, n_words=30).partial_fit(video)
    assert batches == [8200, 1800], "82 images in memory at most"
    rows = histosc.transform(FIGURES)
    assert rows.shape == (12, 30)
    assert (rows.sum(axis=0) > 0).sum() > 25
    before = histosc.codebook_.centers_.copy()
    assert (histosc.partial_fit(FIGURES).codebook_.centers_ != before).any()
    with pytest.raises(ValueError, match="no images"):
        HistoSC().partial_fit([])
    with pytest.raises(EmptySilhouetteError, match="image 1"):
        HistoSC().partial_fit([FIGURES[0], np.zeros((9, 9))])


def test_is_rebuilt_from_its_codebook(fitted: HistoSC) -> None:
    again = HistoSC.from_codebook(Codebook.from_centers(fitted.codebook_.centers_), n_points=200)
    np.testing.assert_array_equal(again.transform(FIGURES), fitted.transform(FIGURES))
    assert again.n_words == 40
    with pytest.raises(ValueError, match="120 entries, 12 x 8"):
        HistoSC.from_codebook(fitted.codebook_, n_angular=12)


def test_feature_names(fitted: HistoSC) -> None:
    assert fitted.get_feature_names_out().tolist() == [f"word{k}" for k in range(40)]


def test_words_are_clipped_with_one_line() -> None:
    square = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])
    with pytest.warns(UserWarning, match="clipped to 4"):
        histosc = HistoSC(n_words=50).fit([square])
    assert histosc.transform([square]).tolist() == [[0.25] * 4]


def test_an_image_without_a_person_is_named(fitted: HistoSC) -> None:
    with pytest.raises(EmptySilhouetteError, match=r"image 1: .*no person"):
        fitted.transform([FIGURES[0], np.zeros((20, 20), np.uint8)])
    with pytest.raises(EmptySilhouetteError, match="image 0"):
        HistoSC(n_jobs=2).fit([np.zeros((20, 20), np.uint8)])


def test_misuse_is_named(fitted: HistoSC) -> None:
    with pytest.raises(ValueError, match="not fitted"):
        HistoSC().transform(FIGURES)
    with pytest.raises(ValueError, match="not fitted"):
        HistoSC().get_feature_names_out()
    with pytest.raises(ValueError, match="no images"):
        HistoSC().fit([])
    with pytest.raises(ValueError, match=r"pass \[image\]"):
        fitted.transform(FIGURES[0])
    with pytest.raises(ValueError, match="n_jobs"):
        HistoSC(n_jobs=0).fit(FIGURES)
    assert fitted.transform([]).shape == (0, 40)


def test_importing_the_descriptor_loads_nothing_else() -> None:
    code = (
        "import sys; from pose import HistoSC; "
        "print([m for m in ('gbcd', 'h5py', 'typer', 'pydantic', 'av', 'ezc3d', 'matplotlib', 'pipelines') "
        "if m in sys.modules])"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"


def test_public_names_are_lazy_and_complete() -> None:
    assert set(pose.__all__) <= set(dir(pose))
    for name in pose.__all__:
        assert getattr(pose, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'Nothing'"):
        _ = pose.Nothing
