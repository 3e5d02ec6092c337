"""The table of smoothing, fusion and bone lengths, on predictions whose errors are drawn."""

import dataclasses

import numpy as np
import pytest

from pipelines.bench.studies.temporal import INTERVALS, measure, recordings, table
from pipelines.features.samples import Samples
from pose.body.camera import Camera
from pose.errors import DataError
from pose.series.bone_lengths import bone_lengths, set_bone_lengths

N = 240


def predictions(noise=40.0, subjects=("S1", "S2")):
    """Three cameras' views of bodies with rigid bones; errors drawn anew in each frame, of the pelvis none."""
    rng = np.random.default_rng(0)
    cameras = {}
    for index, name in enumerate(("C1", "C2", "C3")):
        rotation, _ = np.linalg.qr(np.random.default_rng(index).normal(size=(3, 3)))
        for subject in subjects:
            cameras[subject, name] = Camera(name, np.eye(3), np.zeros(5), rotation, np.zeros(3))
    lengths = rng.uniform(100, 400, 14)
    parts = []
    for subject in subjects:
        swing = rng.normal(0, 300, (15, 3)) + 40 * np.sin(np.arange(N)[:, None, None] / 15 + rng.uniform(0, 6, (15, 3)))
        swing[:, 0] = 0
        world = set_bone_lengths(swing, lengths)
        for name in ("C1", "C2", "C3"):
            parts.append((subject, name, cameras[subject, name].rotate_to_camera(world)))
    poses = np.concatenate([part for *_, part in parts])
    samples = Samples(
        np.zeros((len(poses), 2, 2), np.float32),
        poses,
        np.repeat([subject for subject, *_ in parts], N),
        np.full(len(poses), "Walking"),
        np.repeat([name for _, name, _ in parts], N),
        np.ones(len(poses), dtype=np.int64),
        np.tile(np.arange(1, N + 1), len(parts)),
        0,
        0,
    )
    std = np.full_like(poses, noise)
    std[:, 0] = 0
    # Deviations are told three times too small.
    return samples, poses + rng.normal(size=poses.shape) * std, std / 3, cameras, lengths


def test_errors_fall_and_deviations_are_set_right_by_the_other_subject():
    samples, mean, std, cameras, lengths = predictions()
    rows = {row.name: row for row in measure(recordings(samples, mean, std, cameras), lengths)}
    single = rows["single views, as predicted"]
    expected = 40 * np.sqrt(8 / np.pi) * 14 / 15  # the mean length of three normal numbers
    assert single.error == pytest.approx(expected, rel=0.02)
    assert single.coverage == pytest.approx(INTERVALS, abs=0.01)
    assert rows["single views, smoothed"].error < 0.8 * single.error
    assert rows["C2 alone"].error == pytest.approx(single.error, rel=0.03)
    assert rows["2 views fused, as predicted"].error == pytest.approx(single.error / np.sqrt(2), rel=0.02)
    assert rows["3 views fused, as predicted"].error == pytest.approx(single.error / np.sqrt(3), rel=0.02)
    # The training set's lengths are everybody's here.
    own, typical = rows["3 views fused, own bone lengths"], rows["3 views fused, training bone lengths"]
    assert (own.error, own.coverage) == (pytest.approx(typical.error), pytest.approx(typical.coverage))


def test_one_camera_makes_no_fused_rows():
    samples, mean, std, cameras, lengths = predictions()
    of_one = samples.camera == "C1"
    columns = ("edges", "poses", "subject", "action", "camera", "trial", "frame")
    alone = dataclasses.replace(samples, **{column: getattr(samples, column)[of_one] for column in columns})
    rows = list(measure(recordings(alone, mean[of_one], std[of_one], cameras), lengths))
    assert not any("fused" in row.name for row in rows)


def test_a_subject_alone_has_nobody_to_be_scaled_by():
    samples, mean, std, cameras, _ = predictions(subjects=("S1",))
    with pytest.raises(DataError, match="two are needed"):
        recordings(samples, mean, std, cameras)


def test_the_table_is_markdown():
    samples, mean, std, cameras, lengths = predictions()
    lines = table(measure(recordings(samples, mean, std, cameras), lengths)).splitlines()
    assert len({line.count("|") for line in lines}) == 1
    assert lines[2].startswith("| single views, as predicted | ")
    assert bone_lengths(samples.poses).mean(axis=0) == pytest.approx(lengths)
