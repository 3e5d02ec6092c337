"""The official table by its published totals, and the file that overrides it."""

import json

import pytest

from pose.errors import DataError
from pose.humaneva.partitions import official_partitions, read_partitions


def instants(partition: str, trial: int) -> int:
    return sum(
        last - first + 1
        for (_, name), ranges in official_partitions().items()
        if name.endswith(f" {trial}")
        for key, (first, last) in ranges.items()
        if key == partition
    )


@pytest.mark.parametrize(
    ("partition", "trial", "total"),
    [("Train", 1, 6978), ("Validate", 1, 6790), ("Test", 2, 24249), ("Train", 3, 36508)],
)
def test_published_totals(partition, trial, total):
    assert instants(partition, trial) == total


def test_without_a_file_the_official_table_holds(tmp_path):
    assert read_partitions(tmp_path)["S3", "Box 1"]["Train"] == (513, 1021)


def test_a_file_overrides_it(tmp_path):
    (tmp_path / "partitions.json").write_text(json.dumps({"S1": {"Walking 1": {"Train": [31, 60]}}}))
    assert read_partitions(tmp_path) == {("S1", "Walking 1"): {"Train": (31, 60)}}


def test_every_fault_is_listed(tmp_path):
    content = {
        "S1": {"Walking 1": {"Train": [60, 31], "Tarin": [1, 2]}, "Jog 1": 5},
        "S2": {"Box 1": {"Train": [1.5, 2]}},
    }
    (tmp_path / "partitions.json").write_text(json.dumps(content))
    with pytest.raises(DataError) as fault:
        read_partitions(tmp_path)
    for part in (
        "S1 Walking 1 Train: expected [first, last]",
        "'Tarin'",
        "S1 Jog 1: expected an object",
        "S2 Box 1 Train",
    ):
        assert part in str(fault.value)


def test_the_files_case_does_not_matter(tmp_path):
    (tmp_path / "Partitions.JSON").write_text(json.dumps({"S1": {"Walking 1": {"Train": [31, 60]}}}))
    assert read_partitions(tmp_path) == {("S1", "Walking 1"): {"Train": (31, 60)}}


def test_names_that_would_be_passed_over_are_refused(tmp_path):
    """A trial by another name would be left out in silence, and of a name that comes twice JSON keeps the last."""
    (tmp_path / "partitions.json").write_text(
        '{"S1": {"Walking_1": {"Train": [6, 9]}, "Jog 1": {"Train": [6, 9], "Train": [6, 8]}}, "Anna": {}}'
    )
    with pytest.raises(DataError) as fault:
        read_partitions(tmp_path)
    for part in (
        "S1 'Walking_1' is no trial; one is called like 'Walking 1'",
        "Train is there twice",
        "'Anna' is no subject (S1, S2, ...)",
    ):
        assert part in str(fault.value)


@pytest.mark.parametrize("train", [[20, 60], [1, 6], [1, 100], [30, 30]])
def test_overlapping_partitions_are_refused(tmp_path, train):
    content = {"S1": {"Walking 1": {"Validate": [6, 30], "Train": train}}}
    (tmp_path / "partitions.json").write_text(json.dumps(content))
    with pytest.raises(DataError, match=r"S1 Walking 1: (Train and Validate|Validate and Train) overlap"):
        read_partitions(tmp_path)


@pytest.mark.parametrize("last", [10**23, 10_000_001])
def test_frames_that_no_recording_has_are_refused(tmp_path, last):
    (tmp_path / "partitions.json").write_text(json.dumps({"S1": {"Walking 1": {"Train": [6, last]}}}))
    with pytest.raises(DataError, match="S1 Walking 1 Train: expected"):
        read_partitions(tmp_path)


def test_broken_json_names_the_line(tmp_path):
    (tmp_path / "partitions.json").write_text('{"S1":\n oops}')
    with pytest.raises(DataError, match="line 2: is not JSON"):
        read_partitions(tmp_path)
