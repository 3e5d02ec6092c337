"""Ready-made silhouettes: stills of every kind, and videos whose codec does not keep black black."""

import av
import cv2
import numpy as np
import pytest

from pose.errors import DataError
from pose.video import read_masks


def disc(value: int) -> np.ndarray:
    mask = np.zeros((48, 64), np.uint8)
    cv2.circle(mask, (30, 24), 12, value, -1)
    return mask


@pytest.mark.parametrize(
    "still",
    [
        disc(255),
        disc(1),
        np.repeat(disc(255)[:, :, None], 3, axis=2),
        np.dstack([np.full((48, 64, 3), 40, np.uint8), disc(255)]),  # alpha alone tells
    ],
    ids=["0 and 255", "0 and 1", "three channels", "alpha"],
)
def test_masks_of_stills(tmp_path, still):
    cv2.imwrite(str(tmp_path / "m1.png"), still)
    cv2.imwrite(str(tmp_path / "m3.png"), still)
    masks = list(read_masks(tmp_path))
    assert [mask.index for mask in masks] == [0, 2]
    np.testing.assert_array_equal(masks[0].image, np.repeat(disc(255)[:, :, None], 3, axis=2))


def test_an_empty_mask_in_a_video_stays_empty(tmp_path):
    """A codec may bring black back as 1, which must not become a person who fills the picture."""
    path = tmp_path / "masks.avi"
    with av.open(str(path), "w") as container:
        stream = container.add_stream("mpeg4", rate=30)
        stream.width, stream.height, stream.pix_fmt = 64, 48, "yuv420p"
        for mask in (disc(255), np.zeros((48, 64), np.uint8)):
            picture = np.repeat(mask[:, :, None], 3, axis=2)
            container.mux(stream.encode(av.VideoFrame.from_ndarray(picture, format="bgr24")))
        container.mux(stream.encode(None))
    person, nobody = (frame.image[:, :, 0] for frame in read_masks(path))
    assert (person > 0).sum() == pytest.approx((disc(255) > 0).sum(), rel=0.05)
    assert set(np.unique(person)) == {0, 255}
    assert not nobody.any()


def test_mask_stills_of_different_sizes_are_refused(tmp_path):
    cv2.imwrite(str(tmp_path / "1.png"), disc(255))
    cv2.imwrite(str(tmp_path / "2.png"), disc(255)[1:])
    with pytest.raises(DataError, match=r"2\.png: the picture is 64 x 47 pixels, those before it are 64 x 48"):
        list(read_masks(tmp_path))


def test_masks_in_a_range(tmp_path):
    for number in range(1, 6):
        cv2.imwrite(str(tmp_path / f"{number}.png"), disc(255))
    assert [frame.index for frame in read_masks(tmp_path, 1, 3)] == [1, 2]
