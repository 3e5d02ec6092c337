"""A small synthetic tree, altered in a copy: what real copies of the release look like, and what they lack."""

import json
import shutil
from pathlib import Path

import cv2
import ezc3d
import numpy as np
import pytest
import scipy.io
from moving_pictures import read_with_opencv

from pose.errors import DataError
from pose.humaneva import HumanEva
from pose.synth import synthesize

N_FRAMES = 24
VIDEO = "S1/Image_Data/Walking_1_({}).avi"
MOCAP = "S1/Mocap_Data/"
OFFSETS = "S1/Sync_Data/Walking_1_({}).ofs"


@pytest.fixture(scope="session")
def whole(tmp_path_factory):
    return synthesize(
        tmp_path_factory.mktemp("release") / "set", subjects=("S1",), actions=("Walking",), n_frames=N_FRAMES
    )


@pytest.fixture
def tree(whole, tmp_path):
    return Path(shutil.copytree(whole, tmp_path / "HumanEva_I"))


def walking(root, **kwargs):
    (sequence,) = HumanEva(root, **kwargs).trials_with_video()
    return sequence


def set_partitions(tree, **ranges):
    (tree / "partitions.json").write_text(json.dumps({"S1": {"Walking 1": ranges}}))


def assert_same_labels(labels, expected):
    assert len(expected.numbers) > 0
    np.testing.assert_array_equal(labels.numbers, expected.numbers)
    np.testing.assert_allclose(labels.joints, expected.joints, atol=1e-3)


# Where the tree is


def test_the_root_or_its_parent(tree):
    for path in (tree, tree.parent, str(tree)):
        data = HumanEva(path)
        assert data.root == tree
        assert [subject.name for subject in data.subjects] == ["S1"]
        assert [sequence.name for sequence in data.trials_with_video()] == ["S1 Walking 1"]


@pytest.mark.parametrize("path", ["S1", "."])
def test_a_subjects_folder_is_refused_with_a_hint(tree, monkeypatch, path):
    monkeypatch.chdir(tree if path == "S1" else tree / "S1")
    with pytest.raises(DataError, match=r"holds no subject folder .*; it looks like one subject's folder, name its pa"):
        HumanEva(path)


def test_a_folder_of_something_else(tmp_path):
    (tmp_path / "Anna" / "Image_Data").mkdir(parents=True)  # a name that no table of partitions knows
    (tmp_path / "S1").mkdir()
    with pytest.raises(DataError, match=r"holds no subject folder \(S1, S2, \.\.\. with Image_Data in it\)$"):
        HumanEva(tmp_path)


@pytest.mark.parametrize(("name", "fault"), [("none", "no such folder"), ("file", "is a file, name a folder")])
def test_no_folder(tmp_path, name, fault):
    (tmp_path / "file").write_text("")
    with pytest.raises(DataError, match=f"{name}: {fault}"):
        HumanEva(tmp_path / name)


def test_several_sets_in_one_folder_are_listed(tmp_path):
    for name in ("old", "new"):
        (tmp_path / name / "S1" / "Image_Data").mkdir(parents=True)
    with pytest.raises(DataError, match="holds several data sets, name one: new, old"):
        HumanEva(tmp_path)


def test_a_neighbour_that_may_not_be_read_does_no_harm(tree, monkeypatch):
    (tree.parent / "lost+found").mkdir()
    listing = Path.iterdir

    def guarded(path):
        if path.name == "lost+found":
            raise PermissionError(13, "Permission denied", str(path))
        return listing(path)

    monkeypatch.setattr(Path, "iterdir", guarded)
    assert HumanEva(tree.parent).root == tree


def test_blanks_brackets_and_accents_in_the_path(whole, tmp_path):
    root = Path(shutil.copytree(whole, tmp_path / "Daten (größe) é 人" / "HumanEva [v1]"))
    sequence = walking(root.parent)
    assert_same_labels(sequence.labelled("Train"), walking(whole).labelled("Train"))
    assert len(list(sequence.read("C1", np.array([6, 7])))) == 2
    assert sequence.subject.camera("C1").name == "C1"
    assert len(HumanEva(root).background_videos("C1")) == 3


def test_case_does_not_matter(whole, tree):
    for path in sorted(tree.rglob("*"), key=lambda path: -len(path.parts)):
        if path.name != "partitions.json":
            path.rename(path.with_name(path.name.swapcase()))
    assert (tree / "s1" / "iMAGE_dATA" / "wALKING_1_(c1).AVI").is_file()
    sequence, expected = walking(tree), walking(whole)
    assert sequence.name == "S1 Walking 1"
    assert sequence.cameras(("C1", "C2", "C3")) == ["C1", "C2", "C3"]
    assert_same_labels(sequence.labelled("Train"), expected.labelled("Train"))
    for camera in ("C1", "C2", "C3"):
        np.testing.assert_array_equal(
            sequence.subject.camera(camera).rotation, expected.subject.camera(camera).rotation
        )
        assert len(list(sequence.read(camera, np.array([6])))) == 1
        assert len(HumanEva(tree).background_videos(camera)) == 3


def test_cameras_whose_files_differ_in_case_are_one_sequence(tree):
    path = tree / VIDEO.format("C2")
    path.rename(path.with_name("WALKING_1_(c2).avi"))
    assert walking(tree).cameras(("C1", "C2", "C3")) == ["C1", "C2", "C3"]


def test_order_is_subject_action_trial(tmp_path):
    for name in ("s3/Box_1_(C1).avi", "S1/Walking_2_(C1).avi", "S1/Walking_1_(C1).avi", "S1/box_1_(C1).avi"):
        subject, file = name.split("/")
        (tmp_path / subject / "Image_Data").mkdir(parents=True, exist_ok=True)
        (tmp_path / subject / "Image_Data" / file).write_bytes(b"")
    for other in (
        "Walking_1_(C1).txt",
        "Walking_1.avi",
        "._Walking_1_(C2).avi",
        "Walking_1_(C9).avi",
        "Walking_1_(C2)",
    ):
        (tmp_path / "S1" / "Image_Data" / other).write_bytes(b"")
    data = HumanEva(tmp_path)
    assert [s.name for s in data.trials_with_video()] == ["S1 Box 1", "S1 Walking 1", "S1 Walking 2", "S3 Box 1"]
    assert [list(s.videos) for s in data.trials_with_video()] == [["C1"]] * 4
    # The official table: trial 1 trains and validates, trial 2 tests.
    assert [s.name for s in data.trials_with_video("Test")] == ["S1 Walking 2"]
    assert [s.name for s in data.trials_with_video("Train")] == ["S1 Box 1", "S1 Walking 1", "S3 Box 1"]
    assert data.trials_with_video("Train")[0].partitions["Train"] == (386, 789)


# Pictures


def test_frames_are_those_that_the_clock_names(tree):
    # By hand: C1 and C2 show mocap frame 1 at images 9 and 4, so toolkit frame F is image 9 + F - 1 of C1, from 1.
    for camera, start in (("C1", 9), ("C2", 4), ("C3", 5)):
        (tree / OFFSETS.format(camera)).write_text(f"{start} \n1 \n2 \n")
    sequence = walking(tree)
    for camera, start in (("C1", 9), ("C2", 4), ("C3", 5)):
        images = read_with_opencv(tree / VIDEO.format(camera))
        read = list(sequence.read(camera, np.array([6, 7, 10])))
        assert [number for number, _ in read] == [6, 7, 10]
        for number, frame in read:
            assert frame.index == start + number - 2
            assert np.abs(frame.image.astype(int) - images[frame.index]).max() <= 2


@pytest.mark.parametrize("shift", [-2, 3])
def test_a_shift_moves_every_video_frame(tree, shift):
    numbers = np.array([8, 9])
    plain = {number: frame.index for number, frame in walking(tree).read("C1", numbers)}
    shifted = {number: frame.index for number, frame in walking(tree, video_frame_shift=shift).read("C1", numbers)}
    assert shifted == {number: index + shift for number, index in plain.items()}
    assert len(shifted) == 2


def test_frames_before_the_videos_start_do_not_come(tree):
    sequence = walking(tree, video_frame_shift=-1000)
    assert not list(sequence.read("C1", np.array([6, 7])))
    first = walking(tree).clock.first_video_frame["C1"]
    sequence = walking(tree, video_frame_shift=-first - 5)
    # Toolkit frame F is then at the 0-based image F - 7.
    assert [(number, frame.index) for number, frame in sequence.read("C1", np.array([6, 7, 8]))] == [(7, 0), (8, 1)]


def stills_instead_of_the_video(tree, camera, n_stills=None):
    path = tree / VIDEO.format(camera)
    images = read_with_opencv(path)[:n_stills]
    path.unlink()
    folder = path.with_suffix("")
    folder.mkdir()
    for number, image in enumerate(images, start=1):
        cv2.imwrite(str(folder / f"{folder.name}{number:04d}.png"), image)
    return images


def test_a_folder_of_stills_instead_of_a_video(tree):
    first = walking(tree).clock.first_video_frame["C1"]
    images = stills_instead_of_the_video(tree, "C1")
    sequence = walking(tree)
    assert sequence.cameras(("C1",)) == ["C1"]
    read = list(sequence.read("C1", np.array([6, 20])))
    assert [number for number, _ in read] == [6, 20]
    for number, frame in read:
        np.testing.assert_array_equal(frame.image, images[first + number - 2])


def test_a_still_that_is_missing_moves_no_other(tree):
    first = walking(tree).clock.first_video_frame["C1"]
    images = stills_instead_of_the_video(tree, "C1")
    (tree / VIDEO.format("C1")).with_suffix("").joinpath(f"Walking_1_(C1){first + 9:04d}.png").unlink()  # of frame 10
    read = list(walking(tree).read("C1", np.array([9, 10, 11])))
    assert [number for number, _ in read] == [9, 11]
    for number, frame in read:
        np.testing.assert_array_equal(frame.image, images[first + number - 2])


def test_a_video_shorter_than_its_labels(tree):
    sequence = walking(tree)
    first = sequence.clock.first_video_frame["C2"]
    stills_instead_of_the_video(tree, "C2", n_stills=first + 9)  # as far as toolkit frame 10
    sequence = walking(tree)
    assert sequence.labelled("Train").numbers.max() > 10
    assert [number for number, _ in sequence.read("C2", np.arange(6, N_FRAMES + 1))] == [6, 7, 8, 9, 10]


def test_a_truncated_video_warns_and_gives_its_beginning(tree):
    path = tree / VIDEO.format("C1")
    content = path.read_bytes()
    path.write_bytes(content[: len(content) * 2 // 3])
    sequence = walking(tree)
    n_frames = len(read_with_opencv(path)) - 1  # the last is cut off, and OpenCV shows half of it
    with pytest.warns(UserWarning, match=rf"Walking_1_\(C1\)\.avi: ends after frame {n_frames} of the "):
        numbers = [number for number, _ in sequence.read("C1", np.arange(6, N_FRAMES + 1))]
    assert numbers == list(range(6, n_frames - sequence.clock.first_video_frame["C1"] + 2))
    assert 0 < len(numbers) < N_FRAMES - 5


def test_background_recordings(tree):
    for name in ("Background_(C1).mat", "Background_2_(C1).mat", "Background_4_(C11).avi"):
        (tree / "Background" / name).write_bytes(b"")
    (tree / "Background" / "background_9_(c1)").mkdir()
    data = HumanEva(tree)
    names = [f"Background_{k}_(C1).avi" for k in (1, 2, 3)]
    assert [path.name for path in data.background_videos("C1")] == [*names, "background_9_(c1)"]
    assert data.background_videos("BW1") == []
    shutil.rmtree(tree / "Background")
    assert HumanEva(tree).background_videos("C1") == []


# Offsets


def test_a_missing_offset_disables_that_camera_only(whole, tree):
    (tree / OFFSETS.format("C2")).unlink()
    sequence = walking(tree)
    with pytest.warns(UserWarning, match=r"S1 Walking 1: camera C2 is left out: it has no \.ofs file") as caught:
        assert sequence.cameras(("C1", "C2", "C3")) == ["C1", "C3"]
    assert len(caught) == 1
    assert len(list(sequence.read("C3", np.array([6, 7])))) == 2
    assert_same_labels(sequence.labelled("Train"), walking(whole).labelled("Train"))


def test_a_missing_video_disables_that_camera_only(tree):
    (tree / VIDEO.format("C3")).unlink()
    with pytest.warns(UserWarning, match="camera C3 is left out: it has no video"):
        assert walking(tree).cameras(("C1", "C2", "C3")) == ["C1", "C2"]


def test_only_the_trials_own_offsets_count(tree):
    folder = tree / "S1" / "Sync_Data"
    for name in ("Walking_2_(C1).ofs", "Jog_1_(C1).ofs", "Walking_1_(C1).txt"):
        (folder / name).write_text("1 500 3")
    assert set(walking(tree).clock.first_video_frame) == {"C1", "C2", "C3"}
    assert walking(tree).clock.mocap_per_frame == 2


@pytest.mark.parametrize("what", ["files", "folder"])
def test_no_offsets_at_all(tree, what):
    folder = tree / "S1" / "Sync_Data"
    shutil.rmtree(folder)
    if what == "files":
        folder.mkdir()
    with pytest.raises(DataError, match=r"Sync_Data: no Walking_1_\(camera\)\.ofs, so frames cannot be matched"):
        walking(tree).labelled("Train")


# Files that are needed


def label_train(sequence):
    return sequence.labelled("Train")


@pytest.mark.parametrize(
    ("name", "use"),
    [
        (f"{MOCAP}S1.mp", label_train),
        (f"{MOCAP}Walking_1.c3d", label_train),
        (f"{MOCAP}Static.c3d", label_train),
        ("S1/Calibration_Data/C2.cal", lambda sequence: sequence.subject.camera("C2")),
    ],
)
@pytest.mark.parametrize("what", ["file", "folder"])
def test_a_missing_file_is_named(tree, name, use, what):
    path = tree / name
    if what == "folder":
        shutil.rmtree(path.parent)
    else:
        path.unlink()
        path.with_suffix(".mat").unlink(missing_ok=True)  # which would do instead of a c3d file
    # Without its folder the first file that is asked for is named; all are in one folder.
    expected = path.parent if what == "folder" else path
    with pytest.raises(DataError) as fault:
        use(walking(tree))
    assert str(fault.value).startswith(str(expected))
    assert "no such" in str(fault.value).lower()
    assert "\n" not in str(fault.value)


def c3d_to_mat(path):
    """The toolkit's cache of a c3d file; a marker that was not seen is (0, 0, 0) there."""
    c3d = ezc3d.c3d(str(path))
    markers = np.nan_to_num(c3d["data"]["points"][:3].transpose(2, 1, 0))
    labels = c3d["parameters"]["POINT"]["LABELS"]["value"]
    cell = np.empty((1, len(labels)), dtype=object)
    cell[0] = [np.array([label]) for label in labels]

    def name(text):
        return np.array([[text]], dtype=object)

    group = {"name": name("POINT"), "Parameter": {"name": name("LABELS"), "data": cell}}
    content = {"Markers": markers, "VideoFrameRate": 120.0, "ParameterGroup": group}
    scipy.io.savemat(path.with_suffix(".mat"), content)
    return content


def test_mat_files_serve_where_there_is_no_c3d(whole, tree):
    for stem in ("Walking_1", "Static"):
        c3d_to_mat(tree / MOCAP / f"{stem}.c3d")
        (tree / MOCAP / f"{stem}.c3d").unlink()
    assert_same_labels(walking(tree).labelled("Train"), walking(whole).labelled("Train"))


def test_a_c3d_goes_before_a_mat(whole, tree):
    (tree / MOCAP / "Walking_1.mat").write_bytes(b"an outdated cache")
    assert_same_labels(walking(tree).labelled("Train"), walking(whole).labelled("Train"))


# Labels


def test_damaged_bone_markers_leave_their_frame_out(whole, tree):
    expected = walking(whole).labelled("Train")
    damaged = expected.numbers[2]
    path = tree / MOCAP / "Walking_1.c3d"
    content = c3d_to_mat(path)
    path.unlink()
    row = round(float(walking(whole).clock.mocap_position(damaged))) - 1
    column = list(walking(whole).markers.labels).index("S1:LFEA")
    content["Markers"][row, column] = 0
    scipy.io.savemat(path.with_suffix(".mat"), content)
    with pytest.warns(UserWarning, match=rf"Walking_1\.mat: 1 frames, first {damaged}, have damaged bone markers"):
        labels = walking(tree).labelled("Train")
    assert labels.numbers.tolist() == [number for number in expected.numbers if number != damaged]
    np.testing.assert_allclose(labels.joints, np.delete(expected.joints, 2, axis=0), atol=1e-3)


def test_a_file_overrides_the_partitions(whole, tree):
    both = [walking(whole).labelled(name).numbers for name in ("Validate", "Train")]
    usable = np.concatenate(both)
    set_partitions(tree, Train=[9, 14], Test=[20, 22])
    sequence = walking(tree)
    assert sequence.labelled("Train").numbers.tolist() == [n for n in usable if 9 <= n <= 14]
    assert sequence.labelled("Test").numbers.tolist() == [n for n in usable if 20 <= n <= 22]
    assert [s.name for s in HumanEva(tree.parent).trials_with_video("Test")] == ["S1 Walking 1"]
    assert HumanEva(tree).trials_with_video("Validate") == []
    with pytest.raises(DataError, match=r"S1 Walking 1: has no partition Validate \(it has Train, Test\)"):
        sequence.labelled("Validate")


def test_without_the_file_the_official_table_holds(tree):
    (tree / "partitions.json").unlink()
    sequence = walking(tree)
    assert sequence.partitions == {"Validate": (6, 590), "Train": (591, 1203)}
    with pytest.warns(UserWarning, match=rf"Walking_1\.c3d: ends at toolkit frame {N_FRAMES}, and frames to 590 were"):
        numbers = sequence.labelled("Validate").numbers
    assert 6 <= numbers.min() < numbers.max() <= N_FRAMES
    with pytest.warns(UserWarning, match="frames to 1203 were asked for"):
        labels = sequence.labelled("Train")
    assert labels.numbers.shape == (0,)
    assert labels.joints.shape == (0, 15, 3)


def test_a_trial_that_the_table_does_not_know_has_no_partition(tree):
    (tree / "partitions.json").write_text("{}")
    assert HumanEva(tree).trials_with_video("Train") == []
    with pytest.raises(DataError, match=r"has no partition Train \(it has none\)"):
        walking(tree).labelled("Train")


def test_the_first_five_frames_are_never_used(tree):
    path = tree / MOCAP / "Walking_1.c3d"
    content = c3d_to_mat(path)
    path.unlink()
    markers = content["Markers"]
    markers[(markers == 0).all(axis=2)] = 100.0  # no gap is left that would hide a frame for another reason
    scipy.io.savemat(path.with_suffix(".mat"), content)
    set_partitions(tree, Train=[1, N_FRAMES])
    assert walking(tree).labelled("Train").numbers.tolist() == list(range(6, N_FRAMES + 1))
    set_partitions(tree, Validate=[1, 5])
    assert len(walking(tree).labelled("Validate").numbers) == 0
