"""The vocabulary: known clusters, clipping, exact and repeatable assignment."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
from scipy.spatial.distance import cdist
from sklearn.base import clone
from sklearn.cluster import MiniBatchKMeans
from threadpoolctl import threadpool_limits

from pose.descriptor import codebook as codebook_module
from pose.descriptor.codebook import Codebook

Floats = npt.NDArray[np.float32]


def clusters(n: int = 400, k: int = 6, d: int = 12, seed: int = 0) -> tuple[Floats, Floats]:
    """Return n rows around k far-apart centres, and the centres."""
    rng = np.random.default_rng(seed)
    centers = 40.0 * np.eye(k, d)
    rows = centers[np.arange(n) % k] + rng.normal(0, 0.5, (n, d))
    return rows.astype(np.float32), centers.astype(np.float32)


def test_finds_separable_clusters() -> None:
    rows, centers = clusters()
    codebook = Codebook(6).fit(rows)
    assert codebook.n_words_ == 6
    assert codebook.centers_.dtype == np.float32
    distances = cdist(codebook.centers_, centers)
    assert sorted(distances.argmin(axis=1)) == list(range(6))
    assert distances.min(axis=1).max() < 0.5
    words = codebook.predict(rows)
    assert words.dtype == np.int32
    for k in range(6):
        assert len(np.unique(words[k::6])) == 1


def test_mini_batches_find_them_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(codebook_module, "MINI_BATCH_FROM", 300)
    rows, centers = clusters(3000)
    codebook = Codebook(6).fit(rows)
    assert cdist(codebook.centers_, centers).min(axis=1).max() < 0.5
    np.testing.assert_array_equal(codebook.centers_, Codebook(6).fit(rows).centers_)


def test_assignment_is_the_nearest_word() -> None:
    rng = np.random.default_rng(1)
    centers = rng.random((50, 30)).astype(np.float32)
    rows = (rng.random((500, 30)) * (rng.random((500, 30)) < 0.3)).astype(np.float32)
    words = Codebook.from_centers(centers).predict(rows)
    np.testing.assert_array_equal(words, cdist(rows.astype(float), centers.astype(float)).argmin(axis=1))


def test_equal_distances_go_to_the_lower_word() -> None:
    words = Codebook.from_centers([[2.0, 0.0], [0.0, 2.0], [2.0, 0.0]]).predict([[1.0, 1.0], [3.0, 0.0]])
    assert words.tolist() == [0, 0]


def test_same_seed_same_words_for_any_number_of_threads() -> None:
    rows = np.random.default_rng(2).random((2000, 20)).astype(np.float32)
    with threadpool_limits(limits=2):
        first = Codebook(40, random_state=3).fit(rows)
        together = first.predict(rows)
    with threadpool_limits(limits=1):
        second = Codebook(40, random_state=3).fit(rows)
        alone = second.predict(rows)
    np.testing.assert_array_equal(first.centers_, second.centers_)
    np.testing.assert_array_equal(together, alone)
    assert (Codebook(40, random_state=4).fit(rows).centers_ != first.centers_).any()


def test_more_words_than_distinct_descriptors_are_clipped_with_one_line() -> None:
    rows = np.repeat(np.eye(5, 8, dtype=np.float32), 30, axis=0)
    with pytest.warns(UserWarning, match="n_words=20 clipped to 5") as caught:
        codebook = Codebook(20).fit(rows)
    assert len(caught) == 1
    assert "\n" not in str(caught[0].message)
    assert codebook.n_words_ == 5
    assert sorted(np.unique(codebook.predict(rows)).tolist()) == [0, 1, 2, 3, 4]


def test_few_distinct_descriptors_after_many_equal_ones_are_found() -> None:
    rows = np.concatenate([np.zeros((500, 4)), np.eye(4)])
    codebook = Codebook(5).fit(rows)
    assert codebook.n_words_ == 5
    assert len(np.unique(codebook.predict(rows))) == 5


def test_every_word_owns_a_descriptor() -> None:
    rows = np.concatenate([np.zeros((300, 3)), np.random.default_rng(0).random((30, 3))])
    codebook = Codebook(25).fit(rows)
    assert (np.bincount(codebook.predict(rows), minlength=25) > 0).all()


def test_an_empty_word_is_moved_to_the_farthest_descriptor() -> None:
    codebook = Codebook.from_centers([[0.0, 0.0], [99.0, 99.0]])
    rows = np.array([[0.0, 0.0], [0.1, 0.0], [5.0, 5.0]], np.float32)
    codebook._relocate_empty(rows)
    np.testing.assert_array_equal(codebook.centers_, [[0.0, 0.0], [5.0, 5.0]])


def test_no_word_is_empty_where_mini_batches_leave_some() -> None:
    # Why words are moved here although scikit-learn can: it does so in KMeans alone.
    rng = np.random.default_rng(0)
    rows = np.concatenate([np.repeat(rng.normal(size=(60, 8)), 1000, axis=0), rng.normal(size=(20, 8)) * 50])
    rows = rows.astype(np.float32)
    plain = MiniBatchKMeans(75, batch_size=codebook_module.BATCH_SIZE, n_init=1, random_state=0).fit(rows)
    assert (np.bincount(plain.predict(rows), minlength=75) == 0).any()
    assert (np.bincount(Codebook(75).fit(rows).predict(rows), minlength=75) > 0).all()


def test_is_rebuilt_from_its_centers() -> None:
    rows, _ = clusters()
    fitted = Codebook(6).fit(rows)
    again = Codebook.from_centers(fitted.centers_)
    assert again.n_words == again.n_words_ == 6
    np.testing.assert_array_equal(again.predict(rows), fitted.predict(rows))
    assert clone(again).get_params() == {"n_words": 6, "random_state": 0}


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (np.zeros((0, 3)), "non-empty"),
        (np.zeros(3), "shape"),
        (np.array([[np.nan, 0.0]]), "NaN"),
    ],
)
def test_bad_descriptors_are_named(rows: Floats, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Codebook(1).fit(rows)


def test_misuse_is_named() -> None:
    with pytest.raises(ValueError, match="n_words must be at least 1"):
        Codebook(0).fit(np.zeros((3, 2)))
    with pytest.raises(ValueError, match="not fitted"):
        Codebook(2).predict(np.zeros((3, 2)))
    with pytest.raises(ValueError, match="3 columns, the codebook has 2"):
        Codebook.from_centers(np.zeros((4, 2))).predict(np.zeros((3, 3)))


def test_soft_assignment_by_hand() -> None:
    # Words 2 apart: the bandwidth is half of that, 1. Halfway, half to each; on a word, 1 to exp(-2^2 / 2).
    codebook = Codebook.from_centers([[0.0, 0.0], [2.0, 0.0]])
    assert codebook.bandwidth_ == pytest.approx(1.0)
    other = np.exp(-2.0)
    expected = np.array([[0.5, 0.5], [1 / (1 + other), other / (1 + other)]])
    np.testing.assert_allclose(codebook.memberships([[1.0, 5.0], [0.0, 0.0]]), expected, rtol=1e-6)
    np.testing.assert_allclose(codebook.histogram([[1.0, 5.0], [0.0, 0.0]], "soft"), expected.mean(axis=0), rtol=1e-6)


def test_soft_assignment_agrees_with_its_formula() -> None:
    rng = np.random.default_rng(5)
    centers, rows = rng.random((20, 9)), rng.random((50, 9))
    codebook = Codebook.from_centers(centers)
    among = cdist(centers, centers) + np.diag(np.full(20, np.inf))
    assert codebook.bandwidth_ == pytest.approx(0.5 * np.median(among.min(axis=1)), rel=1e-5)
    weights = np.exp(-(cdist(rows, centers) ** 2) / (2 * codebook.bandwidth_**2))
    np.testing.assert_allclose(codebook.memberships(rows), weights / weights.sum(axis=1, keepdims=True), rtol=1e-3)


@pytest.mark.parametrize("centers", [[[3.0, 4.0]], [[1.0, 1.0]] * 3])
def test_soft_assignment_needs_no_spread(centers: list[list[float]]) -> None:
    shares = Codebook.from_centers(centers).memberships([[0.0, 0.0]])
    np.testing.assert_allclose(shares, 1 / len(centers))


def test_hard_histogram_counts_words() -> None:
    codebook = Codebook.from_centers([[0.0], [1.0], [2.0]])
    assert codebook.histogram([[0.1], [0.2], [1.9], [5.0]]).tolist() == [0.5, 0.0, 0.5]
    with pytest.raises(ValueError, match="hard, soft"):
        codebook.histogram([[0.0]], "fuzzy")


def test_batches_find_separable_clusters() -> None:
    rows, centers = clusters(3000)
    codebook = Codebook(6)
    with threadpool_limits(limits=2):
        for start in range(0, 3000, 500):
            codebook.partial_fit(rows[start : start + 500])
    assert codebook.n_words_ == 6
    distances = cdist(codebook.centers_, centers)
    assert sorted(distances.argmin(axis=1)) == list(range(6))
    assert distances.min(axis=1).max() < 0.5
    again = Codebook(6)
    with threadpool_limits(limits=1):
        for start in range(0, 3000, 500):
            again.partial_fit(rows[start : start + 500])
    np.testing.assert_array_equal(again.centers_, codebook.centers_)


def test_a_batch_too_small_for_the_words_is_kept_for_the_next() -> None:
    rows = np.eye(8, dtype=np.float32)
    codebook = Codebook(6).partial_fit(rows[[0, 1, 0, 0]])
    assert sorted(codebook.centers_.argmax(axis=1)) == [0, 1]
    assert len(codebook.partial_fit(rows[[2, 1]]).centers_) == 3
    codebook.partial_fit(rows)
    assert codebook.n_words_ == 6
    assert codebook.partial_fit(rows * 3).n_words_ == 6


def test_batches_go_on_from_the_words_there_are() -> None:
    rows, centers = clusters(600)
    for codebook in (Codebook(6).fit(rows), Codebook.from_centers(centers)):
        before = codebook.centers_.copy()
        codebook.partial_fit(rows + np.float32(1.0))
        moved = codebook.centers_ - before
        np.testing.assert_allclose(moved, 1.0, atol=0.3)  # the first batch moves them freely
    refitted = codebook.fit(rows)
    np.testing.assert_array_equal(refitted.centers_, Codebook(6).fit(rows).centers_)


def test_batches_of_another_width_are_named() -> None:
    codebook = Codebook(2).partial_fit(np.eye(3))
    with pytest.raises(ValueError, match="4 columns, the codebook has 3"):
        codebook.partial_fit(np.eye(4))
    with pytest.raises(ValueError, match="n_words must be at least 1"):
        Codebook(0).partial_fit(np.eye(3))
