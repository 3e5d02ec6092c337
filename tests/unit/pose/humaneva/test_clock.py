"""The common clock, on triples worked out by hand from the rule and on the reference sets."""

import numpy as np
import pytest

from pose.errors import DataError
from pose.humaneva.clock import MOCAP_ONLY, common_clock, doubtful_offsets, published_first_frames
from pose.humaneva.files.ofs import StreamOffset, read_ofs, write_ofs


def clock(**offsets: tuple[float, float, float]):
    return common_clock({name: StreamOffset(*values) for name, values in offsets.items()})


def test_equal_streams_start_at_the_earliest_camera():
    # C2 shows mocap frame 1 at image 80, C1 at 82: shifted by 79, C2 starts at 1 and C1 at 3, the mocap 158 frames
    # earlier; that is before the recording, so all move to mocap frame 1 again.
    result = clock(C1=(82, 1, 2), C2=(80, 1, 2))
    assert dict(result.first_video_frame) == {"C1": 82, "C2": 80}
    assert result.mocap_start == 1
    assert result.mocap_per_frame == 2


def test_mocap_that_starts_first_keeps_its_lead():
    # The earliest camera starts at its frame 1 when the mocap is already at 31.
    result = clock(C1=(1, 31, 2), C2=(4, 33, 2), C3=(6, 30, 2))
    # C2: 4 + (31 - 33) / 2 = 3; C3: 6 + (31 - 30) / 2 = 6.5, a half that goes up to 7.
    assert dict(result.first_video_frame) == {"C1": 1, "C2": 3, "C3": 7}
    assert result.mocap_start == 31


def test_halves_go_up_where_python_would_go_to_even():
    # C2: 5 + (1 - 2) / 2 = 4.5, which Matlab rounds to 5.
    assert clock(C1=(4, 1, 2), C2=(5, 2, 2)).first_video_frame["C2"] == 5


def test_mocap_starts_below_one():
    # C1 (9, -6), C2 (12, -4), C3 (5, -9): o = 9, 12 - 1, 5 + 1.5; the least is 6.5, surplus 5.5, T0 = -6 - 11 = -17;
    # then o moves by 18 / 2 = 9: 9 - 5.5 + 9 = 12.5 -> 13, 14.5 -> 15, 10.
    result = clock(C1=(9, -6, 2), C2=(12, -4, 2), C3=(5, -9, 2))
    assert dict(result.first_video_frame) == {"C1": 13, "C2": 15, "C3": 10}
    assert result.mocap_start == 1


def test_every_camera_is_moved_by_its_own_rate_and_the_clock_takes_the_mean():
    # C2: 60 + (1 - 101) / 2.5 = 20; least 20, surplus 19, s = 2.25, T0 = 1 - 42.75 = -41.75,
    # then o moves by 42.75 / 2.25 = 19: C1 = 30 - 19 + 19 = 30, C2 = 20.
    result = clock(C1=(30, 1, 2.0), C2=(60, 101, 2.5))
    assert dict(result.first_video_frame) == {"C1": 30, "C2": 20}
    assert result.mocap_per_frame == 2.25
    np.testing.assert_allclose(result.mocap_position([1, 3]), [1, 5.5])


def test_the_first_camera_present_carries_the_clock():
    result = clock(BW1=(5, 3, 2), C2=(7, 1, 2))
    # C2 comes before BW1: T0 = 1, BW1 at 5 + (1 - 3) / 2 = 4.
    assert dict(result.first_video_frame) == {"C2": 7, "BW1": 4}


def test_frames_map_to_zero_based_video_frames():
    assert clock(C1=(82, 1, 2)).video_index("C1", 6) == 82 + 6 - 2


def test_no_camera_is_an_error():
    with pytest.raises(DataError, match="no camera has a stream offset"):
        common_clock({})


def test_ofs_files_read_back(tmp_path):
    path = tmp_path / "Walking_1_(C1).ofs"
    write_ofs(path, StreamOffset(82, 1, 1.9998))
    assert path.read_text() == "82.000000 \n1.000000 \n1.999800 \n"
    assert read_ofs(path) == StreamOffset(82, 1, 1.9998)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("82 1", "holds 2 numbers, expected 3"),
        ("0 1 2", "the image frame must be 1 or more, found 0"),
        ("1e300 1 2", "cannot be right"),
        ("82 -1e9 2", "cannot be right"),
        ("82 1 0", "0 mocap frames an image frame cannot be right"),
        ("82 2 300", "300 mocap frames an image frame"),
        ("", "holds 0 numbers"),
    ],
)
def test_ofs_faults_are_named(tmp_path, text, message):
    path = tmp_path / "Box_1_(C1).ofs"
    path.write_text(text)
    with pytest.raises(DataError, match=message):
        read_ofs(path)


@pytest.mark.shared
@pytest.mark.parametrize("name", ["dev", "tiny"])
def test_clocks_of_the_reference_sets(shared, name):
    folder = shared / "humaneva-like" / name
    for truth in sorted((folder / "truth").glob("joints_*.npz")):
        _, subject, action = truth.stem.split("_")
        sync = folder / "HumanEva_I" / subject / "Sync_Data"
        result = common_clock({c: read_ofs(sync / f"{action}_1_({c}).ofs") for c in ("C1", "C2", "C3")})
        with np.load(truth) as expected:
            assert list(result.first_video_frame.values()) == expected["first_video_frame"].tolist()
            assert result.mocap_start == pytest.approx(float(expected["T0"]), abs=1e-9)
            assert result.mocap_per_frame == pytest.approx(float(expected["s"]), abs=1e-12)


def test_seven_cameras_with_rates_of_their_own():
    # s = (2 * 6 + 2.7) / 7 = 2.1. BW4: 50 + (1 - 28) / 2.7 = 40, the least: surplus 39, T0 = 1 - 2.1 * 39 = -80.9;
    # then all move by 81.9 / 2.1 = 39 again. C3 at 41 + (1 - 2) / 2 = 40.5, a half that goes up.
    names = ("C1", "C2", "C3", "BW1", "BW2", "BW3", "BW4")
    values = ((42, 1, 2), (45, 1, 2), (41, 2, 2), (44, -3, 2), (44, 1, 2), (47, 1, 2), (50, 28, 2.7))
    result = clock(**dict(zip(names, values, strict=True)))
    assert dict(result.first_video_frame) == {"C1": 42, "C2": 45, "C3": 41, "BW1": 46, "BW2": 44, "BW3": 47, "BW4": 40}
    assert result.mocap_start == 1
    assert result.mocap_per_frame == pytest.approx(2.1)


def test_without_the_first_camera_the_next_carries_the_clock():
    # With C1: T0 = 1, C2 at 9 + (1 - 3) / 2 = 8. Without it: T0 = 3; the earliest camera C2 sets frame 1: surplus 8,
    # T0 = 3 - 16 = -13, so o moves by 14 / 2 = 7: 1 + 7 = 8 again.
    assert dict(clock(C1=(10, 1, 2), C2=(9, 3, 2)).first_video_frame) == {"C1": 10, "C2": 8}
    assert dict(clock(C2=(9, 3, 2)).first_video_frame) == {"C2": 8}


def test_a_trial_of_motion_capture_alone_counts_its_frames():
    np.testing.assert_array_equal(MOCAP_ONLY.mocap_position([1, 2, 77]), [1, 2, 77])


def test_the_published_first_frames():
    assert published_first_frames("S1", "Walking", 1) == {"C1": 82, "C2": 81, "C3": 82}
    assert published_first_frames("S2", "Box", 1) == {"C1": 119, "C2": 119, "C3": 117}
    assert published_first_frames("S4", "Box", 1) is None
    assert published_first_frames("S1", "Walking", 2) is None
    assert published_first_frames("S1", "Combo", 1) is None


def test_a_swap_is_suspected_where_it_would_mend_the_offset():
    good = StreamOffset(82, 1, 2)
    swapped = StreamOffset(1, 82, 2)
    assert list(doubtful_offsets({"C1": good, "C2": swapped, "C3": StreamOffset(81, 1, 2)})) == ["C2"]
    # Of two either may be wrong.
    two = doubtful_offsets({"C1": good, "C2": swapped})
    assert list(two) == ["C1", "C2"]
    assert "starts 122 frames away from the other camera, but the two would agree if" in two["C1"]
    assert doubtful_offsets({"C1": good, "C2": StreamOffset(30, 1, 2)}) == {}
    assert doubtful_offsets({"C1": swapped}) == {}
    assert doubtful_offsets({"C1": good, "C2": StreamOffset(30, 1, 2), "C3": good}) == {}  # a swap mends nothing
