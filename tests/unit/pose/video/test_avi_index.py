"""Damaged AVI files: no frame comes with another's number, or smeared; what comes is what the whole file has there."""

import struct
import warnings

import av
import numpy as np
import pytest

from pose.errors import DataError
from pose.video.avi_index import read_index
from pose.video.reader import read_frames

N, KEY_EVERY = 40, 10  # pictures, distance of key frames
_CHUNK_HEAD = 8  # bytes


@pytest.fixture(scope="module")
def whole(tmp_path_factory) -> bytes:
    path = tmp_path_factory.mktemp("avi") / "a.avi"
    pattern = np.random.default_rng(0).integers(0, 8, (64, 64, 1), dtype=np.uint8)
    with av.open(str(path), "w") as container:
        stream = container.add_stream("mpeg4", rate=60)
        stream.width = stream.height = 64
        stream.pix_fmt, stream.gop_size = "yuv420p", KEY_EVERY
        stream.codec_context.qmin = stream.codec_context.qmax = 2
        stream.options = {"sc_threshold": "1000000000"}  # key frames nowhere else
        for number in range(N):
            picture = np.repeat(pattern + np.uint8(number * 6), 3, axis=2)
            container.mux(stream.encode(av.VideoFrame.from_ndarray(picture, format="bgr24")))
        container.mux(stream.encode(None))
    return path.read_bytes()


@pytest.fixture(scope="module")
def pictures(whole, tmp_path_factory) -> list[np.ndarray]:
    path = tmp_path_factory.mktemp("avi") / "a.avi"
    path.write_bytes(whole)
    with av.open(str(path)) as container:
        return [frame.to_ndarray(format="bgr24") for frame in container.decode(video=0)]


@pytest.fixture
def read(pictures, tmp_path):
    """Read a file: the numbers of the frames that come, each with its own picture and time; what is warned of."""

    def run(content: bytes) -> tuple[list[int], list[str]]:
        path = tmp_path / "a.avi"
        path.write_bytes(content)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            frames = list(read_frames(path))
        for frame in frames:
            np.testing.assert_array_equal(frame.image, pictures[frame.index])
            assert frame.time == pytest.approx(frame.index / 60)
        return [frame.index for frame in frames], [str(w.message).removeprefix(f"{path}: ") for w in caught]

    return run


def chunks(content: bytes) -> list[tuple[int, int]]:
    """Position of every picture's chunk, and the size of its payload."""
    at, found = content.index(b"movi") + 4, []
    while content[at : at + 4] == b"00dc":
        (size,) = struct.unpack_from("<I", content, at + 4)
        found.append((at, size))
        at += _CHUNK_HEAD + size + size % 2
    assert len(found) == N
    return found


def lose(content: bytes, *numbers: int) -> bytes:
    """Let the chunks of pictures look like filling."""
    out = bytearray(content)
    for number in numbers:
        at = chunks(content)[number][0]
        out[at : at + 4] = b"JUNK"
    return bytes(out)


def without_index(content: bytes) -> bytes:
    return content[: content.rindex(b"idx1")]


def test_a_whole_file(whole, read):
    assert read(whole) == (list(range(N)), [])
    assert read(without_index(whole)) == (list(range(N)), [])


def test_the_index_says_where_the_pictures_are(whole, tmp_path):
    (tmp_path / "a.avi").write_bytes(whole)
    expected = [at + _CHUNK_HEAD for at, _ in chunks(whole)]
    assert read_index(tmp_path / "a.avi", 0) == expected
    # Other writers count from the beginning of the file.
    start, movie = whole.rindex(b"idx1") + _CHUNK_HEAD, whole.index(b"movi")
    entries = [list(entry) for entry in struct.iter_unpack("<4sIII", whole[start : start + 16 * N])]
    absolute = b"".join(struct.pack("<4sIII", kind, flags, at + movie, size) for kind, flags, at, size in entries)
    (tmp_path / "a.avi").write_bytes(whole[:start] + absolute)
    assert read_index(tmp_path / "a.avi", 0) == expected
    assert read_index(tmp_path / "a.avi", 1) == []


@pytest.mark.parametrize("content", [b"", b"RIFF", b"RIFF\0\0\0\0WAVE", b"RIFF\0\0\0\0AVI LIST", b"\0" * 100])
def test_what_has_no_index(tmp_path, content):
    (tmp_path / "a").write_bytes(content)
    assert read_index(tmp_path / "a", 0) == []
    assert read_index(tmp_path / "none", 0) == []


def test_ffmpeg_alone_gives_frames_behind_a_loss_the_numbers_of_earlier_ones(whole, pictures, tmp_path):
    # Why the file's index is read here: PyAV counts the packets that it finds.
    path = tmp_path / "a.avi"
    path.write_bytes(lose(whole, 12, 13))
    with av.open(str(path)) as container:
        last = list(container.decode(video=0))[-1]
    np.testing.assert_array_equal(last.to_ndarray(format="bgr24"), pictures[N - 1])
    assert round(last.time * 60) == N - 3


@pytest.mark.parametrize(
    ("lost", "left_out", "message"),
    [
        ((13,), range(13, 20), "frames 14 to 20 are damaged or lost, and left out"),
        ((13, 15), range(13, 20), "frames 14 to 20 are damaged or lost, and left out"),
        ((19,), range(19, 20), "frame 20 is damaged or lost, and left out"),
        ((20,), range(20, 30), "frames 21 to 30 are damaged or lost, and left out"),
        ((0,), range(10), "frames 1 to 10 are damaged or lost, and left out"),
        ((33,), range(33, N), "ends after frame 33 of the 40 announced (what is behind is damaged)"),
        ((N - 1,), range(N - 1, N), "ends after frame 39 of the 40 announced"),
    ],
)
def test_lost_frames_do_not_move_the_others(whole, read, lost, left_out, message):
    numbers, told = read(lose(whole, *lost))
    assert numbers == [number for number in range(N) if number not in left_out]
    assert told == [message]


def test_a_part_overwritten_with_zeros(whole, read):
    at = chunks(whole)[12][0] + _CHUNK_HEAD + 9
    stop = chunks(whole)[16][0] + _CHUNK_HEAD + 9
    numbers, told = read(whole[:at] + bytes(stop - at) + whole[stop:])
    assert set(numbers) <= {*range(13), *range(20, N)}
    assert numbers[-1] == N - 1
    assert told[0].endswith("to 20 are damaged or lost, and left out")


@pytest.mark.parametrize("cut", [lambda content: content, without_index])
def test_what_follows_is_not_guessed_where_the_index_does_not_fit(whole, read, cut):
    at, stop = chunks(whole)[12][0] + 20, chunks(whole)[16][0] + 20
    numbers, told = read(cut(whole[:at] + whole[stop:]))
    assert numbers in (list(range(12)), list(range(13)))
    assert len(told) == 1
    assert "damaged behind it: which frames are lost is not known" in told[0]


def test_a_picture_cut_off_at_the_end(whole, read):
    at, size = chunks(whole)[25]
    numbers, told = read(whole[: at + _CHUNK_HEAD + size // 2])
    assert numbers in (list(range(25)), list(range(26)))
    assert told[0].startswith(f"ends after frame {len(numbers)} of the 40 announced")


def test_nothing_whole_is_left(whole, tmp_path):
    (tmp_path / "b.avi").write_bytes(lose(whole, *range(0, N, KEY_EVERY)))
    with pytest.raises(DataError, match=r"b\.avi: no frame could be decoded"):
        list(read_frames(tmp_path / "b.avi"))
