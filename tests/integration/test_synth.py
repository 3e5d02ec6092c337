"""The written tree: read back by our reader and by independent ones."""

import json
import re
import subprocess
import sys
import warnings

import av
import cv2
import numpy as np
import pytest
from folder_digests import digests
from motion_texts import bvh_text

from pose.body.cal_file import read_cal
from pose.errors import DataError
from pose.humaneva import HumanEva
from pose.humaneva.clock import common_clock
from pose.humaneva.files.marker_tracks import read_markers
from pose.humaneva.files.ofs import read_ofs
from pose.synth import synthesize
from pose.synth.pictures.rig import default_cameras

CAMERAS = ("C1", "C2", "C3")
ACTIONS = ("Walking", "Jog", "Box")
N_FRAMES = 80


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    return synthesize(tmp_path_factory.mktemp("synth") / "set", n_frames=N_FRAMES, seed=3, jobs=2)


@pytest.fixture(scope="module")
def truth(root):
    return {action: dict(np.load(root / "truth" / f"joints_S1_{action}.npz")) for action in ACTIONS}


def count_frames(path):
    with av.open(str(path)) as container:
        return sum(1 for _ in container.decode(video=0))


def test_the_reader_recovers_the_joints_and_the_validity(root, truth):
    sequences = HumanEva(root).trials_with_video()
    assert [sequence.name for sequence in sequences] == ["S1 Box 1", "S1 Jog 1", "S1 Walking 1"]
    for sequence in sequences:
        expected = truth[sequence.action]
        assert expected["joints"].shape == (N_FRAMES, 15, 3)
        read = {name: sequence.labelled(name) for name in ("Validate", "Train")}
        numbers = np.concatenate([part.numbers for part in read.values()])
        joints = np.concatenate([part.joints for part in read.values()])
        np.testing.assert_array_equal(numbers, expected["frames"][expected["valid"]])
        np.testing.assert_allclose(joints, expected["joints"][numbers - 1], atol=0.01)


def test_the_clock_is_the_truths(root, truth):
    for action in ACTIONS:
        offsets = {name: read_ofs(root / f"S1/Sync_Data/{action}_1_({name}).ofs") for name in CAMERAS}
        clock = common_clock(offsets)
        assert [clock.first_video_frame[name] for name in CAMERAS] == truth[action]["first_video_frame"].tolist()
        assert clock.mocap_start == truth[action]["T0"]
        assert clock.mocap_per_frame == truth[action]["s"] == 2
    assert any(truth[action]["T0"] > 5 for action in ACTIONS)


def test_videos_are_xvid_at_60_hz_and_long_enough(root, truth):
    for action in ACTIONS:
        for name, first in zip(CAMERAS, truth[action]["first_video_frame"], strict=True):
            path = root / f"S1/Image_Data/{action}_1_({name}).avi"
            assert b"XVID" in path.read_bytes()[:400]
            with av.open(str(path)) as container:
                stream = container.streams.video[0]
                assert stream.average_rate == 60
                assert (stream.width, stream.height) == (640, 480)
                promised = stream.frames
            assert count_frames(path) == promised
            assert first + N_FRAMES - 1 <= promised <= first + N_FRAMES + 2


def test_three_background_recordings_a_camera(root):
    for name in CAMERAS:
        recordings = sorted((root / "Background").glob(f"Background_*_({name}).avi"))
        assert [path.name for path in recordings] == [f"Background_{k}_({name}).avi" for k in (1, 2, 3)]
        assert count_frames(recordings[0]) == 30


def test_pictures_show_the_masks_of_truth(root):
    sequence = next(s for s in HumanEva(root).trials_with_video() if s.action == "Walking")
    for name in CAMERAS:
        with av.open(str(root / f"Background/Background_2_({name}).avi")) as container:
            empty = np.mean([frame.to_ndarray(format="bgr24") for frame in container.decode(video=0)], axis=0)
        found = 0
        for number, frame in sequence.read(name, np.array([40, 80])):
            mask = cv2.imread(str(root / f"truth/masks/S1_Walking_1_({name})_F{number:04d}.png"), cv2.IMREAD_GRAYSCALE)
            change = np.abs(frame.image.astype(float) - empty).max(axis=-1) > 25
            overlap = (change & (mask > 0)).sum() / (change | (mask > 0)).sum()
            assert overlap > 0.85
            found += 1
        assert found == 2


def test_calibrations_are_the_cameras(root):
    for name, camera in default_cameras().items():
        read = read_cal(root / f"S1/Calibration_Data/{name}.cal")
        np.testing.assert_allclose(read.matrix, camera.matrix)
        np.testing.assert_allclose(read.rotation, camera.rotation)
        np.testing.assert_allclose(read.translation, camera.translation)


def test_two_c3d_readers_agree_and_both_see_the_gaps(root):
    c3d, ezc3d = pytest.importorskip("c3d"), pytest.importorskip("ezc3d")
    for stem in ("Walking_1", "Static"):
        path = root / f"S1/Mocap_Data/{stem}.c3d"
        ours = ezc3d.c3d(str(path))
        points = ours["data"]["points"][:3].transpose(2, 1, 0)
        with path.open("rb") as handle, warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the package remarks on parameters it does not need
            reader = c3d.Reader(handle)
            labels = [label.strip() for label in reader.point_labels]
            theirs = np.stack([frame[1].copy() for frame in reader.read_frames()])
            assert reader.point_rate == 120
        assert labels == ours["parameters"]["POINT"]["LABELS"]["value"]
        assert ours["parameters"]["POINT"]["UNITS"]["value"] == ["mm"]
        assert "S1:LASI" in labels
        seen = np.isfinite(points).all(axis=-1)
        np.testing.assert_allclose(theirs[..., :3][seen], points[seen], atol=1e-4)
        lost = ~seen[:, [column for column, label in enumerate(labels) if label.startswith("S1:")]]
        assert lost.any() == (stem != "Static")
        assert (theirs[~seen][:, 3] < 0).all()
        assert (theirs[~seen][:, :3] == 0).all()


def test_marker_gaps_make_frames_invalid_in_both_partitions(root, truth):
    table = json.loads((root / "partitions.json").read_text())
    assert set(table) == {"S1"}
    for action in ACTIONS:
        for first, last in table["S1"][f"{action} 1"].values():
            assert 6 <= first < last <= N_FRAMES
            valid = truth[action]["valid"][first - 1 : last]
            assert 0 < valid.sum() < len(valid)


def test_the_folder_says_what_it_is(root):
    text = (root / "SYNTHETIC.txt").read_text()
    assert "seed=3" in text
    assert "synthetic" in text
    assert not list(root.parent.glob(".*"))


def test_same_seed_same_bytes_whatever_the_jobs_and_progress_counts_to_the_end(root, tmp_path):
    def make(name, jobs, on_progress=None):
        out = synthesize(tmp_path / name, actions=("Jog",), n_frames=24, seed=1, jobs=jobs, on_progress=on_progress)
        return digests(out)

    calls = []
    first, again = make("a", 1), make("b", 2, lambda done, total, what: calls.append((done, total, what)))
    assert first == again
    assert len(first) > 20
    # Another seed is another room and another motion.
    others = digests(root)
    for name in ("Background/Background_1_(C1).avi", "S1/Sync_Data/Jog_1_(C1).ofs"):
        assert first[name] != others[name]

    done = [call[0] for call in calls]
    assert done == sorted(done)
    assert calls[-1][0] == calls[-1][1]
    assert len(set(done)) == len(done) > 3


UNGUARDED = """
import sys
from pose.synth import synthesize
print("begun", flush=True)
synthesize(sys.argv[1], actions=("Jog",), n_frames=24, seed=1, jobs=2, cameras=sys.argv[2], masks="none")
"""


def test_a_script_without_a_guard_is_run_once(tmp_path, one_camera):
    script = tmp_path / "script.py"
    script.write_text(UNGUARDED)
    done = subprocess.run(
        [sys.executable, script, tmp_path / "set", one_camera], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "begun\n", "")
    assert (tmp_path / "set/S1/Image_Data/Jog_1_(C2).avi").stat().st_size > 0


def test_motion_files_cameras_subjects_and_mirrors(tmp_path, one_camera):
    bvh = tmp_path / "step_aside.BVH"
    bvh.write_text(bvh_text(frames=tuple({"LeftArm": (3 * k, 0, 0), "position": f"{k} 95 0"} for k in range(40))))
    out = synthesize(
        tmp_path / "set",
        subjects=2,
        motions=[bvh, f"Kick={bvh}"],
        actions=("Gestures",),
        cameras=one_camera,
        n_frames=24,
        mirrored=True,
        train_share=1.0,
        masks="png",
        camera_jitter=1.0,
        seed=4,
    )
    data = HumanEva(out)
    names = [f"{name} {number}" for name in ("Gestures", "Kick", "StepAside") for number in (1, 2)]
    assert [s.name for s in data.trials_with_video("Train")] == [f"{s} {name}" for s in ("S1", "S2") for name in names]
    assert not data.trials_with_video("Validate")
    moved = read_cal(out / "S1/Calibration_Data/C2.cal")
    assert 5 < np.linalg.norm(moved.centre - default_cameras()["C2"].centre) < 400
    statures = [json.loads((out / "synthetic.json").read_text())["settings"]["subjects"]]
    assert statures == [{"S1": "drawn", "S2": "drawn"}]
    heads = [np.load(out / f"truth/joints_{name}_Gestures.npz")["joints"][10, 14, 2] for name in ("S1", "S2")]
    assert abs(heads[0] - heads[1]) > 5
    sequence = next(s for s in data.trials_with_video() if s.name == "S2 Kick 2")
    labels = sequence.labelled("Train")
    joints = np.load(out / "truth/joints_S2_Kick_2.npz")["joints"]
    np.testing.assert_allclose(labels.joints, joints[labels.numbers - 1], atol=0.01)
    masks = sorted((out / "truth/silhouettes/S2/Kick_2_(C2)").iterdir())
    assert len(masks) == count_frames(out / "S2/Image_Data/Kick_2_(C2).avi")
    pixels = moved.project(joints[11])
    mask = cv2.imread(str(masks[sequence.clock.first_video_frame["C2"] - 1 + 11]), cv2.IMREAD_GRAYSCALE)
    x, y = np.rint(pixels).astype(int).T
    near = cv2.dilate(mask, np.ones((9, 9), np.uint8))
    assert (near[y, x] > 0).mean() > 0.9
    # The toolkit's caches hold the same markers as the files they are of.
    c3d, mat = (read_markers(out / f"S1/Mocap_Data/Kick_1.{kind}") for kind in ("c3d", "mat"))
    assert c3d.labels == mat.labels
    np.testing.assert_allclose(mat.positions, c3d.positions, atol=1e-3)


def test_masks_as_a_video_are_exact(tmp_path, one_camera):
    request = {"actions": ("Jog",), "n_frames": 24, "cameras": one_camera}
    kinds = {kind: synthesize(tmp_path / kind, masks=kind, **request) for kind in ("png", "video")}
    folder = kinds["png"] / "truth/silhouettes/S1/Jog_1_(C2)"
    with av.open(str(kinds["video"] / "truth/silhouettes/S1/Jog_1_(C2).avi")) as container:
        frames = [frame.to_ndarray(format="gray") for frame in container.decode(video=0)]
    pictures = [cv2.imread(str(path), cv2.IMREAD_GRAYSCALE) for path in sorted(folder.iterdir())]
    np.testing.assert_array_equal(np.stack(frames), np.stack(pictures))
    assert set(np.unique(pictures)) == {0, 255}


def test_a_mirrored_trial_is_the_mirror_image_at_another_time(tmp_path, one_camera):
    out = synthesize(tmp_path / "set", actions=("Walking",), n_frames=40, mirrored=True, cameras=one_camera)
    tracks = [dict(np.load(out / f"truth/joints_S1_Walking{end}.npz")) for end in ("", "_2")]
    assert not np.array_equal(tracks[0]["first_video_frame"], tracks[1]["first_video_frame"])
    first, second = (track["joints"] for track in tracks)
    swapped = second[:, [0, 1, 5, 6, 7, 2, 3, 4, 11, 12, 13, 8, 9, 10, 14]] * [1, -1, 1]
    apart = [
        np.abs(first[max(k, 0) : 40 + min(k, 0)] - swapped[max(-k, 0) : 40 - max(k, 0)]).max() for k in range(-35, 36)
    ]
    assert min(apart) < 45  # mm: half a frame of a swinging foot may lie between them
    assert np.median(apart) > 300


def test_a_link_leads_to_the_folder_that_is_filled(tmp_path, one_camera):
    (tmp_path / "real").mkdir()
    (tmp_path / "set").symlink_to("real")
    for overwrite in (False, True):
        synthesize(tmp_path / "set", actions=("Box",), n_frames=24, cameras=one_camera, overwrite=overwrite)
        assert (tmp_path / "set").is_symlink()
        assert (tmp_path / "real" / "SYNTHETIC.txt").is_file()
    assert {path.name for path in tmp_path.iterdir()} == {"set", "real", "calibration"}


def test_only_a_synthetic_set_is_overwritten_and_only_on_request(tmp_path, one_camera):
    out = tmp_path / "set"
    synthesize(out, actions=("Box",), n_frames=24, cameras=one_camera)
    with pytest.raises(DataError, match="overwrite"):
        synthesize(out)
    synthesize(out, actions=("Jog",), n_frames=24, cameras=one_camera, overwrite=True)
    assert (out / "S1/Mocap_Data/Jog_1.c3d").exists()
    assert not (out / "S1/Mocap_Data/Box_1.c3d").exists()
    for mine in ("mine.h5", "S1/Image_Data/notes.txt"):
        (out / mine).write_text("mine")
        with pytest.raises(DataError, match=f"it holds {re.escape(mine)}, which would be lost"):
            synthesize(out, overwrite=True)
        assert (out / mine).read_text() == "mine"
        (out / mine).unlink()
    assert {path.name for path in tmp_path.iterdir()} == {"set", "calibration"}

    precious = tmp_path / "thesis"
    precious.mkdir()
    (precious / "chapter.txt").write_text("1")
    for overwrite in (False, True):
        with pytest.raises(DataError, match="something else"):
            synthesize(precious, overwrite=overwrite)
    with pytest.raises(DataError, match="is a file"):
        synthesize(precious / "chapter.txt")
    with pytest.raises(DataError, match="cannot be written"):
        synthesize(precious / "chapter.txt" / "set")
    assert (precious / "chapter.txt").read_text() == "1"


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"subjects": ("S7",)}, "no subject 'S7'"),
        ({"actions": ("Fly",)}, "no action 'Fly'"),
        ({"subjects": ()}, "one at least"),
        ({"actions": ("Box", "Box")}, "named once"),
        ({"n_frames": 3}, "24 to 100000 frames, not 3"),
        ({"seed": -1}, "seed"),
        ({"subjects": 0}, "1 to 200 subjects"),
        ({"train_share": 1.5}, "0 to 1, not 1.5"),
        ({"camera_jitter": 30}, "0 to 10 degrees"),
        ({"masks": "gif"}, "no kind of masks 'gif'"),
        ({"facing": "C9"}, "nobody can face the camera 'C9'"),
        ({"cameras": "/none"}, "/none: no such folder"),
        ({"motions": ["none.bvh"]}, "none.bvh: no such motion file"),
        ({"motions": ["W1=none.bvh"]}, "none.bvh: no such motion file"),
        ({"actions": ("Fly",), "seed": -1, "subjects": 0}, "'Fly'.*seed.*subjects"),
    ],
)
def test_wrong_requests_are_refused_in_one_line(tmp_path, wrong, message):
    with pytest.raises(DataError, match=message) as caught:
        synthesize(tmp_path / "set", **wrong)
    assert "\n" not in str(caught.value)
    assert not (tmp_path / "set").exists()
