from dataclasses import replace

import numpy as np
import pytest

from pose.body.cal_file import read_cal, write_cal
from pose.errors import DataError
from pose.synth.pictures.rig import default_cameras, read_rig, shaken
from pose.synth.pictures.room import draw_room, room_size

RIG = default_cameras()


@pytest.fixture
def folder(tmp_path):
    for name, camera in RIG.items():
        write_cal(tmp_path / f"{name}.CAL", camera)
    return tmp_path


def test_cameras_of_a_folder_in_the_releases_order(folder):
    write_cal(folder / "bw1.cal", RIG["C2"])
    rig = read_rig(folder)
    assert list(rig) == ["C1", "C2", "C3", "BW1"]
    np.testing.assert_allclose(rig["C3"].matrix, RIG["C3"].matrix)
    assert list(read_rig(None)) == ["C1", "C2", "C3"]


def test_folders_and_cameras_that_do_not_do(folder, tmp_path):
    with pytest.raises(DataError, match="no such folder"):
        read_rig(folder / "none")
    (folder / "empty").mkdir()
    with pytest.raises(DataError, match=r"holds no \.cal files"):
        read_rig(folder / "empty")
    camera = RIG["C1"]
    away = replace(camera, translation=camera.translation + [0.0, 0.0, 40_000.0])
    aside = replace(camera, translation=camera.translation + [5_000.0, 0.0, 0.0])
    zoomed = replace(camera, matrix=camera.matrix + np.array([[0, 0, 400.0], [0, 0, 0], [0, 0, 0]]))
    write_cal(folder / "C1.CAL", away)
    write_cal(folder / "C2.CAL", aside)
    write_cal(folder / "C3.CAL", zoomed)
    write_cal(folder / "left.cal", camera)
    with pytest.raises(DataError) as caught:
        read_rig(folder)
    for fault in ("C1.CAL: it stands", "C2.CAL: it does not look", "C3.CAL: its principal point", "left.cal: a camera"):
        assert fault in str(caught.value)
    (folder / "C1.CAL").write_text("1 2 3")
    with pytest.raises(DataError, match=r"C1\.CAL"):
        read_rig(folder)


def test_moved_cameras_are_near_and_survive_their_files(tmp_path):
    moved = shaken(RIG, 2.0, seed=1)
    assert shaken(RIG, 0.0, seed=1) is RIG
    for name, camera in moved.items():
        distance = np.linalg.norm(camera.centre - RIG[name].centre)
        assert 1 < distance < 600
        pixel = camera.project([0.0, 0.0, 900.0])
        assert np.abs(pixel - RIG[name].project([0.0, 0.0, 900.0])).max() < 120
        np.testing.assert_allclose(camera.rotation @ camera.rotation.T, np.eye(3), atol=2e-6)
        write_cal(tmp_path / f"{name}.cal", camera)
        again = read_cal(tmp_path / f"{name}.cal")
        np.testing.assert_array_equal(again.rotation, camera.rotation)
        np.testing.assert_array_equal(again.translation, camera.translation)
    other = shaken(RIG, 2.0, seed=2)
    assert not np.allclose(other["C1"].centre, moved["C1"].centre)


def test_the_room_grows_with_its_cameras():
    assert room_size(RIG.values()) == 1.0
    far = replace(RIG["C1"], translation=RIG["C1"].translation + [0.0, 0.0, 5_000.0])
    size = room_size([far])
    assert size > 1.5
    picture = draw_room(far, np.random.default_rng(0), size)
    assert picture.std() > 10
    assert (picture.sum(axis=-1) > 30).all()  # it is inside: nowhere the dark behind a wall
