"""Result files: one written by hand in either notation, round trips, and every fault named."""

import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pytest

from pose.body.skeleton import HUMANEVA_15, HUMANEVA_20, Skeleton
from pose.errors import DataError
from pose.humaneva.result_xml import SequenceResult, read_result, write_result

HEAD = (
    '<SEQUENCE DatasetName="HumanEvaI" DatasetBasePath="D:\\data\\" SubjectName="S1" ActionType="Walking" Trial="1" '
    'FrameStart="6" FrameEnd="8" Partition="Validate">'
)


def joint_as_elements(name: str, enabled: object = 1, x: object = 1.5, y: object = -2, z: object = 3e2) -> str:
    parts = {"Name": name, "Enabled": enabled, "X": x, "Y": y, "Z": z}
    return "<Joint>" + "".join(f"<{key}>{value}</{key}>" for key, value in parts.items()) + "</Joint>"


def joint_as_attributes(name: str) -> str:
    return f'<Joint Name="{name}" Enabled="1" X="1.5" Y="-2" Z="3e2"/>'


def frame(number: object, joints: list[str], error: str = "N/A") -> str:
    return f"<Frame><Number>{number}</Number><Pose>{''.join(joints)}</Pose><Error>{error}</Error></Frame>"


def document(*frames: str, camera: str = "N/A", head: str = HEAD) -> str:
    return f"<?xml version='1.0'?>\n{head}<Camera>{camera}</Camera>{''.join(frames)}</SEQUENCE>"


ALL = [joint_as_elements(name) for name in HUMANEVA_20.names]


@pytest.fixture
def path(tmp_path) -> Path:
    return tmp_path / "result (1).xml"


def result(**change: object) -> SequenceResult:
    joints = np.random.default_rng(0).normal(0, 500, (3, 20, 3))
    joints[1, 4] = np.nan
    fields = {
        "subject": "S3",
        "action": "Box",
        "trial": 2,
        "partition": "Test",
        "numbers": np.array([6, 7, 9]),
        "joints": joints,
        "errors": np.array([10.25, np.nan, 0.0]),
    }
    return SequenceResult(**fields | change)


@pytest.mark.parametrize("joint", [joint_as_elements, joint_as_attributes])
def test_a_file_written_by_hand(path, joint):
    names = HUMANEVA_20.names[::-1]  # in any order
    path.write_text(document(frame(6, [joint(name) for name in names]), frame("8", ALL, "12.5")))
    read = read_result(path)
    assert (read.subject, read.action, read.trial, read.partition) == ("S1", "Walking", 1, "Validate")
    assert (read.dataset, read.base_path) == ("HumanEvaI", "D:\\data\\")
    assert read.skeleton == HUMANEVA_20
    assert read.numbers.tolist() == [6, 8]
    np.testing.assert_array_equal(read.joints, np.broadcast_to([1.5, -2, 300], (2, 20, 3)))
    np.testing.assert_array_equal(read.errors, [np.nan, 12.5])


def test_numbers_of_a_frame_may_be_attributes(path):
    path.write_text(document(f'<Frame Number="7" Error="3"><Pose>{"".join(ALL)}</Pose></Frame>'))
    read = read_result(path)
    assert (read.numbers.tolist(), read.errors.tolist()) == ([7], [3])


def test_a_round_trip(path):
    original = result()
    write_result(path, original)
    read = read_result(path)
    np.testing.assert_allclose(read.joints, original.joints, atol=5.1e-7, rtol=0)
    np.testing.assert_array_equal(read.numbers, original.numbers)
    np.testing.assert_array_equal(read.errors, original.errors)
    assert (read.subject, read.action, read.trial, read.partition) == ("S3", "Box", 2, "Test")
    assert [entry.name for entry in path.parent.iterdir()] == [path.name]


def test_a_round_trip_of_15_joints_without_errors(path):
    joints = np.zeros((2, 15, 3))
    write_result(path, SequenceResult("S1", "Jog", 1, "Validate", np.array([6, 7]), joints, HUMANEVA_15))
    read = read_result(path)
    assert read.skeleton == HUMANEVA_15
    assert np.isnan(read.errors).all()


def test_the_elements_that_are_written(path):
    write_result(path, result())
    root = ET.parse(path).getroot()
    assert root.attrib == {
        "DatasetName": "HumanEva_I",
        "DatasetBasePath": "",
        "SubjectName": "S3",
        "ActionType": "Box",
        "Trial": "2",
        "FrameStart": "6",
        "FrameEnd": "9",
        "Partition": "Test",
    }
    assert root.findtext("Camera") == "N/A"
    frames = root.findall("Frame")
    assert [element.findtext("Number") for element in frames] == ["6", "7", "9"]
    assert [element.findtext("Error") for element in frames] == ["10.250000", "N/A", "0.000000"]
    hidden = frames[1].findall("Pose/Joint")[4]
    assert [hidden.findtext(part) for part in ("Name", "Enabled", "X")] == ["lowerLArmProximal", "0", "NaN"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("not XML", "is not XML"),
        (document(frame(6, ALL))[:-20], "is not XML"),
        ("<?xml version='1.0' encoding='klingon'?><SEQUENCE/>", "is not XML"),
        ("<!DOCTYPE a [<!ENTITY b 'c'>]>" + HEAD + "</SEQUENCE>", "declares a document type"),
        ("<OTHER/>", "its root is OTHER, expected SEQUENCE"),
        ("<SEQUENCE Trial='1'/>", "SEQUENCE lacks DatasetName, DatasetBasePath, SubjectName"),
        (document(), "holds no frame"),
        (document(frame(6, ALL), camera="C1"), "holds 2D poses in C1"),
        (document(frame(6, ALL[:3])), "its first frame has 3 joints; expected the toolkit's 20 points"),
        (document(frame(6, [*ALL[:19], joint_as_elements("nose")])), "unknown ones are nose"),
        (document(frame(6, ALL), frame(7, ALL[:19])), "frame 7: its 19 joints are not those of the first"),
        (document(frame(6, ALL), frame(7, [*ALL, ALL[0]])), "frame 7: its 21 joints are not those of the first"),
        (document(frame(7, ALL), frame(7, ALL)), "frame 7: stands after frame 7"),
        (document(frame(9, ALL)), "frame 9: outside FrameStart 6 to FrameEnd 8"),
        (document(frame("x", ALL)), "frame element 1: Number is 'x', expected a number"),
        (document(frame("6.5", ALL)), "frame element 1: Number is '6.5', expected a whole number"),
        (document(frame(6, ALL, "inf")), "frame 6: Error is 'inf', expected a number"),
        (
            document(frame(6, [joint_as_elements(HUMANEVA_20.names[0], x="1,5"), *ALL[1:]])),
            "frame 6, torsoProximal: X is '1,5', expected a number",
        ),
        (
            document(frame(6, [joint_as_elements(HUMANEVA_20.names[0], y="NaN"), *ALL[1:]])),
            "frame 6, torsoProximal: is enabled, but has no position",
        ),
        (
            document(frame(6, [joint_as_elements(HUMANEVA_20.names[0], enabled="maybe"), *ALL[1:]])),
            "torsoProximal: Enabled is 'maybe', expected 0 or 1",
        ),
    ],
)
def test_faults_are_named(path, text, message):
    path.write_text(text)
    with pytest.raises(DataError, match=message) as caught:
        read_result(path)
    assert str(path) in str(caught.value)


def test_all_faults_are_listed(path):
    path.write_text(document(frame(7, ALL, "a"), frame(6, ALL, "b"), *(frame(99, ALL) for _ in range(4))))
    with pytest.raises(DataError, match=r"frame 7: Error is 'a'.*frame 6: stands after frame 7.*; and \d more"):
        read_result(path)


def test_a_file_that_is_missing_or_cannot_be_written(path, tmp_path, monkeypatch):
    with pytest.raises(DataError, match="cannot be read"):
        read_result(path)
    with pytest.raises(DataError, match="cannot be written"):
        write_result(tmp_path / "nowhere" / "r.xml", result())

    def refuse(*_: object) -> None:
        raise OSError(28, "No space left on device")

    path.write_text("kept")
    monkeypatch.setattr(Path, "replace", refuse)
    with pytest.raises(DataError, match="No space left"):
        write_result(path, result())
    assert path.read_text() == "kept"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"numbers": np.array([6, 6, 7])}, "each larger than the one before"),
        ({"numbers": np.array([0, 6, 7])}, "from 1"),
        ({"joints": np.zeros((3, 15, 3))}, r"\(3, 15, 3\)"),
        ({"joints": np.full((3, 20, 3), np.inf)}, "finite"),
        ({"skeleton": Skeleton(("a",), (-1,))}, "HUMANEVA_20 or HUMANEVA_15"),
    ],
)
def test_wrong_arguments_are_refused(change, message):
    with pytest.raises(ValueError, match=message):
        result(**change)
