"""What arguments stand for."""

import os

import cv2
import numpy as np
import pytest
from films import walk, write_film

from pipelines.digest import digest
from pipelines.errors import UsageError
from pipelines.prediction import choose_scene
from pipelines.prediction.inputs import expand
from pose.errors import DataError
from pose.video.reader import read_frames


@pytest.fixture
def films(tmp_path):
    for name in ("b.avi", "a.avi", "c[1].avi"):
        write_film(tmp_path / "clips.avi", walk(1))
        (tmp_path / "clips.avi").rename(tmp_path / name)
    return tmp_path


def write_stills(folder, *numbers):
    folder.mkdir(exist_ok=True)
    for number in numbers:
        cv2.imwrite(str(folder / f"im{number:02d}.png"), np.full((4, 6), number, np.uint8))
    return folder


def names(paths):
    return [path.name for path in paths]


def test_files_folders_and_patterns(films):
    assert names(expand([films / "b.avi", films])) == ["b.avi", "a.avi", "c[1].avi"]  # each once
    assert names(expand([str(films / "[ab].avi")])) == ["a.avi", "b.avi"]
    assert names(expand([str(films / "**" / "*.avi")])) == ["a.avi", "b.avi", "c[1].avi"]


def test_a_name_that_is_there_is_no_pattern(films):
    assert names(expand([films / "c[1].avi"])) == ["c[1].avi"]


def test_a_folder_of_numbered_pictures_is_one_sequence(tmp_path):
    stills = write_stills(tmp_path / "masks", 1, 2)
    assert expand([stills]) == [stills]
    assert expand([tmp_path]) == [stills]  # as is one in a folder


def test_what_a_folder_holds_beside_videos_is_passed_over(films):
    (films / "._a.avi").write_bytes(b"what a Mac writes beside a file")
    write_film(films / "b_overlay.mp4", walk(1), "libx264", "yuv420p")
    (films / "a.csv").write_text("frame,time_s\n")
    assert names(expand([films])) == ["a.avi", "b.avi", "c[1].avi"]


def test_all_faults_come_at_once(films):
    write_stills(films / "mixed", 1, 2)
    (films / "a.avi").rename(films / "mixed" / "a.avi")
    (films / "bare").mkdir()
    arguments = [films / "none.avi", films / "*.mov", films / "mixed", films / "bare", films / "mixed/im01.png"]
    with pytest.raises(UsageError) as fault:
        expand([*arguments, films / "mixed/im02.png"])
    for text in (
        f"no such file: {films}/none.avi, {films}/*.mov",
        "mixed: holds numbered pictures, and a.avi beside them",
        "bare: holds neither videos nor numbered pictures",
        "mixed: 2 single pictures of one folder; to take them as one sequence",
    ):
        assert text in str(fault.value)


def test_a_digest_is_of_the_content(tmp_path):
    one, two = write_stills(tmp_path / "one", 1, 2), write_stills(tmp_path / "two", 1, 2)
    assert digest(one) == digest(two)
    assert digest(one / "im01.png") == digest(two / "im01.png") != digest(one / "im02.png")
    write_stills(two, 3)
    assert digest(one) != digest(two)


def test_pipes_are_no_files(tmp_path):
    os.mkfifo(tmp_path / "a.avi")
    with pytest.raises(UsageError, match=r"a\.avi: is a pipe or a device, save it as a file first"):
        expand([tmp_path / "a.avi"])
    with pytest.raises(UsageError, match=r"--background .*a\.avi: is a pipe or a device"):
        choose_scene([tmp_path / "a.avi"])
    with pytest.raises(DataError, match=r"a\.avi: is a pipe or a device"):
        next(read_frames(tmp_path / "a.avi"))
