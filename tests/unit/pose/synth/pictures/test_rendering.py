import cv2
import numpy as np
import pytest

from pose.body.cal_file import read_cal, write_cal
from pose.body.skeleton import HUMANEVA_15
from pose.synth.body import NAMED_BODIES
from pose.synth.motion.actions import ACTIONS, generate
from pose.synth.pictures.dress import build_figure
from pose.synth.pictures.looks import LOOKS
from pose.synth.pictures.rendering import Renderer
from pose.synth.pictures.rig import default_cameras
from pose.synth.pictures.room import FRAME_SIZE, draw_room
from pose.synth.pictures.sensor import Sensor

CAMERAS = default_cameras()
NEAR = 3  # pixels
EVERY = 25  # mocap frames between two drawn ones


@pytest.fixture(scope="module")
def rooms():
    return {name: draw_room(camera, np.random.default_rng(0)) for name, camera in CAMERAS.items()}


def test_cameras_survive_their_files(tmp_path):
    for name, camera in CAMERAS.items():
        write_cal(tmp_path / f"{name}.cal", camera)
        again = read_cal(tmp_path / f"{name}.cal")
        points = np.random.default_rng(0).uniform(-1000, 1000, (50, 3)) + [0, 0, 1000]
        np.testing.assert_allclose(again.project(points), camera.project(points), atol=1e-6)


def test_cameras_stand_round_the_capture_area_and_look_level():
    for camera in CAMERAS.values():
        x, y, z = camera.centre
        assert 4000 < np.hypot(x, y) < 5000
        assert 1400 < z < 1600
        foot, head = camera.project([[0, 0, 0], [0, 0, 1750]])
        assert head[1] < foot[1]
        assert abs(head[0] - foot[0]) < 12
        np.testing.assert_allclose(camera.project([0, 0, 900]), [320, 240], atol=40)


def test_the_room_is_textured_and_reproducible(rooms):
    for name, room in rooms.items():
        assert room.shape == (480, 640, 3)
        assert room.dtype == np.uint8
        assert room.std() > 15
        assert cv2.Laplacian(room, cv2.CV_64F).std() > 2
        np.testing.assert_array_equal(room, draw_room(CAMERAS[name], np.random.default_rng(0)))


@pytest.mark.parametrize("subject", ["S1", "S2"])
@pytest.mark.parametrize("action", ACTIONS)
def test_joints_project_into_the_exact_mask(rooms, subject, action):
    motion = generate(action, NAMED_BODIES[subject], 600, np.random.default_rng(8))
    figure = build_figure(motion)
    for name, camera in CAMERAS.items():
        renderer = Renderer(figure, camera, LOOKS[subject], rooms[name])
        assert len(renderer) == 600
        inside = np.zeros((0, len(HUMANEVA_15)), dtype=bool)
        for row in range(0, 600, EVERY):
            _, mask = renderer.draw(row)
            assert mask[1:-1, 1:-1].sum() == mask.sum(), "the body leaves the picture"
            distance = cv2.distanceTransform((~mask).astype(np.uint8), cv2.DIST_L2, cv2.DIST_MASK_PRECISE)
            x, y = np.rint(camera.project(motion.joints[row])).astype(int).T
            inside = np.vstack([inside, distance[y, x] <= NEAR])
        assert (inside.mean(axis=0) >= 0.98).all()


def test_the_mask_is_one_body_of_a_persons_size(rooms):
    renderer = Renderer(
        build_figure(generate("Walking", NAMED_BODIES["S1"], 300, np.random.default_rng(1))),
        CAMERAS["C1"],
        LOOKS["S1"],
        rooms["C1"],
    )
    for row in range(0, 300, 60):
        scene, mask = renderer.draw(row)
        assert cv2.connectedComponents(mask.astype(np.uint8))[0] == 2
        height = np.ptp(np.flatnonzero(mask.any(axis=1)))
        assert 180 < height < 460
        assert 0.1 < mask.sum() / height**2 < 0.45
        changed = np.abs(scene.astype(int) - rooms["C1"]).max(axis=-1)
        assert (changed[mask] > 10).mean() > 0.9
        assert changed[~mask].max() <= 255
        assert (changed[~cv2.dilate(mask.astype(np.uint8), np.ones((5, 5))).astype(bool)] > 40).sum() == 0


def test_the_shadow_is_soft_and_only_darkens(rooms):
    renderer = Renderer(
        build_figure(generate("Box", NAMED_BODIES["S1"], 10, np.random.default_rng(1))),
        CAMERAS["C2"],
        LOOKS["S1"],
        rooms["C2"],
    )
    scene, mask = renderer.draw(5)
    away = ~cv2.dilate(mask.astype(np.uint8), np.ones((5, 5))).astype(bool)
    change = scene[away].astype(int) - rooms["C2"][away]
    assert change.max() <= 0
    assert -45 < change.min() < -5


def test_the_sensor_adds_noise_and_flicker_about_the_scene():
    scene = np.full((FRAME_SIZE[1], FRAME_SIZE[0], 3), 120, dtype=np.uint8)
    sensor = Sensor(np.random.default_rng(0))
    pictures = np.stack([sensor.expose(scene) for _ in range(30)]).astype(float)
    assert pictures.mean() == pytest.approx(120, abs=1)
    assert 1.5 < pictures.std(axis=0).mean() < 3.5
    assert 0.1 < pictures.mean(axis=(1, 2, 3)).std() < 1.0
    again = Sensor(np.random.default_rng(0)).expose(scene)
    np.testing.assert_array_equal(again, pictures[0])
