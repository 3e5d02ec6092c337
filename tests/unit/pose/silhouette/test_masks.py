"""Ready-made masks: which pixels are the person, and who else is in the picture."""

import numpy as np
import pytest

from pose.silhouette.masks import as_mask, examine_mask


def test_as_mask_states_its_thresholds() -> None:
    assert as_mask(np.array([[0, 127, 128, 255]], np.uint8)).tolist() == [[False, False, True, True]]
    assert as_mask(np.array([[0, 1]], np.uint8)).tolist() == [[False, True]]
    assert as_mask(np.array([[0.0, 0.5, 0.51, 1.0]])).tolist() == [[False, False, True, True]]
    assert as_mask(np.array([[0, 32767, 32768]], np.uint16)).tolist() == [[False, False, True]]
    assert not as_mask(np.zeros((2, 3))).any()
    with pytest.raises(ValueError, match="NaN"):
        as_mask(np.array([[np.nan, 1.0]]))


def test_the_second_largest_component_is_told_as_a_share_of_the_largest() -> None:
    mask = np.zeros((10, 20), np.uint8)
    mask[2:6, 2:7] = 255
    assert examine_mask(mask).other == 0
    mask[3:5, 10:12] = 255
    assert examine_mask(mask).other == pytest.approx(4 / 20)
    assert examine_mask(np.zeros((3, 3), np.uint8)).other == 0
