"""C3D files of every processor's byte order, written by hand, against hand-set values, ezc3d and the c3d package."""

import struct
import subprocess
import sys
import tracemalloc
from pathlib import Path

import c3d
import ezc3d
import numpy as np
import pytest

from pose.c3d_file import read_c3d_file
from pose.errors import DataError
from pose.humaneva.files.marker_tracks import read_markers

INTEL, DEC, MIPS = 84, 85, 86
SCALE = 0.05
#: Integers that both forms hold exactly: (frame, point, x y z word); the second point of frame 2 was not seen.
RAW = np.array(
    [
        [[20000, -1234, 1700, 0x0103], [-32768, 32767, 1000, 0x7F00]],
        [[1100, 1200, 1300, 0], [400, 500, 600, -1]],
        [[0, 0, 0, 5], [-7000, 8000, -9000, 0]],
    ],
    dtype=np.int64,
)


def vax(value):
    """A float as a VAX stores it: IEEE's times four, its 16-bit halves exchanged; zero stays zero."""
    little = struct.pack("<f", value * 4)
    return little[2:] + little[:2]


def packers(processor):
    order = ">" if processor == MIPS else "<"
    pack_float = vax if processor == DEC else lambda value: struct.pack(f"{order}f", value)
    return (lambda value: struct.pack(f"{order}H", value & 0xFFFF)), pack_float


def parameter(name, group, kind, shape, content, word, last=False):
    body = struct.pack("bB", kind, len(shape)) + bytes(shape) + content + b"\x00"
    step = 0 if last else len(body) + 2
    return struct.pack("bb", len(name), group) + name.encode() + word(step) + body


def c3d_bytes(processor, floats, n_analog=0, first=1, labels=("S1:LASI", "S1:RASI"), frames=RAW):
    """A whole file: header, parameters in block 2 and 3, data from block 4."""
    word, real = packers(processor)
    scale = -SCALE if floats else SCALE
    last = first + len(frames) - 1
    head = bytes([2, 80]) + b"".join(word(v) for v in (frames.shape[1], n_analog, first, last, 0)) + real(scale)
    head += word(4) + word(n_analog) + real(120.0)
    width = max(map(len, labels))
    text = "".join(label.ljust(width) for label in labels).encode()
    section = bytes([0, 0, 2, processor])
    section += struct.pack("bb", 5, -1) + b"POINT" + word(3) + b"\x00"
    for name, kind, shape, content in (
        ("USED", 2, (), word(frames.shape[1])),
        ("SCALE", 4, (), real(scale)),
        ("RATE", 4, (), real(120.0)),
        ("DATA_START", 2, (), word(4)),
        ("FRAMES", 2, (), word(len(frames))),
        ("UNITS", -1, (2,), b"mm"),
    ):
        section += parameter(name, 1, kind, shape, content, word)
    # A group of another number in between, whose LABELS are not the points'.
    section += struct.pack("bb", 6, -2) + b"ANALOG" + word(3) + b"\x00"
    for name, kind, shape, content in (
        ("USED", 2, (), word(n_analog)),
        ("LABELS", -1, (2, 1), b"Fx"),
        ("RATE", 4, (), real(120.0 if n_analog else 0.0)),
        ("GEN_SCALE", 4, (), real(1.0)),
    ):
        section += parameter(name, 2, kind, shape, content, word)
    section += parameter("LABELS", 1, -1, (width, len(labels)), text, word, last=True)
    data = b""
    for frame in frames:
        for *point, residual in frame:
            data += b"".join(real(value * SCALE) if floats else word(int(value)) for value in point)
            data += real(float(residual)) if floats else word(int(residual))
        data += (real(1.0) if floats else word(1)) * n_analog
    return head.ljust(512, b"\x00") + section.ljust(1024, b"\x00") + data.ljust(-(-len(data) // 512) * 512, b"\x00")


VARIANTS = [(processor, floats) for processor in (INTEL, DEC, MIPS) for floats in (False, True)]


@pytest.mark.parametrize(("processor", "floats"), VARIANTS)
@pytest.mark.parametrize("n_analog", [0, 3])
def test_every_byte_order_and_both_forms(tmp_path, processor, floats, n_analog):
    path = tmp_path / "Box_1.c3d"
    path.write_bytes(c3d_bytes(processor, floats, n_analog))
    points = read_c3d_file(path)
    # By hand: integers times 0.05; of a negative residual word the point was not seen.
    expected = RAW[:, :, :3] * SCALE
    expected[1, 1] = np.nan
    np.testing.assert_allclose(points.positions, expected, rtol=1e-6)
    assert points.point["LABELS"] == ["S1:LASI", "S1:RASI"]
    assert points.point["UNITS"] == ["mm"]
    assert float(points.point["RATE"][0]) == 120.0
    tracks = read_markers(path)
    # In a marker file (0, 0, 0) is a gap as well: the first point of frame 3.
    expected[2, 0] = np.nan
    np.testing.assert_allclose(tracks.positions, expected, rtol=1e-6)
    assert tracks.rate == 120


@pytest.mark.parametrize(("processor", "floats"), [(INTEL, True), (INTEL, False)])
def test_ezc3d_reads_the_same(tmp_path, processor, floats):
    path = tmp_path / "Box_1.c3d"
    path.write_bytes(c3d_bytes(processor, floats))
    ours = read_c3d_file(path)
    other = ezc3d.c3d(str(path))
    np.testing.assert_allclose(ours.positions, other["data"]["points"][:3].transpose(2, 1, 0), rtol=1e-6)
    assert ours.point["LABELS"] == other["parameters"]["POINT"]["LABELS"]["value"]


@pytest.mark.filterwarnings("ignore")  # of what that package thinks of itself
@pytest.mark.parametrize(("processor", "floats"), VARIANTS)
def test_the_c3d_package_reads_the_same(tmp_path, processor, floats):
    path = tmp_path / "Box_1.c3d"
    path.write_bytes(c3d_bytes(processor, floats, n_analog=1))
    with path.open("rb") as file:
        other = np.array([points for _, points, _ in c3d.Reader(file).read_frames()])
    ours = read_c3d_file(path).positions
    seen = np.isfinite(ours).all(axis=2)
    np.testing.assert_allclose(ours[seen], other[..., :3][seen], rtol=1e-6)
    assert (other[..., 3][~seen] < 0).all()


def test_the_first_frame_stored_is_frame_1_whatever_the_header_counts_from(tmp_path):
    path = tmp_path / "Box_1.c3d"
    path.write_bytes(c3d_bytes(INTEL, True, first=301))
    assert read_c3d_file(path).positions[0, 0, 0] == pytest.approx(1000.0)


@pytest.mark.parametrize("floats", [True, False])
def test_memory_is_that_of_the_result(tmp_path, floats):
    """The file passes through in pieces: several pieces cost little more than their array."""
    path = tmp_path / "Box_1.c3d"
    frames = np.broadcast_to(RAW[:1], (1500, *RAW.shape[1:])).repeat(8, axis=1)
    path.write_bytes(c3d_bytes(INTEL, floats, frames=frames, labels=[f"M{k:02d}" for k in range(16)]))
    tracemalloc.start()
    positions = read_c3d_file(path).positions
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert positions.shape == (1500, 16, 3)
    assert positions.nbytes <= peak < 1.3 * positions.nbytes


PEAK = """
import re, sys
from pathlib import Path
import ezc3d
from pose.c3d_file import read_c3d_file

def peak():
    return int(re.search(r"VmHWM:\\s+(\\d+) kB", Path("/proc/self/status").read_text())[1])

path, before = Path(sys.argv[2]), peak()
read = read_c3d_file if sys.argv[1] == "ours" else lambda path: ezc3d.c3d(str(path))
content = read(path)
print(peak() - before)
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the system does not tell a process's memory")
def test_ezc3d_takes_several_times_the_memory(tmp_path):
    """Why the points are read by our own code: 2,000 frames of 93 points, a tenth of a long recording."""
    path = tmp_path / "Box_1.c3d"
    file = ezc3d.c3d()
    file["parameters"]["POINT"]["RATE"]["value"] = [120.0]
    file["parameters"]["POINT"]["LABELS"]["value"] = [f"M{k:02d}" for k in range(93)]
    file["data"]["points"] = np.ones((4, 93, 2000))
    file.write(str(path))
    grown = {}
    for reader in ("ours", "ezc3d"):
        done = subprocess.run(
            [sys.executable, "-c", PEAK, reader, str(path)], capture_output=True, text=True, check=True
        )
        grown[reader] = int(done.stdout)
    # KiB. The positions themselves are 4,359.
    assert grown["ezc3d"] > 3 * max(grown["ours"], 2000 * 93 * 3 * 8 / 1024), grown


def test_ezc3d_says_nothing_of_a_truncated_file(tmp_path):
    """The other reason: half a recording would pass for a whole one."""
    path = tmp_path / "Box_1.c3d"
    file = ezc3d.c3d()
    file["parameters"]["POINT"]["RATE"]["value"] = [120.0]
    file["parameters"]["POINT"]["LABELS"]["value"] = ["LASI", "RASI"]
    file["data"]["points"] = np.ones((4, 2, 500))
    file.write(str(path))
    assert len(read_c3d_file(path).positions) == 500
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2])
    ezc3d.c3d(str(path))
    with pytest.raises(DataError, match=r"is truncated: it holds \d+ of 500 frames"):
        read_c3d_file(path)


def whole():
    return c3d_bytes(INTEL, True)


def damaged(offset, value):
    content = bytearray(whole())
    content[offset] = value
    return bytes(content)


def word_parameter(name, value):
    """Name, step, type and shape of a parameter of one word, and the word, as `c3d_bytes` writes them."""
    return name + struct.pack("<HbBH", 7, 2, 0, value)


MANY_USED = word_parameter(b"USED", 2), word_parameter(b"USED", 0xFF02)
NO_DATA_START = word_parameter(b"DATA_START", 4), word_parameter(b"DATA_START", 0)


def test_where_the_header_does_not_say_it_the_parameters_say_where_the_points_start(tmp_path):
    (tmp_path / "a.c3d").write_bytes(damaged(16, 0))
    (tmp_path / "b.c3d").write_bytes(whole())
    np.testing.assert_array_equal(
        read_c3d_file(tmp_path / "a.c3d").positions, read_c3d_file(tmp_path / "b.c3d").positions
    )


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", r"is not a readable c3d file \(no c3d header\)"),
        (damaged(1, 81), r"is not a readable c3d file \(no c3d header\)"),
        (damaged(512 + 3, 99), r"processor code 99; 84, 85 and 86 are known"),
        (whole()[:600], "is truncated inside its parameters"),
        (whole()[: 1536 + 40], "is truncated: it holds 1 of 3 frames"),
        (damaged(512 + 22, 77), "its parameters are damaged at byte"),  # USED is of type 77
        (damaged(3, 0xFF), "its header says 65282 points, its parameters 2"),
        (damaged(3, 0xFF).replace(*MANY_USED), "65282 points cannot be right"),
        (damaged(2, 1), "its header says 1 points, its parameters 2"),
        (damaged(16, 0).replace(*NO_DATA_START), "no block is said to hold its points"),
        (damaged(16, 2), "no block is said to hold its points"),
    ],
)
def test_damaged_files_are_named(tmp_path, content, message):
    path = tmp_path / "Box_1.c3d"
    path.write_bytes(content)
    with pytest.raises(DataError, match=message) as fault:
        read_c3d_file(path)
    assert str(fault.value).startswith(str(path))


def test_no_frames_and_no_points(tmp_path):
    path = tmp_path / "Box_1.c3d"
    path.write_bytes(c3d_bytes(INTEL, True, frames=RAW[:0]))
    with pytest.raises(DataError, match=r"Box_1\.c3d: holds no markers"):
        read_markers(path)
    path.write_bytes(c3d_bytes(INTEL, True, frames=RAW[:, :0], labels=("",)))
    with pytest.raises(DataError, match=r"Box_1\.c3d: holds no markers"):
        read_markers(path)
