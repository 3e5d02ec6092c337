"""Files that are no poses are refused in one line that says where and what."""

import json
import re

import ezc3d
import h5py
import numpy as np
import pytest

from pose.errors import DataError
from pose.export import FORMATS, metadata_path, read_series, write_series
from pose.export.record import record_of

pytestmark = pytest.mark.filterwarnings("ignore:.*TRC has no place")


def refused(path, *patterns):
    with pytest.raises(DataError) as caught:
        read_series(path)
    text = str(caught.value)
    assert "\n" not in text
    assert str(path) in text
    for pattern in patterns:
        assert re.search(pattern, text), text
    return text


@pytest.mark.parametrize("suffix", FORMATS)
def test_a_missing_file(tmp_path, suffix):
    refused(tmp_path / f"a{suffix}", "no such file")


@pytest.mark.parametrize("suffix", FORMATS)
@pytest.mark.parametrize("content", [b"", b"no poses at all\n" * 50, bytes(range(256)) * 40, b"\xff\xfe\x00"])
def test_foreign_content(tmp_path, suffix, content):
    (tmp_path / f"a{suffix}").write_bytes(content)
    refused(tmp_path / f"a{suffix}")


@pytest.mark.parametrize("suffix", FORMATS)
@pytest.mark.parametrize("share", [0.1, 0.5, 0.9, 0.95])
def test_truncated(tmp_path, series, suffix, share):
    path = tmp_path / f"a{suffix}"
    write_series(path, series)
    content = path.read_bytes()
    path.write_bytes(content[: int(len(content) * share)])
    refused(path)


@pytest.mark.parametrize("suffix", FORMATS)
def test_one_formats_file_under_the_name_of_another(tmp_path, series, suffix):
    write_series(tmp_path / "right.npz", series)
    write_series(tmp_path / "right.json", series)
    for other in (".npz", ".json"):
        if other != suffix:
            path = tmp_path / f"a{suffix}"
            path.write_bytes((tmp_path / f"right{other}").read_bytes())
            refused(path)


@pytest.mark.parametrize("suffix", [".csv", ".npz", ".h5", ".json"])
def test_times_that_do_not_ascend(tmp_path, series, suffix):
    series.time[5] = series.time[4]
    series.time[6] = np.nan
    write_series(tmp_path / f"a{suffix}", series) if suffix != ".json" else None
    if suffix == ".json":
        series.time[6] = series.time[5]
        write_series(tmp_path / f"a{suffix}", series)
    refused(tmp_path / f"a{suffix}", "frame 9.* has no later time than the one before it")


def _edit(tmp_path, series, suffix, old, new):
    path = tmp_path / f"a{suffix}"
    write_series(path, series)
    text = path.read_bytes().decode()
    assert old in text
    path.write_bytes(text.replace(old, new, 1).encode())
    return path


@pytest.mark.parametrize(
    ("old", "new", "pattern"),
    [
        ("x_mm,y_mm", "x,y_mm", r"lacks the columns x_mm \(its columns: frame, time_s, joint, x, y_mm"),
        ("std_x_mm", "std", "lacks the columns std_x_mm"),
        ("frame,time_s", "frame,frame", "lacks the columns time_s; has the columns frame twice"),
        ("4,0.066667,thorax", "4.5,0.066667,thorax", r"line 3, column frame: found '4\.5', a whole number"),
        ("4,0.066667,thorax", "4,now,thorax", "line 3, column time_s: found 'now', a number"),
        ("4,0.066667,thorax", "4,0.07,thorax", "column time_s: differs between the joints of frame 4"),
        ("4,0.066667,thorax", "4,0.066667,tail", r"column joint: 'tail' is no joint of its skeleton \(pelvis, thorax"),
        ("4,0.066667,thorax", "4,0.066667,pelvis", "frame 4 has the joint pelvis twice"),
        ("4,0.066667,thorax", "3,0.066667,thorax", "frame 3 has 1 rows, not one for each of 15 joints"),
        ("4,0.066667,thorax", "4,0.066667,thorax,1", "line 3: has 11 fields, the header has 10"),
        (",good", ",great", r"line 2, column quality: .*no quality flag 'great': good, no_person"),
        ("4,0.066667,thorax", "9" * 20 + ",0.066667,thorax", r"line 3, column frame: found '9+', a whole number"),
        (",0.00,0.00,0.00,", ",,0.00,0.00,", "frame 4 has some of its joints only"),
        (",0.00,0.00,0.00,", ",inf,0.00,0.00,", "frame 4 has an infinite coordinate"),
    ],
)
def test_csv_names_line_and_column(tmp_path, series, old, new, pattern):
    refused(_edit(tmp_path, series, ".csv", old, new), pattern)


@pytest.mark.parametrize(("mark", "name"), [(";", "semicolons"), ("\t", "tabs")])
def test_csv_that_a_spreadsheet_parted_in_its_own_way(tmp_path, series, mark, name):
    path = _edit(tmp_path, series, ".csv", "frame", "frame")
    path.write_text(path.read_text().replace(";", "|").replace(",", mark).replace(".", ","))
    refused(path, f"its columns are parted by {name}: save it with commas, and points in the numbers")


def test_csv_with_blanks_and_json_with_a_byte_order_mark(tmp_path, series):
    for suffix, old, new in ((".csv", ",", ", "), (".json", "", ""), (".trc", "", "")):
        path = tmp_path / f"a{suffix}"
        write_series(path, series)
        before = read_series(path)
        path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes().replace(old.encode(), new.encode()))
        np.testing.assert_array_equal(read_series(path).joints, before.joints)


@pytest.mark.parametrize("suffix", [".csv", ".json"])
def test_brackets_without_end(tmp_path, series, suffix):
    path = tmp_path / f"a{suffix}"
    write_series(path, series)
    (metadata_path(path) if suffix == ".csv" else path).write_text("[" * 100_000)
    refused(path, "nested too deeply")


def test_csv_with_damaged_metadata(tmp_path, series):
    write_series(tmp_path / "a.csv", series)
    beside = metadata_path(tmp_path / "a.csv")
    for content in ("", "[]", '{"notes": []}', '{"notes": [3]}'):
        beside.write_text(content)
        with pytest.raises(DataError, match=r"a\.csv-metadata\.json: (is not the metadata|holds no poses)"):
            read_series(tmp_path / "a.csv")


def test_csv_without_metadata_whose_joints_nobody_knows(tmp_path):
    (tmp_path / "a.csv").write_text("frame,time_s,joint,x_mm,y_mm,z_mm\n0,0,nose,1,2,3\n")
    refused(tmp_path / "a.csv", "no skeleton this software knows .*without pelvis.*with nose")
    (tmp_path / "a.csv").write_text("frame,time_s,joint,x_mm,y_mm,z_mm\n")
    refused(tmp_path / "a.csv", "has no rows")


@pytest.mark.parametrize(
    ("change", "pattern"),
    [
        (lambda c: c.update(format="other"), "no format 'pose-series'"),
        (lambda c: c.update(version=2), "has format version 2, this software reads up to 1; update it"),
        (lambda c: c.update(version="1"), "its version is '1'"),
        (
            lambda c: c.update(unit="m", axes="up"),
            "the unit is 'm', 'mm' is known; the axes are 'up', there are camera",
        ),
        (lambda c: c.update(unit=[], axes={}), r"the unit is \[\], 'mm' is known; the axes are {}, there are camera"),
        (lambda c: c["provenance"].update({"": "a"}), "provenance has names or texts that files cannot hold: ''"),
        (lambda c: c["provenance"].update(a="b\0"), "provenance has names or texts that files cannot hold: 'a'"),
        (lambda c: c["provenance"].update(a="\ud800"), "provenance has names or texts that files cannot hold: 'a'"),
        (lambda c: c["frames"][3].update(frame=10**20), r"frames\[3\]: frame is 1000"),
        (lambda c: c["frames"][3].update(time_s=10**400), r"frames\[3\]: time_s is 1000"),
        (lambda c: c["frames"][3]["joints_mm"].__setitem__(0, [10**400] * 3), r"frames\[3\]: joints_mm is not a list"),
        (lambda c: c.update(parents=[-1] * 15), "the parents are not one joint or -1"),
        (lambda c: c["parents"].__setitem__(slice(1, 3), [2, 1]), "the parents run in a circle"),
        (lambda c: c.update(joints=["a"] * 15), "joints share a name: a"),
        (lambda c: c.update(joints="pelvis"), "the joints are not a list"),
        (lambda c: c.update(provenance={"model": 3}), "the provenance is not text"),
        (lambda c: c.pop("frames"), "lacks the list of frames"),
        (lambda c: c["frames"].__setitem__(3, 7), r"frames\[3\]: is not an object"),
        (lambda c: c["frames"][3].update(frame=1.5), r"frames\[3\]: frame is 1.5, a whole number"),
        (lambda c: c["frames"][3].update(time_s="soon"), r"frames\[3\]: time_s is 'soon'"),
        (lambda c: c["frames"][3].pop("joints_mm"), r"frames\[3\]: lacks joints_mm"),
        (lambda c: c["frames"][3]["joints_mm"].pop(), r"frames\[3\]: joints_mm is not a list of 15 times 3 numbers"),
        (lambda c: c["frames"][3].update(std_mm="wide"), r"frames\[3\]: std_mm is not a list"),
        (lambda c: c["frames"][3].pop("std_mm"), r"frames\[3\]: std_mm must stand in all frames or in none"),
        (lambda c: c["frames"][3].update(std_mm=None), "frame 7 has a joint without a standard deviation"),
        (lambda c: c["frames"][3].update(quality=["bad"]), r"frames\[3\]: quality is \['bad'\] \(there is no quality"),
        (lambda c: c["frames"][3].update(quality=3), r"frames\[3\]: quality is 3"),
        (lambda c: c["frames"][3].update(frame=4), "frame 4 does not come after the one before it"),
    ],
)
def test_json_names_the_frame(tmp_path, series, change, pattern):
    path = tmp_path / "a.json"
    write_series(path, series)
    content = json.loads(path.read_text())
    change(content)
    path.write_text(json.dumps(content))
    refused(path, pattern)


def test_npz_of_another_tool(tmp_path, series):
    np.savez(tmp_path / "a.npz", frame=np.arange(3))
    refused(tmp_path / "a.npz", "lacks the arrays time, joints, record")
    np.savez(tmp_path / "a.npz", frame=np.array([None]), time=0, joints=0, record=0)
    refused(tmp_path / "a.npz", "is damaged .*allow_pickle")
    np.savez(tmp_path / "a.npz", frame=0, time=0, joints=0, record=np.array("{}"))
    refused(tmp_path / "a.npz", "holds no poses that this software wrote")
    record = np.array(json.dumps(record_of(series)))
    np.savez(tmp_path / "a.npz", frame=np.arange(3), time=np.arange(3) > 1, joints=np.zeros((3, 15, 3)), record=record)
    refused(tmp_path / "a.npz", "the arrays time do not hold numbers of the right kind")


def test_hdf5_of_something_else(tmp_path, series):
    path = tmp_path / "a.h5"
    with h5py.File(path, "w") as file:
        file.attrs["format"] = "pose-model"
    refused(path, r"lacks the arrays frame, time, joints: it holds no poses \(it is a model\)")
    write_series(path, series)
    with h5py.File(path, "a") as file:
        file.attrs["format_version"] = 7
    refused(path, "has format version 7, this software reads up to 1")
    write_series(path, series)
    with h5py.File(path, "a") as file:
        file["time"].resize(3, axis=0)
        file["joints"].attrs["axes"] = "camera"
    refused(path, r"its arrays do not belong together \(time has the shape \(3,\), expected \(9,\)\)")
    write_series(path, series)
    with h5py.File(path, "a") as file:
        del file["joints"].attrs["names"]
    refused(path, "is damaged")


@pytest.mark.parametrize("name", ["frame", "time", "joints", "std", "quality"])
@pytest.mark.parametrize(
    "change",
    [
        lambda a: np.full(a.shape, b"a"),
        lambda a: a.astype(complex),
        lambda a: np.full(a.shape, 2**64 - 1, np.uint64) if a.dtype.kind == "i" else 3.0,
        lambda a: h5py.Empty("f8"),
        lambda a: a + 0.25 if a.dtype.kind == "i" else a > 0,
    ],
)
def test_hdf5_of_another_kind_of_numbers(tmp_path, series, name, change):
    path = tmp_path / "a.h5"
    write_series(path, series)
    with h5py.File(path, "a") as file:
        old, attributes = file[name][()], dict(file[name].attrs)
        del file[name]
        file[name] = change(old)
        file[name].attrs.update(attributes)
    refused(path, f"the arrays {name} do not hold numbers of the right kind")


@pytest.mark.parametrize("name", ["axes", "unit"])
def test_hdf5_with_an_array_for_a_word(tmp_path, series, name):
    path = tmp_path / "a.h5"
    write_series(path, series)
    with h5py.File(path, "a") as file:
        file["joints"].attrs[name] = np.zeros(3)
    refused(path, f"the {name} (is|are) array")


def test_hdf5_of_the_first_version_is_read(tmp_path, series):
    """Files of version 0.1.0 state no format."""
    path = tmp_path / "a.h5"
    write_series(path, series)
    with h5py.File(path, "a") as file:
        del file.attrs["format"], file.attrs["format_version"], file["joints"].attrs["axes_meaning"]
    np.testing.assert_array_equal(read_series(path).joints, series.joints)


@pytest.mark.parametrize(
    ("old", "new", "pattern"),
    [
        ("PathFileType", "Path", "is not a TRC file"),
        ("\t9\t15\tmm", "\t8\t15\tmm", "holds 9 frames, its header announces 8; is it truncated"),
        ("\t9\t15\tmm", "\t9\t14\tmm", "line 4: names 15 markers, NumMarkers announces 14"),
        ("\t9\t15\tmm", "\tnine\t15\tinch", "NumFrames is 'nine'.*the unit is 'inch', there are mm, m"),
        ("\tNumMarkers\t", "\tMarkers\t", "lacks NumMarkers"),
        ("\tthorax\t", "\tneck\t", "the markers of line 4 are not the joints of line 1"),
        ("0.00000\t0.00000\t", "0.00000\tx\t", "line 7, column Y of pelvis: found 'x', a number is needed"),
        ("\n5\t", "\nfive\t", "line 7, column Frame#: found 'five'"),
        ("\n5\t", "\n" + "9" * 20 + "\t", "line 7, column Frame#: found '9+', a number is needed"),
        ("\t9\t15\tmm", f"\t{'9' * 5000}\t15\tmm", "NumFrames is '9+', a whole number is needed"),
        ("\n5\t", "\n5\t5\t5\t", "line 7: has 50 fields, 47 are needed"),
    ],
)
def test_trc_names_line_and_column(tmp_path, series, old, new, pattern):
    refused(_edit(tmp_path, series, ".trc", old, new), pattern)


def test_trc_of_another_tool(tmp_path, series):
    """Metres, no record, another order of the markers, rows without a last tab."""
    path = _edit(tmp_path, series, ".trc", "\tmm\t", "\tm\t")
    lines = path.read_text().splitlines()
    lines[0] = "PathFileType\t4\t(X/Y/Z)\tother.trc"
    path.write_text("\n".join(line.removesuffix("\t") if row > 5 else line for row, line in enumerate(lines) if line))
    lines = path.read_text().splitlines()
    lines = [line + "\t" if line.count("\t") == 45 else line for line in lines]
    path.write_text("\n".join(lines))
    with pytest.warns(UserWarning, match="states no axes: y is taken to be up"):
        found = read_series(path)
    assert found.axes == "world-y-up"
    np.testing.assert_allclose(found.joints, series.joints * [1, -1, -1] * 1000, atol=0.01)


def _c3d(path, labels, unit="mm", y_screen=None):
    file = ezc3d.c3d()
    point = file["parameters"]["POINT"]
    point["RATE"]["value"], point["LABELS"]["value"], point["UNITS"]["value"] = [50], list(labels), [unit]
    if y_screen:
        file.add_parameter("POINT", "Y_SCREEN", [y_screen])
    file["data"]["points"] = np.arange(4.0 * len(labels) * 6).reshape(4, len(labels), 6)
    file.write(str(path))


def test_c3d_of_another_tool(tmp_path, series):
    path = tmp_path / "a.c3d"
    _c3d(path, series.skeleton.names, unit="m", y_screen="+Y")
    found = read_series(path)
    assert found.axes == "world-y-up"
    np.testing.assert_allclose(found.time, np.arange(6) / 50)
    assert found.joints[1, 2].tolist() == [13000, 103000, 193000]
    _c3d(path, series.skeleton.names)
    with pytest.warns(UserWarning, match="does not state which axis is up"):
        assert read_series(path).axes == "world"
    _c3d(path, [f"S1:{name}" for name in series.skeleton.names])
    refused(path, "no skeleton this software knows")
    _c3d(path, series.skeleton.names, unit="in")
    refused(path, "the unit is 'in', mm and m are known")


def test_c3d_that_counts_too_many_frames(tmp_path, make_series):
    with pytest.raises(DataError, match=r"a\.c3d: a C3D file holds 65535 frames at most, here are 65536"):
        write_series(tmp_path / "a.c3d", make_series(n=65_536, std=False, quality=False))
    assert list(tmp_path.iterdir()) == []


def test_c3d_whose_provenance_is_too_long(tmp_path, series):
    series.provenance["config"] = "x" * 40_000
    with pytest.raises(DataError, match=r"a\.c3d: its provenance has \d+ characters, C3D has room for 30600"):
        write_series(tmp_path / "a.c3d", series)
