"""H.264 out, read by OpenCV, and every way in which it cannot be written."""

import cv2
import numpy as np
import pytest
from moving_pictures import pictures, read_with_opencv, write_mp4

from pose.errors import DataError
from pose.video.reader import read_frames
from pose.video.writer import VideoWriter


@pytest.mark.parametrize("size", [(48, 64), (49, 65)], ids=["even", "odd"])
def test_a_written_video_is_what_opencv_reads(tmp_path, size):
    images = pictures(15, *size)
    path = write_mp4(tmp_path / "out.mp4", images)
    decoded, written = np.array(read_with_opencv(path), int), np.array(images, int)[:, :48, :64]
    assert decoded.shape == (15, 48, 64, 3)
    # H.264 keeps half of the colours' rows and columns; still every picture is nearest to the one that was written.
    distance = np.abs(decoded[:, None] - written[None]).mean(axis=(2, 3, 4))
    assert distance.diagonal().max() < 10
    np.testing.assert_array_equal(distance.argmin(axis=1), np.arange(15))
    assert [item.name for item in tmp_path.iterdir()] == ["out.mp4"]


@pytest.mark.parametrize("rate", [60, 12.5, 30000 / 1001, 59.94, 0.4])
def test_rates_are_kept(tmp_path, rate):
    path = write_mp4(tmp_path / "out.mp4", pictures(4), rate)
    capture = cv2.VideoCapture(str(path))
    assert capture.get(cv2.CAP_PROP_FPS) == pytest.approx(rate, rel=1e-6)
    capture.release()
    np.testing.assert_allclose([frame.time for frame in read_frames(path)], np.arange(4) / rate, rtol=1e-3)


@pytest.mark.parametrize(
    ("size", "rate"), [((64, 48), 0), ((64, 48), -1), ((64, 48), float("nan")), ((1, 48), 60), ((64, 1), 60)]
)
def test_impossible_sizes_and_rates_are_refused(tmp_path, size, rate):
    with pytest.raises(ValueError, match=rf"out\.mp4: no video has {size[0]} x {size[1]} pixels at "):
        VideoWriter(tmp_path / "out.mp4", *size, rate)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("none/out.mp4", "there is no folder .*none; make it first"),
        ("there", "it is a folder; name a file"),
        ("n" * 300, "File name too long"),  # the name itself
        ("n" * 252, "File name too long"),  # the temporary name
    ],
)
def test_an_impossible_place_is_named_and_nothing_left(tmp_path, name, message):
    (tmp_path / "there").mkdir()
    with pytest.raises(DataError, match=f"{name}: cannot be written.*{message}"):
        write_mp4(tmp_path / name, pictures(1))
    assert [item.name for item in tmp_path.iterdir()] == ["there"]
    assert not list((tmp_path / "there").iterdir())


@pytest.mark.parametrize("before", [None, b"the last result"], ids=["new", "over a file"])
@pytest.mark.parametrize("kind", [RuntimeError, KeyboardInterrupt])
def test_an_exception_leaves_everything_as_it_was(tmp_path, before, kind):
    path = tmp_path / "out.mp4"
    if before is not None:
        path.write_bytes(before)
    with pytest.raises(kind, match="stopped here"):
        write_mp4(path, pictures(60), then=kind("stopped here"))
    assert [item.read_bytes() for item in tmp_path.iterdir()] == ([] if before is None else [before])


def test_a_finished_video_replaces_the_last_one(tmp_path):
    (tmp_path / "out.mp4").write_bytes(b"the last result")
    assert len(read_with_opencv(write_mp4(tmp_path / "out.mp4", pictures(3)))) == 3


def test_no_picture_is_no_video(tmp_path):
    with (
        pytest.raises(DataError, match=r"out\.mp4: not written, as there is no picture"),
        VideoWriter(tmp_path / "out.mp4", 64, 48),
    ):
        pass
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("shape", [(47, 64, 3), (48, 128, 3), (48, 64)])
def test_a_picture_of_another_size_is_refused(tmp_path, shape):
    with pytest.raises(ValueError, match=r"expected a picture of shape \(48, 64, 3\), found"):
        write_mp4(tmp_path / "out.mp4", [*pictures(1), np.zeros(shape, np.uint8)])
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("n", [20, 120], ids=["at the end", "before the end"])
def test_a_full_disk_is_named_and_nothing_left(tmp_path, n):
    resource = pytest.importorskip("resource")
    noise = np.random.default_rng(0).integers(0, 255, (n, 96, 128, 3), dtype=np.uint8)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 16, hard))  # files end at 64 KiB, as on a disk that is full
    try:
        with pytest.raises(DataError, match=r"out\.mp4: cannot be written \(File too large\)"):
            write_mp4(tmp_path / "out.mp4", noise)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert not list(tmp_path.iterdir())
