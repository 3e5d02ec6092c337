"""What other tools see: pandas, NumPy, ezc3d and the c3d package, a JSON Schema validator, OpenSim."""

import json

import ezc3d
import numpy as np
import pytest
from places import REPOSITORY

from pose.body.skeleton import Skeleton
from pose.export import metadata_path, write_series
from pose.series.pose_series import PoseSeries

SCHEMA = REPOSITORY / "docs" / "pose-series.schema.json"


def test_pandas_gives_each_column_its_type(tmp_path, series):
    pandas = pytest.importorskip("pandas")
    write_series(tmp_path / "a.csv", series)
    table = pandas.read_csv(tmp_path / "a.csv")
    numbers = ["x_mm", "y_mm", "z_mm", "std_x_mm", "std_y_mm", "std_z_mm"]
    assert list(table) == ["frame", "time_s", "joint", *numbers, "quality"]
    assert table["frame"].dtype == np.int64
    assert all(table[column].dtype == np.float64 for column in ("time_s", *numbers))
    assert all(pandas.api.types.is_string_dtype(table[column].dtype) for column in ("joint", "quality"))
    assert table[numbers].isna().all(axis=1).sum() == 15  # the frame that shows nobody
    assert set(table.loc[table["frame"] == 6, "quality"]) == {"no_person"}
    assert set(table.loc[table["frame"] == 4, "quality"]) == {"good"}
    assert set(table.loc[table["frame"] == 7, "quality"]) == {"several_people;touches_border"}
    np.testing.assert_allclose(table[numbers[:3]].to_numpy().reshape(-1, 15, 3), series.joints, atol=0.005 + 1e-9)
    types = {"integer": "int64", "double": "float64", "string": table["joint"].dtype}
    metadata = json.loads(metadata_path(tmp_path / "a.csv").read_text())
    for column in metadata["tableSchema"]["columns"]:
        assert table[column["titles"]].dtype == types[column["datatype"]]
    assert metadata["notes"][0]["provenance"] == series.provenance
    assert metadata["url"] == "a.csv"


def test_numpy_needs_no_pickle(tmp_path, series):
    write_series(tmp_path / "a.npz", series)
    with np.load(tmp_path / "a.npz", allow_pickle=False) as archive:
        assert {name: archive[name].dtype.kind for name in archive} == {
            "frame": "i",
            "time": "f",
            "joints": "f",
            "found": "b",
            "std": "f",
            "quality": "i",
            "names": "U",
            "parents": "i",
            "record": "U",
        }
        assert archive["names"].tolist() == list(series.skeleton.names)
        assert archive["parents"].tolist() == list(series.skeleton.parents)
        assert json.loads(archive["record"].item())["axes"] == "camera"


@pytest.mark.parametrize(("std", "quality"), [(True, True), (False, False)])
def test_json_follows_its_schema(tmp_path, make_series, std, quality):
    jsonschema = pytest.importorskip("jsonschema")
    schema = json.loads(SCHEMA.read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    write_series(tmp_path / "a.json", make_series(std=std, quality=quality))
    content = json.loads((tmp_path / "a.json").read_text(encoding="utf-8"))
    validator.validate(content)
    assert ("std_mm" in content["frames"][0], "quality" in content["frames"][0]) == (std, quality)
    assert content["frames"][2]["joints_mm"] is None
    # And the schema is one that can be missed.
    content["frames"][1]["joints_mm"][3] = [0, 1]
    assert not validator.is_valid(content)


def test_json_text_is_as_documented(tmp_path):
    two = Skeleton(("root", "left_end"), (-1, 0))
    joints = np.array([[[0, 0, 0], [1.5, -200.125, 1000]], np.full((2, 3), np.nan)])
    quality = np.array([4, 1])
    write_series(
        tmp_path / "a.json",
        PoseSeries(np.array([0, 1]), np.array([0, 0.25]), joints, two, "world", {"model": "m"}, joints**2, quality),
    )
    assert json.loads((tmp_path / "a.json").read_text()) == {
        "format": "pose-series",
        "version": 1,
        "unit": "mm",
        "axes": "world",
        "axes_meaning": "z up",
        "origin": "root",
        "joints": ["root", "left_end"],
        "parents": [-1, 0],
        "provenance": {"model": "m"},
        "frames": [
            {
                "frame": 0,
                "time_s": 0.0,
                "quality": ["touches_border"],
                "joints_mm": [[0, 0, 0], [1.5, -200.125, 1000]],
                "std_mm": [[0, 0, 0], [2.25, 40050.016, 1e6]],
            },
            {"frame": 1, "time_s": 0.25, "quality": ["no_person"], "joints_mm": None, "std_mm": None},
        ],
    }


@pytest.mark.parametrize("axes", ["camera", "camera-y-up", "world"])
def test_two_c3d_readers_see_the_points_labels_and_rate(tmp_path, make_series, axes):
    c3d = pytest.importorskip("c3d")
    series = make_series(n=40, rate=60 * 1000 / 1001, axes=axes, first=11)
    path = tmp_path / "größe.c3d"
    write_series(path, series)

    file = ezc3d.c3d(str(path))
    point = file["parameters"]["POINT"]
    assert point["LABELS"]["value"] == list(series.skeleton.names)
    assert point["RATE"]["value"][0] == pytest.approx(59.94006, abs=1e-5)
    assert point["UNITS"]["value"] == ["mm"]
    assert point["Y_SCREEN"]["value"] == [{"camera": "-Y", "camera-y-up": "+Y", "world": "+Z"}[axes]]
    np.testing.assert_allclose(file["data"]["points"][:3].transpose(2, 1, 0), series.joints, atol=0.01)
    assert (file["data"]["meta_points"]["residuals"][0, :, 2] == -1).all()
    labels = file["parameters"]["ANALOG"]["LABELS"]["value"]
    channels = dict(zip(labels, file["data"]["analogs"][0], strict=True))
    assert channels["left_wrist_std_y"][2] == -1
    np.testing.assert_allclose(channels["left_wrist_std_y"][3:], series.std[3:, 4, 1], atol=0.01)
    np.testing.assert_array_equal(channels["quality"], series.quality)

    with path.open("rb") as handle:
        reader = c3d.Reader(handle)
        assert [label.strip() for label in reader.point_labels] == list(series.skeleton.names)
        assert reader.point_rate == pytest.approx(59.94006, abs=1e-5)
        assert (reader.first_frame, reader.last_frame) == (12, 51)
        frames = np.array([points for _, points, _ in reader.read_frames()])
    seen = frames[..., 3] >= 0
    assert seen.tolist() == np.repeat(series.found[:, None], 15, axis=1).tolist()
    np.testing.assert_allclose(frames[seen][:, :3], series.joints[seen], atol=0.01)


def _split(path):
    lines = path.read_text(encoding="utf-8").split("\n")
    assert lines[-1] == ""
    assert "\r" not in "".join(lines)
    return [line.split("\t") for line in lines[:-1]]


def test_trc_text_is_as_opensim_reads_it(tmp_path):
    """The layout that OpenSim 4.6 opens; every row ends in a tab, as those it writes itself do."""
    two = Skeleton(("root", "left_end"), (-1, 0))
    joints = np.array([[[0, 0, 0], [1.5, -200.125, 1000]], np.full((2, 3), np.nan), [[0, 0, 0], [1, 2, 3]]])
    write_series(tmp_path / "a.trc", PoseSeries(np.arange(3) + 7, np.arange(3) / 50 + 0.14, joints, two, "camera"))
    rows = _split(tmp_path / "a.trc")
    assert rows[0][:4] == ["PathFileType", "4", "(X/Y/Z)", "a.trc"]
    assert json.loads(rows[0][4])["axes"] == "camera-y-up"
    assert rows[1:] == [
        "DataRate CameraRate NumFrames NumMarkers Units OrigDataRate OrigDataStartFrame OrigNumFrames".split(),
        ["50", "50", "3", "2", "mm", "50", "8", "3"],
        ["Frame#", "Time", "root", "", "", "left_end", "", "", ""],
        ["", "", "X1", "Y1", "Z1", "X2", "Y2", "Z2", ""],
        [""],
        ["8", "0.140000", "0.00000", "0.00000", "0.00000", "1.50000", "200.12500", "-1000.00000", ""],
        ["9", "0.160000", "", "", "", "", "", "", ""],
        ["10", "0.180000", "0.00000", "0.00000", "0.00000", "1.00000", "-2.00000", "-3.00000", ""],
    ]


@pytest.mark.filterwarnings("ignore:.*TRC has no place")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_opensim_opens_trc(tmp_path, series):
    opensim = pytest.importorskip("opensim", reason="OpenSim is not installed")
    write_series(tmp_path / "a.trc", series)
    table = opensim.TimeSeriesTableVec3(str(tmp_path / "a.trc"))
    assert tuple(table.getColumnLabels()) == series.skeleton.names
    assert (table.getTableMetaDataString("DataRate"), table.getTableMetaDataString("Units")) == ("60", "mm")
    for row in range(len(series.frame)):
        found = np.array([table.getRowAtIndex(row)[joint].to_numpy() for joint in range(15)])
        np.testing.assert_allclose(found, series.joints[row] * [1, -1, -1], atol=0.01)
