"""Samples of a tree: labels, axes, what is left out, and the cache of finished videos."""

import json
import shutil
from pathlib import Path
from typing import ClassVar

import ezc3d
import numpy as np
import pytest

from pipelines.errors import UsageError
from pipelines.features.samples import Samples
from pipelines.features.tree_features import extract
from pipelines.progress import Silent
from pipelines.settings import Config
from pose.errors import DataError
from pose.humaneva import HumanEva
from pose.synth import synthesize

CONFIG = Config()


@pytest.fixture(scope="module")
def tree(tmp_path_factory) -> Path:
    return synthesize(tmp_path_factory.mktemp("features") / "tree", actions=("Walking",), n_frames=60, seed=1)


@pytest.fixture(scope="module")
def samples(tree) -> Samples:
    return extract(tree, "Train", CONFIG, Silent())


def with_config(**data) -> Config:
    return Config.model_validate({"data": data})


def test_every_valid_frame_of_every_camera_is_a_sample(tree, samples):
    labels = HumanEva(tree).trials_with_video("Train")[0].labelled("Train")
    assert len(samples) + samples.n_empty == 3 * len(labels.numbers)
    assert set(samples.camera) == {"C1", "C2", "C3"}
    assert set(samples.frame) <= set(labels.numbers)
    assert samples.edges.shape == (len(samples), 400, 2)


def test_poses_are_root_relative_in_the_axes_asked_for(tree, samples):
    sequence = HumanEva(tree).trials_with_video("Train")[0]
    labels = sequence.labelled("Train")
    world = extract(tree, "Train", with_config(target_frame="world"), Silent())
    row = int(np.flatnonzero(samples.camera == "C2")[3])
    joints = labels.joints[labels.numbers == samples.frame[row]][0]
    expected = joints - joints[0]
    np.testing.assert_allclose(world.poses[row], expected)
    np.testing.assert_allclose(samples.poses[row], expected @ sequence.subject.camera("C2").rotation.T)
    # Seen by a level camera y points down: the head is above the ankles.
    assert samples.poses[row, 14, 1] < samples.poses[row, 10, 1]


def test_edges_lie_where_the_joints_project(tree, samples):
    """A video that is out of step with the motion capture by 6 frames (0.1 s) would miss."""
    sequence = HumanEva(tree).trials_with_video("Train")[0]
    labels = sequence.labelled("Train")
    for name in ("C1", "C3"):
        camera = sequence.subject.camera(name)
        rows = np.flatnonzero(samples.camera == name)
        centre = np.array([samples.edges[row].mean(axis=0) for row in rows])
        joints = labels.joints[np.searchsorted(labels.numbers, samples.frame[rows])]
        assert np.abs(centre - camera.project(joints).mean(axis=1))[:, 0].max() < 12


def test_a_stride_takes_every_kth_frame(tree, samples):
    some = extract(tree, "Train", with_config(cameras=["C1"]), Silent(), stride=4)
    assert set(some.camera) == {"C1"}
    assert len(some) == pytest.approx(len(samples) / 12, abs=1)


def test_time_blocks_join_the_cameras_of_an_instant(samples):
    blocks = samples.time_blocks(10)
    for label in np.unique(blocks):
        frames = samples.frame[blocks == label]
        assert frames.max() - frames.min() < 10
    first = {camera: blocks[samples.camera == camera][0] for camera in ("C1", "C2", "C3")}
    assert len(set(first.values())) == 1


def test_blocks_of_each_camera_may_be_told_apart(samples):
    together, apart = samples.time_blocks(10), samples.time_blocks(10, by_camera=True)
    assert len(np.unique(apart)) == 3 * len(np.unique(together))


def test_frames_outside_their_video_are_counted_apart_from_those_without_a_person(tree, tmp_path):
    copy = tmp_path / "tree"
    shutil.copytree(tree, copy)
    (copy / "S1/Sync_Data/Walking_1_(C1).ofs").write_text("40 1 2")
    late = extract(copy, "Train", with_config(cameras=["C1"]), Silent())
    assert late.n_missing > 0
    assert late.n_empty == 0
    (copy / "S1/Sync_Data/Walking_1_(C1).ofs").write_text("100000 1 2")
    (copy / "S1/Sync_Data/Walking_1_(C2).ofs").unlink()
    (copy / "S1/Sync_Data/Walking_1_(C3).ofs").unlink()
    with pytest.raises(DataError, match=r"of its \d+ frames \d+ lie outside their videos"):
        extract(copy, "Train", with_config(cameras=["C1"]), Silent())


def test_tangents_come_with_the_points_where_the_descriptor_needs_them(tree, samples, tmp_path):
    np.testing.assert_allclose(np.linalg.norm(samples.tangents, axis=-1), 1.0, atol=1e-6)
    points, tangents = samples.images()[3]
    np.testing.assert_array_equal(points, samples.edges[3])
    np.testing.assert_array_equal(tangents, samples.tangents[3])
    upright = Config.model_validate(CONFIG.model_dump() | {"descriptor": {"rotation": "absolute"}})
    for _ in range(2):  # made, then found again
        bare = extract(tree, "Train", upright, Silent(), work=tmp_path)
        assert bare.tangents is None
        np.testing.assert_array_equal(bare.images(slice(3, 4))[0], samples.edges[3])
    again = extract(tree, "Train", CONFIG, Silent(), work=tmp_path)
    np.testing.assert_array_equal(again.tangents, samples.tangents)
    found = extract(tree, "Train", CONFIG, Silent(), work=tmp_path)
    np.testing.assert_array_equal(found.tangents, samples.tangents)
    assert len(list(tmp_path.iterdir())) == 6


def test_finished_videos_are_found_again_until_something_changes(tree, samples, tmp_path, monkeypatch):
    work = tmp_path / "work"
    first = extract(tree, "Train", CONFIG, Silent(), work=work)
    files = sorted(work.iterdir())
    assert len(files) == 3
    monkeypatch.setattr("pipelines.features.video_edges.trace_edges", lambda *_: pytest.fail("made again"))
    again = extract(tree, "Train", CONFIG, Silent(), work=work)
    np.testing.assert_array_equal(again.edges, first.edges)
    np.testing.assert_array_equal(first.edges, samples.edges)
    monkeypatch.undo()
    extract(tree, "Train", Config.model_validate({"silhouette": {"risk": 10.0}}), Silent(), work=work)
    assert len(list(work.iterdir())) == 6


def test_a_damaged_cache_is_made_again(tree, samples, tmp_path):
    extract(tree, "Train", CONFIG, Silent(), work=tmp_path)
    for path in tmp_path.iterdir():
        path.write_bytes(path.read_bytes()[:100])
    again = extract(tree, "Train", CONFIG, Silent(), work=tmp_path)
    np.testing.assert_array_equal(again.edges, samples.edges)


@pytest.mark.filterwarnings("default::UserWarning")
def test_a_trial_that_cannot_be_used_is_left_out_if_another_can(tree, tmp_path):
    copy = tmp_path / "tree"
    shutil.copytree(tree, copy)
    shutil.copytree(copy / "S1", copy / "S2")
    partitions = json.loads((copy / "partitions.json").read_text())
    (copy / "partitions.json").write_text(json.dumps(partitions | {"S2": partitions["S1"]}))
    (copy / "S2" / "Mocap_Data" / "S1.mp").rename(copy / "S2" / "Mocap_Data" / "S2.mp")
    (copy / "S2" / "Mocap_Data" / "Walking_1.c3d").write_bytes(b"broken")
    with pytest.warns(UserWarning, match=r"a trial is left out: .*S2.*Walking_1\.c3d: is not a readable c3d"):
        samples = extract(copy, "Train", CONFIG, Silent())
    assert set(samples.subject) == {"S1"}


class Notes(Silent):
    """Keeps what is said."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def say(self, text: str) -> None:
        self.lines.append(text)


@pytest.fixture
def gapless(tree, tmp_path) -> Path:
    """Every frame from 6 to 60 is valid: 55."""
    copy = Path(shutil.copytree(tree, tmp_path / "gapless"))
    path = copy / "S1/Mocap_Data/Walking_1.c3d"
    c3d = ezc3d.c3d(str(path))
    out = ezc3d.c3d()
    for key in ("LABELS", "RATE", "UNITS"):
        out["parameters"]["POINT"][key]["value"] = c3d["parameters"]["POINT"][key]["value"]
    out["data"]["points"] = np.nan_to_num(c3d["data"]["points"], nan=100.0)
    out.write(str(path))
    return copy


def test_a_scheme_divides_the_samples(gapless, tmp_path):
    work, notes = tmp_path / "work", Notes()
    halves = {
        name: extract(gapless, name, with_config(scheme="tgp-half"), notes, work=work) for name in ("Test", "Train")
    }
    # Of 55 frames the first 27 test, 6..32, and 28 train, 33..60; the official halves are 6..30 and 31..60.
    assert [(min(s.frame), max(s.frame), len(s) + s.n_empty) for s in halves.values()] == [(6, 32, 81), (33, 60, 84)]
    assert notes.lines[0] == "Test of tgp-half: 1 trial, 27 frames, 81 images by C1 C2 C3"
    assert notes.lines[-1] == "Train of tgp-half: 1 trial, 28 frames, 84 images by C1 C2 C3"
    # What is kept of the one scheme is not taken for the other's.
    official = extract(gapless, "Train", CONFIG, notes, work=work)
    assert (min(official.frame), max(official.frame), len(official) + official.n_empty) == (31, 60, 90)
    assert notes.lines[-1] == "Train of official: 1 trial, 30 frames, 90 images by C1 C2 C3"


def test_a_scheme_that_leaves_nothing_to_test(gapless):
    blocked = with_config(scheme="blocked-75-25", cameras=["C2"])
    notes = Notes()
    extract(gapless, "Train", blocked, notes)
    assert notes.lines == ["Train of blocked-75-25: 1 trial, 41 frames, 41 images by C2"]  # 3/4 of 55, rounded down
    # 14 frames are left, fewer than the gap of 30.
    with pytest.raises(
        DataError, match=r"nothing to use for Test: no trial has frames of Test .*blocked-75-25 divides"
    ):
        extract(gapless, "Test", blocked, Silent())


def test_a_partition_that_the_scheme_does_not_have(tree):
    with pytest.raises(UsageError, match="scheme tgp-half has no partition Validate: there are Train, Test"):
        extract(tree, "Validate", with_config(scheme="tgp-half"), Silent())


@pytest.mark.parametrize(("partition", "message"), [("Test", "nothing to use for Test: no trial has frames")])
def test_nothing_to_use_is_an_error(tree, partition, message):
    with pytest.raises(DataError, match=message):
        extract(tree, partition, CONFIG, Silent())


@pytest.mark.filterwarnings("default::UserWarning")
def test_another_cameras_background_is_noticed(tree, tmp_path):
    copy = tmp_path / "tree"
    shutil.copytree(tree, copy)
    for number in (1, 2, 3):
        shutil.copy(
            copy / f"Background/Background_{number}_(C2).avi", copy / f"Background/Background_{number}_(C1).avi"
        )
    with pytest.warns(UserWarning, match=r"Walking_1_\(C1\)\.avi: the silhouette covers more than 30% of the picture"):
        extract(copy, "Train", with_config(cameras=["C1"]), Silent())


def test_missing_masks_are_named(tree, tmp_path):
    with pytest.raises(DataError, match=r"no masks Walking_1_\(C1\)"):
        extract(tree, "Train", CONFIG, Silent(), masks=tmp_path)


def test_samples_too_many_are_left_out_evenly_and_one_by_one(samples):
    most = len(samples) - 7
    thinned = samples.thinned(most)
    assert len(thinned) == most
    assert samples.thinned(len(samples)) is samples
    # Known by camera and frame; the seven left out are nearly equally far apart.
    kept = set(zip(thinned.camera.tolist(), thinned.frame.tolist(), strict=True))
    left_out = [k for k, key in enumerate(zip(samples.camera, samples.frame, strict=True)) if key not in kept]
    assert len(left_out) == 7
    assert np.ptp(np.diff(left_out)) <= 1
    row = int(np.flatnonzero((samples.camera == thinned.camera[5]) & (samples.frame == thinned.frame[5]))[0])
    np.testing.assert_array_equal(thinned.poses[5], samples.poses[row])


def test_a_wish_for_more_images_than_there_are_is_told(tree, samples):
    class Told(Silent):
        lines: ClassVar[list[str]] = []

        def say(self, text):
            self.lines.append(text)

    told = Told()
    assert len(extract(tree, "Train", CONFIG, told, most=10_000)) == len(samples)
    assert told.lines[-1] == f"Train: {len(samples)} images, fewer than the 10000 asked for"
