"""What people give `pose predict`: each awkward input does what it can, or says in a line why not."""

import os
import struct
from pathlib import Path

import av
import cv2
import h5py
import numpy as np
import pytest
from films import HEIGHT, WIDTH, figure, packet_spans, picture, scene, walk, write_film
from results_read import frames_of, joints_of, table

pytestmark = pytest.mark.filterwarnings("default::UserWarning")  # they are lines on the error stream here


def write_picture(path, image):
    path.write_bytes(cv2.imencode(".png", image)[1].tobytes())
    return path


def test_a_variable_frame_rate_keeps_its_times(predict, tmp_path):
    times = [0, 40, 80, 200, 205, 1000, 1033]
    write_film(tmp_path / "vfr.mkv", walk(7), times=times)
    code, _, err = predict(tmp_path / "vfr.mkv")
    assert code == 0, err
    assert frames_of(tmp_path / "out/vfr.csv") == (list(range(7)), [time / 1000 for time in times])


@pytest.mark.parametrize("turns", [1, 2, 3])
def test_a_film_held_sideways_is_turned_upright(predict, tmp_path, turns):
    upright, turned = walk(6), [np.rot90(image, turns) for image in walk(6)]
    write_film(tmp_path / "upright.mp4", upright, "libx264", "yuv420p", options={"crf": "1"})
    path = write_film(tmp_path / "held.mp4", turned, "libx264", "yuv420p", options={"crf": "1"})
    content = bytearray(path.read_bytes())
    at = content.index(b"tkhd") + 44  # ISO 14496-12: the matrix of a version 0 track header
    one = 1 << 16
    cosine, sine = [(one, 0), (0, one), (-one, 0), (0, -one)][turns]
    struct.pack_into(">9i", content, at, cosine, sine, 0, -sine, cosine, 0, 0, 0, 1 << 30)
    path.write_bytes(content)
    code, _, err = predict(tmp_path / "upright.mp4", path)
    assert code == 0, err
    (right, found), (held, found_too) = (joints_of(tmp_path / f"out/{name}.h5") for name in ("upright", "held"))
    assert found.all()
    assert found_too.all()
    assert np.abs(held - right).max() < 60  # edges are coded a little otherwise; limbs swing by 400 mm


def test_odd_sizes_are_predicted_and_drawn(predict, tmp_path):
    height, width = HEIGHT + 1, WIDTH + 1
    write_film(tmp_path / "odd.avi", walk(3, height, width))
    background = write_picture(tmp_path / "odd.png", scene(height, width))
    code, _, err = predict(tmp_path / "odd.avi", "--overlay", background=background)
    assert code == 0, err
    assert joints_of(tmp_path / "out/odd.h5")[1].all()
    drawn = cv2.VideoCapture(str(tmp_path / "out/odd_overlay.mp4"))
    assert drawn.get(cv2.CAP_PROP_FRAME_COUNT) == 3


def test_one_frame_is_a_film(predict, tmp_path):
    write_film(tmp_path / "one.avi", walk(1))
    code, _, err = predict(tmp_path / "one.avi")
    assert code == 0, err
    assert len(table(tmp_path / "out/one.csv")) == 15


def test_no_frame_is_a_fault(predict, tmp_path):
    path = write_film(tmp_path / "none.avi", walk(2))
    content = bytearray(path.read_bytes())
    for at, size in packet_spans(path):
        content[at : at + size] = bytes(size)
    path.write_bytes(content)
    code, _, err = predict(path)
    assert code == 1
    assert "none.avi: no frame could be decoded (Invalid data" in err
    assert list((tmp_path / "out").iterdir()) == []


def test_a_truncated_film_gives_what_it_holds_and_a_warning(predict, tmp_path):
    path = write_film(tmp_path / "cut.avi", walk(30))
    spans = packet_spans(path)
    path.write_bytes(path.read_bytes()[: spans[20][0]])
    code, out, err = predict(path)
    assert code == 0, err
    assert "warning: " in err
    assert "cut.avi: ends after frame 20 of the 30 announced" in err
    assert frames_of(tmp_path / "out/cut.csv")[0] == list(range(20))
    assert "20" in out


@pytest.mark.parametrize(
    ("suffix", "kept", "words"),
    [
        # An AVI file has a number for each place: up to the next key frame, every 12th, pictures would be smeared.
        ("avi", [*range(12), *range(24, 30)], "frames 13 to 24 are damaged or lost, and left out"),
        ("mp4", [*range(12), *range(15, 30)], "frames 12 to 14 (from 0) cannot be decoded (Invalid data"),
    ],
)
def test_behind_a_damaged_middle_frames_keep_their_numbers(predict, tmp_path, suffix, kept, words):
    path = write_film(tmp_path / f"hole.{suffix}", walk(30), "mpeg4", "yuv420p", options={"qscale": "2"})
    content = bytearray(path.read_bytes())
    spans = packet_spans(path)
    for at, size in spans[12:15]:
        content[at : at + size] = bytes(size)
    path.write_bytes(content)
    code, _, err = predict(path)
    assert code == 0, err
    assert words in err
    numbers, times = frames_of(tmp_path / "out/hole.csv")
    assert numbers == kept
    assert times == pytest.approx([number / 25 for number in numbers], abs=1e-3)


def test_the_content_tells_what_a_file_is(predict, tmp_path):
    folder = tmp_path / "clips"
    folder.mkdir()
    write_film(folder / "really.mp4.avi", walk(2), "libx264", "yuv420p", container_format="mp4")
    write_film(folder / "film.dat", walk(2), container_format="avi")
    (folder / "words.avi").write_text("this is no video")
    (folder / "notes.txt").write_text("nor is this, nor is it meant to be")
    (folder / "table.csv").write_text("a,b\n1,2\n")
    code, out, err = predict(folder)
    assert code == 1
    assert "words.avi: cannot be opened as a video" in err
    assert "notes" not in err
    assert "table" not in err
    assert sorted(path.name for path in (tmp_path / "out").glob("*.csv")) == ["film.csv", "really.mp4.csv"]
    assert "words.avi" in out


def test_a_camcorders_capitals(predict, tmp_path):
    folder = tmp_path / "DCIM"
    folder.mkdir()
    path = write_film(folder / "MVI_0001.MP4", walk(3), "libx264", "yuv420p", container_format="mp4")
    assert predict(folder)[0] == 0
    assert frames_of(tmp_path / "out" / f"{path.stem}.csv")[0] == [0, 1, 2]


def test_sound_alone_is_no_film(predict, tmp_path):
    with av.open(str(tmp_path / "song.mp4"), "w") as container:
        stream = container.add_stream("aac", rate=8000)
        frame = av.AudioFrame.from_ndarray(np.zeros((1, 1024), np.float32), format="fltp", layout="mono")
        frame.sample_rate = 8000
        container.mux(stream.encode(frame))
        container.mux(stream.encode())
    code, _, err = predict(tmp_path / "song.mp4")
    assert code == 1
    assert "song.mp4: holds no video stream" in err


def test_sixteen_bits_a_channel(predict, tmp_path):
    folder = tmp_path / "deep"
    folder.mkdir()
    for step in range(3):
        write_picture(folder / f"im{step:03d}.png", picture(step).astype(np.uint16) * 257)
    background = write_picture(tmp_path / "deep.png", scene().astype(np.uint16) * 257)
    code, _, err = predict(folder, "--rate", 10, background=background)
    assert code == 0, err
    assert frames_of(tmp_path / "out/deep.csv") == ([0, 1, 2], [0, 0.1, 0.2])
    write_film(tmp_path / "bytes.avi", walk(3))
    assert predict(tmp_path / "bytes.avi")[0] == 0
    np.testing.assert_allclose(
        joints_of(tmp_path / "out/deep.h5")[0], joints_of(tmp_path / "out/bytes.h5")[0], atol=1e-6
    )


def test_a_grey_camera(predict, tmp_path):
    grey = [cv2.cvtColor(image, cv2.COLOR_BGR2GRAY) for image in (scene(), *walk(3))]
    write_film(tmp_path / "grey.avi", grey[1:], pix_fmt="gray")
    code, _, err = predict(tmp_path / "grey.avi", background=write_picture(tmp_path / "grey.png", grey[0]))
    assert code == 0, err
    assert joints_of(tmp_path / "out/grey.h5")[1].all()


def test_cut_out_figures_are_masks(predict, tmp_path):
    """An alpha channel that varies is the silhouette."""
    cut_out = [np.dstack([picture(step), figure(step)]) for step in range(3)]
    write_film(tmp_path / "alpha.mkv", cut_out, pix_fmt="bgra")
    write_film(tmp_path / "plain.mkv", walk(3))
    assert predict(tmp_path / "alpha.mkv", "--masks", background=None)[0] == 0
    assert predict(tmp_path / "plain.mkv")[0] == 0
    np.testing.assert_allclose(
        joints_of(tmp_path / "out/alpha.h5")[0], joints_of(tmp_path / "out/plain.h5")[0], atol=1e-6
    )


@pytest.mark.parametrize("name", ["größe 体 é", "a [1] (C1) {x}", "[red]b[bold]", "100% *really*?", "-dash"])
def test_names_of_any_kind(predict, tmp_path, name):
    folder = tmp_path / "some [folder]"
    folder.mkdir()
    write_film(tmp_path / "plain.avi", walk(2))
    (tmp_path / "plain.avi").rename(folder / f"{name}.avi")
    code, out, err = predict(folder / f"{name}.avi")
    assert code == 0, err
    results = [f"{name}{ending}" for ending in (".csv", ".csv-metadata.json", ".h5")]
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == results
    assert f"{name}.avi" in out


def test_a_name_that_is_no_text(predict, tmp_path):
    path = write_film(tmp_path / "a.avi", walk(2)).rename(tmp_path / "\udcff.avi")
    code, _, err = predict(path, "--overlay", "--stop", "1")
    assert (code, err) == (0, "")
    with h5py.File(tmp_path / "out" / "\udcff.h5") as file:
        assert file.attrs["input"] == "\\udcff.avi"
    assert predict(path, "--overlay", "--stop", "1")[0] == 0  # its own results are known again
    code, _, err = predict(tmp_path / "\udcfe.avi")
    assert code == 2


def test_an_argument_that_a_shell_left_empty(run, small_model, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    film = write_film(tmp_path / "a.avi", walk(2))
    for options, said in ((["-o", ""], "after -o"), (["--out="], "--out=")):
        code, _, err = run("predict", film, "-m", small_model, "-b", film, *options)
        assert (code, err) == (2, f"error: the argument {said} is empty; is a variable of the shell not set?\n")
    assert list(tmp_path.iterdir()) == [film]


def test_an_output_folder_that_may_not_be_written_to(predict, tmp_path, monkeypatch):
    write_film(tmp_path / "a.avi", walk(2))
    (tmp_path / "out").mkdir()
    opened = os.open

    def refuse(path, *rest, **more):  # the tests may run as root, whom no permission stops
        if Path(path).parent == tmp_path / "out":
            raise PermissionError(13, "Permission denied", str(path))
        return opened(path, *rest, **more)

    monkeypatch.setattr("pipelines.prediction.journal.os.open", refuse)
    code, _, err = predict(tmp_path / "a.avi")
    assert code == 1
    assert "cannot be written (Permission denied)" in err
    assert len([line for line in err.splitlines() if "error" in line]) == 1
    assert list((tmp_path / "out").iterdir()) == []


def test_a_model_of_another_version(run, small_model, tmp_path):
    write_film(tmp_path / "a.avi", walk(2))
    other = tmp_path / "m.h5"
    other.write_bytes(small_model.read_bytes())
    with h5py.File(other, "a") as file:
        file.attrs["version"] = 99
    code, _, err = run("predict", tmp_path / "a.avi", "-m", other, "-b", "running", "-o", tmp_path / "out")
    assert code == 1
    assert "has format version 99, this software reads" in err
    assert not (tmp_path / "out").exists()


def test_a_camera_that_is_not_there(predict, tmp_path):
    path = write_film(tmp_path / "a.avi", walk(2))
    code, _, err = predict(path, "--overlay", "--calibration", tmp_path / "none.cal")
    assert code == 2
    assert f"no such file: {tmp_path / 'none.cal'}" in err
    assert not (tmp_path / "out").exists()
    assert predict(path, "--overlay")[0] == 0  # none is needed
    assert (tmp_path / "out/a_overlay.mp4").exists()


def test_nobody_in_the_picture(predict, tmp_path):
    write_film(tmp_path / "empty.avi", [scene()] * 3)
    write_film(tmp_path / "a.avi", [scene(), picture(3), scene()])
    code, out, err = predict(tmp_path / "empty.avi", tmp_path / "a.avi")
    assert code == 1
    assert "empty.avi: no person in any of its 3 frames" in err
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["a.csv", "a.csv-metadata.json", "a.h5"]
    assert "no person 2" in out
    assert [row["x_mm"] != "" for row in table(tmp_path / "out/a.csv")[::15]] == [False, True, False]
