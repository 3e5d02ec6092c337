"""Video in against OpenCV's decoder and encoder, and every way a file can be damaged."""

import struct
from pathlib import Path

import av
import cv2
import numpy as np
import pytest
from moving_pictures import pictures, read_with_opencv, write_mp4

from pose.errors import DataError
from pose.video.reader import VideoInfo, probe, read_frames
from pose.video.stills import list_stills


def noisy_pictures(n=30):
    """Pictures that no codec can predict from one another, so that all take about as many bytes."""
    return list(np.random.default_rng(1).integers(0, 255, (n, 48, 64, 3), dtype=np.uint8))


def write_with_opencv(path, images, fourcc="FFV1", rate=25.0):
    height, width = images[0].shape[:2]
    writer = cv2.VideoWriter(str(path), cv2.VideoWriter_fourcc(*fourcc), rate, (width, height))
    assert writer.isOpened()
    for image in images:
        writer.write(image)
    writer.release()
    return path


def write_lossless(path, images, rate=25):
    """With FFmpeg's own codec in blue, green and red; OpenCV's writer would cut odd sizes."""
    with av.open(str(path), "w") as container:
        stream = container.add_stream("ffv1", rate=rate)
        stream.height, stream.width = images[0].shape[:2]
        stream.pix_fmt = "bgr0"
        for image in images:
            container.mux(stream.encode(av.VideoFrame.from_ndarray(image, format="bgr24")))
        container.mux(stream.encode())
    return path


def write_stills(folder, names, height=4, width=6):
    """Pictures of one grey each, 10 times their place in `names`."""
    folder.mkdir(exist_ok=True)
    for place, name in enumerate(names):
        assert cv2.imwrite(str(folder / name), np.full((height, width, 3), 10 * place, np.uint8))
    return folder


def greys(frames):
    return [(frame.index, int(frame.image[0, 0, 0])) for frame in frames]


@pytest.mark.parametrize("size", [(48, 64), (49, 65)], ids=["even", "odd"])
def test_a_lossless_video_comes_back_as_it_was(tmp_path, size):
    written = pictures(12, *size)
    path = write_lossless(tmp_path / "a.avi", written)
    frames = list(read_frames(path))
    assert [frame.index for frame in frames] == list(range(12))
    np.testing.assert_allclose([frame.time for frame in frames], np.arange(12) / 25, atol=1e-9)
    for frame, image in zip(frames, written, strict=True):
        np.testing.assert_array_equal(frame.image, image)
        assert frame.image.dtype == np.uint8
        assert frame.image.flags.c_contiguous


def test_xvid_decodes_as_opencv_decodes_it(tmp_path):
    path = write_with_opencv(tmp_path / "a.avi", pictures(20), "XVID", 60)
    ours, theirs = [frame.image for frame in read_frames(path)], read_with_opencv(path)
    assert len(ours) == len(theirs) == 20
    # Two builds of one decoder may round a colour differently.
    assert max(np.abs(a.astype(int) - b).max() for a, b in zip(ours, theirs, strict=True)) <= 2


@pytest.mark.parametrize(
    ("start", "stop", "expected"),
    [
        (0, None, range(12)),
        (3, 7, range(3, 7)),
        (10, 99, range(10, 12)),
        (-2, 2, range(2)),
        (12, None, range(0)),
        (4, 4, range(0)),
    ],
)
def test_a_range_keeps_the_files_numbers(tmp_path, start, stop, expected):
    written = pictures()
    path = write_with_opencv(tmp_path / "a.avi", written)
    frames = list(read_frames(path, start, stop))
    assert [frame.index for frame in frames] == list(expected)
    for frame in frames:
        np.testing.assert_array_equal(frame.image, written[frame.index])


def test_probe_says_what_the_file_holds(tmp_path):
    path = write_with_opencv(tmp_path / "a.avi", pictures(7, 50, 66), rate=12.5)
    assert probe(path) == VideoInfo(width=66, height=50, rate=12.5, announced_frames=7)


@pytest.mark.parametrize("name", ["a b (C1).avi", "größe é 体.avi", "frame%03d.avi", "a:b.avi"])
def test_unusual_names_are_read_and_written(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)  # FFmpeg would take the a of a relative a:b.avi for a protocol
    write_with_opencv("plain.avi", pictures(3))
    Path("plain.avi").rename(name)
    assert len(list(read_frames(name))) == 3
    write_mp4(f"{name}.mp4", pictures(1))
    assert probe(f"{name}.mp4").announced_frames == 1


def test_time_starts_at_zero_where_the_container_starts_later(tmp_path):
    path = tmp_path / "a.ts"
    with av.open(str(path), "w") as container:
        stream = container.add_stream("mpeg4", rate=50)
        stream.width, stream.height = 64, 48
        for number, image in enumerate(pictures()):
            frame = av.VideoFrame.from_ndarray(image, format="bgr24")
            frame.pts = number + 100  # two seconds in
            container.mux(stream.encode(frame))
        container.mux(stream.encode())
    with av.open(str(path)) as container:
        assert next(container.decode(video=0)).time > 1
    np.testing.assert_allclose([frame.time for frame in read_frames(path)], np.arange(12) / 50, atol=1e-4)


ONE = 1 << 16
DISPLAY_MATRICES = {
    "upright": (ONE, 0, 0, 0, ONE, 0, 0, 0, 1 << 30),
    "right": (0, ONE, 0, -ONE, 0, 0, 0, 0, 1 << 30),
    "upside down": (-ONE, 0, 0, 0, -ONE, 0, 0, 0, 1 << 30),
    "left": (0, -ONE, 0, ONE, 0, 0, 0, 0, 1 << 30),
}


@pytest.mark.parametrize("held", DISPLAY_MATRICES)
def test_a_phones_picture_is_turned_upright_as_opencv_turns_it(tmp_path, held):
    path = write_mp4(tmp_path / "a.mp4", pictures(3))
    content = bytearray(path.read_bytes())
    at = content.index(b"tkhd") + 44  # ISO 14496-12: the matrix follows 40 bytes of a version 0 track header
    assert struct.unpack_from(">9i", content, at) == DISPLAY_MATRICES["upright"]
    struct.pack_into(">9i", content, at, *DISPLAY_MATRICES[held])
    path.write_bytes(content)
    ours, theirs = [frame.image for frame in read_frames(path)], read_with_opencv(path)
    assert [image.shape for image in ours] == [image.shape for image in theirs]
    assert max(np.abs(a.astype(int) - b).max() for a, b in zip(ours, theirs, strict=True)) <= 2
    info = probe(path)
    assert (info.height, info.width) == theirs[0].shape[:2]


# Damaged and foreign files


def avi_picture_ends(content):
    """Byte behind each picture's chunk, by walking the RIFF structure."""
    at = content.index(b"movi") + 4
    ends = []
    while content[at : at + 4] == b"00dc":
        size = struct.unpack_from("<I", content, at + 4)[0]
        at += 8 + size + size % 2
        ends.append(at)
    return ends


def test_half_an_avi_gives_what_it_holds_and_warns(tmp_path):
    path = write_with_opencv(tmp_path / "a.avi", noisy_pictures(), "XVID", 60)
    whole = [frame.image for frame in read_frames(path)]
    content = path.read_bytes()
    assert len(avi_picture_ends(content)) == len(whole) == 30
    path.write_bytes(content[: len(content) // 2])
    n_whole = sum(end <= len(content) // 2 for end in avi_picture_ends(content))
    assert 3 < n_whole < 27
    with pytest.warns(UserWarning, match=r"a\.avi: ends after frame \d+ of the 30 announced") as caught:
        frames = list(read_frames(path))
    # The picture that the cut goes through may still be decodable in part.
    assert len(frames) in (n_whole, n_whole + 1)
    assert f"ends after frame {len(frames)} of" in str(caught[0].message)
    assert Path(caught[0].filename) == Path(__file__)
    for frame, image in zip(frames[:n_whole], whole, strict=False):
        np.testing.assert_array_equal(frame.image, image)


def test_a_range_before_the_cut_needs_no_warning(tmp_path):
    path = write_with_opencv(tmp_path / "a.avi", noisy_pictures(), "XVID", 60)
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2])
    assert [frame.index for frame in read_frames(path, 1, 3)] == [1, 2]


def test_a_damaged_stream_gives_its_beginning_and_the_reason(tmp_path):
    path = write_mp4(tmp_path / "a.mp4", pictures(30))
    whole = [frame.image for frame in read_frames(path)]
    with av.open(str(path)) as container:
        spans = sorted((packet.pos, packet.size) for packet in container.demux(video=0) if packet.size)
    content = bytearray(path.read_bytes())
    for at, size in spans[15:]:
        content[at : at + size] = bytes(size)
    path.write_bytes(content)
    with pytest.warns(UserWarning, match=r"a\.mp4: ends after frame \d+ of the 30 announced \(Invalid data"):
        frames = list(read_frames(path))
    assert 5 < len(frames) <= 15
    for frame, image in zip(frames, whole, strict=False):
        np.testing.assert_array_equal(frame.image, image)
    for at, size in spans:
        content[at : at + size] = bytes(size)
    path.write_bytes(content)
    with pytest.raises(DataError, match=r"a\.mp4: no frame could be decoded \(Invalid data"):
        list(read_frames(path))


def fault_of(function, path):
    with pytest.raises(DataError) as fault:
        function(path)
    message = str(fault.value)
    assert message.startswith(f"{path}: ")
    assert "\n" not in message
    return message.removeprefix(f"{path}: ")


@pytest.mark.parametrize("function", [probe, lambda path: list(read_frames(path))], ids=["probe", "read_frames"])
class TestForeignFiles:
    @pytest.mark.parametrize("content", [b"", b"this is no video\n" * 100], ids=["empty", "text"])
    def test_no_video(self, tmp_path, function, content):
        path = tmp_path / "a.avi"
        path.write_bytes(content)
        assert fault_of(function, path).startswith("cannot be opened as a video (Invalid data")

    def test_text_that_ffmpeg_would_draw(self, tmp_path, function):
        path = tmp_path / "notes.txt"
        path.write_text("this is no video\n" * 100)
        assert fault_of(function, path) == "is a text file, not a video"

    def test_no_pictures_inside(self, tmp_path, function):
        path = tmp_path / "a.srt"
        path.write_text("1\n00:00:01,000 --> 00:00:02,000\nHello\n")
        assert fault_of(function, path) == "holds no video stream"

    def test_missing(self, tmp_path, function):
        assert fault_of(function, tmp_path / "none.avi") == "no such video"

    def test_a_folder_without_pictures(self, tmp_path, function):
        (tmp_path / "a.avi").write_bytes(b"")
        (tmp_path / "unnumbered.png").write_bytes(b"")
        assert fault_of(function, tmp_path).startswith("holds no numbered pictures (.bmp .png")


def test_pictures_that_change_their_size_are_refused(tmp_path):
    path = tmp_path / "a.mjpeg"
    jpegs = [cv2.imencode(".jpg", image)[1].tobytes() for image in (*pictures(2), *pictures(1, 24, 32))]
    path.write_bytes(b"".join(jpegs))
    frames = read_frames(path)
    assert [next(frames).index, next(frames).index] == [0, 1]
    with pytest.raises(DataError, match=r"a\.mjpeg, frame 3: the picture is 32 x 24 pixels, those before it are 64 x"):
        next(frames)


# Folders of stills


def test_stills_come_in_the_order_of_their_numbers(tmp_path):
    write_stills(tmp_path, ["im10.png", "im9.bmp", "im008.PNG", "im_7.tif"])
    assert [path.name for path in list_stills(tmp_path)] == ["im_7.tif", "im008.PNG", "im9.bmp", "im10.png"]
    assert greys(read_frames(tmp_path)) == [(6, 30), (7, 20), (8, 10), (9, 0)]


@pytest.mark.parametrize(
    ("numbers", "indices"), [((1, 2, 3), (0, 1, 2)), ((0, 1, 2), (0, 1, 2)), ((1, 2, 4), (0, 1, 3)), ((5, 6), (4, 5))]
)
def test_a_stills_number_is_its_frame(tmp_path, numbers, indices):
    write_stills(tmp_path, [f"im{number:04d}.png" for number in numbers])
    frames = list(read_frames(tmp_path))
    assert greys(frames) == [(index, 10 * place) for place, index in enumerate(indices)]
    np.testing.assert_allclose([frame.time for frame in frames], np.array(indices) / 60)
    assert [frame.index for frame in read_frames(tmp_path, indices[1], indices[1] + 1)] == [indices[1]]


def test_probe_of_stills(tmp_path):
    write_stills(tmp_path, ["im1.png", "im2.png"], height=4, width=6)
    assert probe(tmp_path) == VideoInfo(width=6, height=4, rate=60.0, announced_frames=2)


def test_grey_transparent_and_deep_stills_become_three_channels_of_bytes(tmp_path):
    cv2.imwrite(str(tmp_path / "1.png"), np.full((4, 6), 77, np.uint8))
    cv2.imwrite(str(tmp_path / "2.png"), np.full((4, 6, 4), 77, np.uint8))
    cv2.imwrite(str(tmp_path / "3.png"), np.full((4, 6), 77 * 257, np.uint16))
    for frame in read_frames(tmp_path):
        np.testing.assert_array_equal(frame.image, np.full((4, 6, 3), 77, np.uint8), strict=True)


def test_hidden_files_folders_and_unnumbered_pictures_are_passed_over(tmp_path):
    write_stills(tmp_path, ["im1.png", "im2.png", "cover.png"])
    (tmp_path / "._im1.png").write_bytes(b"what a Mac writes beside a file")
    (tmp_path / "im3.png").mkdir()
    (tmp_path / "im4.txt").write_text("")
    assert [path.name for path in list_stills(tmp_path)] == ["im1.png", "im2.png"]


def test_two_stills_of_one_number_are_refused(tmp_path):
    write_stills(tmp_path, ["im1.png", "im01.bmp"])
    with pytest.raises(DataError, match=r"im01\.bmp and im1\.png carry the same number; keep one"):
        list_stills(tmp_path)


@pytest.mark.parametrize("content", [b"", b"no picture"])
def test_a_broken_still_is_named(tmp_path, content):
    write_stills(tmp_path, ["im1.png", "im2.png"])
    (tmp_path / "im2.png").write_bytes(content)
    with pytest.raises(DataError, match=r"im2\.png: is not a picture"):
        list(read_frames(tmp_path))


def test_stills_of_different_sizes_are_refused(tmp_path):
    write_stills(tmp_path, ["im1.png", "im2.png"])
    write_stills(tmp_path, ["im3.png"], height=8, width=10)
    with pytest.raises(DataError, match=r"im3\.png: the picture is 10 x 8 pixels, those before it are 6 x 4"):
        list(read_frames(tmp_path))


@pytest.mark.parametrize("name", ["none", "file"])
def test_stills_of_no_folder(tmp_path, name):
    (tmp_path / "file").write_text("")
    with pytest.raises(DataError, match=f"{name}: no such folder"):
        list_stills(tmp_path / name)
