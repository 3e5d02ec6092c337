"""Ready-made silhouettes: stills of every kind, and videos whose codec does not keep black black."""

import av
import cv2
import numpy as np
import pytest
from PIL import Image

from pose.errors import DataError
from pose.video.mask_reader import read_masks


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


@pytest.mark.parametrize(
    "still",
    [
        np.dstack([np.full((48, 64), 40, np.uint8), disc(255)]),
        np.clip(cv2.GaussianBlur(disc(255), (7, 7), 0), 0, 255),
        disc(255)[:, :, None],
        np.where(disc(1)[:, :, None] > 0, np.uint16(65535), np.uint16(0)),
    ],
    ids=["two channels", "soft", "one channel", "16 bit"],
)
def test_more_kinds_of_stills(tmp_path, still):
    path = tmp_path / "m1.png"
    if still.ndim == 3 and still.shape[2] == 2:
        Image.fromarray(still, mode="LA").save(path)
    else:
        cv2.imwrite(str(path), still)
    (mask,) = read_masks(tmp_path)
    wrong = (mask.image[:, :, 0] > 0) != (disc(255) > 0)
    assert wrong.sum() <= 8  # of a soft edge


def film(path, pictures, codec, pix_fmt, layout):
    with av.open(str(path), "w") as container:
        stream = container.add_stream(codec, rate=30)
        stream.width, stream.height, stream.pix_fmt = 64, 48, pix_fmt
        for picture in pictures:
            frame = av.VideoFrame.from_ndarray(np.ascontiguousarray(picture), format=layout)
            container.mux(stream.encode(frame))
        container.mux(stream.encode(None))
    return path


NOBODY = np.zeros((48, 64), np.uint8)


@pytest.mark.parametrize("person", [1, 255])
@pytest.mark.parametrize(("codec", "pix_fmt", "layout"), [("ffv1", "gray", "gray"), ("png", "rgb24", "rgb24")])
def test_lossless_videos_of_0_and_1_or_255(tmp_path, person, codec, pix_fmt, layout):
    pictures = [NOBODY, disc(person), NOBODY]
    if layout == "rgb24":
        pictures = [np.repeat(picture[:, :, None], 3, axis=2) for picture in pictures]
    masks = list(
        read_masks(film(tmp_path / ("m.avi" if codec == "ffv1" else "m.mov"), pictures, codec, pix_fmt, layout))
    )
    assert [int((mask.image[:, :, 0] > 0).sum()) for mask in masks] == [0, int((disc(1) > 0).sum()), 0]
    np.testing.assert_array_equal(masks[1].image[:, :, 0], disc(255))


def test_the_alpha_channel_of_a_video_is_its_mask(tmp_path):
    """A cut-out: the picture is bright everywhere, and transparent but for the person."""
    cut_out = np.dstack([np.full((48, 64, 3), 200, np.uint8), disc(255)])
    (mask,) = read_masks(film(tmp_path / "m.mov", [cut_out], "png", "rgba", "rgba"))
    np.testing.assert_array_equal(mask.image[:, :, 0], disc(255))


def test_mask_stills_of_different_sizes_are_refused(tmp_path):
    cv2.imwrite(str(tmp_path / "1.png"), disc(255))
    cv2.imwrite(str(tmp_path / "2.png"), disc(255)[1:])
    with pytest.raises(DataError, match=r"2\.png: the picture is 64 x 47 pixels, those before it are 64 x 48"):
        list(read_masks(tmp_path))


def test_masks_in_a_range(tmp_path):
    for number in range(1, 6):
        cv2.imwrite(str(tmp_path / f"{number}.png"), disc(255))
    assert [frame.index for frame in read_masks(tmp_path, 1, 3)] == [1, 2]
