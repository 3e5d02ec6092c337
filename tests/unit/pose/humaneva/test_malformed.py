"""What goes wrong with copies of the release: each fault gives a message that names the file and the fault.

Every case alters one thing in a good tree, and reads it as a user does: all frames of it, one by one.
"""

import shutil
import warnings
from pathlib import Path

import av
import cv2
import numpy as np
import pytest
import scipy.io

from pose.errors import DataError
from pose.humaneva import HumanEva
from pose.synth import synthesize

N_FRAMES = 24
CAL = "S1/Calibration_Data/C1.cal"
OFS = "S1/Sync_Data/Walking_1_(C1).ofs"
MP = "S1/Mocap_Data/S1.mp"
C3D = "S1/Mocap_Data/Walking_1.c3d"
STATIC = "S1/Mocap_Data/Static.c3d"
AVI = "S1/Image_Data/Walking_1_(C1).avi"


@pytest.fixture(scope="session")
def whole(tmp_path_factory):
    folder = tmp_path_factory.mktemp("malformed") / "set"
    return synthesize(folder, subjects=("S1",), actions=("Walking",), n_frames=N_FRAMES)


@pytest.fixture
def tree(whole, tmp_path):
    return Path(shutil.copytree(whole, tmp_path / "HumanEva_I"))


def read(root):
    """Everything of one camera."""
    return list(HumanEva(root).frames(cameras="C1"))


def joints_of(frames):
    return np.array([frame.joints for frame in frames])


@pytest.fixture(scope="session")
def truth(whole):
    frames = read(whole)
    assert sum(frame.valid for frame in frames) > 10
    return joints_of(frames)


def substitute(old, new, count=-1):
    return lambda content: content.replace(old, new, count)


def lines(keep):
    return lambda content: b"\n".join(keep(content.split(b"\n")))


FAULTS = [
    # calibration
    ("a short .cal", CAL, lines(lambda all_: all_[:10]), r"holds 10 numbers, expected 22"),
    ("decimal commas in a .cal", CAL, substitute(b".", b","), r"line 1: .* is not a number; decimals take a point"),
    ("NaN in a .cal", CAL, lines(lambda all_: [*all_[:2], b"NaN", *all_[3:]]), r"line 3: 'NaN' is not finite"),
    ("a .cal of zero length", CAL, lambda _: b"", r"holds 0 numbers, expected 22"),
    ("a mirrored rotation", CAL, lines(lambda a: [*a[:10], *a[13:16], *a[10:13], *a[16:]]), r"no rotation matrix"),
    ("a binary .cal", CAL, lambda _: b"\x00\x81\xfe\xff" * 20, r"is not a text file"),
    # offsets
    ("a short .ofs", OFS, lambda _: b"9 \n1 \n", r"holds 2 numbers, expected 3"),
    ("decimal commas in an .ofs", OFS, lambda _: b"9,0 \n1,0 \n2,0 \n", r"line 1: '9,0' is not a number; decimals"),
    ("an .ofs of zero length", OFS, lambda _: b"", r"holds 0 numbers, expected 3"),
    ("the rate in the first line", OFS, lambda _: b"2 \n9 \n120 \n", r"120 mocap frames an image frame cannot be"),
    ("infinite offsets", OFS, lambda _: b"inf \n1 \n2 \n", r"line 1: 'inf' is not finite"),
    # measurements
    ("decimal commas in an .mp", MP, substitute(b".", b","), r"line 1: expected '\$Name = number', .*; decimals take"),
    ("no shoulder offset", MP, substitute(b"$LShoulder", b"$LElbow2"), r"lacks LShoulderOffset"),
    ("an .mp of zero length", MP, lambda _: b"", r"lacks LShoulderOffset and RShoulderOffset"),
    ("NaN in an .mp", MP, substitute(b"$RShoulderOffset = 4", b"$RShoulderOffset = nan #"), r"line \d+: "),
    ("metres in an .mp", MP, substitute(b"$LShoulderOffset = ", b"$LShoulderOffset = -"), r"which cannot be right"),
    # motion capture
    ("a .c3d of zero length", C3D, lambda _: b"", r"is not a readable c3d file \(no c3d header\)"),
    ("a .c3d that is a web page", C3D, lambda _: b"<html>" * 200, r"is not a readable c3d file"),
    ("a truncated .c3d", C3D, lambda content: content[: len(content) // 2], r"is truncated: it holds \d+ of \d+ fr"),
    ("labels missing", C3D, substitute(b"S1:LKNE", b"S1:XXXX"), r"lacks the markers LKNE"),
    ("bone labels missing", C3D, substitute(b"S1:HEDO", b"S1:XXXX"), r"lacks the markers HEDO"),
    ("a standing trial without shoulders", STATIC, substitute(b"S1:LSHO", b"S1:XXXX"), r"lacks the markers LSHO"),
    ("digits in groups in a .cal", CAL, substitute(b".000000", b".000_000"), r"line \d+: '0.000_000' is not a number"),
    ("a unit that nobody knows", C3D, substitute(b"mm", b"ft"), r"unknown unit 'ft'"),
    # video
    ("a video of zero length", AVI, lambda _: b"", r"cannot be opened as a video"),
    ("a video that is a web page", AVI, lambda _: b"<html>" * 200, r"cannot be opened as a video"),
]


@pytest.mark.parametrize(("path", "alter", "message"), [case[1:] for case in FAULTS], ids=[case[0] for case in FAULTS])
def test_a_faulty_file_is_refused_by_name(tree, path, alter, message):
    file = tree / path
    before = file.read_bytes()
    file.write_bytes(alter(before))
    assert file.read_bytes() != before
    with pytest.raises(DataError, match=message) as fault:
        read(tree)
    assert str(fault.value).startswith(str(file))
    assert "\n" not in str(fault.value)


# What is no fault: the same joints as of the good tree.

HARMLESS = {
    "CRLF": lambda content: content.replace(b"\n", b"\r\n"),
    "a byte order mark": lambda content: b"\xef\xbb\xbf" + content,
    "UTF-16": lambda content: content.decode().encode("utf-16"),
    "blank lines": lambda content: content.replace(b"\n", b"\n\n"),
    "tabs": lambda content: content.replace(b" \n", b"\t\n"),
    "no last line end": lambda content: content.rstrip(),
}


@pytest.mark.parametrize("path", [CAL, OFS, MP])
@pytest.mark.parametrize("alter", HARMLESS.values(), ids=HARMLESS.keys())
def test_how_a_text_file_was_saved_does_not_matter(tree, truth, path, alter):
    file = tree / path
    file.write_bytes(alter(file.read_bytes()))
    np.testing.assert_array_equal(joints_of(read(tree)), truth)


# What cannot be told to be wrong for certain: a warning.


def test_swapped_numbers_of_one_offset(tree):
    values = {"C1": "82 \n1 \n2 \n", "C2": "81 \n1 \n2 \n", "C3": "1 \n82 \n2 \n"}
    for camera, text in values.items():
        (tree / f"S1/Sync_Data/Walking_1_({camera}).ofs").write_text(text)
    message = r"Walking_1_\(C3\)\.ofs: C3 starts 121 frames away from the other cameras, but would fit if its image fr"
    with pytest.warns(UserWarning, match=message):
        _ = HumanEva(tree).trial("S1", "Walking", 1).clock


def test_cameras_that_merely_start_apart_are_not_suspected(tree):
    for camera, start in (("C1", 60), ("C2", 20), ("C3", 1)):
        (tree / f"S1/Sync_Data/Walking_1_({camera}).ofs").write_text(f"{start} \n1 \n2 \n")
    clock = HumanEva(tree).trial("S1", "Walking", 1).clock
    assert list(clock.first_video_frame.values()) == [60, 20, 1]


def test_rates_that_disagree(tree):
    (tree / OFS).write_text("9 \n1 \n1 \n")
    with pytest.warns(
        UserWarning, match=r"\.ofs files say other mocap frames an image \(Walking_1_\(C1\)\.ofs 1\) than"
    ):
        HumanEva(tree).trial("S1", "Walking", 1).labels(np.array([6]))


def test_motion_capture_shorter_than_the_video(tree, truth, write_c3d):
    tracks = HumanEva(tree).trial("S1", "Walking", 1).markers
    n = 31  # mocap frames; at T0 = 1 or later the last toolkit frame is the 16th or an earlier one
    short = {label: tracks.positions[:n, column] for column, label in enumerate(tracks.labels)}
    write_c3d(tree / C3D, short)
    sequence = HumanEva(tree).trial("S1", "Walking", 1)
    last = sequence.last_mocap_number
    assert sequence.clock.mocap_position(last) <= n < sequence.clock.mocap_position(last + 1)
    with pytest.warns(
        UserWarning, match=rf"Walking_1\.c3d: ends at toolkit frame {last}, and frames to {N_FRAMES} were"
    ):
        frames = read(tree)
    for frame, expected in zip(frames, truth, strict=True):
        if frame.number <= last:
            np.testing.assert_allclose(frame.joints, expected, atol=1e-3)
        else:
            assert not frame.valid
            assert np.isnan(frame.joints).all()


def test_a_truncated_video(tree):
    file = tree / AVI
    content = file.read_bytes()
    file.write_bytes(content[: len(content) * 2 // 3])
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        frames = read(tree)
    assert 0 < len(frames) < N_FRAMES - 5
    told = [str(warning.message) for warning in caught]
    assert any(f"ends after frame {frames[-1].video_index + 1} of the" in text for text in told)
    assert any(f"ends at toolkit frame {frames[-1].number}, before the frames" in text for text in told)


def write_video(path, images, rate=60):
    with av.open(str(path), "w") as container:
        stream = container.add_stream("mpeg4", rate=rate)
        stream.height, stream.width = images[0].shape[:2]
        stream.pix_fmt = "yuv420p"
        for image in images:
            container.mux(stream.encode(av.VideoFrame.from_ndarray(image, format="bgr24")))
        container.mux(stream.encode(None))


def pictures(tree):
    capture = cv2.VideoCapture(str(tree / AVI))
    images = []
    while (step := capture.read())[0]:
        images.append(step[1])
    capture.release()
    return images


def test_a_video_of_another_size(tree):
    write_video(tree / AVI, [np.ascontiguousarray(image[::2, ::2]) for image in pictures(tree)])
    with pytest.warns(UserWarning, match=r"Walking_1_\(C1\)\.avi: the picture is 320 x 240 pixels, which does not fit"):
        read(tree)


def test_a_video_of_another_rate(tree):
    write_video(tree / AVI, pictures(tree), rate=25)
    with pytest.warns(UserWarning, match=r"\(C1\)\.avi: its header says 25 pictures a second; taking 60"):
        frames = read(tree)
    assert frames[0].time == pytest.approx((frames[0].number - 1) / 60)


def stills(tree, name="frame{:04d}.png"):
    images = pictures(tree)
    folder = (tree / AVI).with_suffix("")
    (tree / AVI).unlink()
    folder.mkdir()
    for number, image in enumerate(images, start=1):
        assert cv2.imwrite(str(folder / name.format(number)), image)
    return folder


@pytest.mark.parametrize("suffix", ["bmp", "png", "tif"])
def test_folders_of_stills(tree, truth, suffix):
    stills(tree, "Walking_1_(C1){:04d}." + suffix)
    np.testing.assert_array_equal(joints_of(read(tree)), truth)


def test_pictures_that_repeat_the_one_before(tree):
    folder = stills(tree)
    for number in range(2, len(list(folder.iterdir())), 2):
        shutil.copy(folder / f"frame{number - 1:04d}.png", folder / f"frame{number:04d}.png")
    message = r"Walking_1_\(C1\): (9|10) of 19 pictures repeat the one before, first at toolkit frame "
    with pytest.warns(UserWarning, match=message):
        read(tree)


def test_two_stills_of_one_number(tree):
    folder = stills(tree)
    shutil.copy(folder / "frame0009.png", folder / "copy9.png")
    with pytest.raises(DataError, match=r"Walking_1_\(C1\): copy9\.png and frame0009\.png carry the same number"):
        read(tree)


def test_a_still_of_another_size(tree):
    folder = stills(tree)
    image = cv2.imread(str(folder / "frame0015.png"))
    cv2.imwrite(str(folder / "frame0015.png"), image[:100])
    with pytest.raises(
        DataError, match=r"frame0015\.png: the picture is 640 x 100 pixels, those before it are 640 x 480"
    ):
        read(tree)


def test_a_still_that_is_no_picture(tree):
    folder = stills(tree)
    (folder / "frame0015.png").write_bytes(b"")
    with pytest.raises(DataError, match=r"frame0015\.png: is not a picture"):
        read(tree)


# Folders, links and permissions


def test_links_that_point_at_themselves(tree):
    for path in (CAL, "S1/Mocap_Data"):
        file = tree / path
        if file.is_dir():
            shutil.rmtree(file)
        else:
            file.unlink()
        file.symlink_to(file.name)
    (tree / "S1" / "Image_Data" / "again").symlink_to(".")
    with pytest.raises(DataError, match=r"Mocap_Data: cannot be read \(Too many levels of symbolic links\)"):
        read(tree)
    (tree / "S1" / "Mocap_Data").unlink()
    with pytest.raises(DataError, match=r"C1\.cal: cannot be read \(Too many levels of symbolic links\)"):
        HumanEva(tree).subjects[0].camera("C1")
    (tree / "loop").symlink_to("loop")
    with pytest.raises(DataError, match=r"loop: no such folder \(a link that points at itself\)"):
        HumanEva(tree / "loop")


@pytest.mark.parametrize("path", [CAL, OFS, MP, C3D])
def test_files_that_may_not_be_read(tree, monkeypatch, path):
    """Tests may run as root, whom no permission stops: the fault is injected."""
    denied = tree / path
    opened, read_bytes = Path.open, Path.read_bytes

    def guard(original):
        def guarded(self, *args, **kwargs):
            if self == denied:
                raise PermissionError(13, "Permission denied", str(self))
            return original(self, *args, **kwargs)

        return guarded

    monkeypatch.setattr(Path, "open", guard(opened))
    monkeypatch.setattr(Path, "read_bytes", guard(read_bytes))
    with pytest.raises(DataError, match=r"cannot be read \(Permission denied\)") as fault:
        read(tree)
    assert str(fault.value).startswith(str(denied))


@pytest.mark.parametrize("what", ["a picture", "the folder"])
def test_stills_that_may_not_be_read(tree, monkeypatch, what):
    folder = stills(tree)
    denied = folder / "frame0015.png" if what == "a picture" else folder
    method = "read_bytes" if what == "a picture" else "iterdir"
    allowed = getattr(Path, method)

    def guarded(self):
        if self == denied:
            raise PermissionError(13, "Permission denied", str(self))
        return allowed(self)

    monkeypatch.setattr(Path, method, guarded)
    with pytest.raises(DataError, match=r"cannot be read \(Permission denied\)") as fault:
        read(tree)
    assert str(fault.value).startswith(str(denied))


def test_a_video_that_may_not_be_read(tree, monkeypatch):
    def denied(*_, **__):
        raise PermissionError(13, "Permission denied", str(tree / AVI))

    monkeypatch.setattr(av, "open", denied)
    with pytest.raises(DataError, match=r"Walking_1_\(C1\)\.avi: cannot be opened as a video \(Permission denied\)"):
        read(tree)


@pytest.mark.parametrize("part", ["Calibration_Data", "Sync_Data", "Mocap_Data", "Image_Data"])
def test_folders_that_may_not_be_read(tree, monkeypatch, part):
    listing = Path.iterdir

    def guarded(self):
        if self.name == part:
            raise PermissionError(13, "Permission denied", str(self))
        return listing(self)

    monkeypatch.setattr(Path, "iterdir", guarded)
    with pytest.raises(DataError, match=rf"{part}: cannot be read \(Permission denied\)"):
        read(tree)


def test_two_names_that_differ_in_case_alone(tree):
    shutil.copy(tree / CAL, tree / "S1/Calibration_Data/c1.CAL")
    with pytest.raises(
        DataError, match=r"Calibration_Data: C1\.cal and c1\.CAL differ in case alone; keep one of them"
    ):
        read(tree)
    (tree / "S1/Calibration_Data/c1.CAL").unlink()
    for name in ("readme.txt", "README.txt"):
        (tree / "S1/Calibration_Data" / name).write_text("of no concern")
    assert read(tree)


def test_blanks_brackets_and_accents_in_the_path(whole, tmp_path, truth):
    root = shutil.copytree(whole, tmp_path / "Daten (größe) 人 #1 %20" / "Human Eva [v1] 'é'")
    np.testing.assert_array_equal(joints_of(read(root)), truth)


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("S1", "it looks like one subject's folder, name its parent"),
        ("S1/Mocap_Data", "it looks like a part of a subject's folder, name .*HumanEva_I"),
        ("../..", ".*HumanEva_I holds some, name it"),
    ],
)
def test_the_wrong_level_is_named(tree, name, hint):
    deeper = Path(shutil.move(tree, tree.parent / "inner" / "HumanEva_I")) if name == "../.." else tree
    with pytest.raises(DataError, match=f"holds no subject folder .*; {hint}$"):
        HumanEva((deeper / name).resolve())


def test_archives_unpacked_into_folders_of_their_own_names(tree, truth):
    (tree / "S1").rename(tree / "inner")
    (tree / "S1").mkdir()
    (tree / "inner").rename(tree / "S1" / "S1")
    (tree / "partitions.json").rename(tree / "S1" / "partitions.json")
    np.testing.assert_array_equal(joints_of(read(tree)), truth)  # of one subject it is a root in its parent
    shutil.copytree(tree / "S1" / "S1", tree / "S2" / "S2")
    with pytest.raises(DataError, match=r"holds subjects one level too deep, move them up: .*S1/S1, .*S2/S2$"):
        HumanEva(tree)


def test_the_toolkits_folder_looks_beside_itself(tree, truth):
    (tree / "Release_Code_v1_1_beta").mkdir()
    np.testing.assert_array_equal(joints_of(read(tree / "Release_Code_v1_1_beta")), truth)


@pytest.mark.parametrize("part", ["Calibration_Data", "Sync_Data", "Mocap_Data", "Image_Data"])
def test_a_folder_that_was_unpacked_into_one_of_its_own_name(tree, truth, part):
    (tree / "S1" / part).rename(tree / "inner")
    (tree / "S1" / part).mkdir()
    (tree / "inner").rename(tree / "S1" / part / part)
    np.testing.assert_array_equal(joints_of(read(tree)), truth)


@pytest.mark.parametrize(("factor", "length"), [(0.1, r"\d\d\.?\d*"), (10, r"\d{4}")])
def test_a_unit_that_is_not_the_one_stated(tree, write_c3d, factor, length):
    """The head's length is the toolkit's constant: with centimetres it alone makes up most of a body."""
    tracks = HumanEva(tree).trial("S1", "Walking", 1).markers
    write_c3d(tree / C3D, {label: factor * tracks.positions[:, k] for k, label in enumerate(tracks.labels)})
    with pytest.raises(DataError, match=rf"Walking_1\.c3d: the .* is {length} mm from the .*, so the unit is not mm"):
        read(tree)


# Labels


def relabelled(tree, write_c3d, rename):
    tracks = HumanEva(tree).trial("S1", "Walking", 1).markers
    write_c3d(tree / C3D, {rename(label): tracks.positions[:, k] for k, label in enumerate(tracks.labels)})


@pytest.mark.parametrize("prefix", ["", "Anna:", "S1_2:Body:", " s1 : "])
def test_any_prefix_of_labels(tree, truth, write_c3d, prefix):
    relabelled(tree, write_c3d, lambda label: label if label[0] == "*" else prefix + label.rsplit(":", 1)[-1])
    np.testing.assert_allclose(joints_of(read(tree)), truth, atol=1e-3)


def test_a_prefix_without_a_colon_is_guessed_with_a_warning(tree, truth, write_c3d):
    relabelled(tree, write_c3d, lambda label: label.replace("S1:", "Subj_"))
    with pytest.warns(UserWarning, match=r"Walking_1\.c3d: no marker RASI; taking 'Subj_RASI' for it"):
        frames = read(tree)
    np.testing.assert_allclose(joints_of(frames), truth, atol=1e-3)


def test_two_people_in_one_file(tree, truth, write_c3d):
    tracks = HumanEva(tree).trial("S1", "Walking", 1).markers
    other = {label.replace("S1:", "S2:"): tracks.positions[:, k] + 500 for k, label in enumerate(tracks.labels)}
    own = {label: tracks.positions[:, k] for k, label in enumerate(tracks.labels)}
    write_c3d(tree / C3D, other | own)
    np.testing.assert_allclose(joints_of(read(tree)), truth, atol=1e-3)
    write_c3d(tree / C3D, {name.replace("S1:", "S9:"): values for name, values in (other | own).items()})
    with pytest.raises(DataError, match=r"several markers are called RASI \('S2:RASI', 'S9:RASI'\)"):
        read(tree)


# The .mat files


def test_matlab_files_that_cannot_serve(tree):
    (tree / C3D).unlink()
    path = (tree / C3D).with_suffix(".mat")
    cases = {
        "is a Matlab v7.3 file": b"MATLAB 7.3 MAT-file".ljust(124) + b"\x00\x02IM" + b"\x00" * 400,
        "is not a readable .mat file": b"MATLAB 5.0 MAT-file".ljust(124) + b"\x00\x01IM" + b"\xff" * 40,
    }
    for message, content in cases.items():
        path.write_bytes(content)
        with pytest.raises(DataError, match=rf"Walking_1\.mat: {message}"):
            read(tree)
    for content, message in (
        ({"Markers": np.zeros((3, 2)), "ParameterGroup": 1}, r"Markers has the shape \(3, 2\)"),
        ({"Markers": np.zeros((3, 2, 3)), "ParameterGroup": 1}, "ParameterGroup is not the toolkit's"),
        ({"Markers": np.array(["a"], dtype=object), "ParameterGroup": 1}, "Markers holds no numbers"),
    ):
        scipy.io.savemat(path, content)
        with pytest.raises(DataError, match=rf"Walking_1\.mat: {message}"):
            read(tree)
