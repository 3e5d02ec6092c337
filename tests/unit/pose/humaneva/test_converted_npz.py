"""Pickled ``.npz`` files: refused unasked, read without running anything, and faults listed."""

import io
import pickle
import zipfile
from pathlib import Path

import numpy as np
import pytest

from pose.errors import DataError
from pose.humaneva.converted_npz import chunk_numbers, read_chunks_2d, read_chunks_3d


def standing(n: int = 3) -> np.ndarray:
    joints = np.zeros((n, 15, 3), dtype=np.float32)
    joints[:, :, 2] = np.linspace(0.9, 1.6, 15)  # m
    return joints


def write(path: Path, content: object, name: str = "positions_3d") -> Path:
    np.savez_compressed(path, **{name: np.array(content, dtype=object)})
    return path


def write_pickle(path: Path, pickled: bytes) -> Path:
    """An ``.npz`` whose one object array holds these bytes."""
    member = io.BytesIO()
    np.lib.format.write_array_header_1_0(member, {"descr": "|O", "fortran_order": False, "shape": ()})
    member.write(pickled)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("positions_3d.npy", member.getvalue())
    return path


@pytest.fixture
def path(tmp_path) -> Path:
    return tmp_path / "data_3d_humaneva15.npz"


def test_a_pickle_is_refused_unless_asked_for(path):
    write(path, {"Train/S1": {"Walking 1 chunk0": standing()}})
    with pytest.raises(DataError, match=r"is a pickle, and is not read unless you ask for it \(allow_pickle=True\)"):
        read_chunks_3d(path)


def test_chunks_come_in_millimetres(path):
    content = {
        "Train/S1": {"Walking 1 chunk0": standing(), "Walking 1 chunk2": standing(5)},
        "Validate/S3": {"ThrowCatch 1 chunk1": standing(2)},
    }
    chunks = read_chunks_3d(write(path, content), allow_pickle=True)
    assert [(c.partition, c.subject, c.action, c.trial, c.chunk, c.joints.shape) for c in chunks] == [
        ("Train", "S1", "Walking", 1, 0, (3, 15, 3)),
        ("Train", "S1", "Walking", 1, 2, (5, 15, 3)),
        ("Validate", "S3", "ThrowCatch", 1, 1, (2, 15, 3)),
    ]
    assert chunks[0].joints[0, 14] == pytest.approx([0, 0, 1600], abs=1e-3)


def test_2d_chunks_have_one_array_a_camera(path):
    pixels = [np.full((4, 15, 2), camera, dtype=np.float32) for camera in range(3)]
    write(path, {"Train/S1": {"Jog 1 chunk0": pixels}}, "positions_2d")
    (chunk,) = read_chunks_2d(path, allow_pickle=True)
    assert chunk.joints.shape == (3, 4, 15, 2)
    assert chunk.joints[:, 0, 0, 0].tolist() == [0, 1, 2]


@pytest.mark.parametrize("protocol", [0, 2, 4])
def test_pickles_of_older_numpys_and_protocols_are_read(path, protocol):
    """numpy 1 called its module numpy.core; protocols before 3 write bytes as text with an encoding."""
    pickled = pickle.dumps(np.array({"Train/S1": {"Box 1 chunk0": standing()}}, dtype=object), protocol)
    if protocol < 4:  # where names have no length before them
        pickled = pickled.replace(b"numpy._core.multiarray", b"numpy.core.multiarray")
        assert b"numpy.core.multiarray" in pickled
    (chunk,) = read_chunks_3d(write_pickle(path, pickled), allow_pickle=True)
    np.testing.assert_allclose(chunk.joints, standing() * 1000.0, rtol=1e-6)


class Evil:
    def __init__(self, target: Path) -> None:
        self.target = target

    def __reduce__(self):
        return Path.write_text, (self.target, "ran")


def test_a_pickle_that_would_run_something_is_refused_even_when_asked_for(path, tmp_path):
    write_pickle(path, pickle.dumps({"Train/S1": {"Walking 1 chunk0": Evil(tmp_path / "ran")}}))
    with pytest.raises(DataError, match=r"positions_3d cannot be read \(it asks for pathlib"):
        read_chunks_3d(path, allow_pickle=True)
    assert not (tmp_path / "ran").exists()


def test_every_fault_is_listed(path):
    content = {
        "train": {},
        "Train/S1": {
            "Walking chunk0": standing(),
            "Jog 1 chunk0": standing() * 1000,
            "Box 1 chunk0": standing()[:, :14],
            "Gestures 1 chunk0": np.full((2, 15, 3), np.nan),
        },
    }
    with pytest.raises(DataError) as caught:
        read_chunks_3d(write(path, content), allow_pickle=True)
    for part in (
        "'train': expected 'Train/S1'",
        "Train/S1 'Walking chunk0': expected a name like 'Walking 1 chunk0'",
        "Train/S1 Jog 1 chunk0: the head is 700 from the pelvis, so it is not in metres",
        "Train/S1 Box 1 chunk0: expected numbers of shape (n, 15, 3), found float32 (3, 14, 3)",
        "Train/S1 Gestures 1 chunk0: holds NaN",
    ):
        assert part in str(caught.value)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({}, "holds no chunk: its conversion failed"),
        ({"Train/S1": {}}, "holds no chunk"),
        ({"Train/S1": {"Jog 1 chunk" + "9" * 5000: standing()}}, "expected a name like 'Walking 1 chunk0'"),
        ([1, 2], "expected one object, found object of shape"),
        ("text", "holds str, expected a dictionary"),
    ],
)
def test_other_contents_are_named(path, content, message):
    with pytest.raises(DataError, match=message):
        read_chunks_3d(write(path, content), allow_pickle=True)


def test_an_error_without_words_is_named_by_its_type(path):
    # Bytes that claim a length of 2^60.
    pickled = b"\x80\x04\x8e" + (2**60).to_bytes(8, "little") + b"."
    with pytest.raises(DataError, match=r"positions_3d cannot be read \(MemoryError\)"):
        read_chunks_3d(write_pickle(path, pickled), allow_pickle=True)


def test_cameras_of_unlike_length_are_refused(path):
    pixels = [np.zeros((n, 15, 2)) for n in (4, 4, 3)]
    write(path, {"Train/S1": {"Jog 1 chunk0": pixels}}, "positions_2d")
    with pytest.raises(DataError, match="its cameras have 4, 4, 3 frames"):
        read_chunks_2d(path, allow_pickle=True)


def test_missing_foreign_and_truncated_files(path):
    with pytest.raises(DataError, match="no such file"):
        read_chunks_3d(path, allow_pickle=True)
    path.write_text("no archive")
    with pytest.raises(DataError, match=r"is not an \.npz file"):
        read_chunks_3d(path, allow_pickle=True)
    np.savez(path, positions_2d=np.zeros(3))
    with pytest.raises(DataError, match="lacks positions_3d"):
        read_chunks_3d(path, allow_pickle=True)
    np.savez(path, positions_3d=np.zeros(3))
    with pytest.raises(DataError, match=r"expected one object, found float64 of shape \(3,\)"):
        read_chunks_3d(path, allow_pickle=True)
    pickled = pickle.dumps({"Train/S1": {"Walking 1 chunk0": standing()}})
    for end in (1, 20, len(pickled) // 2, len(pickled) - 1):
        with pytest.raises(DataError, match="positions_3d cannot be read"):
            read_chunks_3d(write_pickle(path, pickled[:end]), allow_pickle=True)


def test_chunks_count_runs_of_both_kinds():
    chunks = chunk_numbers(np.arange(6, 13), [True, True, False, False, True, False, True])
    assert {index: frames.tolist() for index, frames in chunks.items()} == {0: [6, 7], 2: [10], 4: [12]}
    # Where the first frame is invalid, run 0 is a gap.
    assert {index: list(frames) for index, frames in chunk_numbers([6, 7], [False, True]).items()} == {1: [7]}
    with pytest.raises(ValueError, match=r"\(2,\) and \(3,\)"):
        chunk_numbers([6, 7], [True, True, False])
