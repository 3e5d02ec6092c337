"""Components by runs against OpenCV's."""

import cv2
import numpy as np
import pytest

from pose.silhouette.connected_components import find_components, paint, touched


def masks():
    rng = np.random.default_rng(0)
    yield np.zeros((5, 7), np.uint8)
    yield np.ones((5, 7), np.uint8)
    yield np.array([[1]], np.uint8)
    yield np.eye(9, dtype=np.uint8)  # joined by corners alone
    yield (np.add.outer(np.arange(20), np.arange(30)) % 2).astype(np.uint8)  # a chessboard
    spiral = np.zeros((21, 21), np.uint8)
    for k in range(0, 10, 2):
        cv2.rectangle(spiral, (k, k), (20 - k, 20 - k), 255, 1)
    spiral[4, 1] = spiral[8, 3] = 255
    yield spiral
    for share in (0.02, 0.3, 0.5, 0.6, 0.9):
        for shape in ((40, 60), (60, 40), (1, 50), (50, 1)):
            yield (rng.random(shape) < share).astype(np.uint8) * np.uint8(255)


@pytest.mark.parametrize("connectivity", [4, 8])
@pytest.mark.parametrize("foreground", [True, False])
def test_components_are_those_of_opencv(connectivity, foreground):
    for mask in masks():
        found = find_components(mask, connectivity, foreground=foreground)
        wanted = ((mask != 0) == foreground).astype(np.uint8)
        count, labels, stats, _ = cv2.connectedComponentsWithStats(wanted, connectivity=connectivity)
        assert len(found.area) == count - 1
        for k in range(count - 1):
            flags = np.arange(count - 1) == k
            picture = np.zeros_like(mask)
            paint(found.runs, found.label, flags, 1, picture, 0, 0)
            row, start, _ = found.runs[found.label == k][0]
            label = labels[row, start]
            np.testing.assert_array_equal(picture, labels == label)
            left, top, width, height, area = stats[label]
            assert found.area[k] == area
            assert found.box[k].tolist() == [top, left, top + height, left + width]
            # Numbered by their first pixels.
            assert row * mask.shape[1] + start == np.flatnonzero(labels.ravel() == label)[0]


def test_components_under_a_mask_are_told():
    rng = np.random.default_rng(1)
    mask = (rng.random((30, 40)) < 0.2).astype(np.uint8)
    found = find_components(mask)
    over = (rng.random((12, 15)) < 0.2).astype(np.uint8)
    told = touched(found.runs, found.label, len(found.area), over, 9, 21)
    whole = np.zeros_like(mask)
    whole[9:21, 21:36] = over
    _, labels = cv2.connectedComponents(mask, connectivity=8)
    for k in range(len(told)):
        row, start, _ = found.runs[found.label == k][0]
        assert told[k] == bool(whole[labels == labels[row, start]].any())


def test_runs_need_little_beside_a_picture_of_labels():
    # Why OpenCV's components are not used: its picture of labels takes longer to write than all the rest of a mask.
    person = cv2.ellipse(np.zeros((480, 640), np.uint8), (300, 240), (60, 180), 0, 0, 360, 255, -1)
    found = find_components(person)
    _, labels = cv2.connectedComponents(person)
    assert 100 * (found.runs.nbytes + found.label.nbytes) < labels.nbytes
