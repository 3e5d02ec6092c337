"""Numbers of things are whole and positive; everything else is named."""

import numpy as np
import pytest

from pose import Codebook, sample_edges
from pose.arguments import check_count

SQUARE = np.pad(np.ones((40, 40), dtype=np.uint8), 10)


def test_whole_numbers_of_any_type_are_taken():
    assert [check_count("n", value) for value in (1, np.int64(7), np.uint8(3))] == [1, 7, 3]


@pytest.mark.parametrize("value", [2.5, 4.0, "4", None, np.ones(2), float("nan")])
def test_what_is_no_whole_number_is_named(value):
    with pytest.raises(ValueError, match="n_points must be a whole number, got"):
        sample_edges(SQUARE, n_points=value)


@pytest.mark.parametrize("value", [0, -3, True])
def test_less_than_one_is_refused(value):
    with pytest.raises(ValueError, match="n_words must be at least 1, got"):
        Codebook(value).fit(np.random.default_rng(0).random((5, 2)))


@pytest.mark.parametrize("path", ["mask.png", "a folder/mask.png"])
def test_a_path_is_told_from_a_mask(path):
    with pytest.raises(ValueError, match=f"read the picture {path} first"):
        sample_edges(path)
