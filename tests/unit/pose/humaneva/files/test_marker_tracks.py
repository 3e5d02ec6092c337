"""Marker files: ezc3d's view against the independent c3d package, scipy's .mat, gaps, labels and units."""

import c3d
import numpy as np
import pytest
import scipy.io

from pose.errors import DataError
from pose.humaneva.files.marker_tracks import read_markers


def marker_file(path, write_c3d, **kwargs):
    rng = np.random.default_rng(0)
    named = {name: rng.normal(size=(5, 3)) * 500 for name in ("S1:LASI", "S1:RASI", "*110", "S1:LKneeAngles")}
    named["S1:LASI"][2] = np.nan
    named["S1:RASI"][3] = 0
    return write_c3d(path, named, **kwargs), named


def write_mat(path, markers, labels, unit=None, **variables):
    """The structure that the toolkit saves, one group with one parameter, or two with the unit."""
    cell = np.empty((1, len(labels)), dtype=object)
    cell[0] = [np.array([label]) for label in labels]
    wrap = lambda text: np.array([[text]], dtype=object)  # noqa: E731
    parameter = {"name": wrap("LABELS"), "data": cell}
    if unit is not None:
        units = np.empty((1, 1), dtype=object)
        units[0, 0] = np.array([unit])
        rows = [(wrap("UNITS"), units), (wrap("LABELS"), cell)]
        parameter = np.array([tuple(row) for row in rows], dtype=[("name", object), ("data", object)])[None]
    group = {"name": wrap("POINT"), "Parameter": parameter}
    content = {"Markers": markers, "VideoFrameRate": 120.0, "ParameterGroup": group} | variables
    scipy.io.savemat(path, content, do_compression="ResidualError" in variables)


@pytest.mark.filterwarnings("ignore:No analog data:UserWarning")
def test_c3d_equals_another_reader(tmp_path, write_c3d):
    path, _ = marker_file(tmp_path / "Box_1.c3d", write_c3d)
    tracks = read_markers(path)
    with path.open("rb") as file:
        reader = c3d.Reader(file)
        frames = np.array([points[:, :4] for _, points, _ in reader.read_frames()])
    expected = frames[..., :3].copy()
    expected[(frames[..., 3] < 0) | (expected == 0).all(axis=2)] = np.nan
    np.testing.assert_allclose(tracks.positions, expected, rtol=1e-6)
    assert tracks.rate == 120
    assert tracks.labels == ("S1:LASI", "S1:RASI", "*110", "S1:LKneeAngles")


def test_both_conventions_of_a_gap_become_nan(tmp_path, write_c3d):
    path, _ = marker_file(tmp_path / "Box_1.c3d", write_c3d)
    gaps = np.isnan(read_markers(path).positions).all(axis=2)
    assert np.argwhere(gaps).tolist() == [[2, 0], [3, 1]]


def test_mat_holds_the_same(tmp_path):
    rng = np.random.default_rng(0)
    markers = rng.normal(size=(4, 2, 3)) * 500
    markers[1, 0] = 0
    write_mat(tmp_path / "Box_1.mat", markers, ["S1:LASI", "S1:RASI"])
    tracks = read_markers(tmp_path / "Box_1.mat")
    assert tracks.labels == ("S1:LASI", "S1:RASI")
    assert np.isnan(tracks.positions[1, 0]).all()
    np.testing.assert_array_equal(tracks.positions[2], markers[2])


def test_labels_are_found_without_prefix_and_blanks(tracks):
    assert tracks.labels[tracks.find("LASI")] == "S1:LASI"
    assert tracks.find("NONE") is None


def test_a_longer_label_is_taken_with_a_warning(tmp_path, write_c3d):
    tracks = read_markers(write_c3d(tmp_path / "Box_1.c3d", {"S1:LASI2": np.full((2, 3), 500.0)}))
    with pytest.warns(UserWarning, match=r"no marker LASI; taking 'S1:LASI2' for it"):
        assert tracks.find("LASI") == 0


def test_missing_markers_are_listed_together(tracks):
    with pytest.raises(DataError, match=r"Walking_1\.c3d: lacks the markers FOO BAR"):
        tracks.require(("LASI", "FOO", "BAR"))


@pytest.mark.parametrize(
    ("unit", "factor"), [("m", 1000), ("cm", 10), ("mm", 1), ("Millimeters", 1), ("centimetre", 10)]
)
def test_units_are_converted(tmp_path, write_c3d, unit, factor):
    path = write_c3d(tmp_path / "a.c3d", {"LASI": np.full((2, 3), 900.0 / factor)}, unit=unit)
    np.testing.assert_allclose(read_markers(path).positions, 900, rtol=1e-6)


def test_metres_that_call_themselves_mm_are_refused(tmp_path, write_c3d):
    path = write_c3d(tmp_path / "a.c3d", {"LASI": np.full((2, 3), 0.9)})
    with pytest.raises(DataError, match=r"median coordinate is 0\.9, so the unit is not mm"):
        read_markers(path)


def test_no_unit_warns(tmp_path, write_c3d):
    path = write_c3d(tmp_path / "a.c3d", {"LASI": np.full((2, 3), 900.0)}, unit="")
    with pytest.warns(UserWarning, match="states no unit"):
        read_markers(path)


@pytest.mark.parametrize("suffix", [".c3d", ".mat"])
@pytest.mark.parametrize("content", [b"", b"not a marker file at all" * 40])
def test_foreign_and_empty_files_are_named(tmp_path, suffix, content):
    path = tmp_path / f"Box_1{suffix}"
    path.write_bytes(content)
    with pytest.raises(DataError, match=rf"Box_1\{suffix}: is not a readable"):
        read_markers(path)


def test_a_truncated_c3d_is_named(tmp_path, write_c3d):
    path = write_c3d(tmp_path / "Box_1.c3d", {"LASI": np.full((2000, 3), 900.0)})
    whole = path.read_bytes()
    path.write_bytes(whole[:-512])
    with pytest.raises(DataError, match=r"Box_1\.c3d: is truncated: it holds 19\d\d of 2000 frames"):
        read_markers(path)
    path.write_bytes(whole[:700])
    with pytest.raises(DataError, match=r"Box_1\.c3d: is truncated inside its parameters"):
        read_markers(path)


def test_a_mat_of_something_else_is_named(tmp_path):
    scipy.io.savemat(tmp_path / "Box_1.mat", {"other": 1})
    with pytest.raises(DataError, match="lacks the variable Markers and ParameterGroup"):
        read_markers(tmp_path / "Box_1.mat")


def test_missing_file_is_named(tmp_path):
    with pytest.raises(DataError, match="no such motion capture file"):
        read_markers(tmp_path / "Jog_1.c3d")


def test_nobody_seen_is_an_error(tmp_path, write_c3d):
    with pytest.raises(DataError, match="no marker is seen in any frame"):
        read_markers(write_c3d(tmp_path / "a.c3d", {"LASI": np.full((2, 3), np.nan)}))


def test_a_negative_residual_of_a_mat_is_a_gap(tmp_path):
    """Compressed, as Matlab 7 saves."""
    residuals = np.zeros((2, 2))
    residuals[1, 0] = -1
    write_mat(tmp_path / "a.mat", np.full((2, 2, 3), 500.0), ["A", "B"], ResidualError=residuals)
    assert np.isnan(read_markers(tmp_path / "a.mat").positions[:, :, 0]).tolist() == [[False, False], [True, False]]


def test_nan_and_zero_of_a_mat_are_gaps(tmp_path):
    markers = np.full((3, 1, 3), 500.0)
    markers[1], markers[2, 0, 1] = 0, np.nan
    write_mat(tmp_path / "a.mat", markers, ["A"])
    assert np.isnan(read_markers(tmp_path / "a.mat").positions).all(axis=(1, 2)).tolist() == [False, True, True]


def test_a_marker_on_an_axis_is_no_gap(tmp_path, write_c3d):
    """Two coordinates of 0, or a sum of 0, is a place like any other."""
    tracks = {"A": np.array([[0, 0, 900.0]]), "B": np.array([[500.0, -500, 0]])}
    assert np.isfinite(read_markers(write_c3d(tmp_path / "a.c3d", tracks)).positions).all()


@pytest.mark.parametrize(("unit", "value"), [("m", 0.9), ("cm", 90.0), ("mm", 900.0)])
def test_units_of_a_mat(tmp_path, unit, value):
    write_mat(tmp_path / "a.mat", np.full((2, 2, 3), value), ["A", "B"], unit=unit)
    tracks = read_markers(tmp_path / "a.mat")
    np.testing.assert_allclose(tracks.positions, 900)
    assert tracks.labels == ("A", "B")


@pytest.mark.parametrize("rate", [np.zeros((0, 0)), np.nan, "fast"])
def test_a_mat_that_states_no_rate(tmp_path, rate):
    write_mat(tmp_path / "a.mat", np.full((2, 1, 3), 500.0), ["A"], VideoFrameRate=rate)
    assert read_markers(tmp_path / "a.mat").rate == 0


def test_a_label_that_comes_twice(tmp_path):
    write_mat(tmp_path / "a.mat", np.full((2, 2, 3), 500.0), ["S1:A", "S1:A"])
    with pytest.warns(UserWarning, match=r"several markers are called A \('S1:A', 'S1:A'\); taking the first"):
        assert read_markers(tmp_path / "a.mat").find("A") == 0


def test_more_labels_than_255_go_on_in_a_second_list(tmp_path, write_c3d):
    named = {f"M{i}": np.full((2, 3), 100.0 + i) for i in range(300)}
    tracks = read_markers(write_c3d(tmp_path / "many.c3d", named))
    assert tracks.positions[0, tracks.find("M299"), 0] == pytest.approx(399.0)
