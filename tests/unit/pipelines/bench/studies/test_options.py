"""Turned and mirrored poses, known by geometry, and the table on a small tree."""

import dataclasses
import sys

import numpy as np
import pytest

from pipelines import cli
from pipelines.bench.studies.options import (
    Lab,
    along_rays,
    in_heading,
    in_world,
    mirrored_edges,
    mirrored_poses,
    place,
)
from pipelines.features.samples import Samples
from pose import trace_edges
from pose.body.camera import Camera
from pose.body.skeleton import HUMANEVA_15

LEFT_HIP, RIGHT_HIP = HUMANEVA_15.names.index("left_hip"), HUMANEVA_15.names.index("right_hip")


def poses(n=4):
    return np.random.default_rng(0).normal(0, 300, (n, 15, 3))


def samples_of(true, edges):
    n = len(true)
    texts = np.full(n, "S1"), np.full(n, "Box"), np.full(n, "C1")
    ones = np.ones(n, dtype=np.int64)
    return Samples(edges.astype(np.float32), true, *texts, ones, np.arange(n), 0, 0)


def test_mirroring_twice_is_nothing_and_once_exchanges_sides():
    true = poses()
    mirrored = mirrored_poses(true)
    assert mirrored_poses(mirrored) == pytest.approx(true)
    assert mirrored[:, LEFT_HIP] == pytest.approx(true[:, RIGHT_HIP] * [-1, 1, 1])
    assert mirrored[:, 14] == pytest.approx(true[:, 14] * [-1, 1, 1])


def test_mirrored_edges_keep_the_foreground_on_their_left():
    mask = np.zeros((60, 80), np.uint8)
    mask[10:50, 5:20] = mask[30:50, 5:40] = 255
    tangents = np.stack([trace_edges(picture, 40).tangents for picture in (mask, mask[:, ::-1])])
    points = np.stack([trace_edges(picture, 40).points for picture in (mask, mask[:, ::-1])])
    samples = dataclasses.replace(samples_of(np.zeros((2, 15, 3)), points), tangents=tangents.astype(np.float32))
    mirrored = mirrored_edges(samples, 79.0)
    # The nearest point of the mirrored mask's own contour runs the same way.
    distances = np.linalg.norm(mirrored.edges[0][:, None] - points[1], axis=-1)
    nearest = distances.argmin(axis=1)
    assert distances.min(axis=1).max() < 3
    assert np.median((mirrored.tangents[0] * tangents[1][nearest]).sum(axis=-1)) > 0.95


@pytest.mark.parametrize("angle", [0.3, 2.0, -3.0])
def test_the_heading_is_taken_out(angle):
    c, s = np.cos(angle), np.sin(angle)
    turned = poses() @ np.array([[c, s, 0], [-s, c, 0], [0, 0, 1]])
    assert in_heading(turned) == pytest.approx(in_heading(poses()))
    across = in_heading(turned)[:, RIGHT_HIP] - in_heading(turned)[:, LEFT_HIP]
    assert (across[:, 0] > 0).all()
    assert across[:, 1] == pytest.approx(np.zeros(4), abs=1e-9)


def lab_of(samples):
    K = np.array([[500.0, 0, 320], [0, 500, 240], [0, 0, 1]])
    rotation = np.array([[0.0, -1, 0], [0, 0, -1], [1, 0, 0]])
    camera = Camera("C1", K, np.zeros(5), rotation, np.zeros(3))
    return Lab(samples, samples, samples, {("S1", "C1"): camera}, 640.0)


def test_axes_along_the_ray_have_the_person_straight_ahead():
    # A silhouette about (820, 300) lies 45 degrees to the right of a camera whose focal length is 500.
    edges = np.array([[[800.0, 100.0], [840.0, 500.0]]])
    true = np.zeros((1, 15, 3))
    true[0, 1], true[0, 2] = [1.0, 0.0, 1.0], [0.0, 5.0, 0.0]
    samples = samples_of(true, edges)
    turned = along_rays(samples, lab_of(samples))
    assert turned[0, 1] == pytest.approx([0, 0, np.sqrt(2)])
    assert turned[0, 2] == pytest.approx([0, 5, 0])
    assert in_world(samples, lab_of(samples))[0, 2] == pytest.approx([0, 0, -5])


def test_place_is_centre_and_size_in_widths_of_the_picture():
    edges = np.array([[[100.0, 50.0], [300.0, 450.0], [150.0, 100.0]]])
    samples = samples_of(np.zeros((1, 15, 3)), edges)
    assert place(samples, 400.0)[0] == pytest.approx([0.5, 0.625, np.log(0.5), 0.0])


def test_the_table_of_a_small_tree(walking_tree, tmp_path, capsys, monkeypatch):
    arguments = [str(walking_tree), "--work", str(tmp_path / "work"), "--only", "the paper's"]
    monkeypatch.setattr(sys, "argv", ["pose", "bench", "options", *arguments])
    with pytest.raises(SystemExit) as end:
        cli.main()
    assert end.value.code == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].endswith("test images")
    rows = [line.strip("| ").rsplit(" | ", 1) for line in lines[4:]]
    assert [name for name, _ in rows] == [
        "**the paper's**: hard words, squared exponential",
        "three views side by side, the paper's",
    ]
    assert all(0 < float(error) < 200 for _, error in rows)
